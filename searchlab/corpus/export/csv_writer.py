"""Documents as a table for spreadsheets: rank, docno, title, text, every field that a document has, and the score.

Bibliographic fields come first. The items of a list are separated by semicolons. A cell that a spreadsheet would take
for a formula begins with an apostrophe. A byte order mark says that the file is UTF-8, as Excel needs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from searchlab.corpus.parsing.bibliographic_fields import LISTS, TEXTS
from searchlab.corpus.parsing.identifiers import BYTE_ORDER_MARK
from searchlab.csv_text import Cell, to_csv
from searchlab.records import Document

FIRST_COLUMNS = ("rank", "docno", "title", "body")
LAST_COLUMNS = ("score",)


def write_csv(documents: Iterable[tuple[Document, float]]) -> Iterator[str]:
    """The header and a row for each document with its score; the documents are iterated over twice."""
    found: dict[str, None] = {}
    for document, _ in documents:
        found |= dict.fromkeys(document.fields)
    taken = {*FIRST_COLUMNS, *LAST_COLUMNS}
    known = [name for name in (*LISTS, *TEXTS) if name in found]
    names = known + [name for name in found if name not in known and name not in taken]
    yield BYTE_ORDER_MARK + to_csv([[*FIRST_COLUMNS, *names, *LAST_COLUMNS]])
    for rank, (document, score) in enumerate(documents, start=1):
        cells = (_cell(document.fields.get(name)) for name in names)
        yield to_csv([[rank, document.docno, document.title, document.body, *cells, score]])


def _cell(value: Any) -> Cell:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(item.replace(";", ",") for item in value)
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    return json.dumps(value, ensure_ascii=False)
