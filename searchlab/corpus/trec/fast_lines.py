"""Fast reading of large, regular files of columns.

Runs and judgments are mostly plain ASCII with the same number of columns in every line. A large file of this kind is
read by one compiled pass (`line_kernels`), several times as fast as line by line. Irregular files are left to the
line-by-line reader, which reports what is wrong, and so are small files, since loading the compiled code takes longer,
and files that unpack to far more than they have on disk, since this pass holds the whole file in memory.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

from searchlab.corpus.source_files import HEAD_BYTES, OpenedFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from searchlab.corpus.trec.packed_docnos import PackedDocnos

# Smaller files are read line by line.
MIN_FAST_BYTES = 2**21
# Files with more bytes than this, and than this many times their bytes on disk, are read line by line. Runs and
# judgments are gzipped to a fifth or less.
MAX_FAST_BYTES = 2**28
MAX_EXPANSION = 20


@dataclass(frozen=True, slots=True, eq=False)
class PlainLines:
    """The docnos and numbers of all lines of a file, and each qid with the index of its first line."""

    docnos: PackedDocnos
    numbers: npt.NDArray[np.float64]
    topics: list[tuple[str, int]]

    @property
    def bounds(self) -> list[int]:
        """Where each run of lines with the same qid begins, and the number of lines."""
        return [*(begin for _, begin in self.topics), len(self.docnos)]


def read_beginning(opened: OpenedFile) -> tuple[bytes, OpenedFile]:
    """The content of a file for the fast pass, empty if it or one of its lines is too large, and the file unread."""
    limit = max(MAX_FAST_BYTES, MAX_EXPANSION * opened.file.size)
    data = opened.stream.read(limit + 1)
    rest: Any = _Concatenation(data, opened.stream)
    fits = len(data) <= limit and not _has_longer_line(data, opened.reading.max_record_length)
    return data if fits else b"", replace(opened, stream=io.BufferedReader(rest, HEAD_BYTES))


def _has_longer_line(data: bytes, limit: int) -> bool:
    start = 0
    while len(data) - start > limit:
        # The last line end that a line from `start` may have; the lines before it are not longer either.
        end = data.rfind(b"\n", start, start + limit + 1)
        if end < 0:
            return True
        start = end + 1
    return False


class _Concatenation(io.RawIOBase):
    """Bytes that were read already, and then the rest of a stream."""

    def __init__(self, data: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._data = io.BytesIO(data)
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._data.read(len(buffer)) or self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def read_plain_lines(
    data: bytes, n_columns: int, *, docno_column: int, number_column: int, whole: bool = False
) -> PlainLines | None:
    """The columns of a large, regular file; None if it is small or irregular.

    All numbers must be finite; with `whole` they must have no point or exponent and at most nine digits.
    """
    if len(data) < MIN_FAST_BYTES:
        return None
    import numpy as np

    from searchlab.corpus.trec.line_kernels import BEGIN, DOCNO, DOCNO_END, END, LINE, mark_lines
    from searchlab.corpus.trec.packed_docnos import PackedDocnos

    if not data.endswith(b"\n"):
        data += b"\n"
    text = np.frombuffer(data, np.uint8)
    # A column and the blank or line end behind it have two bytes or more. Memory that is not written to costs nothing.
    max_lines = len(data) // (2 * n_columns) + 1
    docnos, numbers = np.empty((2, max_lines), np.int64), np.empty(max_lines)
    changes, skipped = np.empty((3, max_lines), np.int64), np.empty((3, max_lines), np.int64)
    n_lines, n_topics, n_unread = mark_lines(
        text, n_columns, docno_column, number_column, whole, docnos, numbers, changes, skipped
    )
    if n_lines < 0 or (whole and n_unread):
        return None
    unread = skipped[:, :n_unread]
    bounds = zip(unread[BEGIN].tolist(), unread[END].tolist(), strict=True)
    read = _read_numbers([data[begin:end].decode("ascii") for begin, end in bounds])
    if read is None:
        return None
    numbers[unread[LINE]] = read
    topics = [(data[begin:end].decode("ascii"), line) for line, begin, end in changes[:, :n_topics].T.tolist()]
    packed = PackedDocnos(text, docnos[DOCNO, :n_lines], docnos[DOCNO_END, :n_lines])
    return PlainLines(packed, numbers[:n_lines], topics)


def _read_numbers(words: list[str]) -> list[float] | None:
    try:
        numbers = list(map(float, words))
    except ValueError:
        return None
    # float() accepts underscores between digits.
    return numbers if all(map(math.isfinite, numbers)) and "_" not in "".join(words) else None
