"""Topics and judgments as people keep them: tables, reference files, lists of queries; read line by line.

    table         query, document, rating: CSV, TSV or the first sheet of a workbook; Quepid's `query,docid,rating`
    qrels         qid 0 docno grade, as TREC writes them
    RIS           records with a note `query: …` and a note `grade: 2`, `relevant`, `not relevant`, …
    queries       one a line, or qid, tab, query

What a line lacks or has wrong is reported with it; the other lines are read. Nothing is looked up here: `plan_import`
(`import_plan.py`) finds topics and documents.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from searchlab.corpus.encodings import decode_windows_1252, wide_encoding
from searchlab.corpus.extraction.extracted import ROWS, SHEET, ExtractionFailed
from searchlab.corpus.extraction.extractors.xlsx import extract_xlsx
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import SettingError

MAX_LINES = 200_000
MAX_CELL_LENGTH = 10_000
# The characters of a workbook that are read at most.
MAX_WORKBOOK_LENGTH = 20_000_000

# Names of columns, without case, blanks and signs.
COLUMNS = {
    "query": ("query", "querytext", "topic", "topictext", "search", "question", "title", "text", "searchterm"),
    "qid": ("qid", "queryid", "topicid", "number", "num"),
    "docno": ("docno", "docid", "doc", "document", "documentid", "id", "pmid", "doi", "article", "recordid"),
    "grade": ("grade", "rating", "relevance", "relevant", "label", "judgment", "judgement", "rel", "score"),
}
# Grades in words, without case.
GRADE_WORDS = {
    **dict.fromkeys(("definitely", "definitely relevant", "highly relevant", "very relevant", "perfect"), 2),
    **dict.fromkeys(("relevant", "possibly", "possibly relevant", "partially relevant", "yes", "included", "y"), 1),
    **dict.fromkeys(("not", "not relevant", "irrelevant", "nonrelevant", "no", "excluded", "poor", "n"), 0),
}

_RIS_TAG = re.compile(r"([A-Z][A-Z0-9])  - ?(.*)")
_QUERY_NOTE = re.compile(r"\s*(?:query|topic|question)\s*[:=]\s*(.+)", re.IGNORECASE)
_GRADE_NOTE = re.compile(r"\s*(?:grade|rating|relevance|judg[e]?ment)\s*[:=]\s*(.+)", re.IGNORECASE)
_QRELS_LINE = re.compile(r"(\S+)\s+\S+\s+(\S+)\s+(-?[0-9]+)\s*")
_RIS_DOCNO_TAGS = ("ID", "AN", "DO", "C7", "UR")


@dataclass(frozen=True, slots=True)
class JudgmentRow:
    """A line: a topic by its text, its qid or both, and perhaps a document with its grade.

    `docnos` are identifiers of the document, of which one is its docno in the index, or its PMID or DOI.
    """

    line: int
    query: str
    qid: str = ""
    docnos: tuple[str, ...] = ()
    grade: int | None = None


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line that is not understood, its beginning, and why."""

    line: int
    text: str
    problem: str


@dataclass(frozen=True)
class JudgmentTable:
    """What was understood of a file, in words (`kind`), its rows, the lines that were not understood, and the columns
    that are not used.
    """

    kind: str
    rows: tuple[JudgmentRow, ...]
    unread: tuple[UnreadLine, ...]
    unused: tuple[str, ...] = ()


def read_judgment_table(content: bytes) -> JudgmentTable:
    """The rows of a file, whose format is recognised by its content."""
    if content.startswith(b"PK\x03\x04"):
        return _read_table("workbook", _workbook_rows(content))
    text = _decode(content)
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise SettingError(f"the file has {len(lines):,} lines, expected at most {MAX_LINES:,}")
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not filled:
        raise SettingError("the file is empty, expected topics or judgments")
    if any(line.startswith("TY  - ") for _, line in filled[:50]):
        return _read_ris(filled)
    if all(_QRELS_LINE.fullmatch(line) for _, line in filled[:100]):
        return _read_qrels(filled)
    for delimiter in ("\t", ",", ";"):
        cells = _cells(filled[0][1], delimiter)
        if _named_columns(cells) or _is_judgment(cells):
            return _read_table("table", _delimited_rows(text, delimiter))
    return _read_queries(filled)


def _decode(content: bytes) -> str:
    if wide := wide_encoding(content[:4]):
        return content.decode(wide, "replace").removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return decode_windows_1252(content)


def parse_grade(written: str) -> int:
    """A grade as people write it: a number, or a word; raises ValueError for anything else."""
    folded = " ".join(written.casefold().split())
    if folded in GRADE_WORDS:
        return GRADE_WORDS[folded]
    number = float(folded)
    if not 0 <= number <= 9 or not number.is_integer():
        raise ValueError(written)
    return int(number)


def _read_table(kind: str, rows: Iterator[tuple[int, list[str]]]) -> JudgmentTable:
    first_line, first = next(rows, (0, []))
    columns = _named_columns(first)
    known = columns or {"query": 0, "docno": 1, "grade": 2}
    if not columns:
        if not _is_judgment(first):
            expected = "expected columns such as query, docid, rating"
            raise SettingError(f"line {first_line}: found {excerpt(', '.join(first))}, {expected}")
        rows = _chain((first_line, first), rows)
    read: list[JudgmentRow] = []
    unread: list[UnreadLine] = []
    for line, cells in rows:
        values = {name: on_one_line(cells[at]) if at < len(cells) else "" for name, at in known.items()}
        row = _make_row(line, values)
        if isinstance(row, str):
            unread.append(UnreadLine(line, excerpt(", ".join(cells)), row))
        else:
            read.append(row)
    shown = ", ".join(first[at].strip() for at in columns.values()) if columns else "query, document, grade"
    unused = [on_one_line(cell) for at, cell in enumerate(first) if columns and at not in columns.values()]
    return JudgmentTable(f"{kind} with the columns {shown}", tuple(read), tuple(unread), tuple(filter(None, unused)))


def _make_row(line: int, values: dict[str, str]) -> JudgmentRow | str:
    """The row of a line, or what is wrong with it."""
    query, qid, docno, grade = (values.get(name, "") for name in ("query", "qid", "docno", "grade"))
    if not query and not qid:
        return "no query"
    if not docno and not grade:
        return JudgmentRow(line, query, qid)
    if not docno:
        return "a grade without a document"
    if not grade:
        return "a document without a grade"
    try:
        return JudgmentRow(line, query, qid, (docno,), parse_grade(grade))
    except ValueError:
        return f"the grade is {excerpt(grade)}, expected 0 to 9 or a word such as relevant"


def _named_columns(cells: Sequence[str]) -> dict[str, int]:
    """The columns that a header names; empty if this is no header."""
    found: dict[str, int] = {}
    for at, cell in enumerate(cells):
        name = re.sub(r"[^a-z]", "", cell.casefold())
        column = next((column for column, names in COLUMNS.items() if name in names and column not in found), None)
        if column is not None:
            found[column] = at
    is_header = "query" in found or {"qid", "docno", "grade"} <= found.keys()
    return found if is_header else {}


def _is_judgment(cells: Sequence[str]) -> bool:
    """Whether a line is a query, a document and a grade, without a header."""
    if len(cells) != 3 or not all(cell.strip() for cell in cells):
        return False
    try:
        parse_grade(cells[2])
    except ValueError:
        return False
    return True


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line; none if it is no line of a table."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # such as a field of megabytes
        return []


def _delimited_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # such as a field of megabytes
            raise SettingError(f"line {line}: no row of a table ({error})") from None
        if any(cell.strip() for cell in cells):
            yield line, [cell[:MAX_CELL_LENGTH] for cell in cells]


def _workbook_rows(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """The rows of the first sheet that has any."""
    n_sheets = n_rows = 0
    try:
        for kind, *values in extract_xlsx(io.BytesIO(content), MAX_WORKBOOK_LENGTH):
            if kind == SHEET and n_rows:
                return
            n_sheets += kind == SHEET
            for line, cells in values[0] if kind == ROWS else ():
                n_rows += 1
                if n_rows > MAX_LINES:
                    raise SettingError(f"the workbook has more than {MAX_LINES:,} rows, expected fewer")
                if any(cell.strip() for cell in cells):
                    yield line, [cell[:MAX_CELL_LENGTH] for cell in cells]
    except ExtractionFailed as error:
        raise SettingError(f"the workbook cannot be read: {error}") from None


def _chain(first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rest


def _read_qrels(lines: Iterable[tuple[int, str]]) -> JudgmentTable:
    read, unread = [], []
    for line, text in lines:
        match = _QRELS_LINE.fullmatch(text)
        if match is None:
            unread.append(UnreadLine(line, excerpt(text), "expected qid, 0, docno, grade"))
        else:
            # Negative grades of TREC mean not relevant.
            read.append(JudgmentRow(line, "", match[1], (match[2],), max(int(match[3][:6]), 0)))
    return JudgmentTable("TREC qrels", tuple(read), tuple(unread))


def _read_queries(lines: Iterable[tuple[int, str]]) -> JudgmentTable:
    read = []
    for line, text in lines:
        qid, tab, query = text.partition("\t")
        is_numbered = bool(tab and query.strip() and re.fullmatch(r"\S{1,40}", qid))
        read.append(JudgmentRow(line, on_one_line(query if is_numbered else text), qid if is_numbered else ""))
    kind = "lines of qid, tab, query" if all(row.qid for row in read) else "one query a line"
    return JudgmentTable(kind, tuple(read), ())


def _read_ris(lines: Sequence[tuple[int, str]]) -> JudgmentTable:
    read: list[JudgmentRow] = []
    unread: list[UnreadLine] = []
    first, fields = 0, list[tuple[str, str]]()
    for line, text in [*lines, (len(lines) + 1, "TY  - ")]:
        match = _RIS_TAG.fullmatch(text.rstrip())
        if match is not None and match[1] == "TY":
            if fields:
                row = _ris_row(first, fields)
                if isinstance(row, str):
                    unread.append(UnreadLine(first, excerpt(_ris_value(fields, "TI", "T1") or fields[0][1]), row))
                else:
                    read.append(row)
            first, fields = line, []
        elif match is not None:
            fields.append((match[1], match[2].strip()))
        elif fields:  # a value goes on
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {text.strip()}"[:MAX_CELL_LENGTH])
    return JudgmentTable("RIS records with notes", tuple(read), tuple(unread))


def _ris_row(line: int, fields: Sequence[tuple[str, str]]) -> JudgmentRow | str:
    notes = [note for tag, value in fields if tag in ("N1", "RN", "KW", "LB") for note in re.split(r"[;\n]", value)]
    query = next((match[1] for match in map(_QUERY_NOTE.fullmatch, notes) if match), "")
    grade = next((match[1] for match in map(_GRADE_NOTE.fullmatch, notes) if match), "")
    grade = grade or next((note for note in notes if " ".join(note.casefold().split()) in GRADE_WORDS), "")
    docnos = tuple(value for tag in _RIS_DOCNO_TAGS for found, value in fields if found == tag and value)
    row = _make_row(line, {"query": on_one_line(query), "docno": docnos[0] if docnos else "", "grade": grade.strip()})
    return row if isinstance(row, str) else JudgmentRow(line, row.query, "", docnos, row.grade)


def _ris_value(fields: Sequence[tuple[str, str]], *tags: str) -> str:
    return next((value for tag, value in fields if tag in tags), "")
