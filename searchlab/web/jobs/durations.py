"""Which work is known to be brief?

To hand work to another thread costs two changes of thread, and Python lets one thread run at a time: for a search of a
millisecond that doubles its time (measured). So what is known to be brief is done at once, where the request was
received. It is known by what the same kind of work took of late: the longest, forgotten bit by bit, so that one that
took long sends those after it to the threads for a while. What has never been done is not known to be brief.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

# Whoever asks at the same time may have to wait so long, in seconds.
BRIEF = 0.02
# Time in which work only waited, for the disk or for the processor, counts so much where everyone waits with it.
WAITING = 0.1
# How much of a time is left of it after the next work.
KEPT = 0.9
# So many kinds are known at most: names of rankers come from requests.
MOST_KINDS = 1024

T = TypeVar("T")


class Habits:
    """How long kinds of work take."""

    def __init__(self) -> None:
        self._longest: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def is_brief(self, kind: Hashable) -> bool:
        """Whether this kind of work is done sooner than anyone would notice."""
        return self._longest.get(kind, BRIEF) < BRIEF

    def at_once(self, kind: Hashable, work: Callable[[], T]) -> T:
        """Do it here and now."""
        return self._timed(kind, work, WAITING)

    def elsewhere(self, kind: Hashable, work: Callable[[], T]) -> T:
        """Do it in a thread; time in which it waited for other threads says nothing of the work."""
        return self._timed(kind, work, 0.0)

    def _timed(self, kind: Hashable, work: Callable[[], T], waiting: float) -> T:
        began, began_to_work = time.perf_counter(), time.thread_time()
        try:
            return work()
        finally:
            self._note(kind, max(time.thread_time() - began_to_work, waiting * (time.perf_counter() - began)))

    def _note(self, kind: Hashable, seconds: float) -> None:
        with self._lock:
            if kind not in self._longest and len(self._longest) >= MOST_KINDS:
                self._longest.clear()
            self._longest[kind] = max(seconds, KEPT * self._longest.get(kind, 0.0))
