"""Thread pools that answer requests, so that the event loop stays free.

Work that is known to be brief (`durations.py`) runs in the event loop; all other work runs in a few threads, with a
bounded queue. Longer work has other pools, so that a search never waits for it: `heavy` for work of about a
second (several searches, a query with patterns or very many words), `slow` for work of up to a minute. Writes have a
pool, too: they wait for each other and for other processes. Work that takes too long is abandoned: its thread finishes,
the result is dropped.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from searchlab.web.http_errors import HttpError
from searchlab.web.jobs.durations import RecentDurations
from searchlab.web.limits import Limits

QUICK, WRITE, HEAVY, SLOW = "quick", "write", "heavy", "slow"
# Longer queries, in characters, are heavy.
MAX_QUICK_QUERY_LENGTH = 300
# A word with a wildcard or an edit distance.
_PATTERN = re.compile(r"[^\s*?~]*[*?~][^\s]*")

T = TypeVar("T")


def count_patterns(query: str) -> int:
    """The number of words of a query that may have to be compared with every word of the index."""
    return len(_PATTERN.findall(query))


def choose_pool(values: Mapping[str, Any], *, writes: bool = False, heavy: bool = False, slow: bool = False) -> str:
    """The pool for a request, by its route and its query."""
    if slow or writes:
        return SLOW if slow else WRITE
    query = values.get("q") or ""
    return HEAVY if heavy or len(query) > MAX_QUICK_QUERY_LENGTH or count_patterns(query) else QUICK


class BoundedThreadPool:
    """Threads, and a bound on the number of requests that wait for them."""

    def __init__(self, name: str, n_threads: int, max_waiting: int, seconds: float) -> None:
        self._executor = ThreadPoolExecutor(n_threads, thread_name_prefix=f"searchlab-{name}")
        # Abandoned work cannot be interrupted: it keeps its slot until it ends.
        self._free_slots = threading.Semaphore(n_threads + max_waiting)
        self._seconds = seconds

    async def run(self, work: Callable[[], T]) -> T:
        """The result of the work; HTTP error 503 if the pool is full or the work takes too long."""
        if not self._free_slots.acquire(blocking=False):
            raise HttpError(503, "too many requests at once; try again in a moment")
        try:
            submitted = self._executor.submit(work)
        except RuntimeError:  # the pool is closed
            self._free_slots.release()
            raise HttpError(503, "the server is shutting down") from None
        submitted.add_done_callback(lambda done: self._free_slots.release())
        future = asyncio.wrap_future(submitted)
        future.add_done_callback(_retrieve_exception)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except TimeoutError:
            future.cancel()
            raise HttpError(503, f"the request took longer than {self._seconds:g} seconds and was abandoned") from None

    def close(self) -> None:
        """Accept no more work; work that has begun is finished."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _retrieve_exception(future: asyncio.Future[Any]) -> None:
    """Retrieve the exception of abandoned work, so that asyncio does not log it as never retrieved."""
    if not future.cancelled():
        _ = future.exception()


class ThreadPools:
    """One pool for each class of work."""

    def __init__(self, limits: Limits) -> None:
        self._durations = RecentDurations()
        self._pools = {
            QUICK: BoundedThreadPool(QUICK, limits.quick_threads, limits.quick_waiting, limits.quick_seconds),
            WRITE: BoundedThreadPool(WRITE, limits.write_threads, limits.quick_waiting, limits.quick_seconds),
            HEAVY: BoundedThreadPool(HEAVY, limits.heavy_threads, limits.heavy_waiting, limits.quick_seconds),
            SLOW: BoundedThreadPool(SLOW, limits.slow_threads, limits.slow_waiting, limits.slow_seconds),
        }

    async def run(self, work: Callable[[], T], pool: str = QUICK, kind: Hashable = None) -> T:
        """Run work in its pool; quick work of a `kind` that is known to be brief runs in the event loop."""
        if kind is None or pool != QUICK:
            return await self._pools[pool].run(work)
        if self._durations.is_brief(kind):
            return self._durations.run_inline(kind, work)
        return await self._pools[pool].run(lambda: self._durations.run_in_thread(kind, work))

    def close(self) -> None:
        """Accept no more work."""
        for pool in self._pools.values():
            pool.close()
