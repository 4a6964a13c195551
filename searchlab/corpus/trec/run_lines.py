"""Reading the lines of TREC run files.

A run has a line for each retrieved document, with six columns: `qid Q0 docno rank score tag`. The ranks are ignored, as
in trec_eval. The lines of a topic need not be adjacent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from searchlab.corpus.parsing.identifiers import refuse_mark
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt
from searchlab.corpus.trec.fast_lines import read_beginning, read_plain_lines
from searchlab.errors import DuplicateError, RecordError

if TYPE_CHECKING:
    from searchlab.corpus.trec.packed_docnos import PackedDocnos
    from searchlab.types import Array, Floats, Ints

N_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class _Result:
    qid: str
    docno: str
    score: float
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class RunLines:
    """The lines of a run: topic i has the rows offsets[i]:offsets[i + 1], in the order of the file."""

    query_ids: tuple[str, ...]
    offsets: Ints
    docnos: Array | PackedDocnos
    scores: Floats


def read_run_lines(opened: OpenedFile) -> RunLines:
    """All lines; no document occurs twice for a topic."""
    import numpy as np

    from searchlab.array_ranges import offsets_of
    from searchlab.dataframes import objects

    data, unread = read_beginning(opened)
    lines = _read_large(data)
    if lines is not None:
        return lines
    by_qid = _read_lines(unread)
    results = [result for by_docno in by_qid.values() for result in by_docno.values()]
    scores = np.array([result.score for result in results], np.float64)
    lengths = [len(by_docno) for by_docno in by_qid.values()]
    return RunLines(tuple(by_qid), offsets_of(lengths), objects([result.docno for result in results]), scores)


def _read_large(data: bytes) -> RunLines | None:
    """A large, regular run; None for any other file."""
    import numpy as np

    from searchlab.row_groups import group_runs

    lines = read_plain_lines(data, N_COLUMNS, docno_column=2, number_column=4)
    if lines is None:
        return None
    heads, docnos, scores = [qid for qid, _ in lines.topics], lines.docnos, lines.numbers
    offsets, order = group_runs(heads, np.array(lines.bounds, np.int64))
    if order is not None:
        docnos, scores = docnos[order], scores[order]
    if docnos.has_duplicate(offsets):
        return None
    return RunLines(tuple(dict.fromkeys(heads)), offsets, docnos, scores)


def _read_lines(opened: OpenedFile) -> dict[str, dict[str, _Result]]:
    results: dict[str, dict[str, _Result]] = {}
    lines = ((number, columns) for number, line in opened.records() if (columns := line.split()))
    for result in _results(opened, lines):
        first = results.setdefault(result.qid, {}).setdefault(result.docno, result)
        if first is not result:
            pair = f"document {result.docno} of topic {result.qid}"
            message = f"{pair} occurs already at {opened.location(first.line)}"
            raise DuplicateError(opened.location(result.line), message)
    return results


def _results(opened: OpenedFile, lines: Iterator[tuple[int, list[str]]]) -> Iterator[_Result]:
    def build(numbered: tuple[int, list[str]]) -> _Result:
        number, columns = numbered
        if len(columns) != N_COLUMNS:
            raise RecordError(opened.location(number), f"expected {N_COLUMNS} columns, found {len(columns)}")
        qid, _, docno, _, score, _ = columns
        refuse_mark("qid", qid, opened.location(number))
        refuse_mark("docno", docno, opened.location(number))
        return _Result(qid, docno, _number(score, opened.location(number)), number)

    return opened.reading.parse_each(build, lines)


def _number(written: str, location: str) -> float:
    try:
        # float() accepts underscores between digits.
        score = math.nan if "_" in written else float(written)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise RecordError(location, f"expected a finite number as score, found {excerpt(written)}")
    return score
