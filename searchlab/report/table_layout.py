"""What is in the cells of a table, whatever the format?

Numbers of a column end at the same place, so that points stand below each other: whole numbers among decimals are
padded, and marks stand outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from searchlab.report.content import Cell, Table
from searchlab.report.escaping import printable_line
from searchlab.report.number_format import DASH, format_number

BEST_NOTE = "Bold: the best of its column."


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its words, its mark, whether it is among the best, how many places it lacks after the point."""

    text: str
    mark: str = ""
    best: bool = False
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its heading, whether it has numbers, and the most signs in a mark."""

    heading: str
    numeric: bool
    mark_length: int


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns, the rows of cells, and what is said below them."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str


def lay_out_table(table: Table) -> TableLayout:
    """The table as words."""
    columns, sides = [], []
    any_best = False
    for number, heading in enumerate(table.columns):
        cells = [row[number] for row in table.rows]
        marks = [printable_line(table.marks.get((row, number), "")) for row in range(len(cells))]
        texts = [_text(cell, table.digits) for cell in cells]
        best = _best(cells, texts) if table.best is True or (table.best and heading in table.best) else ""
        any_best |= bool(best)
        decimals = any(isinstance(cell, float) for cell in cells) and table.digits > 0
        side = []
        for cell, text, mark in zip(cells, texts, marks, strict=True):
            lacking = table.digits + 1 if decimals and _is_number(cell) and not isinstance(cell, float) else 0
            side.append(TableCell(text, mark, _is_number(cell) and text == best, lacking))
        sides.append(side)
        columns.append(
            TableColumn(printable_line(heading), any(map(_is_number, cells)), max(map(len, marks), default=0))
        )
    note = " ".join(filter(None, [printable_line(table.note), BEST_NOTE if any_best else ""]))
    return TableLayout(tuple(columns), tuple(zip(*sides, strict=True)), note)


def _text(cell: Cell, digits: int) -> str:
    if cell is None:
        return DASH
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return printable_line(cell) if isinstance(cell, str) else format_number(cell, digits)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, float | int) and not isinstance(cell, bool)


def _best(cells: list[Cell], texts: list[str]) -> str:
    """How the largest number is written; nothing if there are no two to compare, or if all are whole."""
    if not any(isinstance(cell, float) for cell in cells):
        return ""
    numbers = [
        (cell, text)
        for cell, text in zip(cells, texts, strict=True)
        if isinstance(cell, float | int) and not isinstance(cell, bool) and not math.isnan(cell)
    ]
    return max(numbers)[1] if len(numbers) > 1 else ""
