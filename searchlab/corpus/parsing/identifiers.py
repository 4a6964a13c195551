"""Docnos and qids: their rules, and the docno of a file that is one document.

They are columns of run files and judgments, separated by blanks, and reading must give them back unchanged. So they are
never empty, have no white space or control characters, which could forge a column or a line, and do not begin
with a byte order mark. A mark at the start of a file is no part of its first name; one anywhere else is refused, as in
names given to Python functions: if it were dropped, two names could become one. Other names in files are cleaned where
they are read; those given to Python functions are checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from searchlab.corpus.text_cleaning import clean, excerpt
from searchlab.errors import RecordError, SettingError

BYTE_ORDER_MARK = "\ufeff"
# Why an id may be a float, and the remedy.
FLOAT_IDS = "pandas makes whole numbers beside missing values floats: astype('Int64') makes them whole again"


def check_name(kind: str, written: str, location: str) -> str:
    """The docno or qid (`kind`) without surrounding blanks; raises RecordError if it is empty or has blanks."""
    if is_plain(written):
        return written
    name = clean(written).strip()
    if not name:
        raise RecordError(location, f"expected a {kind}, found an empty one")
    refuse_mark(kind, name, location)
    if not is_column(name):
        raise RecordError(location, f"expected a {kind} without blanks, found {excerpt(name)}")
    return name


def refuse_mark(kind: str, name: str, location: str) -> None:
    """Raise RecordError if a docno or qid (`kind`) begins with a byte order mark, as after two files were joined."""
    if name.startswith(BYTE_ORDER_MARK):
        raise RecordError(location, f"expected a {kind} without a byte order mark, found {excerpt(name)}")


def is_column(name: str) -> bool:
    """Whether a name written as a column of a TREC file is read back unchanged."""
    return is_plain(name) or (name.split() == [name] and clean(name) == name and not name.startswith(BYTE_ORDER_MARK))


def is_plain(name: str) -> bool:
    """Whether a name is ASCII without blanks and control characters, as most are: this is known fast."""
    return name.isascii() and name.isprintable() and " " not in name and name != ""


def find_non_column(names: Sequence[str]) -> int | None:
    """The position of the first name that cannot be a column of a TREC file; None if all can."""
    line = " ".join(names)
    # The only white space of printable text is the blank, and it has no control characters: one test for most rankings.
    if line.isprintable() and line.split() == list(names):
        return None
    return next((position for position, name in enumerate(names) if not is_column(name)), None)


def require_columns(kind: str, names: Sequence[str]) -> None:
    """Raise SettingError if a docno or qid (`kind`) cannot be a column of a TREC file."""
    wrong = find_non_column(names)
    if wrong is not None:
        raise SettingError(f"{kind} is {excerpt(names[wrong])}, expected a word without blanks and control characters")


def path_docno(relative: str) -> str:
    """The docno of a file that is one document: its path below the source folder, with `_` for each blank."""
    return re.sub(rf"\s|^{BYTE_ORDER_MARK}", "_", clean(relative))
