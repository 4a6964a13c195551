"""String tables: many distinct strings that can be memory-mapped and searched.

The strings are sorted by their bytes and stored in one array of bytes, with an array of offsets. A string is found by
bisection; its number is its rank in the order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from searchlab.array_ranges import concatenate_ranges, offsets_of
from searchlab.indexing.storage.arrays.column import Column
from searchlab.types import Array


class PackedStrings(NamedTuple):
    """Strings as UTF-8, one after the other, and where each begins; the end of the last comes last."""

    blob: Array
    offsets: Array

    @classmethod
    def pack(cls, texts: Iterable[str]) -> PackedStrings:
        """The strings of a sequence."""
        encoded = [text.encode() for text in texts]
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets_of([len(piece) for piece in encoded]))

    def take(self, numbers: Array) -> PackedStrings:
        """The strings with these numbers."""
        starts, ends = self.offsets[numbers], self.offsets[numbers + 1]
        return PackedStrings(self.blob[concatenate_ranges(starts, ends, len(self.blob))], offsets_of(ends - starts))

    def columns(self, name: str) -> dict[str, Array]:
        """The two arrays, under the names `name` and `name.offsets`."""
        return {name: self.blob, f"{name}.offsets": self.offsets}


class Strings(Sequence[str]):
    """Distinct strings in byte order: all their bytes, and the offset of each."""

    def __init__(self, blob: Column, offsets: Column) -> None:
        self._blob = blob
        self._offsets = offsets
        # Single items of a memoryview are read several times faster than those of an array.
        self._blob_view = blob.memory.data
        self._offsets_view = offsets.memory.data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @cached_property
    def arrays(self) -> tuple[Array, Array]:
        """All bytes and all offsets, verified as a whole: compiled loops do not check bounds."""
        blob, offsets = self._blob.whole, self._offsets.whole
        if not len(offsets) or offsets[0] or offsets[-1] != len(blob) or (offsets[1:] < offsets[:-1]).any():
            raise self._offsets.damaged("strings with wrong offsets")
        return blob, offsets

    def bytes_at(self, number: int) -> bytes:
        """The string with this number, as UTF-8."""
        self._offsets.verify(number, number + 2)
        start, end = self._offsets_view[number], self._offsets_view[number + 1]
        self._blob.verify(start, end)
        return self._blob_view[start:end].tobytes()

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        return self.decode(self.bytes_at(range(len(self))[number]))

    def decode(self, content: bytes) -> str:
        """The text of some bytes of the table; raises IndexCorrupt if they are not UTF-8."""
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise self._blob.damaged("strings that are not UTF-8") from None

    def take(self, numbers: Array) -> list[str]:
        """The strings with these numbers; their bytes are gathered in one step, which is faster than one by one."""
        blob, starts, lengths = self.ranges(numbers)
        ends = np.cumsum(lengths)
        numbers_of_bytes = np.repeat(starts - (ends - lengths), lengths) + np.arange(lengths.sum())
        gathered = blob[numbers_of_bytes].tobytes()
        bounds = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        if gathered.isascii():
            text = gathered.decode("ascii")
            return [text[start:end] for start, end in bounds]
        return [self.decode(gathered[start:end]) for start, end in bounds]

    def ranges(self, numbers: Array) -> tuple[Array, Array, Array]:
        """The bytes of all strings, and where those with these numbers, which are verified, begin; their lengths."""
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(self)):
            raise IndexError(f"a number of a string that is not from 0 to {len(self) - 1}")
        self._offsets.verify_ranges(numbers, numbers + 2)
        starts: Array = self._offsets.memory[numbers]
        lengths = self._offsets.memory[numbers + 1] - starts
        if len(starts) and (starts.min() < 0 or lengths.min() < 0 or (starts + lengths).max() > len(self._blob)):
            raise self._offsets.damaged("strings with wrong offsets")
        return self._blob.verify_ranges(starts, starts + lengths), starts, lengths

    def find(self, text: str) -> int:
        """The number of a string, -1 if it is not in the table."""
        number = self.first_from(text)
        wanted = text.encode("utf-8", "surrogatepass")
        return number if number < len(self) and self.bytes_at(number) == wanted else -1

    def first_from(self, text: str) -> int:
        """The number of the first string that is not smaller than `text`; the number of strings if there is none."""
        return bisect_left(range(len(self)), text.encode("utf-8", "surrogatepass"), key=self.bytes_at)

    def first_after(self, text: str) -> int:
        """The number of the first string that is greater than `text`; the number of strings if there is none."""
        return bisect_right(range(len(self)), text.encode("utf-8", "surrogatepass"), key=self.bytes_at)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """A table of sorted strings in memory."""
        return cls(*map(Column, PackedStrings.pack(texts)))

    @staticmethod
    def pack(name: str, texts: Iterable[str]) -> dict[str, Array]:
        """The two arrays that hold sorted strings, under the names `name` and `name.offsets`."""
        return PackedStrings.pack(texts).columns(name)
