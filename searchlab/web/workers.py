"""Who does the work, so that the server goes on listening?

Requests are answered by a few threads; a few more requests may wait. Work that takes seconds has a lane of its own, so
that it never stands in the way of a search. What takes too long is given up: the thread finishes, nobody hears of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from searchlab.web.failures import Failure
from searchlab.web.limits import Limits

T = TypeVar("T")


class Lane:
    """Some threads, and how many requests may wait for them."""

    def __init__(self, name: str, running: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(running, thread_name_prefix=f"searchlab-{name}")
        self._most = running + waiting
        self._seconds = seconds
        self._pending = 0

    async def do(self, work: Callable[[], T]) -> T:
        """What the work gives, or a failure if there is too much to do, or it takes too long."""
        if self._pending >= self._most:
            raise Failure(503, "too many requests at once; try again in a moment")
        self._pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._finished)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except TimeoutError:
            future.cancel()
            raise Failure(503, f"it took longer than {self._seconds:g} seconds and was given up") from None

    def _finished(self, future: asyncio.Future[T]) -> None:
        self._pending -= 1
        if not future.cancelled():
            _ = future.exception()  # whoever waited has it, or has gone away

    def close(self) -> None:
        """Take no more work; what has begun is finished."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Workers:
    """A lane for what takes milliseconds, and one for what takes seconds."""

    def __init__(self, limits: Limits) -> None:
        self._quick = Lane("quick", limits.running, limits.waiting, limits.seconds)
        self._slow = Lane("slow", limits.running_slow, limits.waiting_slow, limits.seconds_slow)

    async def do(self, work: Callable[[], T], *, slow: bool = False) -> T:
        """Do it in its lane."""
        return await (self._slow if slow else self._quick).do(work)

    def close(self) -> None:
        """Take no more work."""
        self._quick.close()
        self._slow.close()
