"""What is in a file of judgments, a run, topics or features, its mistakes included?

The readers of `corpus` end at the first mistake. Here a file is read to its end: what can be read is kept, and each
kind of mistake is noted with the places where it was made. What a file is, its first lines tell.
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
from searchlab.corpus.trec.qrels import BEIR_HEADER
from searchlab.corpus.trec.topics import TOPIC_FORMATS
from searchlab.errors import SourceError
from searchlab.features.letor.letor_files import read_letor

# So many lines decide what a file is; most of them have to agree, because one may be malformed.
LINES = 20
RUN_COLUMNS = 6
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
# The last column of CISI: 0.000000.
_NOUGHT = re.compile(r"0*\.0*")
_LETOR = re.compile(r"\S+\s+qid:\S+(\s|$)")


class Line(NamedTuple):
    """A line of a run."""

    docno: str
    rank: int
    score: float


@dataclass
class Filed:
    """What a file holds; `faults` has, for each mistake, the places where it was made."""

    kind: str
    name: str
    qids: set[str] = field(default_factory=set)
    docnos: set[str] = field(default_factory=set)
    grades: dict[str, dict[str, int]] = field(default_factory=dict)
    results: dict[str, list[Line]] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)

    def fault(self, what: str, place: str) -> None:
        """Note a mistake."""
        self.faults.setdefault(what, []).append(place)

    def describe(self) -> str:
        """The file and what it is."""
        n_topics = f"{len(self.qids):,} topic{'s' * (len(self.qids) != 1)}"
        return f"{self.name} ({n_topics if self.kind == 'topics' else f'{self.kind}, {n_topics}'})"


def read_filed(path: str | Path) -> Filed:
    """Read a file to its end, whatever is wrong in it; one that is nothing of the kind is an error."""
    file = single_file(path)
    with open_source_file(file, ReadingContext(ReadingNotes(), strict=False)) as opened:
        if opened.is_blank:
            raise SourceError(file.name, "empty, expected topics, judgments, a run or features")
        kind = recognise(opened.head)
        if kind == "run":
            return _read_run(opened)
        if kind == "judgments":
            return _read_judgments(opened)
        if kind == "topics":
            return _read_topics(opened)
    table = read_letor(path)
    return Filed("features", file.name, set(table.query_ids), {docno for docno in table.docnos.tolist() if docno})


def recognise(head: str) -> str:
    """The kind of a file by its beginning; what has no columns of numbers is taken for topics."""
    written = [line for line in head.splitlines()[:LINES] if line.strip()]
    lines = [line.split() for line in written]
    if [word.lower() for word in lines[0]] == BEIR_HEADER:
        return "judgments"
    if _most(bool(_LETOR.match(" ".join(line))) for line in lines if line[0] != "#"):
        return "features"
    if _most(len(line) == RUN_COLUMNS and _is_number(line[4]) for line in lines):
        return "run"
    # A single tab parts a qid from its text, whatever number that ends with.
    if _most(len(line) in (3, 4) and _is_grade(line[-1]) for line in lines) and not _most(
        line.count("\t") == 1 for line in written
    ):
        return "judgments"
    return "topics"


def _most(answers: Iterable[bool]) -> bool:
    listed = list(answers)
    return bool(listed) and sum(listed) > len(listed) / 2


def _is_grade(text: str) -> bool:
    return bool(_WHOLE.fullmatch(text)) or bool(_NOUGHT.fullmatch(text))


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def _read_run(opened: OpenedFile) -> Filed:
    found = Filed("run", opened.name)
    seen: dict[tuple[str, str], int] = {}
    for number, text in opened.lines():
        columns, place = text.split(), opened.location(number)
        if not columns:
            continue
        if len(columns) != RUN_COLUMNS:
            found.fault(f"expected {RUN_COLUMNS} columns, found {len(columns)}", place)
            continue
        qid, _, docno, rank, score, _ = columns
        if not _is_number(score) or math.isinf(float(score)):
            found.fault(f"expected a finite number as score, found {excerpt(score)}", place)
            continue
        if not _WHOLE.fullmatch(rank):
            found.fault(f"expected a whole number as rank, found {excerpt(rank)}", place)
            continue
        if seen.setdefault((qid, docno), number) != number:
            found.fault("a document occurs twice for its topic", f"{place}: {docno} of topic {qid}")
            continue
        found.qids.add(qid)
        found.docnos.add(docno)
        found.results.setdefault(qid, []).append(Line(docno, int(rank), float(score)))
    return found


def _read_judgments(opened: OpenedFile) -> Filed:
    found = Filed("judgments", opened.name)
    n_columns = 0
    is_smart = False
    for number, text in opened.lines():
        columns, place = text.split(), opened.location(number)
        if not columns or (not n_columns and [word.lower() for word in columns] == BEIR_HEADER):
            continue
        if not n_columns:
            n_columns = len(columns) if len(columns) in (3, 4) else 4
            is_smart = _is_smart(columns)
        if len(columns) != n_columns:
            found.fault(f"expected {n_columns} columns, found {len(columns)}", place)
            continue
        if is_smart and _is_smart(columns):
            columns = [columns[0], "0", columns[1], "1"]
        qid, docno, written = columns[0], columns[-2], columns[-1]
        if not _WHOLE.fullmatch(written):
            found.fault(f"expected a whole number as grade, found {excerpt(written)}", place)
            continue
        grade = int(written)
        own = found.grades.setdefault(qid, {})
        if docno in own:
            how = "twice" if own[docno] == grade else "with two grades"
            found.fault(f"a document is judged {how} for its topic", f"{place}: {docno} of topic {qid}")
            continue
        own[docno] = grade
        found.qids.add(qid)
        found.docnos.add(docno)
    return found


def _is_smart(columns: list[str]) -> bool:
    """As CISI and CACM, `qid docno 0 0`: only relevant documents are listed."""
    return len(columns) == 4 and columns[1] != "0" and columns[2] == "0" and columns[3].rstrip("0") in ("", "0.", ".")


def _read_topics(opened: OpenedFile) -> Filed:
    format = detect_format(opened, TOPIC_FORMATS)
    if format is None:
        raise SourceError(opened.name, "expected topics, judgments, a run or features, found something else")
    found = Filed("topics", opened.name)
    for topic in format.read(opened):
        if topic.qid in found.qids:
            found.fault("a qid occurs twice", f"{topic.location}: topic {topic.qid}")
        if not topic.parts.get(topic.resolve("text"), "").strip():
            found.fault("a topic without a text", f"{topic.location}: topic {topic.qid}")
        found.qids.add(topic.qid)
    for error in opened.reading.notes.bad_records:
        found.fault(error.message, error.location)
    if not found.qids and not found.faults:
        raise SourceError(opened.name, "holds no topics")
    return found
