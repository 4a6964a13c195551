"""A lenient reader of files of judgments, runs, topics and features.

The readers of `corpus` stop at the first error. This one reads a file to its end: valid lines are kept, and each kind
of fault is recorded with its locations. The kind of a file is detected from its first lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from searchlab.corpus.detection import detect_format
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import OpenedFile, open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.text_cleaning import excerpt
from searchlab.corpus.trec.qrels_lines import BEIR_HEADER
from searchlab.corpus.trec.topics import TOPIC_FORMATS
from searchlab.errors import SourceError
from searchlab.evaluation.number_text import format_count
from searchlab.features.letor.letor_files import read_letor
from searchlab.records import Ranking

# The number of lines that decide the kind of a file; most of them have to agree, because some may be malformed.
MAX_DETECTION_LINES = 20
RUN_COLUMNS = 6
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
# The last column of CISI: 0.000000.
_ZERO = re.compile(r"0*\.0*")
_LETOR = re.compile(r"\S+\s+qid:\S+(\s|$)")


class RunLine(NamedTuple):
    """A line of a run."""

    docno: str
    rank: int
    score: float


@dataclass
class ParsedFile:
    """The contents of a file; `faults` has the locations of each kind of fault, `order` the qids of topics."""

    kind: str
    name: str
    qids: set[str] = field(default_factory=set)
    docnos: set[str] = field(default_factory=set)
    order: list[str] = field(default_factory=list)
    grades: dict[str, dict[str, int]] = field(default_factory=dict)
    results: dict[str, list[RunLine]] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)

    def rankings(self) -> dict[str, Ranking]:
        """The rankings of a run; of a document that occurs twice, the first line counts."""
        scores = {qid: {line.docno: line.score for line in reversed(lines)} for qid, lines in self.results.items()}
        return {qid: Ranking(qid, tuple(of_topic), tuple(of_topic.values())) for qid, of_topic in scores.items()}

    def add_fault(self, fault: str, location: str) -> None:
        """Record a fault."""
        self.faults.setdefault(fault, []).append(location)

    def describe(self) -> str:
        """The name, the kind and the number of topics of the file."""
        topics = format_count(len(self.qids), "topic")
        return f"{self.name} ({topics if self.kind == 'topics' else f'{self.kind}, {topics}'})"


def read_leniently(path: str | Path) -> ParsedFile:
    """Read a file to its end, with its faults; a file of another kind is an error."""
    file = single_file(path)
    with open_source_file(file, ReadingContext(ReadingNotes(), strict=False)) as opened:
        if opened.is_blank:
            raise SourceError(file.name, "empty, expected topics, judgments, a run or features")
        kind = detect_kind(opened.head)
        if kind in _READERS:
            parsed = _READERS[kind](opened)
            for error in opened.reading.notes.bad_records:
                parsed.add_fault(error.message, error.location)
            if not parsed.qids and not parsed.faults:
                raise SourceError(file.name, f"holds no {kind}")
            return parsed
    table = read_letor(path)
    return ParsedFile("features", file.name, set(table.query_ids), {docno for docno in table.docnos.tolist() if docno})


def detect_kind(head: str) -> str:
    """The kind of a file with these first lines; without columns of numbers it is taken for topics."""
    written = [line for line in head.splitlines() if line.strip()][:MAX_DETECTION_LINES]
    lines = [line.split() for line in written]
    if lines and [word.lower() for word in lines[0]] == BEIR_HEADER:
        return "judgments"
    if _most(bool(_LETOR.match(" ".join(line))) for line in lines if line[0] != "#"):
        return "features"
    if _most(len(line) == RUN_COLUMNS and _is_number(line[4]) for line in lines):
        return "run"
    # Lines with a single tab are topics, qid and text, even if the text ends with a number.
    if _most(len(line) in (3, 4) and _is_grade(line[-1]) for line in lines) and not _most(
        line.count("\t") == 1 for line in written
    ):
        return "judgments"
    return "topics"


def _most(answers: Iterable[bool]) -> bool:
    votes = list(answers)
    return bool(votes) and sum(votes) > len(votes) / 2


def _is_grade(text: str) -> bool:
    return bool(_WHOLE.fullmatch(text)) or bool(_ZERO.fullmatch(text))


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def _read_run(opened: OpenedFile) -> ParsedFile:
    file = ParsedFile("run", opened.name)
    seen: dict[tuple[str, str], int] = {}
    for number, text in opened.records():
        columns, location = text.split(), opened.location(number)
        if not columns:
            continue
        if len(columns) != RUN_COLUMNS:
            file.add_fault(f"expected {RUN_COLUMNS} columns, found {len(columns)}", location)
            continue
        qid, _, docno, rank, score, _ = columns
        if not _is_number(score) or math.isinf(float(score)):
            file.add_fault(f"expected a finite number as score, found {excerpt(score)}", location)
            continue
        if not _WHOLE.fullmatch(rank):
            file.add_fault(f"expected a whole number as rank, found {excerpt(rank)}", location)
            continue
        if seen.setdefault((qid, docno), number) != number:
            file.add_fault("a document occurs twice for its topic", f"{location}: {docno} of topic {qid}")
            continue
        file.qids.add(qid)
        file.docnos.add(docno)
        file.results.setdefault(qid, []).append(RunLine(docno, int(rank), float(score)))
    return file


def _read_judgments(opened: OpenedFile) -> ParsedFile:
    file = ParsedFile("judgments", opened.name)
    n_columns = 0
    is_smart = False
    for number, text in opened.records():
        columns, location = text.split(), opened.location(number)
        if not columns or (not n_columns and [word.lower() for word in columns] == BEIR_HEADER):
            continue
        if not n_columns:
            n_columns = len(columns) if len(columns) in (3, 4) else 4
            is_smart = _is_smart(columns)
        if len(columns) != n_columns:
            file.add_fault(f"expected {n_columns} columns, found {len(columns)}", location)
            continue
        if is_smart and _is_smart(columns):
            columns = [columns[0], "0", columns[1], "1"]
        qid, docno, written = columns[0], columns[-2], columns[-1]
        if not _WHOLE.fullmatch(written):
            file.add_fault(f"expected a whole number as grade, found {excerpt(written)}", location)
            continue
        grade = int(written)
        grades = file.grades.setdefault(qid, {})
        if docno in grades:
            how = "twice" if grades[docno] == grade else "with two grades"
            file.add_fault(f"a document is judged {how} for its topic", f"{location}: {docno} of topic {qid}")
            continue
        grades[docno] = grade
        file.qids.add(qid)
        file.docnos.add(docno)
    return file


def _is_smart(columns: list[str]) -> bool:
    """Whether a line has the form of CISI and CACM, `qid docno 0 0`, where only relevant documents are listed."""
    return len(columns) == 4 and columns[1] != "0" and columns[2] == "0" and columns[3].rstrip("0") in ("", "0.", ".")


def _read_topics(opened: OpenedFile) -> ParsedFile:
    format = detect_format(opened, TOPIC_FORMATS)
    if format is None:
        raise SourceError(opened.name, "expected topics, judgments, a run or features, found something else")
    file = ParsedFile("topics", opened.name)
    for topic in format.read(opened):
        if topic.qid in file.qids:
            file.add_fault("a qid occurs twice", f"{topic.location}: topic {topic.qid}")
        if not topic.parts.get(topic.resolve("text"), "").strip():
            file.add_fault("a topic without a text", f"{topic.location}: topic {topic.qid}")
        file.qids.add(topic.qid)
        file.order.append(topic.qid)
    return file


_READERS = {"run": _read_run, "judgments": _read_judgments, "topics": _read_topics}
