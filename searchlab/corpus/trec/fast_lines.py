"""Fast reading of large, regular files of columns.

Runs and judgments are mostly plain ASCII with the same number of columns in every line. A large file of this kind is
read by one compiled pass (`line_kernels`), several times as fast as line by line. Irregular files are left to the
line-by-line reader, which reports what is wrong, and so are small files, since loading the compiled code takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Smaller files are read line by line.
MIN_FAST_BYTES = 2**21


@dataclass(frozen=True, slots=True, eq=False)
class PlainLines:
    """The docnos and numbers of all lines of a file, and each qid with the index of its first line."""

    docnos: list[str]
    numbers: npt.NDArray[np.float64]
    topics: list[tuple[str, int]]

    def by_topic(self) -> Iterator[tuple[str, list[str], npt.NDArray[np.float64]]]:
        """The qid, docnos and numbers of each run of lines with the same qid."""
        ends = [begin for _, begin in self.topics[1:]]
        for (qid, begin), end in zip(self.topics, [*ends, len(self.docnos)], strict=True):
            yield qid, self.docnos[begin:end], self.numbers[begin:end]


def read_plain_lines(
    data: bytes, n_columns: int, *, docno_column: int, number_column: int, whole: bool = False
) -> PlainLines | None:
    """The columns of a large, regular file; None if it is small or irregular.

    All numbers must be finite; with `whole` they must have no point or exponent and at most nine digits.
    """
    if len(data) < MIN_FAST_BYTES:
        return None
    import numpy as np

    from searchlab.corpus.trec.line_kernels import N_MARKS, NUMBER, NUMBER_END, QID, QID_END, mark_lines

    if not data.endswith(b"\n"):
        data += b"\n"
    text = np.frombuffer(data, np.uint8)
    n_lines = data.count(b"\n")
    marks, numbers = np.empty((N_MARKS, n_lines), np.int64), np.empty(n_lines)
    copied = np.empty_like(text)
    n_found, n_bytes = mark_lines(text, n_columns, docno_column, number_column, whole, marks, numbers, copied)
    if n_found != n_lines:
        return None
    unread = np.flatnonzero(np.isnan(numbers))
    if whole and len(unread):
        return None
    written = data.decode("ascii")
    bounds = zip(marks[NUMBER, unread].tolist(), marks[NUMBER_END, unread].tolist(), strict=True)
    read = _read_numbers([written[begin:end] for begin, end in bounds])
    if read is None:
        return None
    numbers[unread] = read
    docnos = copied[: n_bytes - 1].tobytes().decode("ascii").split("\n")
    begins = np.flatnonzero(marks[QID_END]).tolist()
    topics = [(written[marks[QID, row] : marks[QID_END, row]], row) for row in begins]
    return PlainLines(docnos, numbers, topics)


def _read_numbers(words: list[str]) -> list[float] | None:
    try:
        numbers = list(map(float, words))
    except ValueError:
        return None
    # float() accepts underscores between digits.
    return numbers if all(map(math.isfinite, numbers)) and "_" not in "".join(words) else None
