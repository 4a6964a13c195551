"""Limits of what archives unpack to, whatever they claim: bytes, entries, archives within archives.

One state is shared by an archive and all archives in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from searchlab.errors import SourceError

MEGABYTE = 2**20
# Text is compressed to a tenth, and to a fiftieth if it repeats itself; a bomb to a thousandth.
MAX_RATIO = 200
# Whatever the ratio, an archive may unpack to this.
FREE_MB = 256
MAX_ENTRIES = 100_000
MAX_DEPTH = 3


@dataclass(slots=True)
class _Left:
    bytes: int
    entries: int


@dataclass(frozen=True, slots=True)
class Unpacking:
    """How much may still be unpacked from an archive on disk, and how many archives are around the current one."""

    archive: str
    depth: int
    _left: _Left

    @classmethod
    def begin(cls, archive: str, size: int) -> Unpacking:
        """The state for an archive on disk of `size` bytes."""
        return cls(archive, 1, _Left(max(FREE_MB * MEGABYTE, MAX_RATIO * size), MAX_ENTRIES))

    def inner(self, archive: str) -> Unpacking:
        """The state for an archive within this one."""
        if self.depth == MAX_DEPTH:
            raise SourceError(archive, f"expected at most {MAX_DEPTH} archives within each other, found more")
        return replace(self, archive=archive, depth=self.depth + 1)

    def count_entry(self) -> None:
        """Count one more entry."""
        self._left.entries -= 1
        if self._left.entries < 0:
            raise SourceError(self.archive, f"has more than {MAX_ENTRIES:,} entries; the rest of it was not read")
        self.count_bytes(0, self.archive)

    def count_bytes(self, n_bytes: int, name: str) -> None:
        """Count bytes that were unpacked; `name` is named if they are too many."""
        self._left.bytes -= n_bytes
        if self._left.bytes < 0:
            limit = f"{MAX_RATIO} times the size of its archive, and {FREE_MB} MB"
            raise SourceError(name, f"unpacks to more than {limit}; the rest was not read")
