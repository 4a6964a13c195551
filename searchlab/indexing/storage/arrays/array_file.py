"""Array files: many arrays in one memory-mapped file.

The arrays follow each other, each at a multiple of 64 bytes, after a directory of their names, types and shapes. The
file is mapped into memory as a whole: opening it costs the same for a thousand documents and for a million, processes
share its pages, and an index of many shards does not run out of open files, as it would with a file for each array.

    8 bytes   MAGIC
    8 bytes   the length of the directory, little-endian
    …         the directory, as JSON: name → [type, shape, offset]
    …         the arrays
    …         a checksum for each block of the above (`block_checksums.py`)

The directory is verified when the file is opened, an array when it is read (`column.py`).
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.corpus.text_files import open_regular_file
from searchlab.errors import REBUILD, IndexCorrupt, unreadable
from searchlab.indexing.storage.arrays.block_checksums import BlockWriter, VerifiedBlocks
from searchlab.indexing.storage.arrays.column import Column
from searchlab.types import Array

MAGIC = b"SLARRAY2"
HEAD_BYTES = 16
ALIGNMENT = 64
# The types of numbers that are written; all little-endian, so that a file can be read on any machine.
TYPES = frozenset({"|b1", "|u1", "<u2", "<u4", "<u8", "<i4", "<i8", "<f4", "<f8"})
MAX_DIMENSIONS = 2


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write named arrays to a file."""
    contiguous = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    entries = {}
    offset = 0
    for name, array in contiguous.items():
        entries[name] = [array.dtype.str, list(array.shape), offset]
        offset = _align(offset + array.nbytes)
    # Offsets count from the end of the directory: otherwise they would depend on its length, and it on them.
    head = json.dumps(entries).encode()
    with path.open("wb") as file:
        writer = BlockWriter(file)
        writer.write(MAGIC + len(head).to_bytes(8, "little") + head)
        for array in contiguous.values():
            writer.write(bytes(_align(writer.n_bytes) - writer.n_bytes))
            if array.size:
                writer.write(array.data)
        writer.finish()


class ArrayFile(dict[str, Column]):
    """The columns of a file by their names, and the blocks that they are in."""

    def __init__(self, path: Path, remedy: str = REBUILD) -> None:
        super().__init__()
        try:
            with os.fdopen(open_regular_file(path), "rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self.blocks = VerifiedBlocks(path, memoryview(mapped), remedy)
            self.update(_read_directory(self.blocks))
        except (FileNotFoundError, NotADirectoryError):
            raise IndexCorrupt(f"{path}: missing; {remedy}") from None
        except OSError as error:
            raise unreadable(path, error) from None
        except (ValueError, TypeError, KeyError, OverflowError, MemoryError, RecursionError) as error:
            raise IndexCorrupt(f"{path}: not a readable file of columns ({error}); {remedy}") from None


def _read_directory(blocks: VerifiedBlocks) -> dict[str, Column]:
    """The columns that the directory names; raises ValueError or TypeError if it is not one."""
    blocks.verify(0, HEAD_BYTES)
    length = int.from_bytes(blocks.data[8:HEAD_BYTES], "little")
    if blocks.data[:8] != MAGIC or length > len(blocks.data) - HEAD_BYTES:
        raise ValueError("wrong beginning")
    blocks.verify(HEAD_BYTES, HEAD_BYTES + length)
    entries = json.loads(bytes(blocks.data[HEAD_BYTES : HEAD_BYTES + length]))
    if not isinstance(entries, dict):
        raise ValueError("a directory that is no table of names")
    first = _align(HEAD_BYTES + length)
    return {name: _view(blocks, entry, first) for name, entry in entries.items()}


def _view(blocks: VerifiedBlocks, entry: Any, first: int) -> Column:
    type_name, shape, offset = entry
    numbers = [offset, *shape]
    if type_name not in TYPES or not 1 <= len(shape) <= MAX_DIMENSIONS:
        raise ValueError(f"an array of type {type_name!r} with {len(shape)} dimensions")
    if any(isinstance(number, bool) or not isinstance(number, int) or number < 0 for number in numbers):
        raise ValueError("a size or an offset that is no whole number")
    dtype = np.dtype(type_name)
    if offset % ALIGNMENT or first + offset + math.prod(shape) * dtype.itemsize > len(blocks.data):
        raise ValueError("an array outside the file")
    if not math.prod(shape):
        return Column(np.zeros(shape, dtype))
    array = np.frombuffer(blocks.data, dtype, math.prod(shape), first + offset).reshape(shape)
    return Column(array, blocks, first + offset)


def _align(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
