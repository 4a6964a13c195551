"""Text for the terminal: sizes, tables, and strings without control characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# The control characters of ASCII and Latin-1, and those that change the direction of the text that follows.
_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " ")


def megabytes(n_bytes: int) -> str:
    """A size in megabytes."""
    return f"{n_bytes / 1e6:,.1f} MB"


def printable(text: str) -> str:
    """The text with a blank in place of each control character, line ends included; positions stay the same."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def print_entries(entries: Iterable[tuple[str, str]]) -> None:
    """Print lines of a name and a text; entries without a text are left out."""
    filled = [(name, text) for name, text in entries if text]
    width = max(len(name) for name, _ in filled)
    for name, text in filled:
        print(f"{name:{width}}  {printable(text)}")


def print_columns(rows: Sequence[Sequence[str]], *, indent: int = 0, n_labels: int = 1) -> None:
    """Print a table: the first `n_labels` columns aligned to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{printable(cell):<{width}}" if column < n_labels else f"{printable(cell):>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print((" " * indent + "  ".join(cells)).rstrip())


def local_time(written: str) -> str:
    """An ISO time as a date and a time of this time zone."""
    from datetime import datetime

    return f"{datetime.fromisoformat(written).astimezone():%Y-%m-%d %H:%M}" if written else "unknown"
