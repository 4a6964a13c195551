"""The content of a report, independent of its format.

    Report         a title, a summary, sections, and the facts needed to reproduce it
    Section        a heading and blocks:
    Paragraph        plain text
    Table            numbers; also written as CSV
    Figure           a drawing (see `plots`)
    RankingPair      two rankings of one topic

Texts are plain: HTML, Markdown or LaTeX in them is shown literally. `writer` writes a report in all formats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from searchlab.errors import SettingError

Cell = str | float | int | None
MAX_DIGITS = 12
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with headings, also written as `name`.csv.

    Floats have `digits` decimals, integers none; None and NaN are a dash. If `best` is True, the largest number of each
    column with floats is bold, and so are numbers that look the same; columns of integers are counts and have no best.
    `best` may also name the columns in which larger is better. `marks` are superscripts after cells, by row and column
    from 0; the `note` below the table has to explain them.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 4
    best: bool | tuple[str, ...] = False
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        _check_name("table", self.name)
        if not self.columns:
            raise SettingError(f"table {self.name}: found no columns, expected at least one")
        if isinstance(self.digits, bool) or not isinstance(self.digits, int) or not 0 <= self.digits <= MAX_DIGITS:
            raise SettingError(f"table {self.name}: digits is {self.digits!r}, expected 0 to {MAX_DIGITS}")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                cells = f"row {number} has {len(row)} cells"
                raise SettingError(f"table {self.name}: {cells}, expected {len(self.columns)}, one for each column")
            for cell in row:
                if cell is not None and not isinstance(cell, str | float | int):
                    kind = type(cell).__name__
                    raise SettingError(f"table {self.name}: row {number} has a {kind}, expected text, numbers or None")
        if not isinstance(self.best, bool) and not set(self.best) <= set(self.columns):
            raise SettingError(f"table {self.name}: best is {self.best!r}, expected headings of columns, or True")
        for row_number, column in self.marks:
            if not (0 <= row_number < len(self.rows) and 0 <= column < len(self.columns)):
                size = f"{len(self.rows)} rows and {len(self.columns)} columns"
                raise SettingError(f"table {self.name}: a mark at ({row_number}, {column}), expected within {size}")
        if any(self.marks.values()) and not self.note:
            raise SettingError(f"table {self.name}: found marks without a note, expected one that explains them")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing as SVG, also written as `name`.svg; `alt` describes it in words."""

    name: str
    caption: str
    alt: str
    svg: str

    def __post_init__(self) -> None:
        _check_name("figure", self.name)
        if not self.alt:
            raise SettingError(f"figure {self.name}: alt is empty, expected a description in words")


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document in a ranking, with its grade if it is judged and its rank in the other ranking if it is there."""

    rank: int
    docno: str
    title: str
    snippet: str
    grade: int | None
    other_rank: int | None


@dataclass(frozen=True, slots=True)
class RankingPair:
    """Two rankings of one topic."""

    caption: str
    left_title: str
    right_title: str
    left: tuple[RankedDocument, ...]
    right: tuple[RankedDocument, ...]


Block = Paragraph | Table | Figure | RankingPair


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its blocks."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report; `facts` (versions, seeds, dialect, fingerprints) are what is needed to reproduce it."""

    title: str
    summary: str
    sections: tuple[Section, ...]
    facts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Names become file names, and some file systems ignore case.
        for kind in (Table, Figure):
            names = [block.name for section in self.sections for block in section.blocks if isinstance(block, kind)]
            twice = [name for name, count in Counter(map(str.lower, names)).items() if count > 1]
            if twice:
                raise SettingError(
                    f"report: found two {kind.__name__.lower()}s called {twice[0]}, expected different names"
                )

    def _repr_html_(self) -> str:
        """The whole page in a frame of a notebook, where nothing can run."""
        from searchlab.report.html_page import render_html

        page = escape(render_html(self), quote=True)
        return f'<iframe sandbox="" srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


def slugify(text: str) -> str:
    """A name for a table or a figure from any text: `nDCG@10 of RSVM` becomes `ndcg-10-of-rsvm`."""
    return _NOT_IN_NAMES.sub("-", text.lower()).strip("-")[:100].rstrip("-") or "unnamed"


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise SettingError(f"{kind}: name is {name!r}, expected letters, digits, - and _ (at most 100), as for a file")
