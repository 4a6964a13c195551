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
    from searchlab.types import Array, Floats

N_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class _Result:
    qid: str
    docno: str
    score: float
    line: int


def read_run_lines(opened: OpenedFile) -> tuple[Array, Array, Floats]:
    """The qids, docnos and scores of all lines; no document occurs twice for a topic."""
    import numpy as np

    from searchlab.dataframes import objects

    data, unread = read_beginning(opened)
    columns = _read_large(data)
    if columns is not None:
        return columns
    results = [result for by_docno in _read_lines(unread).values() for result in by_docno.values()]
    scores = np.array([result.score for result in results], np.float64)
    return objects([result.qid for result in results]), objects([result.docno for result in results]), scores


def _read_large(data: bytes) -> tuple[Array, Array, Floats] | None:
    """The columns of a large, regular run; None for any other file."""
    import numpy as np

    from searchlab.dataframes import objects
    from searchlab.row_groups import find_duplicate, group_rows

    lines = read_plain_lines(data, N_COLUMNS, docno_column=2, number_column=4)
    if lines is None:
        return None
    begins = [begin for _, begin in lines.topics]
    qids = np.repeat(objects([qid for qid, _ in lines.topics]), np.diff([*begins, len(lines.docnos)]))
    docnos = objects(lines.docnos)
    offsets, order = group_rows(qids)
    if find_duplicate(docnos if order is None else docnos[order], offsets) is not None:
        return None
    return qids, docnos, lines.numbers


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
