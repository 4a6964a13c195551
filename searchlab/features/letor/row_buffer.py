"""The rows of a LETOR file while it is read, a block of lines at a time.

The compiled pass of `parse_kernels` fills the values, of which there is one copy: the array grows in place, and is cut
to size at the end. This module does the rest: words become strings, and the few numbers that need it are read by
`float`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from searchlab.corpus.encodings import decode_windows_1252
from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import clean, excerpt, on_one_line
from searchlab.errors import DuplicateError, RecordError, SourceError
from searchlab.features.feature_table import FeatureTable, check_feature_names
from searchlab.features.letor import parse_kernels as lines
from searchlab.features.letor.line_errors import MAX_FEATURES, fault_of
from searchlab.row_groups import find_duplicate, group_rows
from searchlab.types import Array

ROWS_AT_ONCE = 8_192
_HARD_AT_ONCE = 4_096
# A table above this size may exceed its file by at most this factor: a tiny file must not allocate all memory.
_MODEST_BYTES, _MAX_GROWTH = 2**30, 500
_FEATURE_NUMBER = re.compile(rb"(?:^|[ \t\r])0*([0-9]+):")


class LetorRows:
    """The rows of one file read so far; `missing` is the value of features that a row leaves out."""

    def __init__(self, opened: OpenedFile, missing: float, names: Sequence[str] | None) -> None:
        self.opened = opened
        self.line = 1
        self._missing = missing
        self._names = None if names is None else check_feature_names(names)
        self._bytes_read = 0
        self._n_rows = 0
        self._values: npt.NDArray[np.float64] = np.empty((0, len(self._names or ())))
        self._grades: list[Array] = []
        self._lines: list[Array] = []
        self._qids: list[str] = []
        self._qid_rows: list[Array] = []
        self._docnos: list[str] = []
        self._comments: list[str] = []
        self._labels = np.empty(ROWS_AT_ONCE)
        self._marks = np.empty((ROWS_AT_ONCE, lines.N_MARKS), np.int64)
        self._hard = np.empty((0, lines.N_HARD_MARKS), np.int64)
        self._facts = np.zeros(lines.N_FACTS, np.int64)
        self._facts[lines.FIRST_COUNT] = -1

    def add(self, block: bytes) -> None:
        """Read the lines of a block, which ends with a line end."""
        text = np.frombuffer(block, np.uint8)
        self._bytes_read += len(block)
        self._facts[lines.UNUSUAL] = 0
        position, reason = 0, lines.FULL
        while reason != lines.AT_END:
            self._make_room()
            room = self._values[self._n_rows : self._n_rows + ROWS_AT_ONCE]
            reason, position, self.line, n_rows, n_hard = lines.parse_rows(
                text,
                position,
                self.line,
                room,
                self._labels[: len(room)],
                self._marks,
                self._hard,
                self._facts,
                self._missing,
            )
            self._take_hard_numbers(block, n_hard)
            self._take_words(block, n_rows)
            self._grades.append(self._labels[:n_rows].copy())
            self._n_rows += n_rows
            if reason == lines.MALFORMED:
                raise fault_of(self._location(self.line), self._line_at(block, position))
            if reason == lines.TOO_NARROW:
                self._widen(self._line_at(block, position))
            if reason == lines.NAMES_LINE:
                line = self._line_at(block, position)
                self._take_names(line)
                position, self.line = position + len(line) + 1, self.line + 1

    def table(self, same_dimension: bool) -> FeatureTable:
        """The rows as a table; `same_dimension` requires that rows without gaps have the same number of features."""
        if not self._n_rows:
            raise SourceError(self.opened.name, "holds no rows")
        names = self._checked_names(same_dimension)
        # There are no views of the array left, so that it may move.
        self._values.resize((self._n_rows, self._values.shape[1]), refcheck=False)
        values = self._values if len(names) == self._values.shape[1] else self._values[:, : len(names)].copy()
        starts = np.concatenate(self._qid_rows)
        qids = np.repeat(np.array(self._qids, dtype=object), np.diff(starts, append=self._n_rows))
        docnos = np.array(self._docnos, dtype=object)
        comments = np.array(self._comments, dtype=object) if any(self._comments) else None
        try:
            return FeatureTable(names, qids, docnos, values, np.concatenate(self._grades), comments)
        except DuplicateError:
            raise self._duplicate(qids, docnos) from None

    def _location(self, line: int) -> str:
        return self.opened.location(line)

    def _line_at(self, block: bytes, position: int) -> bytes:
        return block[position : block.index(b"\n", position)]

    def _make_room(self) -> None:
        capacity, width = self._values.shape
        if len(self._hard) <= width:
            self._hard = np.empty((width + _HARD_AT_ONCE, lines.N_HARD_MARKS), np.int64)
        if capacity > self._n_rows:
            return
        capacity += max(1024, capacity // 8)
        self._check_size(capacity, width)
        self._values.resize((capacity, width), refcheck=False)

    def _check_size(self, capacity: int, width: int) -> None:
        if capacity * width * 8 > max(_MODEST_BYTES, _MAX_GROWTH * self._bytes_read):
            found = f"found {self._n_rows} rows with almost no values for {width} features"
            raise SourceError(self.opened.name, f"{found}, expected values for more of them")

    def _widen(self, line: bytes) -> None:
        capacity, width = self._values.shape
        written = [number for number in _FEATURE_NUMBER.findall(line.split(b"#", 1)[0]) if number]
        needed = max(int(number) if len(number) <= 9 else MAX_FEATURES + 1 for number in written)
        if needed > MAX_FEATURES:
            raise fault_of(self._location(self.line), line)
        if self._names is not None:
            raise RecordError(
                self._location(self.line), f"expected {width} features, as they are named, found {needed}"
            )
        # A dense file has its dimension in the first row; doubling bounds the copies of a file that keeps growing.
        new_width = max(needed, min(2 * width, MAX_FEATURES))
        self._check_size(capacity, new_width)
        wider = np.full((capacity, new_width), self._missing)
        wider[: self._n_rows, :width] = self._values[: self._n_rows]
        self._values = wider

    def _take_names(self, line: bytes) -> None:
        head, colon, rest = line.decode("utf-8", "replace").partition(":")
        if head.strip(" \t\r#") != "names" or not colon or self._names is not None or self._n_rows:
            return
        names = rest.split()
        if len(names) > MAX_FEATURES or len(set(names)) < len(names) or clean(rest) != rest:
            raise RecordError(self._location(self.line), f"expected distinct names of features, found {excerpt(rest)}")
        self._names = tuple(names)
        self._values = np.empty((0, len(names)))

    def _take_hard_numbers(self, block: bytes, n_hard: int) -> None:
        for row, column, start, end in self._hard[:n_hard].tolist():
            value = float(block[start:end])
            if math.isinf(value):
                what = "label" if column < 0 else f"feature {column + 1}"
                found = excerpt(block[start:end].decode())
                location = self._location(self._marks[row, lines.LINE])
                raise RecordError(location, f"expected a finite number as {what}, found {found}")
            if column < 0:
                self._labels[row] = value
            else:
                self._values[self._n_rows + row, column] = value

    def _take_words(self, block: bytes, n_rows: int) -> None:
        marks = self._marks[:n_rows]
        new_qids = np.flatnonzero(marks[:, lines.QID] >= 0)
        self._lines.append(marks[:, lines.LINE].copy())
        self._qid_rows.append(new_qids + self._n_rows)
        if self._facts[lines.UNUSUAL]:
            self._take_unusual_words(block, marks)
            return
        self._qids += _words(block, marks[new_qids, lines.QID : lines.QID_END + 1])
        self._docnos += _words(block, marks[:, lines.DOCNO : lines.DOCNO_END + 1])
        self._comments += _words(block, marks[:, lines.COMMENT : lines.COMMENT_END + 1])

    def _take_unusual_words(self, block: bytes, marks: Array) -> None:
        for row in marks.tolist():
            location = self._location(row[lines.LINE])
            qid, docno, comment = (block[row[at] : row[at + 1]] for at in (lines.QID, lines.DOCNO, lines.COMMENT))
            decode: Callable[[bytes], str] = bytes.decode
            try:
                decode(qid + b" " + docno + b" " + comment)
            except UnicodeDecodeError:
                decode = decode_windows_1252
                self.opened.reading.notes.latin1_lines[self.opened.name] += 1
            if row[lines.QID] >= 0:
                self._qids.append(check_name("qid", decode(qid), location))
            self._docnos.append(check_name("docno", decode(docno), location) if docno else "")
            self._comments.append(on_one_line(decode(comment)))

    def _checked_names(self, same_dimension: bool) -> tuple[str, ...]:
        _, n_first, odd_line, n_odd, widest = self._facts[: lines.UNUSUAL].tolist()
        dense = same_dimension and not self._facts[lines.GAPS]
        if dense and odd_line:
            raise RecordError(
                self._location(odd_line), f"expected {n_first} features, as the rows before have, found {n_odd}"
            )
        if self._names is None:
            if not widest:
                raise SourceError(self.opened.name, "holds no features")
            return tuple(f"f{number}" for number in range(1, widest + 1))
        if dense and widest < len(self._names):
            location = self._location(self._lines_of_rows()[0])
            raise RecordError(location, f"expected {len(self._names)} features, as they are named, found {widest}")
        return self._names

    def _lines_of_rows(self) -> Array:
        return np.concatenate(self._lines)

    def _duplicate(self, qids: Array, docnos: Array) -> DuplicateError:
        offsets, order = group_rows(qids)
        order = np.arange(len(qids)) if order is None else order
        duplicate = find_duplicate(docnos[order], offsets)
        first, second = sorted(order[list(duplicate or (0, 0))].tolist())
        locations = [self._location(line) for line in self._lines_of_rows()[[first, second]].tolist()]
        found = f"document {docnos[second]} of query {qids[second]}"
        return DuplicateError(locations[1], f"{found} occurs already at {locations[0]}")


def _words(block: bytes, bounds: Array) -> list[str]:
    """The ASCII words between these bounds; an empty string where there is none."""
    if not len(bounds) or bounds.max() < 0:
        return [""] * len(bounds)
    return [block[start:end].decode("ascii") for start, end in bounds.tolist()]
