"""A cache of results, each for one state of an index.

The least recently used results are dropped when the cache is full. A changed index or a retrained model is another
state, which never gets the results of the previous one. The cache does not keep states alive.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from searchlab.web.state.open_index import OpenIndex

T = TypeVar("T")


class ResultCache:
    """Results up to a total weight, in the unit that `weigh` uses; may be used by any thread."""

    def __init__(self, max_weight: int) -> None:
        self._max_weight = max_weight
        self._weight = 0
        self._lock = threading.Lock()
        self._results: OrderedDict[tuple[int, Hashable], tuple[Any, int]] = OrderedDict()
        self._numbers: WeakKeyDictionary[OpenIndex, int] = WeakKeyDictionary()
        self._next_number = count()

    def __len__(self) -> int:
        return len(self._results)

    def get(
        self, index: OpenIndex, key: Hashable, make: Callable[[], T], weigh: Callable[[T], int] = lambda result: 1
    ) -> T:
        """The result with this key for this state of the index, computed by `make` if it is not in the cache.

        Two threads that ask for the same result at once may both compute it: none waits for the other.
        """
        with self._lock:
            cache_key = (self._number(index), key)
            if cache_key in self._results:
                self._results.move_to_end(cache_key)
                cached: T = self._results[cache_key][0]
                return cached
        result = make()
        weight = weigh(result)
        with self._lock:
            if cache_key not in self._results and weight <= self._max_weight:
                self._results[cache_key] = result, weight
                self._weight += weight
            while self._weight > self._max_weight:
                self._weight -= self._results.popitem(last=False)[1][1]
        return result

    def _number(self, index: OpenIndex) -> int:
        """A number for each state: unlike `id`, it is never used again for another one."""
        if index not in self._numbers:
            self._numbers[index] = next(self._next_number)
        return self._numbers[index]
