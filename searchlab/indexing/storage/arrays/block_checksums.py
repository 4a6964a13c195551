"""Block checksums: a file carries a CRC-32 for each of its blocks, and a block is verified before it is first read.

Reading a few numbers costs the verification of the few blocks that they are in, not of the whole file, and each block
is verified once. The checksums follow the data:

    …         the data
    …         the CRC-32 of each block of the data, four bytes each, little-endian; the last block may be shorter
    8 bytes   the number of blocks, little-endian
    4 bytes   the CRC-32 of the checksums and of their number
    4 bytes   MAGIC
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.types import Array

MAGIC = b"SLCK"
FOOTER_BYTES = 16
# Small, so that a look-up by bisection, which reads a few bytes in many places, verifies little; large enough that the
# checksums take a four-thousandth of the data.
BLOCK_BYTES = 1 << 14
# Bytes between two pauses of a verification of everything.
VERIFIED_AT_ONCE = 1 << 20


class BlockWriter:
    """Writes data to a file, and its block checksums at the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksums: list[int] = []
        self._crc = 0
        self.n_bytes = 0

    def write(self, data: bytes | memoryview) -> None:
        """Write the next bytes."""
        view = memoryview(data).cast("B") if data else memoryview(b"")
        self._file.write(view)
        while len(view):
            piece = view[: BLOCK_BYTES - self.n_bytes % BLOCK_BYTES]
            self._crc = zlib.crc32(piece, self._crc)
            self.n_bytes += len(piece)
            if not self.n_bytes % BLOCK_BYTES:
                self._end_block()
            view = view[len(piece) :]

    def finish(self) -> None:
        """Write the checksums; nothing can be written afterwards."""
        if self.n_bytes % BLOCK_BYTES:
            self._end_block()
        table = np.array(self._checksums, "<u4").tobytes() + len(self._checksums).to_bytes(8, "little")
        self._file.write(table + zlib.crc32(table).to_bytes(4, "little") + MAGIC)

    def _end_block(self) -> None:
        self._checksums.append(self._crc)
        self._crc = 0


class VerifiedBlocks:
    """The data of a memory-mapped file, and which of its blocks have been verified.

    `remedy` tells the user what to do about damage. Raises ValueError if there are no sound block checksums at the end
    of the file.
    """

    def __init__(self, path: Path, mapped: memoryview, remedy: str = REBUILD) -> None:
        self.path = path
        self._remedy = remedy
        footer = mapped[-FOOTER_BYTES:]
        if len(mapped) < FOOTER_BYTES or footer[12:] != MAGIC:
            raise ValueError("no checksums at its end")
        n_blocks = int.from_bytes(footer[:8], "little")
        end = len(mapped) - FOOTER_BYTES
        start = end - 4 * n_blocks
        if start < 0 or n_blocks != -(-start // BLOCK_BYTES):
            raise ValueError("a wrong number of checksums")
        if zlib.crc32(mapped[start : end + 8]) != int.from_bytes(footer[8:12], "little"):
            raise ValueError("damaged checksums")
        self.data = mapped[:start]
        self._mapped = mapped.obj if hasattr(mapped.obj, "madvise") else None
        self._checksums = np.frombuffer(mapped[start:end], "<u4").tolist()
        self._verified = bytearray(n_blocks)
        self._flags = np.frombuffer(self._verified, np.uint8)
        # Set by `verify_all`: then nothing has to be looked up.
        self.is_complete = False

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self._verified)

    def verify(self, start: int, stop: int) -> None:
        """Verify the bytes from `start` up to `stop`; raises IndexCorrupt if a block is not as it was written."""
        if stop <= start or self.is_complete:
            return
        first, after = start // BLOCK_BYTES, (stop - 1) // BLOCK_BYTES + 1
        block = self._verified.find(0, first, after)
        while block >= 0:
            self._verify_block(block)
            block = self._verified.find(0, block + 1, after)

    def verify_ranges(self, starts: Array, stops: Array) -> None:
        """Verify many ranges of bytes, none of them empty."""
        if self.is_complete:
            return
        first, last = starts // BLOCK_BYTES, (stops - 1) // BLOCK_BYTES
        if len(first) and (last - first).max() > 1:
            first = concatenate_ranges(first, last + 1, self.n_blocks)
            last = first[:0]
        blocks = np.concatenate([first, last])
        unverified = blocks[self._flags[blocks] == 0]
        if len(unverified):
            wanted = np.zeros(self.n_blocks, bool)
            wanted[unverified] = True
            for block in np.flatnonzero(wanted).tolist():
                self._verify_block(block)

    def release(self, start: int, stop: int) -> None:
        """Let the bytes from `start` up to `stop` leave the memory of the process; they are mapped again when read."""
        first, after = -(-start // mmap.PAGESIZE), stop // mmap.PAGESIZE
        if first < after and self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED, first * mmap.PAGESIZE, (after - first) * mmap.PAGESIZE)

    def verify_all(self, pause: Callable[[], object] = lambda: None) -> None:
        """Verify every block; `pause` is called after each megabyte."""
        for start in range(0, len(self.data), VERIFIED_AT_ONCE):
            self.verify(start, min(start + VERIFIED_AT_ONCE, len(self.data)))
            pause()
        self.is_complete = True

    @property
    def is_verified(self) -> bool:
        """Whether every block has been verified."""
        return self.is_complete or self._verified.find(0) < 0

    def damaged(self, problem: str) -> IndexCorrupt:
        """The error for a file that is not what was written, or cannot be right though its checksums are."""
        return IndexCorrupt(f"{self.path}: damaged ({problem}); {self._remedy}")

    def _verify_block(self, block: int) -> None:
        start = block * BLOCK_BYTES
        if zlib.crc32(self.data[start : start + BLOCK_BYTES]) != self._checksums[block]:
            raise self.damaged(f"the checksum of block {block} does not match")
        self._verified[block] = 1
