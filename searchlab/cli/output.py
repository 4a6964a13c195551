"""Output of commands: a file that appears when it is complete, or standard output."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TextIO

from searchlab.errors import WriteFailed

STANDARD_OUTPUT = "-"


def open_output(output: str) -> AbstractContextManager[TextIO]:
    """Open a file for writing, which replaces an older one when it is complete; `-` is standard output."""
    from searchlab.atomic_file import open_atomic

    return nullcontext(sys.stdout) if output == STANDARD_OUTPUT else open_atomic(output)


def destination(output: str) -> str:
    """The end of a note that says what was written: " → FILE"; empty for standard output."""
    return "" if output == STANDARD_OUTPUT else f" → {output}"


def require_writable_file(output: str) -> None:
    """Refuse a file that cannot be written, before time is spent on its content."""
    path = Path(output)
    if path.is_dir() or not path.parent.is_dir():
        raise WriteFailed(f"{output}: cannot be written ({'a folder' if path.is_dir() else 'no such folder'})")


def require_writable_folder(output: str | None) -> None:
    """Refuse a folder that cannot be written, before time is spent on its content."""
    if output is None:
        return
    path = Path(output).absolute()
    existing = next(each for each in (path, *path.parents) if each.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        reason = "not a folder" if not existing.is_dir() else "no permission"
        raise WriteFailed(f"{output}: cannot be written ({existing}: {reason})")
