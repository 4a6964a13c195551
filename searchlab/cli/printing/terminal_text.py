"""Text for the terminal: sizes, tables, and streams without control characters.

A terminal obeys the control characters that it gets: they move the cursor, change the title of the window, make links,
or reverse the text that follows. Names and texts from files may contain them. So `main` filters both of its streams
(`filter_streams`): standard error always, standard output if it is a terminal; files and pipes get the exact text.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TextIO, cast

# The control characters of ASCII and Latin-1, line separators, and what changes the direction of the text that follows.
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_DIRECTIONS], " ")
_CONTROLS_IN_LINES = {code: blank for code, blank in _CONTROLS.items() if chr(code) not in "\t\n"}


class FilteredStream:
    """A text stream that writes a blank in place of each control character, except tabs and line ends."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write a text; its length is returned."""
        self.unfiltered.write(text if text.isprintable() else text.translate(_CONTROLS_IN_LINES))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def filter_streams() -> None:
    """Filter standard error and, if it is a terminal, standard output, from now on."""
    sys.stderr = _filtered(sys.stderr)
    if sys.stdout.isatty():
        sys.stdout = _filtered(sys.stdout)


def _filtered(stream: TextIO) -> TextIO:
    return stream if isinstance(stream, FilteredStream) else cast(TextIO, FilteredStream(stream))


def unfiltered(stream: TextIO) -> TextIO:
    """The stream without its filter, for colours and progress bars; texts from files are made `printable` before."""
    return getattr(stream, "unfiltered", stream)


def megabytes(n_bytes: int) -> str:
    """A size in megabytes."""
    return f"{n_bytes / 1e6:,.1f} MB"


def printable(text: str) -> str:
    """The text with a blank in place of each control character, line ends included; positions stay the same."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def n_columns(text: str) -> int:
    """The number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def shorten(text: str, width: int) -> str:
    """The text in at most `width` columns, with an ellipsis if it is cut."""
    if n_columns(text) <= width:
        return text
    while n_columns(text) >= width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def print_line(text: str) -> None:
    """Print a text that may quote names from files in one line."""
    print(printable(text))


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
