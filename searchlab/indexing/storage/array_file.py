"""Array files: many arrays in one memory-mapped file.

The arrays follow each other, each at a multiple of 64 bytes, after a directory of their names, types and shapes. The
file is mapped into memory as a whole: opening it costs the same for a thousand documents and for a million, processes
share its pages, and an index of many shards does not run out of open files, as it would with a file for each array.

    8 bytes   MAGIC
    8 bytes   the length of the directory, little-endian
    …         the directory, as JSON: name → [type, shape, offset]
    …         the arrays
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.types import Array

MAGIC = b"SLARRAYS"
ALIGNMENT = 64


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write named arrays to a file."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries = {}
    offset = 0
    for name, array in contiguous.items():
        entries[name] = [array.dtype.str, list(array.shape), offset]
        offset = _align(offset + array.nbytes)
    # Offsets count from the end of the directory: otherwise they would depend on its length, and it on them.
    head = json.dumps(entries).encode()
    with path.open("wb") as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + head)
        for array in contiguous.values():
            file.write(bytes(_align(file.tell()) - file.tell()))
            file.write(array.data)


def open_arrays(path: Path) -> dict[str, Array]:
    """Map the arrays of a file into memory; returns them by name."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(mapped[8:16], "little")
        if mapped[:8] != MAGIC or length > len(mapped):
            raise ValueError("wrong beginning")
        entries = json.loads(mapped[16 : 16 + length])
        first = _align(16 + length)
        return {name: _view(mapped, entry, first) for name, entry in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise IndexCorrupt(f"{path}: not a readable file of columns ({error}); {REBUILD}") from None


def _view(mapped: mmap.mmap, entry: tuple[str, list[int], int], first: int) -> Array:
    type_name, shape, offset = entry
    count = math.prod(shape)
    if not count:
        return np.zeros(shape, type_name)
    return np.frombuffer(mapped, type_name, count, first + offset).reshape(shape)


def _align(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
