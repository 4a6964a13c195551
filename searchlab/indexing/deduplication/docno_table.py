"""A table from docnos to numbers, exact, in about 25 bytes for each docno; a dict takes about 160.

Open addressing with linear probing: a slot has the number of a docno and 32 bits of its hash, which also say at which
slot the search begins. Where these bits are equal, the docnos themselves are compared, so that docnos with equal hashes
stay different.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from searchlab.indexing.deduplication.text_list import TextList

HASH_BITS = 32
MAX_HASH = MAX_NUMBER = (1 << HASH_BITS) - 1
FIRST_CAPACITY = 1024
# The table grows by half when more than this share of its slots is taken.
MAX_LOAD = 2 / 3
# Slots that are moved at once, so that growing takes little memory beside the new table.
MOVED_AT_ONCE = 1 << 16


class DocnoTable:
    """Distinct docnos, numbered from 0 in the order in which they are added."""

    def __init__(self, hash_docno: Callable[[str], int] = hash) -> None:
        self._hash_docno = hash_docno
        self._docnos = TextList()
        self._reserve(FIRST_CAPACITY)
        # Each has the bits of the hash above the docno's number plus 1; a free slot has 0, and the last one is free.
        self._slots = array("Q", [0]) * (FIRST_CAPACITY + 1)

    def _reserve(self, capacity: int) -> None:
        self._capacity, self._max_docnos = capacity, int(MAX_LOAD * capacity)

    def __len__(self) -> int:
        return len(self._docnos)

    def __contains__(self, docno: str) -> bool:
        return self.find(docno) >= 0

    def find(self, docno: str) -> int:
        """The number of a docno, -1 if it was not added."""
        return self._find(docno, self._hash_docno(docno) & MAX_HASH)[0]

    def add(self, docno: str) -> int:
        """The number of a docno; a new one gets the next number."""
        bits = self._hash_docno(docno) & MAX_HASH
        number, slot = self._find(docno, bits)
        if number >= 0:
            return number
        number = len(self._docnos)
        self._docnos.append(docno)
        self._slots[slot] = bits << HASH_BITS | number + 1
        if slot + 1 == len(self._slots):
            self._slots.append(0)
        if number >= self._max_docnos:
            self._grow()
        return number

    def _find(self, docno: str, bits: int) -> tuple[int, int]:
        """The number of a docno, or -1, and the slot where the search ended."""
        slots = self._slots
        slot = bits * self._capacity >> HASH_BITS
        while entry := slots[slot]:
            if entry >> HASH_BITS == bits:
                number = (entry & MAX_NUMBER) - 1
                if self._docnos[number] == docno:
                    return number, slot
            slot += 1
        return -1, slot

    def _grow(self) -> None:
        """Move all entries to a larger table, in the order of their hashes: each to its slot or the next free one."""
        old = np.frombuffer(self._slots, np.uint64)
        self._reserve(self._capacity * 3 // 2)
        slots = array("Q", [0]) * (self._capacity + 1)
        # Entries behind a free slot have larger hashes than those before it, and are sorted apart from them.
        free = np.flatnonzero(old == 0)
        cuts = free[np.searchsorted(free, np.arange(MOVED_AT_ONCE, len(old), MOVED_AT_ONCE))]
        first_slot = 0
        for begin, end in pairwise([0, *np.unique(cuts).tolist(), len(old)]):
            entries = np.sort(old[begin:end][old[begin:end] > 0])
            if not len(entries):
                continue
            wanted = (entries >> HASH_BITS) * self._capacity >> HASH_BITS
            ranks = np.arange(len(entries))
            taken = np.maximum.accumulate(np.maximum(wanted.astype(np.int64) - ranks, first_slot)) + ranks
            first_slot = int(taken[-1]) + 1
            if first_slot >= len(slots):
                slots.extend(array("Q", [0]) * (first_slot + 1 - len(slots)))
            np.frombuffer(slots, np.uint64)[taken] = entries
        self._slots = slots
