"""A table from 64-bit keys to numbers, in flat arrays: 12 bytes a place, of which 40 to 80 % are in use.

Open addressing with linear probing: a key lies at the place that its low bits name, or at the next free one. A dict
takes about a hundred bytes for each key.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

FIRST_CAPACITY = 1024
# The table grows when more than this share of its places is taken.
MAX_LOAD = 0.8


def hash_key(*parts: str) -> int:
    """A number other than 0 for texts, the same in every process; different texts have different ones in practice."""
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) or 1


class KeyTable:
    """Numbers by keys, which are not 0."""

    def __init__(self) -> None:
        self._keys = array("Q", bytes(8 * FIRST_CAPACITY))
        self._values = array("I", bytes(4 * FIRST_CAPACITY))
        self._n_keys = 0

    def __len__(self) -> int:
        return self._n_keys

    def get(self, key: int) -> int | None:
        """The number of a key, None if it has none."""
        place = self._place(key)
        return self._values[place] if self._keys[place] else None

    def set_default(self, key: int, value: int) -> None:
        """Give a key a number unless it has one."""
        place = self._place(key)
        if self._keys[place]:
            return
        self._keys[place], self._values[place] = key, value
        self._n_keys += 1
        if self._n_keys > MAX_LOAD * len(self._keys):
            self._grow()

    def _place(self, key: int) -> int:
        """Where a key is, or the free place where it belongs."""
        keys, mask = self._keys, len(self._keys) - 1
        place = key & mask
        while keys[place] and keys[place] != key:
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._keys = array("Q", bytes(16 * len(keys)))
        self._values = array("I", bytes(8 * len(values)))
        for key, value in zip(keys, values, strict=True):
            if key:
                place = self._place(key)
                self._keys[place], self._values[place] = key, value
