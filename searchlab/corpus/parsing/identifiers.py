"""What may a document or a topic be called?

Docnos and qids are columns of run files and judgments, which are separated by blanks: a name is never
empty and holds no blank.
"""

from __future__ import annotations

import re

from searchlab.corpus.text_cleaning import clean, excerpt
from searchlab.errors import RecordError


def check_name(kind: str, written: str, location: str) -> str:
    """The docno or qid (`kind`) without the blanks around it."""
    name = clean(written).strip()
    if not name:
        raise RecordError(location, f"expected a {kind}, found an empty one")
    if len(name.split()) > 1:
        raise RecordError(location, f"expected a {kind} without blanks, found {excerpt(name)}")
    return name


def path_docno(relative: str) -> str:
    """The docno of a file that is one document: its path below the source folder, with `_` for each blank."""
    return re.sub(r"\s", "_", clean(relative))
