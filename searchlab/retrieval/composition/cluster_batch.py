"""Many topics on a cluster, of which the topics or the shards are divided among the workers.

By topics: each task searches the whole index for some of them, with a pipeline as on one machine. Workers open the
index that the pipeline searches, and keep it open. By shards: the client goes through the steps of the pipeline, for
many topics at a time, and each worker searches some of the shards (see `distributed/`). Either way every statistic is
that of the whole index, and a topic's ranking is the same, to the last bit, wherever it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.records import Topic
from searchlab.retrieval.composition.topic_batch import STAGE, FoundTopics, search_numbered
from searchlab.retrieval.query.filters import Filter
from searchlab.types import Progress

if TYPE_CHECKING:
    from searchlab.retrieval.composition.base_pipeline import BasePipeline

# The topics of the smallest tasks, as a share of the topics of a worker: so long may one wait for the others.
SMALLEST_SHARE = 1 / 16
# Fewer topics are searched in less time than a task takes to start.
MIN_TOPICS_PER_TASK = 8

T = TypeVar("T")
R = TypeVar("R")


def search_topics(
    pipeline: BasePipeline, topics: Sequence[Topic], k: int | None, syntax: str, filters: tuple[Filter, ...]
) -> FoundTopics:
    """Search for some topics, in a worker."""
    found = [pipeline.topic_hits(topic, k, syntax, filters) for topic in topics]
    shards, docs, scores = (
        np.concatenate([getattr(hits, name) for hits in found]) for name in ("shards", "docs", "scores")
    )
    snapshot = pipeline.engine.snapshot
    docnos = snapshot.packed_docnos(shards, docs) or snapshot.docnos_of(shards, docs)
    return FoundTopics(
        tuple(hits.query.remarks for hits in found), np.array([len(hits) for hits in found]), docnos, scores
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
) -> list[FoundTopics]:
    """What is found for all topics, in their order."""
    from searchlab.retrieval.distributed.distributed_engine import divide_shards_of

    with cluster, divide_shards_of(pipeline.engine, cluster, divide) as engine:
        # Over the same engine, too: other processes must find what this one has found of the index.
        pipeline = pipeline.over(engine)
        if engine.is_distributed:

            def search(number: int) -> FoundTopics:
                return FoundTopics.of(pipeline.topic_hits(topics[number], k, syntax, filters))

            jobs = engine.topics_at_a_time
            return search_numbered(search, len(topics), jobs=jobs, progress=progress, stop=engine.interrupt)
        return run_on_parts(
            cluster, search_topics, topics, lambda part: (pipeline, part, k, syntax, filters), STAGE, progress
        )


def run_on_parts(
    cluster: Cluster,
    function: Callable[..., R],
    topics: Sequence[T],
    call: Callable[[Sequence[T]], tuple[Any, ...]],
    stage: str,
    progress: Progress,
) -> list[R]:
    """The results of a function for parts of the topics, in their order; `call` gives its arguments for a part.

    Progress counts topics, since parts differ in size.
    """
    parts = divide_topics(topics, len(cluster.workers))
    progress(stage, 0, len(topics))
    found: dict[int, R] = {}
    n_done = 0
    for number, result in cluster.finish(function, [call(part) for part in parts]):
        found[number] = result
        n_done += len(parts[number])
        progress(stage, n_done, len(topics))
    return [found[number] for number in range(len(parts))]


def divide_topics(topics: Sequence[T], n_workers: int) -> list[Sequence[T]]:
    """Topics as the tasks of a cluster, in their order: each round gives each worker a task, together half of the rest.

    So tasks are few, and the last ones, for which the other workers wait, are short. Hummel, Schonberg and Flynn,
    Factoring: a method for scheduling parallel loops, CACM 1992.
    """
    smallest = max(MIN_TOPICS_PER_TASK, len(topics) * SMALLEST_SHARE / max(n_workers, 1))
    parts: list[Sequence[T]] = []
    rest = topics
    while len(rest):
        size = len(rest) / (2 * max(n_workers, 1))
        is_last = size < smallest
        n_parts = min(max(n_workers, 1), -(-len(rest) // MIN_TOPICS_PER_TASK))
        n_topics = len(rest) if is_last else round(size * n_parts)
        bounds = np.linspace(0, n_topics, n_parts + 1).astype(int).tolist()
        parts += [rest[start:end] for start, end in pairwise(bounds)]
        rest = rest[n_topics:]
    return parts
