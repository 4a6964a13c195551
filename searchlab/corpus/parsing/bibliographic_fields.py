"""Fields of bibliographic records, with the same names and types for all formats.

PubMed and reference managers use different tags for the same things; a document has lists of strings for authors,
keywords, mesh and types, and a number for the year.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from searchlab.corpus.text_cleaning import on_one_line

_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")


def bibliographic_fields(
    *,
    authors: Iterable[str] = (),
    keywords: Iterable[str] = (),
    mesh: Iterable[str] = (),
    types: Iterable[str] = (),
    journal: str = "",
    year: str = "",
    doi: str = "",
) -> dict[str, Any]:
    """The fields that are not empty; a year without a number ("in press") stays text."""
    lists = {"authors": authors, "keywords": keywords, "mesh": mesh, "types": types}
    fields: dict[str, Any] = {name: _non_empty(items) for name, items in lists.items()}
    fields |= {"journal": on_one_line(journal), "year": _year(on_one_line(year)), "doi": on_one_line(doi)}
    return {name: value for name, value in fields.items() if value}


def _non_empty(items: Iterable[str]) -> list[str]:
    return [line for line in map(on_one_line, items) if line]


def _year(written: str) -> int | str:
    match = _YEAR.search(written)
    return int(match[0]) if match else written
