"""Search engine: the best documents of an index for a query.

An engine searches one snapshot of an index. A query is analysed as the documents were. A document is a candidate if it
has at least one of the query's terms or, if the query asks for more (phrases, AND, fields: see `query/`), if it
matches that. Scores are exact. Equal scores are ordered by docno, descending in byte order, as trec_eval orders them:
the ranking shown is the ranking evaluated.

A search takes these steps:

    parse     the query becomes terms and perhaps a syntax tree      query/query_analyzer.py
    prepare   the scorer, bound to the index, takes the query        scorers/execution/
    score     the compiled kernel leaves out documents that cannot   ranking/pruned_search.py, or
              be among the best, or all that match are scored        query/matching.py
    rank      the best of all shards, by score and docno             ranking/best_documents.py
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from copy import copy
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from searchlab.corpus import Run
from searchlab.errors import StoreError, unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.snapshot_part import SnapshotPart
from searchlab.records import Document
from searchlab.retrieval.expansion import as_expansion
from searchlab.retrieval.fields.matches import Marks, Matches, mark_documents
from searchlab.retrieval.fields.other_fields import find_other_fields
from searchlab.retrieval.fields.sorting import SortOrder, require_order
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.matching import Matcher
from searchlab.retrieval.query.query_analyzer import QueryAnalyzer
from searchlab.retrieval.query.synonyms import Synonyms
from searchlab.retrieval.query.syntax_tree import Node
from searchlab.retrieval.ranking.best_documents import (
    NOTHING_FOUND,
    BestDocuments,
    BestOfShard,
    best_of_shards,
    first_in_order,
)
from searchlab.retrieval.ranking.pruned_search import PrunedSearch
from searchlab.retrieval.results import Contribution, Explanation, Hits, Query
from searchlab.retrieval.search_arguments import Filters, parse_filters, require_k, require_text, warn_of_remarks
from searchlab.scorers.base import Scorer
from searchlab.scorers.execution.bound_scorer import QueryScorer
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.given_scorer import as_scorer
from searchlab.types import Array, Progress, no_progress

if TYPE_CHECKING:
    from searchlab.cluster.cluster import Cluster
    from searchlab.retrieval.document_reading import DocumentReading
    from searchlab.retrieval.expansion import RM3
    from searchlab.retrieval.pipeline import Pipeline

# Indexes that a worker of a cluster keeps open.
MAX_OPEN_ENGINES = 4

T = TypeVar("T")


class SearchEngine:
    """Search over one snapshot of an index.

    `compiled=False` does without the compiled kernels: a search takes some milliseconds more, but the first one need
    not wait half a second for numba. Both ways give the same results. Threads may share an engine.

    In an index of several languages, `language` is the one that queries are in; by default each word of a query is
    searched in all of them. `synonyms` are a file (see `query/synonyms`), groups of words, or a dict of words with
    their synonyms: a word of a query and its synonyms count as one word.
    """

    # Whether other processes search, which may be lost, or take long.
    is_distributed: bool = False
    # How many topics should be under way at the same time: one, or as many as can wait for other processes.
    topics_at_a_time: int = 1

    def __init__(
        self, folder: str | Path, *, compiled: bool = True, language: str | None = None, synonyms: Any = None
    ) -> None:
        rules = Synonyms.given(synonyms)
        self._opening = compiled, language, rules
        self.snapshot = Snapshot(Path(folder), language)
        self.reader = IndexReader(self.snapshot)
        self.compiled = compiled
        self._analyzer = QueryAnalyzer(self.reader, rules)
        self._pruned_search = PrunedSearch(self.reader)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the same state of the index, once for all engines that it is sent."""
        manifest = self.snapshot.manifest
        folder = str(self.snapshot.folder.absolute())
        return _open_again, (folder, manifest.generation, manifest.written, *self._opening)

    def __copy__(self) -> SearchEngine:
        """An engine that shares the open index."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def part(self, shard_numbers: Sequence[int]) -> SearchEngine:
        """An engine over some shards that scores as this one does, by the statistics of all of them.

        It shares the open index; queries must have been parsed by an engine of the whole index.
        """
        part = copy(self)
        part.snapshot = SnapshotPart(self.snapshot, shard_numbers)
        part.reader = IndexReader(part.snapshot, self.reader.statistics)
        part._pruned_search = PrunedSearch(part.reader)
        return part

    @property
    def has_synonyms(self) -> bool:
        """Whether words of queries stand for their synonyms, too."""
        return self._analyzer.has_synonyms

    def without_synonyms(self) -> SearchEngine:
        """An engine that shares the index, and searches for words as they are written."""
        plain = copy(self)
        plain._analyzer = QueryAnalyzer(self.reader)
        plain._opening = (*self._opening[:2], None)
        return plain

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
        with self.snapshot.report_damage():
            return self.snapshot.document(docno)

    def search(
        self,
        query: str | Query,
        k: int | None = 10,
        *,
        scorer: Scorer | str | None = None,
        expansion: RM3 | str | None = None,
        stream: str = "both",
        syntax: str = "plain",
        filters: Filters = (),
        sort: SortOrder | str | None = None,
    ) -> Hits:
        """The k best documents for a query; k=None gives all that match.

        The scorer, BM25 by default, and the expansion, by default none, are values or their names. With `plain` syntax
        a query is only words, with `full` syntax it may have phrases, patterns, operators and fields. Only documents
        that pass all `filters`, given as `Filter`s or written `field=value`, are found. With `sort`, written as
        `year:desc`, the hits are the first of all that match in the order of a field.

        If a text cannot be read as the syntax demands, it is searched as words, with a `QueryWarning`.
        """
        began = time.perf_counter()
        if expansion is not None:
            pipeline = self.retriever(scorer, stream=stream, expansion=expansion)
            return pipeline.search(query, k=k, syntax=syntax, filters=filters, sort=sort)
        scorer = self._check_scorer(scorer, stream)
        require_k(k)
        order_by = None if sort is None else require_order(self.snapshot, sort)
        wanted = self._check_filters(filters)
        with self.snapshot.report_damage():
            parsed = self._read_query(query, stream, syntax)
            limit = len(self) if k is None else min(int(k), len(self))
            if order_by is None:
                best = self.find_best(parsed, limit, scorer, stream, wanted)
            else:
                best = self._first_in_order(order_by, parsed, limit, scorer, stream, wanted)
        seconds = time.perf_counter() - began
        n_found = len(best.docs)
        found_all = n_found < limit or limit == len(self)
        request = parsed, scorer, stream, wanted
        search_fields = partial(find_other_fields, self, *request)
        if found_all:
            mark = partial(mark_documents, self.snapshot, best.shards, best.docs)
            matches = Matches(lambda: n_found, mark, search_fields)
        else:
            n_matches = best.n_matches
            count = partial(self.count_matches, *request) if n_matches is None else partial(int, n_matches)
            matches = Matches(count, partial(self.mark_matches, *request), search_fields)
        if parsed is not query:
            warn_of_remarks(parsed.text, parsed.remarks)
        columns = best.shards, best.docs, best.scores
        return Hits(
            self.snapshot, parsed, *columns, seconds, docnos=best.docnos, compiled=self.compiled, matches=matches
        )

    def _first_in_order(
        self, order: SortOrder, query: Query, limit: int, scorer: Scorer, stream: str, filters: tuple[Filter, ...]
    ) -> BestDocuments:
        """The first of all documents that match, in the order of a field; equal values by score and docno."""
        marks = self.mark_matches(query, scorer, stream, filters)
        score = partial(self.score_documents, query, scorer, stream)
        return first_in_order(self.snapshot, order, marks, limit, score, compiled=self.compiled)

    def score_documents(self, query: Query, scorer: Scorer, stream: str, shards: Array, docs: Array) -> Array:
        """The scores of documents, given by shard and number, those of each shard in ascending order."""
        scoring = self.reader.bind(scorer, stream).prepare(query)
        scores = np.zeros(len(docs))
        for shard_index in range(self.reader.n_shards):
            rows = np.flatnonzero(shards == shard_index)
            scores[rows] = scoring.score(shard_index, docs[rows])
        return scores

    def read_documents(self, reading: DocumentReading[T], shards: Array, docs: Array) -> T:
        """What a reading gives of documents, by shard and number; the engine that has their shards reads them."""
        return reading.read(self, shards, docs)

    def interrupt(self) -> None:
        """End what other processes do for this engine."""

    def search_many(
        self,
        topics: Any,
        *,
        k: int | None = 1000,
        scorer: Scorer | str | None = None,
        expansion: RM3 | str | None = None,
        stream: str = "both",
        syntax: str = "plain",
        filters: Filters = (),
        jobs: int | None = None,
        cluster: Cluster | str | None = None,
        divide: str = "auto",
        progress: Progress = no_progress,
    ) -> Run:
        """The k best documents for each topic; topics are anything that `make_topics` takes.

        `jobs` is the number of threads, by default one a processor, which pays for deep rankings
        (`benchmarks/batch.py`). With a `cluster`, or its address, its workers search, each for some of the topics, or
        each in some of the shards, as `divide` says (see `BasePipeline.run`). The run is the same, to the last bit,
        whatever it is.
        """
        pipeline = self.retriever(scorer, stream=stream, expansion=expansion)
        return pipeline.run(
            topics, k, syntax=syntax, filters=filters, jobs=jobs, cluster=cluster, divide=divide, progress=progress
        )

    def retriever(
        self, scorer: Scorer | str | None = None, *, stream: str = "both", expansion: RM3 | str | None = None
    ) -> Pipeline:
        """A pipeline that searches by a scorer, to compose with others: `engine.retriever("bm25") >> RM3()`."""
        from searchlab.retrieval.pipeline import Pipeline

        return Pipeline(self, as_scorer(scorer), stream, as_expansion(expansion))

    def matching(self, query: Query, scorer: Scorer, stream: str, filters: Filters) -> Iterator[Array]:
        """For each shard, whether each of its documents is live, passes all filters, and matches the query."""
        scoring = self.reader.bind(scorer, stream).prepare(query)
        return self._match_shards(scoring, query, stream, parse_filters(filters))

    def parse(
        self, query: str, scorer: Scorer | str | None = None, stream: str = "both", syntax: str = "plain"
    ) -> Query:
        """The terms of a query, in the order of their first occurrence, and its syntax tree, if it has one.

        A query with a syntax error is read as plain words, with a remark that says why.
        """
        self._check_scorer(scorer, stream)
        with self.snapshot.report_damage():
            return self._read_query(require_text(query), stream, syntax)

    def interpret(self, node: Node, stream: str = "both", *, text: str | None = None) -> Query:
        """The query of a syntax tree, to be searched as any other; `text` is how it was written."""
        with self.snapshot.report_damage():
            return self._analyzer.interpret(node, stream, text)

    def explain(
        self,
        query: str | Query,
        docno: str,
        *,
        scorer: Scorer | str | None = None,
        stream: str = "both",
        syntax: str = "plain",
    ) -> Explanation:
        """What each term of the query adds to the score of a document."""
        scorer = self._check_scorer(scorer, stream)
        with self.snapshot.report_damage():
            parsed = self._read_query(query, stream, syntax)
            shard_index, doc = self.snapshot.locate(docno)
            terms = self.reader.bind(scorer, stream).prepare(parsed).explain(shard_index, doc)
            # The sort is stable: equal contributions stay in the order of the query.
            largest_first = sorted(terms, key=lambda term: -abs(term.weight))
            parts = [Contribution(term.term, term.weight, term.tf, term.query_count) for term in largest_first]
            return Explanation(docno, float(sum(term.weight for term in terms)), tuple(parts))

    def _read_query(self, query: str | Query, stream: str, syntax: str) -> Query:
        return query if isinstance(query, Query) else self._analyzer.parse(require_text(query), stream, syntax)

    def _check_scorer(self, scorer: Scorer | str | None, stream: str) -> Scorer:
        """The scorer, or the default one; raises SettingError if it is none, or cannot search the stream."""
        chosen = as_scorer(scorer)
        self.snapshot.require_stream(stream)
        chosen.check_stream(stream)
        return chosen

    def _check_filters(self, filters: Filters) -> tuple[Filter, ...]:
        parsed = parse_filters(filters)
        if parsed:
            known = self._analyzer.fields - {"title", "body"}
            for each in parsed:
                if each.field not in known:
                    raise unknown_name("field", each.field, known)
        return parsed

    def find_best(
        self, query: Query, limit: int, scorer: Scorer, stream: str, filters: tuple[Filter, ...]
    ) -> BestDocuments:
        """The best documents, at most `limit`."""
        scoring = self.reader.bind(scorer, stream).prepare(query)
        # Without documents there is nothing to find; a parsed query can have terms nevertheless, from another index.
        if limit == 0 or _asks_for_nothing(query, scoring):
            return NOTHING_FOUND
        plan = scoring.plan(limit) if self.compiled and not filters else None
        if plan is not None:
            return self._pruned_search.find_best(plan, limit)
        matching = self._score_matching(scoring, query, limit, stream, filters)
        return best_of_shards(self.snapshot, matching, limit, compiled=self.compiled)

    def _score_matching(
        self, scoring: QueryScorer, query: Query, limit: int, stream: str, filters: tuple[Filter, ...]
    ) -> Iterator[BestOfShard]:
        """The best of each shard's matching documents, by NumPy."""
        for shard_index, found in enumerate(self._match_shards(scoring, query, stream, filters)):
            docs = np.flatnonzero(found)
            yield BestOfShard.of(docs, scoring.score(shard_index, docs), limit)

    def _match_shards(
        self, scoring: QueryScorer, query: Query, stream: str, filters: tuple[Filter, ...]
    ) -> Iterator[Array]:
        for shard_index in range(self.reader.n_shards):
            matcher = Matcher(self.reader, self._analyzer, shard_index, stream)
            further = scoring.further_documents(shard_index)
            yield matcher.candidates(query, filters, further, every_document=scoring.scores_every_document)

    def mark_matches(self, query: Query, scorer: Scorer, stream: str, filters: tuple[Filter, ...]) -> Marks:
        """The documents that match a query and pass all filters."""
        with self.snapshot.report_damage():
            scoring = self.reader.bind(scorer, stream).prepare(query)
            if _asks_for_nothing(query, scoring):
                return [np.zeros(shard.columns.n_docs, bool) for shard in self.snapshot.shards]
            return list(self._match_shards(scoring, query, stream, filters))

    def count_matches(self, query: Query, scorer: Scorer, stream: str, filters: tuple[Filter, ...]) -> int:
        """The number of documents that match a query and pass all filters."""
        with self.snapshot.report_damage():
            scoring = self.reader.bind(scorer, stream).prepare(query)
            if _asks_for_nothing(query, scoring):
                return 0
            if query.node is None and len(query.terms) == 1 and not (filters or scoring.has_further_units):
                return len(self) if scoring.scores_every_document else query.terms[0].stats.doc_freq
            return sum(int(np.count_nonzero(found)) for found in self._match_shards(scoring, query, stream, filters))


@lru_cache(MAX_OPEN_ENGINES)
def _open_again(
    folder: str, generation: int, written: str, compiled: bool, language: str | None, synonyms: Synonyms | None
) -> SearchEngine:
    """The engine over an index that another process has open; the index must not have changed since."""
    engine = SearchEngine(folder, compiled=compiled, language=language, synonyms=synonyms)
    manifest = engine.snapshot.manifest
    if (manifest.generation, manifest.written) != (generation, written):
        engine.close()
        raise StoreError(f"{folder}: the index was changed while it was searched by several processes; try again")
    return engine


def _asks_for_nothing(query: Query, scoring: QueryScorer) -> bool:
    """Whether a query has neither a syntax tree nor anything that scores: it finds nothing."""
    return query.node is None and not query.terms and not scoring.has_further_units
