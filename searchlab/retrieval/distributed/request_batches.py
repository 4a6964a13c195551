"""Requests to the workers of a cluster, sent together: those of many threads travel in one task for each worker.

A task takes some milliseconds on its way, whatever it does. While one batch is on its way, the requests that are made
meanwhile gather for the next. Dask runs a task again whose worker is lost, on another one, but not on one that comes
when there was none: such tasks are sent again. A request is answered by all shards, or it is an error.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from searchlab.cluster.cluster import Cluster
from searchlab.errors import ClusterError, ClusterTimeout, SearchlabError
from searchlab.retrieval.distributed.shard_division import ShardGroup, column_bytes, divide_shards
from searchlab.retrieval.distributed.shard_requests import ShardRequest, answer_requests
from searchlab.retrieval.engine import SearchEngine

# Batches on their way at the same time: workers have the next one while answers of the last are unpacked.
MAX_BATCHES = 3
# Requests of a batch: its answers are in memory all at once.
MAX_REQUESTS = 64
# How long the list of workers is used before it is asked for again.
WORKERS_SECONDS = 1.0
# How long tasks may take before they are sent again, to workers that are there then; doubled each time.
PATIENCE_SECONDS = 5.0

Requests = Mapping[ShardGroup, ShardRequest]


class RequestBatches:
    """Sends requests about the shards of an index to workers; `seconds` is the time in which they must answer.

    While a batch is on its way, requests wait until there are `enough` for another one.
    """

    def __init__(self, cluster: Cluster, engine: SearchEngine, seconds: float | None = None, enough: int = 1) -> None:
        self._cluster = cluster
        self._engine = engine
        self._sizes = column_bytes(engine.snapshot)
        self._seconds = seconds
        self._enough = enough
        self._n_on_their_way = 0
        self._waiting: deque[tuple[Requests, Future[list[Any]]]] = deque()
        self._senders = ThreadPoolExecutor(MAX_BATCHES, thread_name_prefix="searchlab-requests")
        self._lock = threading.Lock()  # of the list of workers
        self._queue_lock = threading.Lock()
        self._workers: tuple[str, ...] = ()
        self._workers_until = 0.0
        self._groups: tuple[ShardGroup, ...] = ()
        self._n_whole = 0

    def close(self) -> None:
        """Accept no more requests; those that are on their way are answered, those that wait are not."""
        self._senders.shutdown(wait=False, cancel_futures=True)
        with self._queue_lock:
            while self._waiting:
                self._waiting.popleft()[1].set_exception(ClusterError("the search was ended"))

    def cancel(self) -> None:
        """Cancel what is on its way; who waits for it gets a ClusterError."""
        self._cluster.cancel()

    @property
    def groups(self) -> tuple[ShardGroup, ...]:
        """The shards of each worker, by the workers that are there now."""
        with self._lock:
            before = self._workers
            # Without any worker, the requests wait for one to come.
            if (workers := self._find_workers()) and (workers != before or not self._groups):
                self._groups = divide_shards(self._sizes, workers)
            if not self._groups:
                raise ClusterError(f"cluster {self._cluster.address.text} has no worker")
            return self._groups

    def _find_workers(self) -> tuple[str, ...]:
        """The workers that are there, or were a moment ago."""
        if time.monotonic() >= self._workers_until:
            try:
                self._workers = self._cluster.workers
            except ClusterError:
                self._cluster.reconnect()  # for the requests to come
                raise
            self._workers_until = time.monotonic() + WORKERS_SECONDS
        return self._workers

    @property
    def whole(self) -> ShardGroup:
        """All shards, and one of the workers, in turn."""
        groups = self.groups
        self._n_whole += 1
        return ShardGroup(groups[self._n_whole % len(groups)].worker, tuple(range(len(self._sizes))))

    def ask(self, requests: Requests) -> list[Any]:
        """The answer of each group of shards to its request."""
        answers: Future[list[Any]] = Future()
        with self._queue_lock:
            self._waiting.append((requests, answers))
        try:
            self._senders.submit(self._send_waiting)
        except RuntimeError:
            raise ClusterError("the search was ended") from None
        try:
            found = answers.result(self._seconds)
        except TimeoutError:
            address = self._cluster.address.text
            raise ClusterTimeout(f"cluster {address}: workers have not answered within {self._seconds:g} s") from None
        for answer in found:
            if isinstance(answer, SearchlabError):
                raise answer
        return found

    def _send_waiting(self) -> None:
        """Send the requests that wait, if they are enough for a batch, and give out the answers."""
        while batch := self._take_batch():
            try:
                answers = self._send([requests for requests, _ in batch])
            except BaseException as error:
                for _, future in batch:
                    future.set_exception(error)
            else:
                for (_, future), found in zip(batch, answers, strict=True):
                    future.set_result(found)
            finally:
                with self._queue_lock:
                    self._n_on_their_way -= 1

    def _take_batch(self) -> list[tuple[Requests, Future[list[Any]]]]:
        """The next batch, which is on its way from now; empty if other threads have sent all, or more are to come."""
        with self._queue_lock:
            if not self._waiting or (self._n_on_their_way and len(self._waiting) < self._enough):
                return []
            self._n_on_their_way += 1
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_REQUESTS))]

    def _send(self, batch: list[Requests]) -> list[list[Any]]:
        """The answers to each of several requests, in one task for each group of shards."""
        places: dict[ShardGroup, list[tuple[int, int]]] = {}
        for number, requests in enumerate(batch):
            for place, group in enumerate(requests):
                places.setdefault(group, []).append((number, place))
        calls = [
            (self._engine, group.shards, [batch[number][group] for number, _ in asked])
            for group, asked in places.items()
        ]
        answers: list[list[Any]] = [[None] * len(requests) for requests in batch]
        found = self._run(calls, [group.worker for group in places])
        for asked, of_group in zip(places.values(), found, strict=True):
            for (number, place), answer in zip(asked, of_group, strict=True):
                answers[number][place] = answer
        return answers

    def _run(self, calls: list[tuple[Any, ...]], workers: list[str]) -> list[list[Any]]:
        """The results of tasks, which are sent again if they take long."""
        deadline = time.monotonic() + (math.inf if self._seconds is None else self._seconds)
        patience = PATIENCE_SECONDS
        while True:
            with self._lock:
                there = self._find_workers()
            preferred = [worker if worker in there else None for worker in workers]
            left = deadline - time.monotonic()
            if left <= 0:  # the requests have waited for others
                raise ClusterTimeout(f"cluster {self._cluster.address.text}: no worker was free in time")
            try:
                return self._cluster.run(answer_requests, calls, workers=preferred, seconds=min(patience, left))
            except ClusterTimeout:
                if patience >= left:
                    raise
                patience *= 2
