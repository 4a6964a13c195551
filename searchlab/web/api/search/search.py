"""Search endpoints: result pages, documents, similar documents, and suggestions for the query being typed."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from searchlab.analysis.tokenizer import fold_text
from searchlab.errors import SettingError, StoreError
from searchlab.indexing.storage.documents.stored_documents import StoredDocument
from searchlab.rankers.systems import System
from searchlab.retrieval.expansion import similar_query
from searchlab.retrieval.fields.facets import parse_fields
from searchlab.retrieval.highlight.full_text import mark_all
from searchlab.retrieval.highlight.long_texts import analyzer_of, best_part
from searchlab.retrieval.highlight.snippets import texts_as_json
from searchlab.retrieval.near_duplicates import examined_depth
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.results import Hits, Query
from searchlab.retrieval.suggest.autocomplete import complete_word
from searchlab.web.api.measuring.query_measure import find_judged_query
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.jobs.thread_pools import count_patterns
from searchlab.web.limits import Limits
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

MAX_PAST_QUERIES, MAX_SUGGESTED_WORDS = 4, 8
# Unknown words are completed if they have MIN_BEGINNING letters, with at most MAX_BEGUN_WORDS words each.
MIN_BEGINNING, MAX_COMPLETED_WORDS, MAX_BEGUN_WORDS = 3, 3, 6

MAX_FACET_VALUES = 500

_LAST_WORD = re.compile(r"[\w'’-]+$")

PARTIAL_QUERY = Parameter("q", "string", "the query typed so far", default="")
MARKED_QUERY = Parameter("q", "string", "a query whose words are marked", default="")
START = Parameter(
    "start",
    "integer",
    "the first character of the text; by default a part of a long text begins with the best passage for the query",
    default=None,
    minimum=0,
    nullable=True,
)
LENGTH = Parameter(
    "length", "integer", "at most this many characters of the text", default=None, minimum=1, nullable=True
)


def describe_indexes(state: RequestState) -> dict[str, Any]:
    """All indexes, with their fields and systems."""
    return {
        "indexes": [
            {
                "name": index.name,
                "n_docs": len(index.engine),
                "language": index.engine.snapshot.manifest.settings.language,
                "fields": list(index.engine.snapshot.field_names),
                "numeric_fields": sorted(index.engine.snapshot.numeric_fields),
                "systems": [system_record(index.system(name)) for name, _, _ in index.systems],
            }
            for index in state.all_indexes
        ]
    }


def search_documents(
    state: RequestState,
    *,
    q: str,
    system: str,
    k: int,
    page: int,
    filter: list[str],
    judge: str,
    sort: str = "",
    facet: Sequence[str] = (),
    group_duplicates: bool = False,
    histogram: str = "",
    values_of: str = "",
) -> dict[str, Any]:
    """One page of the best documents for a query, with the grades that this judge gave them.

    The facet of the field `values_of` has all values, up to MAX_FACET_VALUES, of the others the most frequent.
    """
    start = time.perf_counter()
    chosen = state.index.system(system)
    n_wanted = _last_rank(k, page, state.limits) + 1
    depth = examined_depth(n_wanted) if group_duplicates else n_wanted
    hits = chosen.search(check_query(q, state.limits), k=depth, filters=filter, sort=sort or None)
    groups = hits.group_duplicates(n_wanted) if group_duplicates else []
    shown = hits.take(np.array([group.row for group in groups], np.int64)) if group_duplicates else hits
    judged = find_judged_query(state, q) if judge else None
    if judged is not None and (terms := judged.terms_to_mark(state.index)):
        shown = shown.marking(terms)
    # First, since marking the documents that match also counts them.
    facets = {name: counted.to_json() for name, counted in hits.facets(*parse_fields(facet)).items()}
    if values_of in facets:
        facets |= {name: each.to_json() for name, each in hits.facets(values_of, n=MAX_FACET_VALUES).items()}
    bins = _count_numbers(chosen, hits, q, filter, histogram) if histogram else []
    answer = result_page(state.index, chosen, shown, q, k, page, filter) | _correction(hits.query, q)
    for hit, group in zip(answer["hits"], groups[(page - 1) * k :], strict=False):
        hit["duplicates"] = [each.to_json() for each in group.duplicates]
    answer["sort"] = sort
    answer["facets"] = facets
    answer["histogram"] = bins
    answer["other_fields"] = [each.to_json() for each in hits.other_fields]
    answer["completions"] = _completions(state.index, hits.query)
    answer["topic"] = (
        None
        if judged is None
        else {
            "topic_set": judged.topic_set,
            "qid": judged.qid,
            "criteria": judged.criteria,
            "n_judged": len(judged.grades_of(judge)),
        }
    )
    answer["quality"] = None
    if judged is not None:
        grades = judged.grades_of(judge)
        for hit in answer["hits"]:
            hit["grade"] = grades.get(hit["docno"])
        if not (filter or sort or group_duplicates):
            answer["quality"] = judged.measure(state, chosen, hits.docnos)
    return answer | {"seconds": time.perf_counter() - start}


def find_similar(state: RequestState, *, docno: str, system: str, k: int, page: int) -> dict[str, Any]:
    """Documents similar to one. A model cannot search for them; BM25 is used instead."""
    start = time.perf_counter()
    index = state.index
    chosen = index.system(system)
    if chosen.kind == "model":
        chosen = index.system("bm25")
    document = find_stored(index, docno)
    hits = chosen.search(similar_query(index.engine, docno), k=_last_rank(k, page, state.limits) + 2)
    answer = result_page(index, chosen, hits.without(docno), f"like {docno}", k, page, [])
    answer |= {"suggestions": {}, "corrected_query": None, "topic": None, "sort": "", "facets": {}, "other_fields": []}
    answer |= {"completions": {}, "quality": None, "histogram": []}
    answer["similar_to"] = {"docno": docno, "title": document.title}
    return answer | {"seconds": time.perf_counter() - start}


def get_document(
    state: RequestState, *, docno: str, q: str, system: str, start: int | None = None, length: int | None = None
) -> dict[str, Any]:
    """A document, or `length` characters of its text from `start`, with the words of a query marked.

    Without a start, a part of a long text begins where a query has its best passage.
    """
    index = state.index
    snapshot = index.engine.snapshot
    stored, shard, number = _locate_stored(index, docno)
    with snapshot.report_damage():
        query = index.system(system).parse(check_query(q, state.limits)) if q.strip() else None
        terms = query.to_mark if query is not None else frozenset()
        judged = find_judged_query(state, q) if query is not None else None
        if judged is not None:
            terms |= judged.terms_to_mark(index)
        begin, n_characters = start or 0, len(stored.body)
        if start is None and length is not None and n_characters > length and query is not None:
            begin = best_part(snapshot, shard, number, stored, terms, query.stream_to_mark).start
        body = stored.part(begin, n_characters if length is None else begin + length)
    analyzer = analyzer_of(snapshot, stored, "both")
    return {
        "index": index.name,
        "docno": stored.docno,
        **texts_as_json(title=mark_all(stored.title, terms, analyzer), body=mark_all(body, terms, analyzer)),
        "fields": dict(stored.fields),
        "start": begin,
        "n_characters": n_characters,
    }


def suggest_queries(state: RequestState, *, q: str) -> dict[str, Any]:
    """Completions of a partial query: past queries, then words of the index."""
    index = state.index
    typed = " ".join(q.split())
    past = _past_queries(state, typed) if typed else []
    suggestions = [{"text": text, "kind": "past"} for text in past]
    last = _LAST_WORD.search(q)
    if last is not None:
        before = q[: last.start()]
        words = complete_word(index.engine.snapshot, fold_text(last.group()))
        texts = [f"{before}{word}" for word in words[: MAX_SUGGESTED_WORDS + 1] if word != fold_text(last.group())]
        suggestions += [{"text": text, "kind": "word"} for text in texts[:MAX_SUGGESTED_WORDS] if text not in past]
    return {"query": q, "suggestions": suggestions}


def _past_queries(state: RequestState, typed: str) -> list[str]:
    try:
        return state.judgments.past_queries(typed, MAX_PAST_QUERIES)
    except StoreError:  # logged when a query is recorded
        return []


def system_record(system: System) -> dict[str, str]:
    """A system as JSON."""
    return {"name": system.name, "label": system.label, "kind": system.kind}


def find_stored(index: OpenIndex, docno: str) -> StoredDocument:
    """A document by its docno, whose body is read when it is asked for; HTTP error 404 if there is none."""
    return _locate_stored(index, docno)[0]


def _locate_stored(index: OpenIndex, docno: str) -> tuple[StoredDocument, int, int]:
    """A document, with its shard and its number there."""
    require_document(index, docno)
    snapshot = index.engine.snapshot
    with snapshot.report_damage():
        shard, number = snapshot.locate(docno)
        return snapshot.shards[shard].stored.read(number), shard, number


def require_document(index: OpenIndex, docno: str) -> None:
    """HTTP error 404 unless the index has a document with this docno."""
    try:
        index.engine.snapshot.locate(docno)
    except SettingError:
        raise NotFound(f"the index {index.name} has no document {docno[:200]!r}", field="docno") from None


def result_page(
    index: OpenIndex, system: System, hits: Hits, query: str, k: int, page: int, filters: list[str]
) -> dict[str, Any]:
    """One page of hits."""
    first = (page - 1) * k
    return {
        "index": index.name,
        "query": query,
        "system": system_record(system),
        "k": k,
        "page": page,
        "filters": filters,
        "n_docs": len(index.engine),
        "n_matches": hits.n_matches,
        "more": len(hits) > first + k,
        "hits": [hit.to_json() | {"grade": None} for hit in hits[first : first + k]],
        "unknown": list(hits.query.unknown),
        "remarks": list(hits.query.remarks),
    }


def check_query(query: str, limits: Limits, name: str = "q") -> str:
    """The query, if it is neither empty nor beyond the limits; `name` is that of its parameter."""
    if len(query) > limits.max_query_length:
        raise HttpError(400, f"{name} has {len(query):,} characters, expected at most {limits.max_query_length:,}")
    if not query.strip():
        raise HttpError(400, f"{name} is empty, expected a query")
    n_patterns = count_patterns(query)
    if n_patterns > limits.max_patterns:
        raise HttpError(400, f"{name} has {n_patterns} words with *, ? or ~, expected at most {limits.max_patterns}")
    return query


def _last_rank(k: int, page: int, limits: Limits) -> int:
    """The last rank of a page."""
    if k > limits.max_k:
        raise HttpError(400, f"k is {k}, expected at most {limits.max_k}")
    if k * page > limits.max_rank:
        raise HttpError(400, f"page {page} of {k} ends at rank {k * page:,}, expected at most {limits.max_rank:,}")
    return k * page


def _count_numbers(system: System, hits: Hits, query: str, filters: list[str], field: str) -> list[dict[str, int]]:
    """The histogram of a field: over the documents that pass all filters by other fields."""
    others = [each for each in filters if Filter.parse(each).field != field]
    unfiltered = None if len(others) == len(filters) else system.mark_hits(query, filters=others)
    return [each.to_json() for each in hits.histogram(field, unfiltered=unfiltered)]


def _completions(index: OpenIndex, query: Query) -> dict[str, list[str]]:
    """For each unknown word, the most frequent words of the index that begin with it."""
    unknown = [word for word in query.unknown if len(word) >= MIN_BEGINNING][:MAX_COMPLETED_WORDS]
    found = {word: complete_word(index.engine.snapshot, fold_text(word))[:MAX_BEGUN_WORDS] for word in unknown}
    return {word: words for word, words in found.items() if words}


def _correction(query: Query, text: str) -> dict[str, Any]:
    """The nearest known word for each unknown one, and the query with these words."""
    suggestions, corrected = dict(query.suggestions), text
    for word, known in suggestions.items():
        corrected = known.join(re.split(rf"(?<!\w){re.escape(word)}(?!\w)", corrected))
    return {"suggestions": suggestions, "corrected_query": corrected if corrected != text else None}
