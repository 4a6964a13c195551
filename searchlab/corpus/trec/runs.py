"""TREC runs: reading and writing rankings.

A run has a line for each retrieved document, with six columns: `qid Q0 docno rank score tag`. As in trec_eval the ranks
are ignored: documents are ordered by score, and equal scores by docno, both descending (docnos by their bytes). The
lines of a topic need not be adjacent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from searchlab.corpus.parsing.identifiers import refuse_mark, require_columns
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import OpenedFile, open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.text_cleaning import excerpt
from searchlab.corpus.trec.fast_lines import read_beginning, read_plain_lines
from searchlab.errors import DuplicateError, RecordError, SourceError
from searchlab.records import Ranking

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

N_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class _Result:
    qid: str
    docno: str
    score: float
    line: int


def read_run(source: str | Path, *, notes: ReadingNotes | None = None, strict: bool = True) -> list[Ranking]:
    """Read the rankings of a run file, gzipped or not, or of standard input (`-`), in the order of first appearance.

    A malformed line is an error, unless `strict` is false: then it is noted and skipped.
    """
    notes = ReadingNotes() if notes is None else notes
    file = single_file(source)
    notes.bytes_total += file.size
    with open_source_file(file, ReadingContext(notes, strict)) as opened:
        data, unread = read_beginning(opened)
        rankings = _read_large(data)
        if rankings is None:
            results_by_topic = _read_lines(unread)
            rankings = [_ranking(qid, list(results.values())) for qid, results in results_by_topic.items()]
    if not rankings:
        raise SourceError(file.name, "holds no results")
    notes.n_files += 1
    return rankings


def _read_large(data: bytes) -> list[Ranking] | None:
    """The rankings of a large, regular run; None for any other file."""
    import numpy as np

    lines = read_plain_lines(data, N_COLUMNS, docno_column=2, number_column=4)
    if lines is None:
        return None
    parts: dict[str, list[Any]] = {}
    for qid, docnos, scores in lines.by_topic():
        parts.setdefault(qid, []).append((docnos, scores))
    rankings = []
    for qid, runs in parts.items():
        docnos, scores = runs[0]
        if len(runs) > 1:
            docnos = [docno for some, _ in runs for docno in some]
            scores = np.concatenate([some for _, some in runs])
        if len(set(docnos)) < len(docnos):
            return None
        rankings.append(_sorted_ranking(qid, docnos, scores))
    return rankings


def _sorted_ranking(qid: str, docnos: list[str], scores: npt.NDArray[np.float64]) -> Ranking:
    import numpy as np

    # Strings compare by code points, which is the order of their bytes in UTF-8. Most runs are sorted except for ties.
    if (scores[1:] > scores[:-1]).any():
        pairs = sorted(zip(scores.tolist(), docnos, strict=True), reverse=True)
        return Ranking(qid, [docno for _, docno in pairs], [score for score, _ in pairs])
    edges = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1], [True]]))
    for tie in np.flatnonzero(np.diff(edges) > 1).tolist():
        begin, end = edges[tie : tie + 2].tolist()
        docnos[begin:end] = sorted(docnos[begin:end], reverse=True)
    return Ranking(qid, docnos, scores.tolist())


def _ranking(qid: str, results: list[_Result]) -> Ranking:
    # Strings compare by code points, which is the order of their bytes in UTF-8.
    results.sort(key=lambda result: (result.score, result.docno), reverse=True)
    return Ranking(qid, [result.docno for result in results], [result.score for result in results])


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


def write_run(file: TextIO, rankings: Iterable[Ranking], tag: str = "searchlab") -> None:
    """Write rankings as a TREC run."""
    require_columns("tag", [tag])
    for ranking in rankings:
        require_columns("qid", [ranking.qid])
        require_columns("docno", ranking.docnos)
        results = zip(ranking.docnos, ranking.scores, strict=True)
        file.writelines(
            f"{ranking.qid} Q0 {docno} {rank} {score!r} {tag}\n" for rank, (docno, score) in enumerate(results, start=1)
        )
