"""What a worker process sends to its parent: documents, rows of tables, parts that are not read, failures.

They cross the pipe as JSON, not as pickles: a hostile document may control the process that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields
from searchlab.corpus.text_cleaning import clean, on_one_line
from searchlab.records import PAGE_BREAK

# A first line or heading up to this length is a title.
MAX_TITLE_LENGTH = 200

# Kinds of messages; the other values of each are named in the functions below.
DOCUMENT, SHEET, ROWS, UNREAD, NO_TEXT, FAILED, END = "document", "sheet", "rows", "unread", "no text", "failed", "end"

# The reason of a failure that the parent words, which knows the limit as the user set it.
TOO_LONG = "too long"

Message = list[Any]

_BLANK_LINES = re.compile(r"\n{3,}")
_YEAR_FIRST = re.compile(r"\s*(?:D:)?([12][0-9]{3})")


class ExtractionFailed(Exception):
    """A document cannot be read; the message says why."""


class NoText(Exception):
    """A document can be read, but has no text; the message says what it has instead."""


def document(
    title: str,
    pages: Iterable[str],
    *,
    authors: Iterable[str] = (),
    keywords: Iterable[str] = (),
    date: str = "",
    fields: Mapping[str, Any] | None = None,
) -> Message:
    """The message of a document: title, body, fields. Only pages with a page break between them are numbered."""
    body = PAGE_BREAK.join(map(tidy_text, pages))
    year = _YEAR_FIRST.match(date)
    known = bibliographic_fields(authors=authors, keywords=keywords, year=year[1] if year else "")
    return [DOCUMENT, on_one_line(title), body, known | dict(fields or {})]


def sheet(name: str) -> Message:
    """The message that a table begins."""
    return [SHEET, on_one_line(name)]


def sheet_rows(numbered: list[tuple[int, list[str]]]) -> Message:
    """The message of rows of a table: pairs of the number of a row and its values."""
    return [ROWS, numbered]


def unread(name: str, reason: str) -> Message:
    """The message that a part of a document was not read."""
    return [UNREAD, on_one_line(name), on_one_line(reason)]


def tidy_text(text: str) -> str:
    """A clean text without blanks at the ends of lines and without more than one blank line at once."""
    lines = "\n".join(map(str.rstrip, clean(text).split("\n")))
    return _BLANK_LINES.sub("\n\n", lines).strip("\n")


def split_title(text: str) -> tuple[str, str]:
    """The first line as the title, if it is short and text follows, and the rest."""
    first, _, rest = text.lstrip().partition("\n")
    if rest.strip() and len(first.rstrip()) <= MAX_TITLE_LENGTH:
        return first.rstrip(), rest
    return "", text


class TextCollector:
    """Collects a text piece by piece; fails as soon as it is longer than a record may be."""

    def __init__(self, max_length: int) -> None:
        self._pieces: list[str] = []
        self._left = max_length

    def add(self, piece: str) -> None:
        """Add a piece."""
        self._left -= len(piece)
        if self._left < 0:
            raise too_long()
        self._pieces.append(piece)

    def take(self) -> str:
        """The text that was collected since the last call."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text


def too_long() -> ExtractionFailed:
    """The failure of a document with more text than a record may have."""
    return ExtractionFailed(TOO_LONG)
