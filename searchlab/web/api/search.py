"""What was found? Results, documents, documents like one, and what could be typed next."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from searchlab.analysis.analyzer import fold
from searchlab.errors import SettingError, StoreError
from searchlab.rankers.systems import System
from searchlab.records import Document
from searchlab.retrieval.expansion import similar_query
from searchlab.retrieval.highlight.full_text import mark_all
from searchlab.retrieval.highlight.snippets import Snippet
from searchlab.retrieval.results import Hit, Hits, Query
from searchlab.retrieval.suggest.autocomplete import complete_word
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.http_errors import Failure, NotFound
from searchlab.web.api.parameters import DOCUMENT, FILTER, INDEX, JUDGE, PAGE, QUERY, RANKER, K, Parameter
from searchlab.web.jobs.thread_pools import count_patterns
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened

# For so many unknown words a known one is looked for: each is held against all words of the index.
MOST_CORRECTED = 3
# Nothing is looked for that is longer than words are: the time grows with the length.
LONGEST_CORRECTED = 50
# So many of each kind are suggested.
PAST, WORDS = 4, 8
log = logging.getLogger(__name__)

_LAST_WORD = re.compile(r"[\w'’-]+$")


def indexes(desk: Desk) -> dict[str, Any]:
    """What is served."""
    opened = [desk.shelf.get(name) for name in desk.shelf.names]
    return {
        "indexes": [
            {
                "name": own.name,
                "n_documents": len(own.engine),
                "fields": list(own.engine.snapshot.field_names),
                "rankers": [ranker_record(own.system(name)) for name, _, _ in own.systems()],
            }
            for own in opened
        ]
    }


def search(
    desk: Desk, *, index: str | None, q: str, ranker: str, k: int, page: int, filter: list[str], judge: str
) -> dict[str, Any]:
    """The k best documents for a query; what this judge has said of them is told too."""
    began = time.perf_counter()
    opened = desk.shelf.get(index)
    system = opened.system(ranker)
    hits = system.search(short(desk, q), k=_deepest(desk, k, page) + 1, filters=filter)
    answer = found(opened, system, hits, q, k, page, filter)
    answer["suggestion"] = _correction(hits.query, q)
    answer["topic"] = _mark_grades(desk, opened, q, judge, answer["results"]) if judge else None
    return answer | {"seconds": time.perf_counter() - began}


def similar(desk: Desk, *, index: str | None, id: str, ranker: str, k: int, page: int) -> dict[str, Any]:
    """Documents like one; a model cannot be asked for them, and BM25 takes its place."""
    began = time.perf_counter()
    opened = desk.shelf.get(index)
    system = opened.system(ranker)
    if system.kind == "model":
        system = opened.system("bm25")
    document = find_document(opened, id)
    hits = system.search(similar_query(opened.engine, id), k=_deepest(desk, k, page) + 2)
    answer = found(opened, system, _without(opened, hits, id), f"like {id}", k, page, [])
    answer |= {"suggestion": None, "topic": None, "like": {"id": id, "title": document.title}}
    return answer | {"seconds": time.perf_counter() - began}


def document(desk: Desk, *, index: str | None, id: str, q: str, ranker: str) -> dict[str, Any]:
    """A document in full, with the words of a query marked."""
    opened = desk.shelf.get(index)
    own = find_document(opened, id)
    terms = opened.system(ranker).parse(short(desk, q)).to_mark if q.strip() else frozenset()
    analyzer = opened.engine.snapshot.analyzer
    return {
        "index": opened.name,
        "id": own.docno,
        "title": marked(mark_all(own.title, terms, analyzer)),
        "body": marked(mark_all(own.body, terms, analyzer)),
        "fields": dict(own.fields),
    }


def suggest(desk: Desk, *, index: str | None, q: str) -> dict[str, Any]:
    """How what is being typed could go on: past queries, then words of the index."""
    opened = desk.shelf.get(index)
    written = " ".join(q.split())
    past = _past_queries(desk, opened, written) if written else []
    suggestions = [{"text": text, "kind": "past"} for text in past]
    last = _LAST_WORD.search(q)
    if last is not None:
        before = q[: last.start()]
        words = complete_word(opened.engine.snapshot, fold(last.group()))
        texts = [f"{before}{word}" for word in words[: WORDS + 1] if word != fold(last.group())]
        suggestions += [{"text": text, "kind": "word"} for text in texts[:WORDS] if text not in past]
    return {"query": q, "suggestions": suggestions}


def _past_queries(desk: Desk, opened: Opened, written: str) -> list[str]:
    try:
        return desk.store(opened.name).past_queries(written, PAST)
    except StoreError:  # told when a query is to be kept
        return []


def ranker_record(system: System) -> dict[str, str]:
    """What is told of a system."""
    return {"name": system.name, "label": system.label, "kind": system.kind}


def marked(snippet: Snippet) -> dict[str, Any]:
    """A text and the places of the words that matched."""
    return {"text": snippet.text, "marks": [list(mark) for mark in snippet.marks]}


def find_document(opened: Opened, docno: str) -> Document:
    """A document by its name."""
    require_document(opened, docno)
    return opened.engine.document(docno)


def require_document(opened: Opened, docno: str) -> None:
    """Refuse a name that no document has."""
    try:
        opened.engine.snapshot.locate(docno)
    except SettingError:
        raise NotFound(f"the index {opened.name} has no document {docno[:200]!r}") from None


def found(
    opened: Opened, system: System, hits: Hits, text: str, k: int, page: int, filters: list[str]
) -> dict[str, Any]:
    """One page of what a search found."""
    first = (page - 1) * k
    return {
        "index": opened.name,
        "query": text,
        "ranker": ranker_record(system),
        "k": k,
        "page": page,
        "filters": filters,
        "n_documents": len(opened.engine),
        "more": len(hits) > first + k,
        "results": [_result(hit) for hit in hits[first : first + k]],
        "unknown": list(hits.query.unknown),
        "remarks": list(hits.query.remarks),
    }


def _result(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "id": hit.docno,
        "score": hit.score,
        "title": marked(hit.marked_title),
        "snippet": marked(hit.snippet),
        "fields": dict(hit.document.fields),
        "grade": None,
    }


def short(desk: Desk, text: str) -> str:
    """A query that is neither empty nor too long."""
    if len(text) > desk.limits.query_length:
        raise Failure(400, f"q has {len(text):,} characters, expected at most {desk.limits.query_length:,}")
    if not text.strip():
        raise Failure(400, "q is empty, expected a query")
    n_patterns = count_patterns(text)
    if n_patterns > desk.limits.patterns:
        told = f"q has {n_patterns} words with *, ? or ~, expected at most {desk.limits.patterns}"
        raise Failure(400, told)
    return text


def _deepest(desk: Desk, k: int, page: int) -> int:
    """The last rank of a page."""
    if k > desk.limits.k:
        raise Failure(400, f"k is {k}, expected at most {desk.limits.k}")
    if k * page > desk.limits.depth:
        raise Failure(400, f"page {page} of {k} ends below rank {desk.limits.depth:,}, expected none so deep")
    return k * page


def _without(opened: Opened, hits: Hits, docno: str) -> Hits:
    kept = [place for place, name in enumerate(hits.docnos) if name != docno]
    snapshot = opened.engine.snapshot
    return Hits(snapshot, hits.query, hits.shards[kept], hits.docs[kept], hits.scores[kept], hits.seconds)


def _correction(query: Query, text: str) -> dict[str, Any] | None:
    """The query with known words in the place of unknown ones."""
    if not query.unknown or query.suggest is None:
        return None
    words = [word for word in query.unknown if len(word) <= LONGEST_CORRECTED]
    near = [(word, query.suggest(word)) for word in words[:MOST_CORRECTED]]
    replaced = [(word, known) for word, known in near if known is not None]
    corrected = text
    for word, known in replaced:
        corrected = known.join(re.split(rf"(?<!\w){re.escape(word)}(?!\w)", corrected))
    return {"query": corrected, "replaced": [list(pair) for pair in replaced]} if corrected != text else None


def _mark_grades(
    desk: Desk, opened: Opened, text: str, judge: str, results: list[dict[str, Any]]
) -> dict[str, str] | None:
    """Put a judge's grades to results, if the query is a topic."""
    found = grades_for(desk, opened, text, judge)
    if found is None:
        return None
    topic, grades = found
    for result in results:
        result["grade"] = grades.get(result["id"])
    return {"set": topic[0], "qid": topic[1]}


def grades_for(
    desk: Desk, opened: Opened, text: str, judge: str
) -> tuple[tuple[str, str], dict[str, int | None]] | None:
    """The topic that a query is, and a judge's grades for it, by docno; None if it is none.

    A file of judgments that cannot be read is told where judgments are; searching goes on without it.
    """
    store = desk.store(opened.name)
    try:
        topic = store.find_topic(text)
        if topic is None:
            return None
        return topic, {each.docno: each.grade for each in store.judgments(*topic, judge=judge)}
    except StoreError as error:
        log.warning("searching without judgments: %s", error)
        return None


BEGUN = Parameter("q", "text", "what has been typed so far", default="")
WORDS_TO_MARK = Parameter("q", "text", "a query whose words are marked", default="")

ENDPOINTS = (
    Endpoint("GET", "/api/indexes", indexes, "The indexes that are served, with their fields and rankers"),
    Endpoint(
        "GET",
        "/api/search",
        search,
        "The best documents for a query",
        (QUERY, INDEX, RANKER, K, PAGE, FILTER, JUDGE),
        brief=True,
    ),
    Endpoint("GET", "/api/similar", similar, "Documents like one", (DOCUMENT, INDEX, RANKER, K, PAGE), brief=True),
    Endpoint("GET", "/api/document", document, "A document in full", (DOCUMENT, INDEX, WORDS_TO_MARK, RANKER)),
    Endpoint("GET", "/api/suggest", suggest, "How a query could go on", (BEGUN, INDEX), brief=True),
)
