"""Garbage collection of index states that have been replaced.

The parts of an engine refer to each other in cycles. Without help, Python frees them only when its garbage collector
next examines old objects, which may take hours and dozens of states, each with open files, memory, and shards that a
writer wants to remove. So a collection is forced soon after a state was replaced, and repeated as long as a request
still uses one.

A full collection takes a tenth of a second, during which no request is answered. So the objects that exist when the
server starts are excluded from automatic collections (`freeze_startup_objects`) until a state is retired.
"""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

FIRST_CHECK_SECONDS = 1.0
CHECK_SECONDS = 5.0
MAX_CHECKS = 60


def freeze_startup_objects() -> None:
    """Exclude all present objects from automatic garbage collections, which are short then."""
    gc.collect()
    gc.freeze()


def _collect() -> None:
    """Collect all garbage, frozen objects included."""
    was_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    if was_frozen:
        gc.freeze()


class RetiredStates:
    """Objects to be freed as soon as nobody uses them; may be used by any thread."""

    def __init__(
        self, first_check: float = FIRST_CHECK_SECONDS, interval: float = CHECK_SECONDS, max_checks: int = MAX_CHECKS
    ) -> None:
        self._first_check, self._interval, self._max_checks = first_check, interval, max_checks
        self._lock = threading.Lock()
        # Each retired object, and the number of collections that it has survived.
        self._n_checks: dict[weakref.ref[Any], int] = {}
        self._timer_runs = False

    def __len__(self) -> int:
        return sum(reference() is not None for reference in list(self._n_checks))

    def add(self, retired: Any) -> None:
        """Have an object freed when it is no longer used."""
        with self._lock:
            self._n_checks[weakref.ref(retired)] = 0
            if not self._timer_runs:
                self._start_timer(self._first_check)

    def _start_timer(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._check)
        timer.daemon = True
        timer.start()
        self._timer_runs = True

    def _check(self) -> None:
        _collect()
        with self._lock:
            survivors = {reference: n + 1 for reference, n in self._n_checks.items() if reference() is not None}
            self._n_checks = {reference: n for reference, n in survivors.items() if n < self._max_checks}
            self._timer_runs = False
            if self._n_checks:
                self._start_timer(self._interval)
