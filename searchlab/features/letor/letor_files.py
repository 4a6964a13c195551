"""Reading and writing LETOR feature files: lines of SVMlight with a comment that names the document.

    2 qid:10 1:0.031310 2:0.666667 3:NULL #docid = GX029-35-5894638 inc = 0.0119881192468859 prob = 0.139842

A line has a label (the grade), the qid, and features by ascending number, from 1. NULL or nan is an undefined value. A
feature that is left out is 0, as in SVMlight, unless `missing` says otherwise; but if no row leaves out a feature
before its last one, all rows must have the same number, because a truncated line would look the same. The document may
be written as `docid = X` or `docno=X`; the rest of the comment is kept. Blank lines and comment lines are skipped,
except one before the first row that names the features: `# names: bm25.title bm25.body`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from searchlab.corpus.parsing.identifiers import is_column
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import OpenedFile, open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import SettingError, unknown_name
from searchlab.features.feature_table import FeatureTable

# Values of features that a row leaves out.
MISSING = {"zero": 0.0, "nan": math.nan}
BLOCK_BYTES = 2**18
_ROWS_AT_ONCE = 4_096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_letor(
    path: str | Path,
    *,
    missing: str | None = None,
    names: Sequence[str] | None = None,
    notes: ReadingNotes | None = None,
) -> FeatureTable:
    """Read a feature file, gzipped or not, or standard input (`-`).

    `missing` is the value of features that a row leaves out, "zero" or "nan"; if it is given, rows may have any number
    of them. `names` are the names of the features; by default those in the file, or f1, f2, … Rows of interleaved
    queries are regrouped (`FeatureTable.was_regrouped`).
    """
    # Imported here so that writing a file does not load the compiled parser.
    from searchlab.features.letor.row_buffer import LetorRows

    if missing is not None and missing not in MISSING:
        raise unknown_name("rule for missing features", missing, MISSING)
    notes = ReadingNotes() if notes is None else notes
    file = single_file(path)
    notes.bytes_total += file.size
    with open_source_file(file, ReadingContext(notes)) as opened:
        rows = LetorRows(opened, MISSING[missing or "zero"], names)
        for block in _blocks(opened):
            rows.add(block)
        table = rows.table(same_dimension=missing is None)
    if table.was_regrouped:
        notes.regrouped.append(file.name)
    notes.n_files += 1
    return table


def write_letor(file: TextIO, table: FeatureTable, *, header: bool = True, null: bool = False) -> None:
    """Write a table; reading it back gives the same values, grades, qids and docnos.

    Undefined values are written as nan, which scikit-learn's `load_svmlight_file` and LightGBM read, or as NULL with
    `null`, as in LETOR's own files. The label is 0 where nothing was judged. The first line names the features, unless
    they are f1, f2, … or `header` is false: not every tool skips comments.
    """
    for qid in table.query_ids:
        _check_word("qid", qid, "#" not in qid)
    for docno in table.docnos:
        _check_word("docno", docno or "-")
    if header and table.names != tuple(f"f{number}" for number in range(1, table.n_features + 1)):
        file.write(f"# names: {' '.join(table.names)}\n")
    template = " ".join(f"{number}:%r" for number in range(1, table.n_features + 1))
    for start in range(0, table.n_rows, _ROWS_AT_ONCE):
        file.writelines(_lines(table.rows(slice(start, start + _ROWS_AT_ONCE)), template, null=null))


def _lines(table: FeatureTable, template: str, *, null: bool) -> Iterator[str]:
    grades = np.zeros(table.n_rows, np.int64) if table.grades is None else table.grades
    comments = [""] * table.n_rows if table.comments is None else table.comments
    undefined = np.any(np.isnan(table.values), axis=1)
    rows = zip(grades.tolist(), table.qids, table.docnos, comments, undefined, table.values.tolist(), strict=True)
    for grade, qid, docno, comment, some_undefined, values in rows:
        numbers = template % tuple(values)
        if null and some_undefined:
            numbers = numbers.replace("nan", "NULL")
        remark = " ".join([f"docid = {docno}"] * bool(docno) + [on_one_line(comment)] * bool(comment))
        yield f"{grade!r} qid:{qid} {numbers} #{remark}\n" if remark else f"{grade!r} qid:{qid} {numbers}\n"


def _check_word(kind: str, word: str, allowed: bool = True) -> None:
    if not (allowed and is_column(word)):
        raise SettingError(
            f"{kind} {excerpt(word)} cannot be written to a feature file, expected a word without blanks or #"
        )


def _blocks(opened: OpenedFile) -> Iterator[bytes]:
    """The file in blocks of whole lines; a missing line end of the last line is added."""
    pieces: list[bytes] = []
    n_lines = 0
    data = opened.stream.read(BLOCK_BYTES).removeprefix(_BYTE_ORDER_MARK)
    while data:
        end = data.rfind(b"\n") + 1
        if end:
            n_lines += data.count(b"\n")
            yield b"".join([*pieces, data[:end]])
            pieces = [data[end:]]
        else:
            pieces.append(data)
        if len(pieces) * BLOCK_BYTES > opened.reading.max_record_length:
            raise opened.reading.too_long(opened.location(n_lines + 1))
        data = opened.stream.read(BLOCK_BYTES)
    if any(pieces):
        yield b"".join([*pieces, b"\n"])
