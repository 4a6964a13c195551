"""BibTeX and BibLaTeX documents.

An entry is `@article{key, title = {…}, year = 1999, …}`; its key is the docno. A value is text in braces or quotes (in
which braces are nested), a number, or a name that an earlier `@string` has defined; `#` concatenates values.
`@comment`, `@preamble` and everything outside entries are skipped. An entry begins on a new line; after an entry that
is not closed, reading continues with the next such line. Entries in parentheses, which BibTeX also allows, are not
supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from searchlab.corpus.formats.bibliography.bibtex_fields import BibtexEntry, entry_document, inherit_values
from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import clean, excerpt, on_one_line
from searchlab.errors import RecordError
from searchlab.records import Document

NOT_ENTRIES = frozenset({"comment", "preamble"})
DEFINITION = "string"
# Every bibliography style defines the months.
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Definitions can be concatenated into others: without limits a short file could produce a text of any length.
MAX_DEFINITION_LENGTH = 1000
MAX_JOINED_LENGTH = 100_000

# Style sheets have @words and braces too, but neither keys nor these kinds of entries.
_HEAD = re.compile(
    r"(?>\s+|%[^\r\n]*+)*@(?:(?:string|preamble|comment)\s*\{|[A-Z]+\s*\{\s*[^\s,{}=\"]+\s*,)", re.IGNORECASE
)
_START = re.compile(r"\s*@\s*([A-Za-z]+)\s*\{")
_PARENTHESIS = re.compile(r"\s*@\s*[A-Za-z]+\s*\(\s*[^\s,()]+\s*,")
_BRACE = re.compile(r"[{}]")
_BRACE_OR_QUOTE = re.compile(r'[{}"]')
_NAME = re.compile(r'\s*+([^\s"#%\'(),={}]++)\s*+')


@dataclass(frozen=True, slots=True)
class _RawEntry:
    location: str
    kind: str
    content: str


def is_bibtex(opened: OpenedFile) -> bool:
    """Whether the file begins with an entry, after comments only."""
    return _HEAD.match(opened.head) is not None


def read_bibtex_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, one for each entry; one that refers to a later entry comes last."""
    strings = {month: month for month in MONTHS}
    parsed = opened.reading.parse_each(lambda entry: _read_entry(entry, strings), _read_entries(opened))
    entries = (entry for entry in parsed if entry is not None)
    return opened.reading.parse_each(entry_document, inherit_values(entries))


def _read_entries(opened: OpenedFile) -> Iterator[_RawEntry]:
    began, kind, depth, length = "", "", 0, 0
    content: list[str] = []
    for number, line in opened.lines():
        position = 0
        if len(line) > opened.reading.max_record_length:
            opened.reading.reject(opened.reading.too_long(began or opened.location(number)))
            began = ""
            continue
        if not began and (parenthesis := _PARENTHESIS.match(line)):
            message = f"expected an entry in braces, found {excerpt(on_one_line(parenthesis[0]))}"
            opened.reading.reject(RecordError(opened.location(number), message))
        # Entries within a comment are commented out.
        if began and kind not in NOT_ENTRIES and _START.match(line):
            message = f"expected a closing brace, found another entry at line {number}"
            opened.reading.reject(RecordError(began, message))
            began = ""
        while began or _START.match(line, position):
            if not began and (start := _START.match(line, position)):
                began, kind, depth, length, content = opened.location(number), start[1].lower(), 1, 0, []
                position = start.end()
            end, depth = _closing_brace(line, depth, position)
            content.append(line[position:end])
            length += end - position + 1
            if length > opened.reading.max_record_length:
                opened.reading.reject(opened.reading.too_long(began))
                began, content = "", []
                break
            if depth:
                content.append("\n")
                break
            yield _RawEntry(began, kind, "".join(content))
            began, position = "", end + 1
    if began:
        opened.reading.reject(RecordError(began, "expected a closing brace, found the end of the file"))


def _closing_brace(text: str, depth: int, start: int) -> tuple[int, int]:
    """The position of the brace that closes `depth` open ones (or the end of the text), and how many are then open."""
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start(), 0
    return len(text), depth


def _read_entry(raw: _RawEntry, strings: dict[str, str]) -> BibtexEntry | None:
    if raw.kind in NOT_ENTRIES:
        return None
    if raw.kind == DEFINITION:
        strings |= _read_definitions(raw, strings)
        return None
    key, _, _ = raw.content.partition(",")
    docno = check_name("docno", key, raw.location)
    return BibtexEntry(raw.location, raw.kind, docno, _read_values(raw, len(key), strings))


def _read_definitions(entry: _RawEntry, strings: dict[str, str]) -> dict[str, str]:
    values = _read_values(entry, 0, strings)
    for name, value in values.items():
        if len(value) > MAX_DEFINITION_LENGTH:
            found = f"{len(value):,} for {excerpt(name)}"
            raise RecordError(entry.location, f"expected at most {MAX_DEFINITION_LENGTH:,} characters, found {found}")
    return values


def _read_values(entry: _RawEntry, position: int, strings: dict[str, str]) -> dict[str, str]:
    """Every `name = value` after `position`; the first value of a name counts."""
    values: dict[str, str] = {}
    while (position := _after_blanks(entry.content, position, ",")) < len(entry.content):
        name = _NAME.match(entry.content, position)
        if name is None or not entry.content.startswith("=", name.end()):
            found = excerpt(on_one_line(entry.content[position : position + 60]))
            raise RecordError(entry.location, f"expected 'name = value' in the entry, found {found}")
        value, position = _read_value(entry, name.end() + 1, strings)
        values.setdefault(name[1].lower(), clean(value))
    return values


def _read_value(entry: _RawEntry, position: int, strings: dict[str, str]) -> tuple[str, int]:
    pieces: list[str] = []
    length = 0
    while True:
        piece, position = _read_piece(entry, position, strings)
        length += len(piece)
        if pieces and length > MAX_JOINED_LENGTH:
            message = f"expected a joined value of at most {MAX_JOINED_LENGTH:,} characters, found a longer one"
            raise RecordError(entry.location, message)
        pieces.append(piece)
        position = _after_blanks(entry.content, position)
        if not entry.content.startswith("#", position):
            return "".join(pieces), position
        position += 1


def _read_piece(entry: _RawEntry, position: int, strings: dict[str, str]) -> tuple[str, int]:
    text = entry.content
    position = _after_blanks(text, position)
    if text.startswith("{", position):
        end, _ = _closing_brace(text, 0, position)
        return text[position + 1 : end], end + 1
    if text.startswith('"', position):
        end = _closing_quote(entry, position + 1)
        return text[position + 1 : end], end + 1
    name = _NAME.match(text, position)
    if name is None:
        found = excerpt(on_one_line(text[position : position + 60])) if position < len(text) else "none"
        raise RecordError(entry.location, f"expected a value in braces or quotes, found {found}")
    return strings.get(name[1].lower(), name[1]), name.end()


def _closing_quote(entry: _RawEntry, start: int) -> int:
    depth = 0
    for sign in _BRACE_OR_QUOTE.finditer(entry.content, start):
        if sign[0] == '"':
            if depth == 0:
                return sign.start()
        else:
            depth += 1 if sign[0] == "{" else -1
    raise RecordError(entry.location, "expected a closing quote, found the end of the entry")


def _after_blanks(text: str, position: int, also: str = "") -> int:
    while position < len(text) and (text[position].isspace() or text[position] in also):
        position += 1
    return position
