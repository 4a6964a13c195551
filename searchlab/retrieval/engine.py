"""Which documents answer a query best?

An engine searches one snapshot of an index. A query is analysed as the documents were; a document is a
candidate if it has at least one of the query's terms, or if the query asks for more (phrases, AND, fields: see
`syntax`), if it matches that; scores are exact, and equal scores are ordered by docno, descending in byte order, as
trec_eval orders them: the ranking shown is the ranking evaluated.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.index_names import locate_index
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.lexicon import DOCNO, Lexicon
from searchlab.retrieval.query.matching import Matcher
from searchlab.retrieval.query.tree import Malformed, Node, describe, looks_plain
from searchlab.retrieval.results import Explanation, Hits, Part, Query, QueryTerm
from searchlab.retrieval.scoring.dense import AnyScorer, DenseScorer, Weigher, score_all
from searchlab.retrieval.scoring.exhaustive import score, share_out
from searchlab.retrieval.scoring.index_numbers import (
    REMEMBERED_SCORERS,
    DocNumbers,
    Numbers,
    Plan,
    Postings,
    scorer_of_text,
)
from searchlab.retrieval.scoring.mixture_components import Mixer
from searchlab.retrieval.scoring.mixture_query import Blend
from searchlab.retrieval.suggest.spelling import suggest
from searchlab.scorers.base import Scorer
from searchlab.scorers.bm25 import BM25, BM25F
from searchlab.scorers.language_models import Mixture
from searchlab.scorers.trained_mixture import TrainedMixture
from searchlab.types import Array

# Some documents of a shard, and their scores.
Found = tuple[Array, Array]

# How the text of a query is read: as nothing but words, or as a query with phrases, operators and fields.
SYNTAXES = ("plain", "full")


def open(name: str | Path, *, compiled: bool = True) -> SearchEngine:
    """Open an index, by its folder or by its name in `indexes/`, for searching."""
    return SearchEngine(locate_index(name), compiled=compiled)


class SearchEngine:
    """Search over one snapshot of an index.

    `compiled=False` does without the compiled kernels: a search takes some milliseconds more, but the first
    one need not wait half a second for numba. Both ways give the same results.
    """

    def __init__(self, folder: str | Path, *, compiled: bool = True) -> None:
        self.snapshot = Snapshot(Path(folder))
        self._numbers = Numbers(self.snapshot)
        self._lexicon = Lexicon(self.snapshot, self._numbers)
        self.mixer = Mixer(self.snapshot, self._numbers)
        self._suggest = partial(suggest, self.snapshot)
        self.compiled = compiled
        self._threads = threading.local()
        self._bind = lru_cache(REMEMBERED_SCORERS)(self._bind_scorer)

    def __repr__(self) -> str:
        return f"<SearchEngine {self.snapshot.folder}: {len(self)} documents>"

    def __len__(self) -> int:
        return self.snapshot.n_docs

    def __enter__(self) -> SearchEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index; an engine that is forgotten does so too, in time."""
        self.snapshot.close()

    def document(self, docno: str) -> Document:
        """A document by its name."""
        return self.snapshot.document(docno)

    def search(
        self,
        query: str | Query,
        *,
        k: int | None = 10,
        scorer: AnyScorer | None = None,
        stream: str = "both",
        syntax: str = "plain",
        filters: Sequence[Filter | str] = (),
    ) -> Hits:
        """The k best documents for a query; k=None gives all that match.

        With `plain` syntax a query is nothing but words, with `full` syntax it may have phrases, patterns,
        operators and fields. Only documents that pass all `filters`, as `Filter`s or written `field=value`, are found.
        """
        began = time.perf_counter()
        scorer = scorer or BM25()
        if k is not None and k < 1:
            raise SettingError(f"k is {k}, expected 1 or more")
        parsed = query if isinstance(query, Query) else self.parse(query, scorer, stream, syntax)
        limit = len(self) if k is None else min(k, len(self))
        shards = docs = np.zeros(0, np.int64)
        scores = np.zeros(0)
        pieces = list(self._find(parsed, limit, scorer, stream, self._check_filters(filters)))
        if pieces:
            shards = np.repeat(np.arange(len(pieces)), [len(found) for found, _ in pieces])
            docs = np.concatenate([found for found, _ in pieces])
            scores = np.concatenate([own for _, own in pieces])
        order = self._best_first(shards, docs, scores, limit)
        seconds = time.perf_counter() - began
        return Hits(self.snapshot, parsed, shards[order], docs[order], scores[order], seconds, compiled=self.compiled)

    def parse(self, query: str, scorer: AnyScorer | None = None, stream: str = "both", syntax: str = "plain") -> Query:
        """The terms of a query, in the order of their first occurrence, and the tree that it is, if it is one.

        A query that cannot be understood is taken for plain words, with a remark that says why.
        """
        if stream not in STREAMS:
            raise unknown_name("stream", stream, STREAMS)
        if isinstance(scorer, BM25F) and stream != "both":
            raise SettingError(f"bm25f weighs the fields itself: expected stream both, found {stream}")
        if isinstance(scorer, Mixture) and not scorer.is_plain and stream != "both":
            raise SettingError(
                f"a mixture of more than unigrams reads all of a text: expected stream both, found {stream}"
            )
        if syntax not in SYNTAXES:
            raise unknown_name("query syntax", syntax, SYNTAXES)
        if syntax == "plain" or looks_plain(query):
            return self._parse_words(query, stream)
        from searchlab.retrieval.query.parser import parse

        try:
            node = parse(query, self._fields)
        except Malformed as error:
            return self._parse_words(query, stream, (f"{error.reason}: searched for the plain words",))
        return self.interpret(node, stream, text=query)

    def interpret(self, node: Node, stream: str = "both", *, text: str | None = None) -> Query:
        """The query that a tree is, to be searched as any other; `text` is how it was written."""
        with self.snapshot.report_damage():
            terms, unknown = self._lexicon.query_terms(node, stream)
            remarks = self._lexicon.remarks(node, stream)
        return Query(describe(node) if text is None else text, terms, unknown, node, remarks, self._suggest)

    def _parse_words(self, query: str, stream: str, remarks: tuple[str, ...] = ()) -> Query:
        known, unknown = [], set()
        for text, count in Counter(self.snapshot.analyzer.terms(query)).items():
            stats = self.snapshot.term_stats(stream, text)
            if stats.doc_freq:
                known.append(QueryTerm(text, count, stats, stream, (text,)))
            else:
                unknown.add(text)
        words = self._words_of(unknown, query) if unknown else ()
        return Query(query, tuple(known), words, None, remarks, self._suggest)

    def _words_of(self, terms: set[str], query: str) -> tuple[str, ...]:
        """The words of a query that gave these terms, as they stand there."""
        spans = self.snapshot.analyzer.spans(query)
        return tuple(dict.fromkeys(query[span.start : span.end] for span in spans if span.term in terms))

    @cached_property
    def _fields(self) -> frozenset[str]:
        """The fields that a query can ask for."""
        return frozenset({"title", "body", DOCNO, *self.snapshot.field_names})

    def _check_filters(self, filters: Sequence[Filter | str]) -> list[Filter]:
        if not filters:
            return []
        checked = [Filter.parse(given) if isinstance(given, str) else given for given in filters]
        known = self._fields - {"title", "body"}
        for given in checked:
            if given.field not in known:
                raise unknown_name("field", given.field, known)
        return checked

    def explain(
        self,
        query: str | Query,
        docno: str,
        *,
        scorer: AnyScorer | None = None,
        stream: str = "both",
        syntax: str = "plain",
    ) -> Explanation:
        """What each term of the query adds to the score of a document."""
        scorer = scorer or BM25()
        parsed = query if isinstance(query, Query) else self.parse(query, scorer, stream, syntax)
        place, doc = self.snapshot.locate(docno)
        blend = self._blend(parsed, scorer)
        if blend is not None:
            return Explanation(docno, blend.explain(place, doc))
        if isinstance(scorer, TrainedMixture):
            scorer = scorer.of_document(docno)
        parts = []
        for term, (tf, weight) in zip(parsed.terms, self._weigh(parsed, place, doc, scorer, stream), strict=True):
            text = stream if parsed.node is None else term.stream
            name = term.text if text == stream else f"{text}:{term.text}"
            parts.append(Part(name, term.count, tf, term.count * float(weight)))
        return Explanation(docno, tuple(parts))

    def _weigh(
        self, query: Query, place: int, doc: int, scorer: AnyScorer, stream: str
    ) -> Iterator[tuple[float, float]]:
        """For each term of a query, how often a document has it as the scorer counts, and the term's weight."""
        weights = None
        if isinstance(scorer, DenseScorer):
            weights = self._bind(scorer, stream).weigh(query, place, np.array([doc]))[:, 0]
        for row, term in enumerate(query.terms):
            text = stream if query.node is None else term.stream
            own = BM25() if isinstance(scorer, DenseScorer) else scorer_of_text(scorer, text)
            docs, tfs = self._numbers.frequencies(place, own, text, term.variants)
            at = int(np.searchsorted(docs, doc))
            tf = tfs[at].item() if at < len(docs) and docs[at] == doc else 0
            column = self._numbers.column(place, text)
            if weights is not None:
                yield tf, weights[row]
            else:
                yield tf, own.weigh(tf, int(column.lengths[doc]), term.stats, int(column.uniques[doc]))

    def _bind_scorer(self, scorer: DenseScorer, stream: str) -> Weigher:
        return scorer.bind(self.snapshot, self._numbers, stream)

    def _find(self, query: Query, limit: int, scorer: AnyScorer, stream: str, filters: list[Filter]) -> Iterator[Found]:
        if query.node is None and not query.terms:
            return iter(())
        plain = query.node is None and not filters and self.compiled
        if not plain or not isinstance(scorer, Scorer) or not scorer.gains_are_positive:
            return self._find_all(query, limit, scorer, stream, filters)
        blend = self._blend(query, scorer)
        if blend is None:
            plan, doc_numbers = self._numbers.plan(query, scorer, stream), self._numbers.of_docs(scorer, stream)
            return self._find_best(plan, limit, scorer, doc_numbers, partial(self._postings, plan, scorer, stream))
        if blend.uses_topics:
            return self._find_all(query, limit, scorer, stream, filters)
        with self.snapshot.report_damage():
            return self._find_best(blend.plan, limit, scorer, blend.doc_numbers(), blend.postings)

    def _blend(self, query: Query, scorer: AnyScorer) -> Blend | None:
        """The query by a mixture of more than unigrams; None for all other scorers, and for a tree."""
        if not isinstance(scorer, Mixture) or scorer.is_plain or query.node is not None:
            return None
        return Blend(self.snapshot, self._numbers, self.mixer, scorer, query)

    def _postings(self, plan: Plan, scorer: Scorer, stream: str, place: int) -> Postings:
        return self._numbers.postings(place, scorer, stream, [extents[place] for extents in plan.extents])

    def _find_all(
        self, query: Query, limit: int, scorer: AnyScorer, stream: str, filters: list[Filter]
    ) -> Iterator[Found]:
        """The best of each shard's matching documents, by NumPy."""
        with self.snapshot.report_damage():
            blend = self._blend(query, scorer)
            everyone = isinstance(scorer, DenseScorer) if blend is None else blend.uses_topics
            score_documents = self._score(query, scorer, stream) if blend is None else blend.score
            for place in range(len(self.snapshot.shards)):
                matched = self._match(query, place, stream, filters, everyone=everyone)
                found = np.flatnonzero(matched)
                scores = score_documents(place, found, len(matched))
                if limit < len(found):
                    # Whatever scores less than the last of the best cannot be among them.
                    best = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
                    found, scores = found[best], scores[best]
                yield found, scores

    def _score(self, query: Query, scorer: AnyScorer, stream: str) -> Callable[[int, Array, int], Array]:
        """What scores documents: from a shard, some of its documents, and how many it has, to their scores."""
        if isinstance(scorer, DenseScorer):
            weigher = self._bind(scorer, stream)
            return lambda place, found, n_docs: score_all(weigher, query, place, found)
        return partial(score, self._numbers, share_out(self._numbers, query, scorer, stream))

    def _match(self, query: Query, place: int, stream: str, filters: list[Filter], *, everyone: bool) -> Array:
        """The documents that a query is about; if it has no tree, `everyone` or those that have any of its terms."""
        matcher = Matcher(self.snapshot, place, self._numbers, self._lexicon, stream)
        if query.node is not None:
            matched = matcher.matches(query.node)
        elif everyone:
            matched = matcher.living(~matcher.mark(np.zeros(0, np.int64)))
        else:
            texts = [self._numbers.occurrences(place, stream, term.variants)[0] for term in query.terms]
            matched = matcher.living(matcher.mark(np.concatenate(texts)))
        for asked in filters:
            matched &= matcher.passing(asked)
        return matched

    def _find_best(
        self,
        plan: Plan,
        limit: int,
        scorer: Scorer,
        doc_numbers: list[DocNumbers],
        postings: Callable[[int], Postings],
    ) -> Iterator[Found]:
        """Each shard's candidates for the best, by the compiled kernel."""
        from searchlab.retrieval.topk_kernels import Scratch, best_documents

        if not hasattr(self._threads, "scratch"):
            self._threads.scratch = Scratch.make(max(shard.columns.n_docs for shard in self.snapshot.shards))
        scratch: Scratch = self._threads.scratch
        scratch.histogram[:] = 0
        lowest = plan.background + plan.n_words * min(own.lowest_bias for own in doc_numbers)
        top_bias = plan.background + plan.n_words * max(own.highest_bias for own in doc_numbers)
        most = float(plan.bounds.sum())
        for place, own in enumerate(doc_numbers):
            yield best_documents(
                *postings(place),
                plan.weights,
                plan.factors,
                plan.bounds,
                own.norm_table,
                own.norm_codes,
                own.biases,
                plan.n_words,
                plan.background,
                scorer.shape,
                float(scorer.shift),
                limit,
                lowest,
                top_bias,
                most,
                scratch,
            )

    def _best_first(self, shards: Array, docs: Array, scores: Array, limit: int) -> Array:
        """The places of the best: by score, and by docno (descending) where scores are equal."""
        order = np.argsort(-scores)
        ranked = scores[order]
        if limit < len(order):
            last = int(np.searchsorted(-ranked, -ranked[limit - 1], "right"))
            order, ranked = order[:last], ranked[:last]
        differs = ranked[1:] != ranked[:-1]
        if differs.all():
            return order
        # One number says it all: first the group of equal scores, then the docno's standing, from the last.
        groups = np.zeros(len(order), np.int64)
        np.cumsum(differs, out=groups[1:])
        standings = self._standings(shards[order], docs[order])
        n_standings = sum(shard.columns.n_docs for shard in self.snapshot.shards)
        return order[np.argsort(groups * n_standings - standings)][:limit]

    def _standings(self, shards: Array, docs: Array) -> Array:
        """Numbers that order documents as their docnos do."""
        if self.compiled or len(self.snapshot.shards) == 1:
            return self.snapshot.docno_ranks(shards, docs)
        columns = [shard.columns.docnos for shard in self.snapshot.shards]
        docnos = [columns[s].bytes_at(d) for s, d in zip(shards.tolist(), docs.tolist(), strict=True)]
        standings = np.empty(len(docs), np.int64)
        standings[sorted(range(len(docnos)), key=docnos.__getitem__)] = np.arange(len(docnos))
        return standings
