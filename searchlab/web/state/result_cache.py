"""What need not be computed twice?

What was found in one state of an index is remembered until there is no more room; then what was not asked for the
longest is forgotten. An index that has changed, or a model that was trained anew, is another state: nothing of the old
one is ever given for it. States themselves are not held on to.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from searchlab.web.state.open_indexes import Opened

T = TypeVar("T")


class Memory:
    """Room for so much, in whatever unit things are weighed; may be used by any thread."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._taken = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, Hashable], tuple[Any, int]] = OrderedDict()
        self._numbers: WeakKeyDictionary[Opened, int] = WeakKeyDictionary()
        self._next = count()

    def __len__(self) -> int:
        return len(self._kept)

    def get(
        self, opened: Opened, key: Hashable, make: Callable[[], T], weigh: Callable[[T], int] = lambda value: 1
    ) -> T:
        """What is known by this key of this state of the index; it is made if it is not.

        Two threads that want the same at once may both make it: none waits for another.
        """
        with self._lock:
            place = (self._number(opened), key)
            if place in self._kept:
                self._kept.move_to_end(place)
                found: T = self._kept[place][0]
                return found
        made = make()
        weight = weigh(made)
        with self._lock:
            if place not in self._kept and weight <= self._room:
                self._kept[place] = made, weight
                self._taken += weight
            while self._taken > self._room:
                self._taken -= self._kept.popitem(last=False)[1][1]
        return made

    def _number(self, opened: Opened) -> int:
        """States are told apart by numbers: one that is gone must not be taken for one that comes after it."""
        if opened not in self._numbers:
            self._numbers[opened] = next(self._next)
        return self._numbers[opened]
