"""Which fields does a bibliographic record get?

The formats of PubMed and of reference managers call the same things by different tags; in a document they
have one name and one kind of value: lists of strings for authors, keywords, mesh and types, a number for
the year.
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
    """The fields that hold something; a year without a number in it ("in press") stays text."""
    lists = {"authors": authors, "keywords": keywords, "mesh": mesh, "types": types}
    fields: dict[str, Any] = {name: _filled(items) for name, items in lists.items()}
    fields |= {"journal": on_one_line(journal), "year": _year(on_one_line(year)), "doi": on_one_line(doi)}
    return {name: value for name, value in fields.items() if value}


def _filled(items: Iterable[str]) -> list[str]:
    return [line for line in map(on_one_line, items) if line]


def _year(written: str) -> int | str:
    match = _YEAR.search(written)
    return int(match[0]) if match else written
