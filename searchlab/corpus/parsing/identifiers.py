"""Docnos and qids: their rules, and the docno of a file that is one document.

They are columns of run files and judgments, which are separated by blanks, so they are never empty and have no blanks.
"""

from __future__ import annotations

import re

from searchlab.corpus.text_cleaning import clean, excerpt
from searchlab.errors import RecordError


def check_name(kind: str, written: str, location: str) -> str:
    """The docno or qid (`kind`) without surrounding blanks; raises RecordError if it is empty or has blanks."""
    name = clean(written).strip()
    if not name:
        raise RecordError(location, f"expected a {kind}, found an empty one")
    if len(name.split()) > 1:
        raise RecordError(location, f"expected a {kind} without blanks, found {excerpt(name)}")
    return name


def path_docno(relative: str) -> str:
    """The docno of a file that is one document: its path below the source folder, with `_` for each blank."""
    return re.sub(r"\s", "_", clean(relative))
