"""How are a shard's numbers kept on disk?

As NumPy files in one folder, memory-mapped when read: opening costs the same for a thousand documents
and for a million, and processes share the pages. A shard's documents are numbered 0 … n-1 in the order
of their docnos, its terms in the order of their bytes; both orders are those of UTF-8.

    docnos, terms            sorted strings (see `Strings`)
    words, words.terms       every word seen, and the number of its term (-1: a stop word)
    S.offsets                where the postings of a term begin in the next two, for a stream S
    S.docs, S.tfs            the postings: document numbers, ascending, and term frequencies
    S.counts, S.max_tfs      for each term: its occurrences in S, its largest frequency
    S.lengths, S.uniques     for each document: its terms in S, its distinct terms in S
    S.dense                  the terms that at least one in 32 documents has, ascending
    S.bits, S.ranks          for each of these a row: its documents as bits, 64 a word, and how many there are
                             before each word; so a document is looked up without reading the postings

The streams are title, body, and both (the two texts as one).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.errors import IndexCorrupt

Array = npt.NDArray[Any]

STREAMS = ("title", "body", "both")


class Strings(Sequence[str]):
    """Distinct strings in byte order: all their bytes, and where each one begins."""

    def __init__(self, blob: Array, offsets: Array) -> None:
        self.arrays = blob, offsets
        # Single items of a memoryview are read several times faster than those of an array.
        self._blob = blob.data
        self._offsets = offsets.data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def bytes_at(self, number: int) -> bytes:
        """The string with this number, as UTF-8."""
        return self._blob[self._offsets[number] : self._offsets[number + 1]].tobytes()

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        return self.bytes_at(range(len(self))[number]).decode()

    def take(self, numbers: Array) -> list[str]:
        """The strings with these numbers: their bytes are gathered at once, and then cut."""
        blob, offsets = self.arrays
        starts = offsets[numbers]
        lengths = offsets[numbers + 1] - starts
        ends = np.cumsum(lengths)
        gathered = blob[np.repeat(starts - (ends - lengths), lengths) + np.arange(lengths.sum())].tobytes()
        bounds = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        if gathered.isascii():
            text = gathered.decode("ascii")
            return [text[start:end] for start, end in bounds]
        return [gathered[start:end].decode() for start, end in bounds]

    def find(self, text: str) -> int:
        """The number of a string, -1 if it is not here."""
        wanted = text.encode("utf-8", "surrogatepass")
        place = bisect_left(range(len(self)), wanted, key=self.bytes_at)
        return place if place < len(self) and self.bytes_at(place) == wanted else -1

    @staticmethod
    def pack(name: str, texts: Iterable[str]) -> dict[str, Array]:
        """The two arrays that hold sorted strings, under the names `name` and `name.offsets`."""
        encoded = [text.encode() for text in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
        return {name: np.frombuffer(b"".join(encoded), np.uint8), f"{name}.offsets": offsets}


@dataclass(frozen=True)
class Stream:
    """The postings and lengths of one stream in one shard."""

    offsets: Array
    docs: Array
    tfs: Array
    counts: Array
    max_tfs: Array
    lengths: Array
    uniques: Array
    dense: Array
    bits: Array
    ranks: Array

    @property
    def n_tokens(self) -> int:
        """All occurrences of all terms."""
        return int(self.counts.sum())


STREAM_COLUMNS = tuple(Stream.__dataclass_fields__)


@dataclass(frozen=True)
class ShardColumns:
    """All columns of one shard."""

    docnos: Strings
    terms: Strings
    words: Strings
    word_terms: Array
    streams: Mapping[str, Stream]

    @property
    def n_docs(self) -> int:
        """How many documents the shard holds."""
        return len(self.docnos)


def write_columns(folder: Path, columns: Mapping[str, Array]) -> None:
    """Write each column as a NumPy file of its own."""
    folder.mkdir()
    for name, column in columns.items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, column, allow_pickle=False)


def open_columns(folder: Path) -> ShardColumns:
    """Map a shard's columns into memory, checking that they fit together."""

    def load(name: str) -> Array:
        path = folder / f"{name}.npy"
        try:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise IndexCorrupt(f"{path}: not a readable column ({error})") from None

    def load_strings(name: str) -> Strings:
        blob, offsets = load(name), load(f"{name}.offsets")
        if not len(offsets) or offsets[-1] != len(blob):
            raise IndexCorrupt(f"{folder / name}.npy: does not fit its offsets")
        return Strings(blob, offsets)

    shard = ShardColumns(
        docnos=load_strings("docnos"),
        terms=load_strings("terms"),
        words=load_strings("words"),
        word_terms=load("words.terms"),
        streams={stream: Stream(*(load(f"{stream}.{column}") for column in STREAM_COLUMNS)) for stream in STREAMS},
    )
    for name, stream in shard.streams.items():
        fits = (
            len(stream.offsets) == len(shard.terms) + 1
            and stream.offsets[-1] == len(stream.docs) == len(stream.tfs)
            and len(stream.counts) == len(stream.max_tfs) == len(shard.terms)
            and len(stream.lengths) == len(stream.uniques) == shard.n_docs
            and len(stream.dense) == len(stream.bits) == len(stream.ranks)
        )
        if not fits:
            raise IndexCorrupt(f"{folder}: the columns of {name} do not fit together")
    return shard
