"""The layout of a table: texts, marks, alignment and padding of its cells, independent of the format.

Decimal points of a column are aligned: integers among decimals are padded, and marks take no width.
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
    """A cell: its text, its mark, whether it is the best, and the width of the missing point and decimals."""

    text: str
    mark: str = ""
    best: bool = False
    pad_places: int = 0


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its heading, whether it has numbers, and the length of its longest mark."""

    heading: str
    numeric: bool
    mark_length: int


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns, the rows of cells, and the note below them."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str


def lay_out_table(table: Table) -> TableLayout:
    """The layout of a table."""
    columns, cells_by_column = [], []
    any_best = False
    for number, heading in enumerate(table.columns):
        cells = [row[number] for row in table.rows]
        marks = [printable_line(table.marks.get((row, number), "")) for row in range(len(cells))]
        texts = [_cell_text(cell, table.digits) for cell in cells]
        best = _best_cell_text(cells, texts) if table.best is True or (table.best and heading in table.best) else ""
        any_best |= bool(best)
        decimals = any(isinstance(cell, float) for cell in cells) and table.digits > 0
        column_cells = []
        for cell, text, mark in zip(cells, texts, marks, strict=True):
            pad_places = table.digits + 1 if decimals and _is_number(cell) and not isinstance(cell, float) else 0
            column_cells.append(TableCell(text, mark, _is_number(cell) and text == best, pad_places))
        cells_by_column.append(column_cells)
        columns.append(
            TableColumn(printable_line(heading), any(map(_is_number, cells)), max(map(len, marks), default=0))
        )
    note = " ".join(filter(None, [printable_line(table.note), BEST_NOTE if any_best else ""]))
    return TableLayout(tuple(columns), tuple(zip(*cells_by_column, strict=True)), note)


def _cell_text(cell: Cell, digits: int) -> str:
    if cell is None:
        return DASH
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return printable_line(cell) if isinstance(cell, str) else format_number(cell, digits)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, float | int) and not isinstance(cell, bool)


def _best_cell_text(cells: list[Cell], texts: list[str]) -> str:
    """The text of the largest number; empty if there are fewer than two numbers or all are integers."""
    if not any(isinstance(cell, float) for cell in cells):
        return ""
    numbers = [
        (cell, text)
        for cell, text in zip(cells, texts, strict=True)
        if isinstance(cell, float | int) and not isinstance(cell, bool) and not math.isnan(cell)
    ]
    return max(numbers)[1] if len(numbers) > 1 else ""
