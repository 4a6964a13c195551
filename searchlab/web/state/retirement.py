"""When is a state of an index let go of that is no longer served?

The parts of an engine refer to each other, so that none of them is gone when nobody uses it any more: Python frees them
when it next looks for such circles, which may take hours and dozens of states, each with its open files, its memory,
and shards that a writer would like to remove. So it is made to look soon after a state was replaced, and again as long
as a request under way still uses one.

To look through everything takes a tenth of a second, in which nobody is answered. So what is there when the server
begins to listen is left out of Python's own looks (`settle`), until a state is to be let go of.
"""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

# So many seconds after a state was replaced, and then so many between two looks, so often at most.
SOON, AGAIN, TIMES = 1.0, 5.0, 60


def settle() -> None:
    """Leave all that there is now out of Python's search for circles, which is then brief."""
    gc.collect()
    gc.freeze()


def _collect() -> None:
    """Free what is not used any more, also of what was settled."""
    was_settled = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    if was_settled:
        gc.freeze()


class Farewell:
    """Looks after things that are to be gone when the last who uses them is done; may be used by any thread."""

    def __init__(self, soon: float = SOON, again: float = AGAIN, times: int = TIMES) -> None:
        self._soon, self._again, self._times = soon, again, times
        self._lock = threading.Lock()
        # What is to go, and how often it was looked for.
        self._leaving: dict[weakref.ref[Any], int] = {}
        self._is_set = False

    def __len__(self) -> int:
        return sum(leaving() is not None for leaving in list(self._leaving))

    def bid(self, leaving: Any) -> None:
        """See to it that this is freed when it is not used any more."""
        with self._lock:
            self._leaving[weakref.ref(leaving)] = 0
            if not self._is_set:
                self._set(self._soon)

    def _set(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._look)
        timer.daemon = True
        timer.start()
        self._is_set = True

    def _look(self) -> None:
        _collect()
        with self._lock:
            left = {own: n + 1 for own, n in self._leaving.items() if own() is not None and n + 1 < self._times}
            self._leaving = left
            self._is_set = False
            if left:
                self._set(self._again)
