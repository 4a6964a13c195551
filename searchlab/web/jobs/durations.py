"""Recent durations of each kind of work: which kinds are short enough to run in the event loop.

Handing work to another thread costs two thread switches, and Python runs one thread at a time: that doubles the time of
a search of one millisecond (measured). So work that is known to be brief runs in the event loop itself. The estimate is
an exponentially decaying maximum of the recent durations of the same kind: one long run sends the next ones to the
threads. A kind that has never run is not known to be brief.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

# Other requests may have to wait this long while brief work runs in the event loop.
MAX_BRIEF_SECONDS = 0.02
# Weight of the time spent waiting, for the disk or the processor, if the work runs in the event loop.
WAITING_WEIGHT = 0.1
# The maximum decays by this factor with each run.
DECAY = 0.9
# Kinds hold names of systems, which come from requests: their number must be bounded.
MAX_KINDS = 1024

T = TypeVar("T")


class RecentDurations:
    """The decaying maximum of the durations of each kind of work."""

    def __init__(self) -> None:
        self._maxima: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def is_brief(self, kind: Hashable) -> bool:
        """Whether work of this kind is expected to be brief."""
        return self._maxima.get(kind, MAX_BRIEF_SECONDS) < MAX_BRIEF_SECONDS

    def run_inline(self, kind: Hashable, work: Callable[[], T]) -> T:
        """Run work in the event loop, and time it."""
        return self._run(kind, work, WAITING_WEIGHT)

    def run_in_thread(self, kind: Hashable, work: Callable[[], T]) -> T:
        """Run work in a thread, and time it; waiting for other threads does not count."""
        return self._run(kind, work, 0.0)

    def _run(self, kind: Hashable, work: Callable[[], T], waiting_weight: float) -> T:
        wall_start, processor_start = time.perf_counter(), time.thread_time()
        try:
            return work()
        finally:
            processor = time.thread_time() - processor_start
            self._update(kind, max(processor, waiting_weight * (time.perf_counter() - wall_start)))

    def _update(self, kind: Hashable, seconds: float) -> None:
        with self._lock:
            if kind not in self._maxima and len(self._maxima) >= MAX_KINDS:
                self._maxima.clear()
            self._maxima[kind] = max(seconds, DECAY * self._maxima.get(kind, 0.0))
