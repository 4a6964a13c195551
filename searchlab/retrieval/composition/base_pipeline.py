"""What all pipelines have in common: searching, running topics, explaining, and the operators that compose them.

    a >> step     the step, such as RM3 or re-ranking, on what `a` finds
    a % k         the k best of `a`
    0.7 * a + b   the weighted sum of scores
    a | b         reciprocal rank fusion

A search computes each part when it is first needed, and keeps the result; hits keep the search that they come from. So
explaining hits, or asking for more of them, repeats nothing. Parts of a pipeline that search alike share a search.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from searchlab.errors import SettingError, TrainingTopicsWarning, not_an_object, warn_caller
from searchlab.records import Topic
from searchlab.retrieval.composition.steps import Step, require_cutoff
from searchlab.retrieval.fields.matches import Marks, Matches
from searchlab.retrieval.fields.sorting import SortOrder, require_order
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.results import Explanation, Hits, Query
from searchlab.retrieval.search_arguments import Filters, parse_filters, require_k, warn_of_remarks
from searchlab.types import Array, Progress, no_progress

if TYPE_CHECKING:
    from searchlab.cluster.cluster import Cluster
    from searchlab.corpus import Run
    from searchlab.corpus.trec.packed_docnos import PackedDocnos
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.expansion import RM3
    from searchlab.retrieval.pipeline import PipelineSearch

# How many documents a sum or a fusion takes from each part that has no cut-off of its own.
COMBINED_DEPTH = 1000

T = TypeVar("T")


class BasePipeline(ABC):
    """What ranks the documents of an index for a query. Pipelines are values: operators give new ones."""

    engine: SearchEngine

    @property
    @abstractmethod
    def label(self) -> str:
        """The pipeline in a few words, as it could be written."""

    @property
    def depth(self) -> int | None:
        """How many documents a sum or a fusion takes from this pipeline; None for all that it finds."""
        return COMBINED_DEPTH

    @abstractmethod
    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first search understands it; a query that is parsed already stays as it is."""

    @abstractmethod
    def begin(self, request: SearchRequest) -> BaseSearch:
        """A search that has computed nothing yet."""

    @abstractmethod
    def over(self, engine: SearchEngine) -> BasePipeline:
        """The same pipeline over another engine of the same index."""

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of those topics that a model of this pipeline was trained on, as far as its file records."""
        return set()

    def __repr__(self) -> str:
        return f"<Pipeline on {self.engine.snapshot.folder}: {self.label}>"

    def start(self, query: str | Query | PipelineHits, *, syntax: str = "plain", filters: Filters = ()) -> BaseSearch:
        """A search that has computed nothing yet; for hits of this pipeline, the search that they come from.

        Hits bring their query and filters along: `syntax` and `filters` are for other queries.
        """
        if isinstance(query, PipelineHits):
            earlier = query.search
            if earlier.pipeline is self:
                return earlier
            return self.begin(SearchRequest(earlier.query, syntax, earlier.filters, earlier.qid))
        return self.begin(SearchRequest(query, syntax, filters))

    def search(
        self,
        query: str | Query | PipelineHits,
        k: int | None = 10,
        *,
        syntax: str = "plain",
        filters: Filters = (),
        sort: SortOrder | str | None = None,
    ) -> PipelineHits:
        """The k best documents, all that are found if k is None; given hits, their search goes on to this depth.

        With `sort`, written as `year:desc`, the hits are the first of all that are found in the order of a field.
        """
        began = time.perf_counter()
        require_k(k)
        search = self.start(query, syntax=syntax, filters=filters)
        if isinstance(query, str):
            warn_of_remarks(search.query.text, search.query.remarks)
        return search.hits(k, began=began) if sort is None else search.sorted_hits(k, sort, began=began)

    def run(
        self,
        topics: Any,
        k: int | None = 1000,
        *,
        syntax: str = "plain",
        filters: Filters = (),
        jobs: int | None = 1,
        cluster: Cluster | str | None = None,
        divide: str = "auto",
        progress: Progress = no_progress,
    ) -> Run:
        """The k best documents for each topic; topics are anything that `make_topics` takes.

        `jobs` is the number of threads, None for one a processor: whether several are faster depends on the index and
        the machine (`benchmarks/batch.py` measures it). With a `cluster`, or its address, its workers search: `divide`
        is "topics", if each worker is to search the whole index for some of the topics, "shards", if each is to search
        some shards for all of them, or "auto", which divides the shards of an index that is too large for a worker.
        The run is the same, to the last bit, whatever it is.

        A model that was trained on some of the topics ranks these too well: a `TrainingTopicsWarning` says so.
        """
        # Loaded here, since a single search needs none of them.
        from searchlab.corpus.values.conversion import make_topics
        from searchlab.retrieval.composition.topic_batch import (
            FoundTopics,
            choose_jobs,
            make_pipeline_run,
            search_numbered,
        )

        require_k(k)
        n_jobs = choose_jobs(jobs)
        listed, wanted = make_topics(topics), parse_filters(filters)
        if known := self.learnt_from(listed):
            found_known = f"the model was trained on {len(known)} of these {len(listed)} topics"
            warn_caller(f"{found_known}: its cross-validation shows how well it ranks others", TrainingTopicsWarning)

        if cluster is None:

            def search_topic(number: int) -> FoundTopics:
                return FoundTopics.of(self.topic_hits(listed[number], k, syntax, wanted))

            found = search_numbered(
                search_topic,
                len(listed),
                jobs=max(n_jobs, self.engine.topics_at_a_time),
                progress=progress,
                stop=self.engine.interrupt,
            )
        else:
            from searchlab.cluster.cluster import as_cluster
            from searchlab.retrieval.composition.cluster_batch import search_on_cluster

            found = search_on_cluster(as_cluster(cluster), self, listed, k, syntax, wanted, divide, progress)
        for topic, remarks in zip(listed, chain.from_iterable(part.remarks for part in found), strict=True):
            warn_of_remarks(topic.text, remarks)
        return make_pipeline_run([topic.qid for topic in listed], found, name="".join(self.label.split()))

    def topic_hits(self, topic: Topic, k: int | None, syntax: str, filters: tuple[Filter, ...]) -> PipelineHits:
        """The k best documents of a topic."""
        return self.begin(SearchRequest(topic.text, syntax, filters, topic.qid)).hits(k)

    def explain(
        self,
        query: str | Query | PipelineHits,
        docnos: str | Sequence[str] | None = None,
        *,
        syntax: str = "plain",
        filters: Filters = (),
    ) -> list[Explanation]:
        """Why documents have their scores: one docno, several, or, given hits and no docnos, all hits.

        Hits of an earlier search are explained without searching again.
        """
        if docnos is None and isinstance(query, PipelineHits):
            docnos = query.docnos
        listed = [docnos] if isinstance(docnos, str) else docnos
        if not isinstance(listed, Sequence) or not all(isinstance(docno, str) for docno in listed):
            raise SettingError(f"docnos is {docnos!r}, expected a docno, a list of docnos, or hits as the query")
        return self.start(query, syntax=syntax, filters=filters).explain(listed)

    def expanded_by(self, expansion: RM3) -> BasePipeline:
        """This pipeline with a query expansion; only a retriever without one can have it."""
        raise SettingError(f"{expansion.label} follows {self.label}, expected a retriever without expansion before it")

    # Operators.

    def __rshift__(self, step: Step | str) -> BasePipeline:
        if isinstance(step, type) and issubclass(step, Step):
            raise not_an_object(f"what follows {self.label}", step)
        if isinstance(step, str):
            from searchlab.retrieval.expansion import make_expansion

            step = make_expansion(step)
        if not isinstance(step, Step):
            found = step.label if isinstance(step, BasePipeline) else repr(step)
            raise SettingError(
                f"{found} follows {self.label}, expected a step, such as RM3(), which searches again by itself, "
                "or rerank(model)"
            )
        return step.follow(self)

    def __rrshift__(self, first: object) -> NoReturn:
        raise SettingError(f"{first!r} comes before {self.label}: a pipeline begins with what searches")

    def __mod__(self, k: int) -> BasePipeline:
        from searchlab.retrieval.composition.combinations import Cutoff

        require_cutoff(k)
        return Cutoff(self, k)

    def __mul__(self, weight: float) -> BasePipeline:
        from searchlab.retrieval.composition.combinations import ScoreSum, require_weight

        require_weight(weight)
        return ScoreSum(tuple((weight * own, part) for own, part in self.summands))

    __rmul__ = __mul__

    def __add__(self, other: BasePipeline) -> BasePipeline:
        from searchlab.retrieval.composition.combinations import ScoreSum

        return ScoreSum(self.summands + _require_pipeline(other, "+").summands)

    def __radd__(self, other: object) -> BasePipeline:
        if type(other) is int and other == 0:  # where Python's sum() begins
            return self
        raise _not_a_pipeline(other, "+")

    def __or__(self, other: BasePipeline) -> BasePipeline:
        from searchlab.retrieval.composition.combinations import Fusion

        return Fusion((*self.fused, *_require_pipeline(other, "|").fused))

    def __ror__(self, other: object) -> NoReturn:
        raise _not_a_pipeline(other, "|")

    @property
    def summands(self) -> tuple[tuple[float, BasePipeline], ...]:
        """The weighted parts that a sum takes from this pipeline: itself, or the parts of a sum."""
        return ((1.0, self),)

    @property
    def fused(self) -> tuple[BasePipeline, ...]:
        """The parts that a reciprocal rank fusion takes from this pipeline: itself, or the parts of such a fusion."""
        return (self,)


class SearchRequest:
    """A query with its filters, for all parts of a pipeline: what two of them search alike is shared.

    `qid` is that of the topic whose text the query is, None for a query that is no topic.
    """

    def __init__(self, query: str | Query, syntax: str, filters: Filters, qid: str | None = None) -> None:
        self.query = query
        self.syntax = syntax
        self.filters = parse_filters(filters)
        self.qid = qid
        self._shared: dict[Hashable, Any] = {}

    def search_of(self, pipeline: BasePipeline) -> BaseSearch:
        """The search of a part, which is begun once."""
        return self.share(pipeline, lambda: pipeline.begin(self))

    def share(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is made when it is first asked for by this key."""
        if key not in self._shared:
            self._shared[key] = make()
        found: T = self._shared[key]
        return found


class BaseSearch(ABC):
    """One query in a pipeline: each part is computed once, when it is first needed.

    `qid` is that of the topic whose text the query is; None if it is no topic, or for a sum or a fusion.
    """

    def __init__(self, pipeline: BasePipeline, query: Query, filters: Filters = (), qid: str | None = None) -> None:
        self.pipeline = pipeline
        self.query = query
        self.filters = parse_filters(filters)
        self.qid = qid

    @property
    def expanded_query(self) -> Query:
        """The query after expansion; the query itself if there is none."""
        return self.query

    @property
    @abstractmethod
    def retrieval(self) -> PipelineSearch:
        """The search of a retriever that this one begins with."""

    @abstractmethod
    def hits(self, k: int | None, *, began: float | None = None) -> PipelineHits:
        """The k best documents; `began` is when the clock of `Hits.seconds` started."""

    def sorted_hits(self, k: int | None, sort: SortOrder | str, *, began: float | None = None) -> PipelineHits:
        """The first k of all documents that are found, in the order of a field."""
        began = time.perf_counter() if began is None else began
        require_k(k)
        order = require_order(self.pipeline.engine.snapshot, sort)
        hits = self.hits(None).sorted_by(order).take(slice(k))
        hits.seconds = time.perf_counter() - began
        return hits

    @abstractmethod
    def explain(self, docnos: Sequence[str]) -> list[Explanation]:
        """Why documents have their scores (see `BasePipeline.explain`)."""

    @abstractmethod
    def finds(self, docno: str) -> bool:
        """Whether a document is among the hits, at whatever rank."""


class PipelineHits(Hits):
    """Hits of a pipeline, with the `search` that they come from."""

    def __init__(
        self,
        search: BaseSearch,
        query: Query,
        shards: Array,
        docs: Array,
        scores: Array,
        seconds: float,
        matches: Matches | None = None,
        docnos: PackedDocnos | list[str] | None = None,
    ) -> None:
        engine = search.pipeline.engine
        columns = shards, docs, scores
        super().__init__(
            engine.snapshot, query, *columns, seconds, docnos=docnos, compiled=engine.compiled, matches=matches
        )
        self.search = search

    def without(self, docno: str) -> PipelineHits:
        """The other hits, if a document is among them; `n_matches` counts the others, too."""
        rows = np.array([row for row, found in enumerate(self.docnos) if found != docno], np.int64)
        matches = Matches(
            partial(self._count_others, docno), partial(self._mark_others, docno), self._matches.search_fields
        )
        return self._with(self.query, rows, matches)

    def _count_others(self, docno: str) -> int:
        return self.n_matches - self.search.finds(docno)

    def _mark_others(self, docno: str) -> Marks:
        marks = [marked.copy() for marked in self.matching]
        for shard, marked in zip(self._snapshot.shards, marks, strict=True):
            marked[[number for number in [shard.columns.docnos.find(docno)] if number >= 0]] = False
        return marks

    def with_expanded_query(self) -> PipelineHits:
        """The same hits, with the terms of the expanded query marked in titles and snippets."""
        return self._with(self.search.expanded_query, slice(None), self._same_matches)


def _require_pipeline(value: BasePipeline, operator: str) -> BasePipeline:
    if not isinstance(value, BasePipeline):
        raise _not_a_pipeline(value, operator)
    return value


def _not_a_pipeline(value: object, operator: str) -> SettingError:
    found = value.label if isinstance(value, Step) else repr(value)
    return SettingError(f"found {found} on one side of {operator}, expected a pipeline")
