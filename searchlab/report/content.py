"""What does a report say?

    Report       a title, what it means in a sentence or two, sections, and the facts needed to repeat it
    Section      a heading, and under it blocks:
    Paragraph      plain words
    Table          numbers; also written as CSV
    Figure         a drawing (see `plots`)
    SideBySide     two rankings of one topic

Texts are plain: what looks like HTML, Markdown or LaTeX in them is shown as it stands. How a report looks is a matter
of `render`; nothing here draws or writes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from searchlab.errors import SettingError

Cell = str | float | int | None
MAX_DIGITS = 12
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with headings, written as `name`.csv too.

    Floats are shown with `digits` decimals, whole numbers whole, None and NaN as a dash. With `best`, the largest
    number of each column that has floats is bold, and others that look the same (columns of whole numbers are counts,
    of which none is best); or give the headings of the columns where large is good. `marks` are small signs after
    cells, by row and column from 0; the `note` below the table has to explain them.
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
        _require_name("table", self.name)
        if not self.columns:
            raise SettingError(f"table {self.name}: found no columns, expected at least one")
        if isinstance(self.digits, bool) or not isinstance(self.digits, int) or not 0 <= self.digits <= MAX_DIGITS:
            raise SettingError(f"table {self.name}: digits is {self.digits!r}, expected 0 to {MAX_DIGITS}")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                found = f"row {number} has {len(row)} cells"
                raise SettingError(f"table {self.name}: {found}, expected {len(self.columns)}, one for each column")
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
    """A drawing as SVG, written as `name`.svg too; `alt` says in words what is to be seen."""

    name: str
    caption: str
    alt: str
    svg: str

    def __post_init__(self) -> None:
        _require_name("figure", self.name)
        if not self.alt:
            raise SettingError(f"figure {self.name}: alt is empty, expected what is to be seen, in words")


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document in a ranking; its grade if it was judged, and its rank in the other ranking if it is there."""

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
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole; `lead` says what it means, `facts` (versions, seeds, dialect, fingerprints) how to get it again."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    facts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Names become files, and some file systems do not tell small letters from capitals.
        for kind in (Table, Figure):
            named = [block.name for section in self.sections for block in section.blocks if isinstance(block, kind)]
            twice = [name for name, count in Counter(map(str.lower, named)).items() if count > 1]
            if twice:
                what = kind.__name__.lower()
                raise SettingError(f"report: found two {what}s called {twice[0]}, expected a name of its own for each")


def slugify(text: str) -> str:
    """A name for a table or a figure made from any words: `nDCG@10 of RSVM` becomes `ndcg-10-of-rsvm`."""
    return _NOT_IN_NAMES.sub("-", text.lower()).strip("-")[:100].rstrip("-") or "unnamed"


def _require_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise SettingError(f"{kind}: name is {name!r}, expected letters, digits, - and _ (at most 100), as for a file")
