"""CSV text that a spreadsheet can open without running anything.

A spreadsheet takes a cell for a formula if it begins with `=`, `+`, `-` or `@`, or with a tab or line end before them,
and a formula can send data or start programs. Names of runs, systems and topics come from files, so an apostrophe
precedes such a text; then it is shown as it is. Numbers stay numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Cell = str | int | float | None

_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@]")
_SPECIAL = re.compile('[,"\\r\\n]')
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?%?")


def to_csv(rows: Iterable[Iterable[Cell]]) -> str:
    """Lines of cells; numbers have all digits, None is empty."""
    return "".join(",".join(map(_csv_text, row)) + "\n" for row in rows)


def _csv_text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = f"'{cell}" if _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell) else cell
        # The module csv would leave a carriage return unquoted.
        return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
    # repr of a NumPy float would include its type.
    return repr(float(cell)) if isinstance(cell, float) else str(cell)
