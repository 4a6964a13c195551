"""How are many arrays kept in one file?

One after the other, each at a multiple of 64 bytes, behind a list of their names, types and shapes. The file
is mapped into memory as a whole: opening it costs the same for a thousand documents and for a million, processes share
its pages, and an index of many shards does not run out of open files, as it would with a file for each array.

    8 bytes   MAGIC
    8 bytes   the length of the list, little-endian
    …         the list, as JSON: name → [type, shape, where it begins]
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
    """Write arrays under their names."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries = {}
    place = 0
    for name, array in whole.items():
        entries[name] = [array.dtype.str, list(array.shape), place]
        place = _aligned(place + array.nbytes)
    # Places count from the end of the list, whose own length they would change otherwise.
    head = json.dumps(entries).encode()
    with path.open("wb") as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + head)
        for array in whole.values():
            file.write(bytes(_aligned(file.tell()) - file.tell()))
            file.write(array.data)


def open_arrays(path: Path) -> dict[str, Array]:
    """Map the arrays of a file into memory."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(mapped[8:16], "little")
        if mapped[:8] != MAGIC or length > len(mapped):
            raise ValueError("it does not begin as one")
        entries = json.loads(mapped[16 : 16 + length])
        first = _aligned(16 + length)
        return {name: _view(mapped, entry, first) for name, entry in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise IndexCorrupt(f"{path}: not a readable file of columns ({error}); {REBUILD}") from None


def _view(mapped: mmap.mmap, entry: tuple[str, list[int], int], first: int) -> Array:
    type_name, shape, place = entry
    count = math.prod(shape)
    if not count:
        return np.zeros(shape, type_name)
    return np.frombuffer(mapped, type_name, count, first + place).reshape(shape)


def _aligned(place: int) -> int:
    return -(-place // ALIGNMENT) * ALIGNMENT
