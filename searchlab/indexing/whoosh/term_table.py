"""The table of terms of a Whoosh segment, written many terms at a time.

Whoosh's own writer adds one term after another; here the entries of many terms are laid out at once, and the hash
tables at the end are filled in one pass. Of the hashes that the format allows, ours is CRC-32 (Whoosh writes MD5).
"""

from __future__ import annotations

import zlib
from array import array
from itertools import pairwise
from typing import Any

import numpy as np
from whoosh.filedb.filetables import HashWriter, OrderedHashWriter
from whoosh.util.numlists import GrowableArray

from searchlab.array_ranges import offsets_of
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.whoosh.byte_layout import put_rows, put_strings
from searchlab.types import Array

CRC_HASH = 1
N_TABLES = 256
# An entry begins with the lengths of its key and its value.
LENGTHS_BYTES = 8
SLOT = np.dtype([("hash", ">u4"), ("position", ">i8")])
# More entries than these are put into the hash tables by compiled code.
MIN_COMPILED_ENTRIES = 200_000


class TermTable(OrderedHashWriter):  # type: ignore[misc]
    """A file of terms, in their order, with their entries."""

    def __init__(self, file: Any) -> None:
        HashWriter.__init__(self, file, hashtype=CRC_HASH)
        self.index = GrowableArray("H")
        self._hashes: list[Array] = [np.zeros(0, np.uint32)]
        self._positions: list[Array] = [np.zeros(0, np.int64)]

    def add_terms(self, prefix: bytes, terms: PackedStrings, values: PackedStrings) -> None:
        """Add terms, greater than all before, each with some bytes; their keys begin with `prefix`."""
        n_key_bytes, n_value_bytes = np.diff(terms.offsets) + len(prefix), np.diff(values.offsets)
        offsets = offsets_of(LENGTHS_BYTES + n_key_bytes + n_value_bytes)
        entries = np.empty(offsets[-1], np.uint8)
        lengths = np.column_stack([n_key_bytes, n_value_bytes]).astype(">i4")
        keys = offsets[:-1] + LENGTHS_BYTES
        put_rows(entries, offsets[:-1], lengths.view(np.uint8))
        put_rows(entries, keys, np.broadcast_to(np.frombuffer(prefix, np.uint8), (len(keys), len(prefix))))
        put_strings(entries, keys + len(prefix), terms)
        put_strings(entries, keys + n_key_bytes, values)
        self._positions.append(self.dbfile.tell() + offsets[:-1])
        self._hashes.append(_hashes(prefix, terms))
        self.dbfile.write(entries.tobytes())

    def _write_hashes(self) -> None:
        hashes, positions = np.concatenate(self._hashes), np.concatenate(self._positions)
        self.index.array = smallest_array(positions)
        order = np.argsort(hashes & (N_TABLES - 1), kind="stable")
        bounds = offsets_of(np.bincount(hashes & (N_TABLES - 1), minlength=N_TABLES))
        filled = fill_tables(hashes[order] >> 8, bounds)
        slots = np.zeros(2 * len(order), SLOT)
        slots["hash"][filled], slots["position"][filled] = hashes[order], positions[order]
        begin = self.dbfile.tell()
        self.directory = [
            (begin + 2 * first * SLOT.itemsize, 2 * (last - first)) for first, last in pairwise(bounds.tolist())
        ]
        self.dbfile.write(slots.tobytes())


def fill_tables(hashes: Array, bounds: Array) -> Array:
    """The slot of each entry: table t has the entries bounds[t]:bounds[t + 1], and twice as many slots."""
    slots = np.zeros(len(hashes), np.int64)
    if len(hashes) < MIN_COMPILED_ENTRIES:
        found = slots.tolist()
        place_entries(hashes.tolist(), bounds.tolist(), bytearray(2 * len(hashes)), found)
        return np.array(found, np.int64)
    from searchlab.indexing.whoosh import compiled_encoding

    compiled_encoding.place_entries(hashes.astype(np.int64), bounds, np.zeros(2 * len(hashes), np.uint8), slots)
    return slots


def place_entries(hashes: Any, bounds: Any, taken: Any, slots: Any) -> None:
    """Write the slot of each entry: the first free one from its hash on, within its table."""
    for table in range(len(bounds) - 1):
        begin, n_slots = 2 * bounds[table], 2 * (bounds[table + 1] - bounds[table])
        for i in range(bounds[table], bounds[table + 1]):
            slot = hashes[i] % n_slots
            while taken[begin + slot]:
                slot = (slot + 1) % n_slots
            taken[begin + slot] = 1
            slots[i] = begin + slot


def _hashes(prefix: bytes, terms: PackedStrings) -> Array:
    start, blob = zlib.crc32(prefix), terms.blob.tobytes()
    crcs = [zlib.crc32(blob[begin:end], start) for begin, end in pairwise(terms.offsets.tolist())]
    return np.array(crcs, np.uint32)


def smallest_array(numbers: Array) -> array[int]:
    """The numbers, from 0, in the smallest type of those that Whoosh reads."""
    largest = int(numbers.max(initial=0))
    code = "B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "i" if largest < 1 << 31 else "q"
    return array(code, numbers.astype(np.dtype(code)).tobytes())
