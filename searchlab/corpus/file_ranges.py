"""Ranges of large files: where one can be divided, so that its parts have exactly the records of the whole.

A range begins where a record does, and knows how many lines and rows are before it: locations in messages, and docnos
made of them, are those of the whole file. A table's ranges all begin with its header. Files are divided only if their
bytes are their text: not compressed, and in UTF-8 or Windows-1252.

    JSON lines     after any line end
    TREC           between </DOC> at the end of a line and <DOC> at the beginning of a later one
    tables         before a row; quotes may hold line ends, so the file is read up to its last range to find rows
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

BLOCK_BYTES = 2**20

_TREC_BOUNDARY = re.compile(rb"</DOC>[ \t\r]*\n\s*?^(?=<DOC[\s>])", re.IGNORECASE | re.MULTILINE)
# Longer than what the boundary of two documents takes.
_TREC_OVERLAP = 4096


@dataclass(frozen=True, slots=True)
class FileRange:
    """A part of a file: the header, of `header_end` bytes, and the bytes from `start` to `end`.

    `n_lines_skipped` lines lie between the two, with `n_rows_skipped` rows.
    """

    start: int
    end: int
    header_end: int = 0
    n_header_lines: int = 0
    n_lines_skipped: int = 0
    n_rows_skipped: int = 0

    @property
    def n_bytes(self) -> int:
        """The number of bytes without the header."""
        return self.end - self.start

    def line_number(self, number: int) -> int:
        """The number in the file of a line of the range."""
        return number if number <= self.n_header_lines else number + self.n_lines_skipped


# Ranges of about this many bytes of a file, whose records have at most so many megabytes; one if it cannot be divided.
SplitFile = Callable[[Path, int, float], list[FileRange]]


def split_lines(path: Path, range_bytes: int, max_record_mb: float) -> list[FileRange]:
    """Ranges of a file in which each line is a record; their lines are still to be numbered (`number_lines`)."""
    return _split(path, range_bytes, _next_line)


def split_trec_documents(path: Path, range_bytes: int, max_record_mb: float) -> list[FileRange]:
    """Ranges of a file of <DOC> … </DOC>; their lines are still to be numbered (`number_lines`)."""
    return _split(path, range_bytes, _next_trec_document)


def _split(path: Path, range_bytes: int, find: Callable[[BinaryIO, int], int]) -> list[FileRange]:
    size = path.stat().st_size
    bounds = [0]
    with path.open("rb") as file:
        while bounds[-1] + range_bytes < size:
            bound = find(file, bounds[-1] + range_bytes)
            if bound >= size:
                break
            bounds.append(bound)
    return [FileRange(start, end) for start, end in pairwise([*bounds, size])]


def _next_line(file: BinaryIO, position: int) -> int:
    """Where the first line after a position begins; the end of the file if there is none."""
    file.seek(position)
    while block := file.read(BLOCK_BYTES):
        at = block.find(b"\n")
        if at >= 0:
            return position + at + 1
        position += len(block)
    return position


def _next_trec_document(file: BinaryIO, position: int) -> int:
    """Where the first document after a position begins; the end of the file if there is none."""
    file.seek(position)
    kept = b""
    while block := file.read(BLOCK_BYTES):
        text = kept + block
        found = _TREC_BOUNDARY.search(text)
        if found:
            return position - len(kept) + found.end()
        position += len(block)
        kept = text[-_TREC_OVERLAP:]
    return position


def number_lines(ranges: Sequence[FileRange], counts: Sequence[int]) -> list[FileRange]:
    """Ranges that know the lines before them, from the number of lines of each (`count_lines`)."""
    before = 0
    numbered = []
    for each, count in zip(ranges, counts, strict=True):
        numbered.append(replace(each, n_lines_skipped=before))
        before += count
    return numbered


def count_lines(path: str | os.PathLike[str], start: int, end: int) -> int:
    """The number of lines between two positions in a file; a line ends with \\n, \\r\\n or \\r."""
    return sum(block.count(b"\n") + _lone_returns(block) for block in _blocks(path, start, end))


def find_lines(path: Path, numbers: Sequence[int]) -> list[int] | None:
    """Where lines of a file begin, given by ascending numbers from 1; None if a line ends with \\r alone."""
    positions: list[int] = []
    wanted = iter(numbers)
    number = next(wanted, None)
    line, position = 1, 0
    for block in _blocks(path, 0, path.stat().st_size):
        if _lone_returns(block):
            return None
        n_ends, at = block.count(b"\n"), 0
        last = line + n_ends
        while number is not None and number <= last:
            while line < number:
                at = block.index(b"\n", at) + 1
                line += 1
            positions.append(position + at)
            number = next(wanted, None)
        line, position = last, position + len(block)
    return positions if number is None else None


def _lone_returns(block: bytes) -> int:
    return block.count(b"\r") - block.count(b"\r\n")


def _blocks(path: str | os.PathLike[str], start: int, end: int) -> Iterator[bytes]:
    """The bytes between two positions; no block ends between \\r and \\n."""
    with Path(path).open("rb") as file:
        file.seek(start)
        left = end - start
        while left > 0 and (block := file.read(min(BLOCK_BYTES, left))):
            left -= len(block)
            if block.endswith(b"\r") and left and (more := file.read(1)):
                block += more
                left -= 1
            yield block
