"""How does a file become rankings?

A TREC run has a line for each document found, in six columns: `qid Q0 docno rank score tag`. As trec_eval does, the
ranks are not looked at: documents are ordered by score, and equal scores by docno, both descending (docnos by
their bytes). The lines of a topic need not stand together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus.characters import excerpt
from searchlab.corpus.files import OpenedFile, open_file
from searchlab.corpus.notes import Notes
from searchlab.corpus.reading import Reading
from searchlab.corpus.sources import single_file
from searchlab.errors import DuplicateError, RecordError, SourceError
from searchlab.records import Ranking

N_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class _Result:
    qid: str
    docno: str
    score: float
    line: int


def read_run(source: str | Path, *, notes: Notes | None = None, strict: bool = True) -> list[Ranking]:
    """Read the rankings of a run file, gzipped or not, or of standard input (`-`), topics as they first appear.

    A malformed line is an error, unless `strict` is false: then it is noted, and the next one is read.
    """
    notes = Notes() if notes is None else notes
    file = single_file(source)
    notes.bytes_total += file.size
    with open_file(file, Reading(notes, strict)) as opened:
        found = _by_topic(opened)
    if not found:
        raise SourceError(file.name, "holds no results")
    notes.n_files += 1
    return [_ranking(qid, list(results.values())) for qid, results in found.items()]


def _ranking(qid: str, results: list[_Result]) -> Ranking:
    # Strings compare by code points, and so do their bytes in UTF-8.
    results.sort(key=lambda result: (result.score, result.docno), reverse=True)
    return Ranking(qid, [result.docno for result in results], [result.score for result in results])


def _by_topic(opened: OpenedFile) -> dict[str, dict[str, _Result]]:
    found: dict[str, dict[str, _Result]] = {}
    lines = ((number, columns) for number, line in opened.lines() if (columns := line.split()))
    for result in _results(opened, lines):
        first = found.setdefault(result.qid, {}).setdefault(result.docno, result)
        if first is not result:
            pair = f"document {result.docno} of topic {result.qid}"
            message = f"{pair} occurs already at {opened.place(first.line)}"
            raise DuplicateError(opened.place(result.line), message)
    return found


def _results(opened: OpenedFile, lines: Iterator[tuple[int, list[str]]]) -> Iterator[_Result]:
    def build(numbered: tuple[int, list[str]]) -> _Result:
        number, columns = numbered
        if len(columns) != N_COLUMNS:
            raise RecordError(opened.place(number), f"expected {N_COLUMNS} columns, found {len(columns)}")
        qid, _, docno, _, score, _ = columns
        return _Result(qid, docno, _number(score, opened.place(number)), number)

    return opened.reading.each(build, lines)


def _number(written: str, place: str) -> float:
    try:
        # An underscore between digits is Python's own habit.
        score = math.nan if "_" in written else float(written)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise RecordError(place, f"expected a finite number as score, found {excerpt(written)}")
    return score
