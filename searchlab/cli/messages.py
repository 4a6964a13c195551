"""Messages on standard error: notes, warnings and details, according to --quiet and --verbose.

error     what went wrong                                 always printed
warning   what may change the meaning of a result         always printed
note      what was chosen, found or written               not with --quiet
detail    every skipped file, the seconds of each stage   only with --verbose
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from searchlab.cli.printing.terminal_text import printable
from searchlab.errors import name_some
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes

# Longer lists of names are cut, unless the user wants all details.
MAX_NAMES = 10


class Verbosity(IntEnum):
    """How much is printed on standard error besides errors and warnings."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_verbosity = Verbosity.NORMAL


def set_verbosity(verbosity: Verbosity) -> None:
    """Set how much is printed from now on."""
    global _verbosity
    _verbosity = verbosity


def is_quiet() -> bool:
    """Whether notes and progress bars are suppressed."""
    return _verbosity == Verbosity.QUIET


def is_verbose() -> bool:
    """Whether details are printed."""
    return _verbosity == Verbosity.VERBOSE


def print_error(message: str) -> None:
    """Print an error in one line."""
    _print_line(f"searchlab: {' '.join(message.split())}")


def warn(message: str) -> None:
    """Print a warning."""
    _print_line(f"warning: {message}")


def note(message: str) -> None:
    """Print a note, unless the user wants quiet."""
    if not is_quiet():
        _print_line(message)


def detail(message: str) -> None:
    """Print a detail, if the user wants details."""
    if is_verbose():
        _print_line(message)


def _print_line(message: str) -> None:
    """Print a message, which may quote names and texts from files, in one line."""
    print(printable(message), file=sys.stderr)


def list_names(names: Iterable[str]) -> str:
    """Names with commas between them; only the first ones of a long list, unless the user wants details."""
    listed = list(names)
    return name_some(listed, len(listed) if is_verbose() else MAX_NAMES)


def warn_of_encodings(notes: ReadingNotes) -> None:
    """Name the files that are not in UTF-8."""
    if notes.guessed_encodings:
        guesses = [f"{name} (read as {encoding})" for name, encoding in notes.guessed_encodings.items()]
        warn(f"not UTF-8, encoding guessed: {list_names(guesses)}")
    if notes.latin1_lines:
        lines, files = format_count(notes.latin1_lines.total(), "line"), format_count(len(notes.latin1_lines), "file")
        warn(f"not UTF-8, read as Windows-1252: {lines} in {files}: {list_names(notes.latin1_lines)}")
