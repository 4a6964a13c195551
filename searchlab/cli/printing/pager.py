"""The pager: what is longer than the screen is shown page by page in a session at a terminal.

The command is that of the environment variable PAGER, by default `less`; `PAGER=cat` does without. `less` ends by
itself if everything fits on the screen, and leaves the text there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO, cast

from searchlab.cli.printing.terminal_text import FilteredStream

DEFAULT_PAGER = "less"
# Quit if it fits on one screen, pass colours on, and leave the text on the screen.
LESS_OPTIONS = "FRX"


class PagerStream:
    """The input of a pager, which shows it on the terminal: texts are printed as for a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        """True: the reader is at a terminal."""
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed to standard output in the pager, if input and output are a terminal."""
    command = _pager_command()
    if not command or not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield
        return
    sys.stdout.flush()
    environment = {"LESS": LESS_OPTIONS} | os.environ
    try:
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, text=True, encoding=sys.stdout.encoding, errors="replace", env=environment
        )
    except OSError:  # it cannot be run
        yield
        return
    assert pager.stdin is not None
    terminal = sys.stdout
    sys.stdout = cast(TextIO, FilteredStream(cast(TextIO, PagerStream(pager.stdin))))
    try:
        # The user may leave the pager before all is printed.
        with suppress(BrokenPipeError, KeyboardInterrupt):
            yield
    finally:
        sys.stdout = terminal
        with suppress(BrokenPipeError):
            pager.stdin.close()
        _wait(pager)


def _pager_command() -> list[str]:
    """The command in words; none if the user wants no pager, or it is not there."""
    try:
        words = shlex.split(os.environ.get("PAGER", DEFAULT_PAGER))
    except ValueError:
        return []
    return words if words and words != ["cat"] and shutil.which(words[0]) else []


def _wait(pager: subprocess.Popen[str]) -> None:
    """Wait until the user leaves the pager, which handles Ctrl-C itself."""
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return
