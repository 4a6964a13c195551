"""Cleaning of texts and names that come from files.

Clean text has no control characters (a terminal may obey them), no lone surrogates (they cannot be written as UTF-8),
and one kind of line ending.
"""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` with a space for each control character other than tabs and line ends."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def shown_path(path: object) -> str:
    """A path for messages; file names can contain anything, even line ends."""
    return clean(str(path)).replace("\n", " ")


def on_one_line(text: str) -> str:
    """`text` cleaned, with one space for every run of white space."""
    # Printable text has no white space but blanks.
    if text.isprintable() and "  " not in text:
        return text.strip()
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(clean(line).split())


def excerpt(text: str, length: int = 40) -> str:
    """The beginning of `text` in quotes, for messages."""
    return repr(text if len(text) <= length else text[:length] + "…")
