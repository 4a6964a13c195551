"""Reading the lines of judgments (qrels).

A line has the grade of a document for a topic, mostly 0, 1 or 2; negative grades (junk, spam) are in use too.

Columns are separated by blanks or tabs; all lines have as many columns as the first:

    qid iteration docno grade    TREC; the iteration is ignored
    qid docno grade              also with the header of BEIR: query-id corpus-id score
    qid docno 0 0                SMART, as CISI and CACM: only relevant documents are listed, which get the grade 1

The rows of a LETOR file are judgments too, if a comment names their documents: 2 qid:10 1:0.03 2:0.5 #docid = GX029-35

A pair may occur twice if its grade is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from searchlab.corpus.parsing.identifiers import refuse_mark
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt
from searchlab.corpus.trec.fast_lines import read_beginning, read_plain_lines
from searchlab.errors import DuplicateError, RecordError

BEIR_HEADER = ["query-id", "corpus-id", "score"]
TREC_COLUMNS = 4
_COLUMNS = {3: "qid, docno, grade", 4: "qid, iteration, docno, grade"}
# A row of a LETOR file: label, qid, and the document in its comment.
_LETOR_ROW = re.compile(r"\s*(?P<label>\S+)\s+qid:(?P<qid>[^\s#]+)(?=[\s#]|$)[^#]*(?P<comment>#.*)?")
_LETOR_DOCNO = re.compile(r"#\s*doc(?:id|no)\s*=\s*(\S+)", re.IGNORECASE)
_LETOR_GRADE = re.compile(r"([+-]?[0-9]{1,9})(?:\.0*)?")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class _Judgment:
    qid: str
    docno: str
    grade: int
    line: int


def read_qrels_lines(opened: OpenedFile) -> dict[str, dict[str, int]]:
    """The grades of all lines, by qid, then docno."""
    data, unread = read_beginning(opened)
    plain = _read_large(data)
    return _read_lines(unread) if plain is None else plain


def _read_large(data: bytes) -> dict[str, dict[str, int]] | None:
    """The judgments of a large, regular file with the columns of TREC; None for any other file."""
    first = data.partition(b"\n")[0].decode("utf-8", "replace").split()
    if _is_smart(first):
        return None
    lines = read_plain_lines(data, TREC_COLUMNS, docno_column=2, number_column=3, whole=True)
    if lines is None:
        return None
    grades: dict[str, dict[str, int]] = {}
    docnos, numbers, bounds = lines.docnos.strings(), lines.numbers.astype("int64").tolist(), lines.bounds
    for (qid, begin), end in zip(lines.topics, bounds[1:], strict=True):
        grades.setdefault(qid, {}).update(zip(docnos[begin:end], numbers[begin:end], strict=True))
    # A pair that occurs twice may have different grades.
    return grades if sum(map(len, grades.values())) == len(lines.docnos) else None


def _read_lines(opened: OpenedFile) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    lines: dict[str, dict[str, int]] = {}
    for judgment in _letor_judgments(opened) if _is_letor(opened.head) else _judgments(opened):
        grade = grades.setdefault(judgment.qid, {}).setdefault(judgment.docno, judgment.grade)
        line = lines.setdefault(judgment.qid, {}).setdefault(judgment.docno, judgment.line)
        if grade != judgment.grade:
            pair = f"document {judgment.docno} of topic {judgment.qid}"
            message = f"{pair} has the grade {judgment.grade}, but {grade} at {opened.location(line)}"
            raise DuplicateError(opened.location(judgment.line), message)
    return grades


def _judgments(opened: OpenedFile) -> Iterator[_Judgment]:
    n_columns = 0
    is_smart = None
    for number, line in opened.records():
        columns = line.split()
        if not columns:
            continue
        if is_smart is None:
            is_smart = _is_smart(columns)
        if is_smart and _is_smart(columns):
            yield _Judgment(columns[0], columns[1], 1, number)
            continue
        if not n_columns and [column.lower() for column in columns] == BEIR_HEADER:
            n_columns = len(columns)
            continue
        try:
            judgment = _judgment(columns, n_columns, number, opened.location(number))
        except RecordError as error:
            opened.reading.reject(error)
        else:
            n_columns = len(columns)
            yield judgment


def _is_letor(head: str) -> bool:
    """Whether the first line that is not a comment is a row of a LETOR file."""
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    return _LETOR_ROW.match(first) is not None


def _letor_judgments(opened: OpenedFile) -> Iterator[_Judgment]:
    for number, line in opened.records():
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                judgment = _letor_judgment(line, number, opened.location(number))
            except RecordError as error:
                opened.reading.reject(error)
            else:
                yield judgment


def _letor_judgment(line: str, number: int, location: str) -> _Judgment:
    row = _LETOR_ROW.fullmatch(line)
    if row is None:
        raise RecordError(location, f"expected a label and a qid (2 qid:7 …), found {excerpt(line)}")
    docno = _LETOR_DOCNO.match(row["comment"] or "")
    if docno is None:
        raise RecordError(location, "expected a comment that names the document (#docid = …), found none")
    grade = _LETOR_GRADE.fullmatch(row["label"])
    if grade is None:
        raise RecordError(location, f"expected a whole number as grade, found {excerpt(row['label'])}")
    refuse_mark("qid", row["qid"], location)
    refuse_mark("docno", docno[1], location)
    return _Judgment(row["qid"], docno[1], int(grade[1]), number)


def _is_smart(columns: list[str]) -> bool:
    """Whether a line ends in two zeros; in TREC's order that would be a document "0" in an iteration other than 0."""
    return len(columns) == 4 and columns[1] != "0" and columns[2] == "0" and columns[3].rstrip("0") in ("", "0.", ".")


def _judgment(columns: list[str], n_columns: int, number: int, location: str) -> _Judgment:
    if len(columns) not in _COLUMNS or len(columns) != (n_columns or len(columns)):
        expected = [f"{n} columns ({names})" for n, names in _COLUMNS.items() if n == (n_columns or n)]
        raise RecordError(location, f"expected {' or '.join(expected)}, found {len(columns)}")
    if not _WHOLE_NUMBER.fullmatch(columns[-1]):
        raise RecordError(location, f"expected a whole number as grade, found {excerpt(columns[-1])}")
    refuse_mark("qid", columns[0], location)
    refuse_mark("docno", columns[-2], location)
    return _Judgment(columns[0], columns[-2], int(columns[-1]), number)
