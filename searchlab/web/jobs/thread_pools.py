"""Who does the work, so that the server goes on listening?

Requests are answered at once, if that is known to be brief (`habits.py`), or by a few threads; a few more may wait.
Work that takes longer has lanes of its own, so that it never stands in the way of a search: one for what may take a
minute, and one for what may take a second, which are several searches, or one with patterns, or with very many words.
Writes have a lane, too: they wait for each other, and for other processes that write. What takes too long in a thread
is given up: the thread finishes, nobody hears of it.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from searchlab.web.http_errors import Failure
from searchlab.web.jobs.durations import Habits
from searchlab.web.limits import Limits

QUICK, WRITE, HEAVY, SLOW = "quick", "write", "heavy", "slow"
# A query of more characters is heavy.
SHORT = 300
# A word with a wildcard, or one that may be spelt otherwise.
_PATTERN = re.compile(r"[^\s*?~]*[*?~][^\s]*")

T = TypeVar("T")


def count_patterns(query: str) -> int:
    """How many words of a query are, perhaps, held against all words of the index."""
    return len(_PATTERN.findall(query))


def lane_for(asked: Mapping[str, Any], *, writes: bool = False, heavy: bool = False, slow: bool = False) -> str:
    """Where a request is worked on, by what it is, and by its query."""
    if slow or writes:
        return SLOW if slow else WRITE
    query = asked.get("q") or ""
    return HEAVY if heavy or len(query) > SHORT or count_patterns(query) else QUICK


class Lane:
    """Some threads, and how many requests may wait for them."""

    def __init__(self, name: str, running: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(running, thread_name_prefix=f"searchlab-{name}")
        # Work that was given up, but cannot be interrupted, keeps its place.
        self._places = threading.Semaphore(running + waiting)
        self._seconds = seconds

    async def do(self, work: Callable[[], T]) -> T:
        """What the work gives, or a failure if there is too much to do, or it takes too long."""
        if not self._places.acquire(blocking=False):
            raise Failure(503, "too many requests at once; try again in a moment")
        try:
            begun = self._pool.submit(work)
        except RuntimeError:  # the lane is closed
            self._places.release()
            raise Failure(503, "the server is about to end") from None
        begun.add_done_callback(lambda done: self._places.release())
        future = asyncio.wrap_future(begun)
        future.add_done_callback(_take_note)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except TimeoutError:
            future.cancel()
            raise Failure(503, f"it took longer than {self._seconds:g} seconds and was given up") from None

    def close(self) -> None:
        """Take no more work; what has begun is finished."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _take_note(future: asyncio.Future[Any]) -> None:
    """Whoever waited has the error, or has gone away: it is not to be told as one that nobody saw."""
    if not future.cancelled():
        _ = future.exception()


class Workers:
    """The lanes."""

    def __init__(self, limits: Limits) -> None:
        self._habits = Habits()
        self._lanes = {
            QUICK: Lane(QUICK, limits.running, limits.waiting, limits.seconds),
            WRITE: Lane(WRITE, limits.running_writes, limits.waiting, limits.seconds),
            HEAVY: Lane(HEAVY, limits.running_heavy, limits.waiting_heavy, limits.seconds),
            SLOW: Lane(SLOW, limits.running_slow, limits.waiting_slow, limits.seconds_slow),
        }

    async def do(self, work: Callable[[], T], lane: str = QUICK, kind: Hashable = None) -> T:
        """Do it in its lane; quick work of a `kind` that is known to be brief is done here and now."""
        if kind is None or lane != QUICK:
            return await self._lanes[lane].do(work)
        if self._habits.is_brief(kind):
            return self._habits.at_once(kind, work)
        return await self._lanes[lane].do(lambda: self._habits.elsewhere(kind, work))

    def close(self) -> None:
        """Take no more work."""
        for lane in self._lanes.values():
            lane.close()
