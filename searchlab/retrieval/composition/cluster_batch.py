"""Many topics on a cluster, of which the topics or the shards are divided among the workers.

By topics: each task searches the whole index for some of them, with a pipeline as on one machine. Workers open the
index that the pipeline searches, and keep it open. By shards: the client goes through the steps of the pipeline, for
many topics at a time, and each worker searches some of the shards (see `distributed/`). Either way every statistic is
that of the whole index, and a topic's ranking is the same, to the last bit, wherever it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.records import Topic
from searchlab.retrieval.composition.topic_batch import STAGE, search_numbered
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.results import Query
from searchlab.types import Array, Floats, Progress

if TYPE_CHECKING:
    from searchlab.retrieval.composition.base_pipeline import BasePipeline

# Tasks for each worker: enough that all end at about the same time, few enough that starting them takes no time.
TASKS_PER_WORKER = 6
# Fewer topics are searched in less time than a task takes to start.
MIN_TOPICS_PER_TASK = 8

FoundTopic = tuple[Query, list[str], Floats]
T = TypeVar("T")


class FoundTopics(NamedTuple):
    """What a task found: for each topic the number of its documents, docnos as lines, and their scores."""

    remarks: tuple[tuple[str, ...], ...]
    counts: Array
    docnos: bytes
    scores: Floats


def search_topics(
    pipeline: BasePipeline, topics: Sequence[Topic], k: int | None, syntax: str, filters: tuple[Filter, ...]
) -> FoundTopics:
    """Search for topics, in a worker; no string is made of a docno before it is at the client."""
    found = [pipeline.topic_hits(topic, k, syntax, filters) for topic in topics]
    shards, docs, scores = (
        np.concatenate([empty, *(getattr(hits, name) for hits in found)])
        for name, empty in (("shards", np.zeros(0, np.int64)), ("docs", np.zeros(0, np.int64)), ("scores", np.zeros(0)))
    )
    lines = pipeline.engine.snapshot.docno_lines(shards, docs)
    return FoundTopics(
        tuple(hits.query.remarks for hits in found), np.array([len(hits) for hits in found]), lines, scores
    )


def search_on_cluster(
    cluster: Cluster,
    pipeline: BasePipeline,
    topics: Sequence[Topic],
    k: int | None,
    syntax: str,
    filters: tuple[Filter, ...],
    divide: str,
    progress: Progress,
) -> list[FoundTopic]:
    """The query, docnos and scores of each topic, in their order."""
    from searchlab.retrieval.distributed.distributed_engine import divide_shards_of

    with cluster, divide_shards_of(pipeline.engine, cluster, divide) as engine:
        # Over the same engine, too: other processes must find what this one has found of the index.
        pipeline = pipeline.over(engine)
        if engine.is_distributed:

            def search(number: int) -> FoundTopic:
                return pipeline.search_topic(topics[number], k, syntax, filters)

            jobs = engine.topics_at_a_time
            return search_numbered(search, len(topics), jobs=jobs, progress=progress, stop=engine.interrupt)
        parts = split_evenly(topics, len(cluster.workers))
        calls = [(pipeline, part, k, syntax, filters) for part in parts]
        progress(STAGE, 0, len(topics))
        found: dict[int, list[FoundTopic]] = {}
        # Unpacked as they come, while the workers search for the others.
        for number, answer in cluster.finish(search_topics, calls):
            found[number] = _unpack(parts[number], answer)
            progress(STAGE, sum(map(len, found.values())), len(topics))
    return [each for number in range(len(parts)) for each in found[number]]


def split_evenly(topics: Sequence[T], n_workers: int) -> list[Sequence[T]]:
    """Topics as the tasks of a cluster: parts of nearly equal size, in the order of the topics."""
    most = -(-len(topics) // MIN_TOPICS_PER_TASK)
    bounds = np.linspace(0, len(topics), min(TASKS_PER_WORKER * max(n_workers, 1), most) + 1).astype(int).tolist()
    return [topics[start:end] for start, end in pairwise(bounds)]


def _unpack(topics: Sequence[Topic], answer: FoundTopics) -> list[FoundTopic]:
    docnos = answer.docnos.decode().split("\n")
    offsets = np.cumsum([0, *answer.counts]).tolist()
    return [
        (Query(topic.text, (), (), remarks=remarks), docnos[start:end], answer.scores[start:end])
        for topic, remarks, (start, end) in zip(topics, answer.remarks, pairwise(offsets), strict=True)
    ]
