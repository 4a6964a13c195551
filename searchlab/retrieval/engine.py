"""Search engine: the best documents of an index for a query.

An engine searches one snapshot of an index. A query is analysed as the documents were. A document is a candidate if it
has at least one of the query's terms or, if the query asks for more (phrases, AND, fields: see `query/`), if it
matches that. Scores are exact. Equal scores are ordered by docno, descending in byte order, as trec_eval orders them:
the ranking shown is the ranking evaluated.

A search takes these steps:

    parse     the query becomes terms and perhaps a syntax tree      query/query_analyzer.py
    prepare   the scorer, bound to the index, takes the query        scorers/execution/
    score     the compiled kernel leaves out documents that cannot   topk_kernels.py, or
              be among the best, or all that match are scored        query/matching.py
    rank      the best of all shards, by score and docno
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.index_names import locate_index
from searchlab.indexing.snapshot import Snapshot
from searchlab.records import Document
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.matching import Matcher
from searchlab.retrieval.query.query_analyzer import QueryAnalyzer
from searchlab.retrieval.query.syntax_tree import Node
from searchlab.retrieval.results import Explanation, Hits, Query
from searchlab.scorers.base import Scorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.execution.bound_scorer import QueryScorer
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.scoring_plan import ScoringPlan
from searchlab.types import Array

DEFAULT_SCORER = BM25()

# Some documents of a shard, and their scores.
ScoredDocuments = tuple[Array, Array]


def open(name: str | Path, *, compiled: bool = True) -> SearchEngine:
    """Open an index, by its folder or by its name in `indexes/`, for searching."""
    return SearchEngine(locate_index(name), compiled=compiled)


class SearchEngine:
    """Search over one snapshot of an index.

    `compiled=False` does without the compiled kernels: a search takes some milliseconds more, but the first one need
    not wait half a second for numba. Both ways give the same results. Threads may share an engine.
    """

    def __init__(self, folder: str | Path, *, compiled: bool = True) -> None:
        self.snapshot = Snapshot(Path(folder))
        self.reader = IndexReader(self.snapshot)
        self.compiled = compiled
        self._analyzer = QueryAnalyzer(self.reader)
        self._threads = threading.local()

    def __repr__(self) -> str:
        return f"<SearchEngine {self.snapshot.folder}: {len(self)} documents>"

    def __len__(self) -> int:
        return self.snapshot.n_docs

    def __enter__(self) -> SearchEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the index, so that a writer may remove replaced shards; garbage collection does so, too."""
        self.snapshot.close()

    def document(self, docno: str) -> Document:
        """A document by its docno."""
        return self.snapshot.document(docno)

    def search(
        self,
        query: str | Query,
        *,
        k: int | None = 10,
        scorer: Scorer | None = None,
        stream: str = "both",
        syntax: str = "plain",
        filters: Sequence[Filter | str] = (),
    ) -> Hits:
        """The k best documents for a query; k=None gives all that match.

        With `plain` syntax a query is only words, with `full` syntax it may have phrases, patterns, operators and
        fields. Only documents that pass all `filters`, given as `Filter`s or written `field=value`, are found.
        """
        began = time.perf_counter()
        scorer = self._check_scorer(scorer, stream)
        if k is not None and k < 1:
            raise SettingError(f"k is {k}, expected 1 or more")
        parsed = query if isinstance(query, Query) else self._analyzer.parse(query, stream, syntax)
        limit = len(self) if k is None else min(k, len(self))
        shards = docs = np.zeros(0, np.int64)
        scores = np.zeros(0)
        by_shard = list(self._search_shards(parsed, limit, scorer, stream, self._check_filters(filters)))
        if by_shard:
            shards = np.repeat(np.arange(len(by_shard)), [len(found) for found, _ in by_shard])
            docs = np.concatenate([found for found, _ in by_shard])
            scores = np.concatenate([found for _, found in by_shard])
        order = self._rank(shards, docs, scores, limit)
        seconds = time.perf_counter() - began
        return Hits(self.snapshot, parsed, shards[order], docs[order], scores[order], seconds, compiled=self.compiled)

    def parse(self, query: str, scorer: Scorer | None = None, stream: str = "both", syntax: str = "plain") -> Query:
        """The terms of a query, in the order of their first occurrence, and its syntax tree, if it has one.

        A query with a syntax error is taken for plain words, with a remark that says why.
        """
        self._check_scorer(scorer, stream)
        return self._analyzer.parse(query, stream, syntax)

    def interpret(self, node: Node, stream: str = "both", *, text: str | None = None) -> Query:
        """The query that a syntax tree stands for, to be searched as any other; `text` is how it was written."""
        return self._analyzer.interpret(node, stream, text)

    def explain(
        self,
        query: str | Query,
        docno: str,
        *,
        scorer: Scorer | None = None,
        stream: str = "both",
        syntax: str = "plain",
    ) -> Explanation:
        """What each term of the query adds to the score of a document."""
        scorer = self._check_scorer(scorer, stream)
        parsed = query if isinstance(query, Query) else self._analyzer.parse(query, stream, syntax)
        shard_index, doc = self.snapshot.locate(docno)
        return Explanation(docno, self.reader.bind(scorer, stream).prepare(parsed).explain(shard_index, doc))

    def _check_scorer(self, scorer: Scorer | None, stream: str) -> Scorer:
        """The scorer, or the default one; raises SettingError if it is none, or cannot search the stream."""
        if scorer is None:
            scorer = DEFAULT_SCORER
        elif not isinstance(scorer, Scorer):
            raise SettingError(f"scorer is {scorer!r}, expected a scorer such as BM25() or make_scorer('bm25')")
        self.snapshot.require_stream(stream)
        scorer.check_stream(stream)
        return scorer

    def _check_filters(self, filters: Sequence[Filter | str]) -> list[Filter]:
        if not filters:
            return []
        parsed = [Filter.parse(each) if isinstance(each, str) else each for each in filters]
        known = self._analyzer.fields - {"title", "body"}
        for each in parsed:
            if each.field not in known:
                raise unknown_name("field", each.field, known)
        return parsed

    def _search_shards(
        self, query: Query, limit: int, scorer: Scorer, stream: str, filters: list[Filter]
    ) -> Iterator[ScoredDocuments]:
        """For each shard, documents among which are its best, at most `limit` and ties."""
        scoring = self.reader.bind(scorer, stream).prepare(query)
        if query.node is None and not query.terms and not scoring.has_further_units:
            return iter(())
        plan = scoring.plan() if self.compiled and not filters else None
        if plan is None:
            return self._score_matching(scoring, query, limit, stream, filters)
        return self._search_pruned(plan, limit)

    def _search_pruned(self, plan: ScoringPlan, limit: int) -> Iterator[ScoredDocuments]:
        """Each shard's candidates for the best, by the compiled kernel."""
        from searchlab.retrieval.topk_kernels import Scratch, best_documents

        if not hasattr(self._threads, "scratch"):
            self._threads.scratch = Scratch.make(max(shard.columns.n_docs for shard in self.snapshot.shards))
        scratch: Scratch = self._threads.scratch
        scratch.histogram[:] = 0
        lowest = plan.background + plan.n_words * min(norms.min_bias for norms in plan.norms)
        top_bias = plan.background + plan.n_words * max(norms.max_bias for norms in plan.norms)
        all_gains = float(plan.bounds.sum())
        for shard_index, norms in enumerate(plan.norms):
            yield best_documents(
                *plan.postings(shard_index),
                plan.weights,
                plan.factors,
                plan.bounds,
                norms.norm_table,
                norms.norm_codes,
                norms.biases,
                plan.n_words,
                plan.background,
                plan.shape,
                plan.shift,
                limit,
                lowest,
                top_bias,
                all_gains,
                scratch,
            )

    def _score_matching(
        self, scoring: QueryScorer, query: Query, limit: int, stream: str, filters: list[Filter]
    ) -> Iterator[ScoredDocuments]:
        """The best of each shard's matching documents, by NumPy."""
        with self.snapshot.report_damage():
            for shard_index in range(self.reader.n_shards):
                matcher = Matcher(self.reader, self._analyzer, shard_index, stream)
                further = scoring.further_documents(shard_index)
                found = matcher.candidates(query, filters, further, every_document=scoring.scores_every_document)
                docs = np.flatnonzero(found)
                scores = scoring.score(shard_index, docs)
                if limit < len(docs):
                    # A document that scores less than the last of the best is not among them.
                    best = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
                    docs, scores = docs[best], scores[best]
                yield docs, scores

    def _rank(self, shards: Array, docs: Array, scores: Array, limit: int) -> Array:
        """The positions of the best: by score, and by docno (descending) where scores are equal."""
        order = np.argsort(-scores)
        ranked = scores[order]
        if limit < len(order):
            last = int(np.searchsorted(-ranked, -ranked[limit - 1], "right"))
            order, ranked = order[:last], ranked[:last]
        differs = ranked[1:] != ranked[:-1]
        if differs.all():
            return order
        # One sort key: first the group of equal scores, then the rank of the docno, from the last.
        groups = np.zeros(len(order), np.int64)
        np.cumsum(differs, out=groups[1:])
        docno_ranks = self._docno_ranks(shards[order], docs[order])
        n_ranks = sum(shard.columns.n_docs for shard in self.snapshot.shards)
        return order[np.argsort(groups * n_ranks - docno_ranks)][:limit]

    def _docno_ranks(self, shards: Array, docs: Array) -> Array:
        """Numbers that order documents as their docnos do."""
        if self.compiled or len(self.snapshot.shards) == 1:
            return self.snapshot.docno_ranks(shards, docs)
        columns = [shard.columns.docnos for shard in self.snapshot.shards]
        docnos = [columns[s].bytes_at(d) for s, d in zip(shards.tolist(), docs.tolist(), strict=True)]
        ranks = np.empty(len(docs), np.int64)
        ranks[sorted(range(len(docnos)), key=docnos.__getitem__)] = np.arange(len(docnos))
        return ranks
