"""Error messages for malformed lines of a feature file.

The compiled pass only detects that a line is malformed. Here it is parsed again in Python to find the fault.
"""

from __future__ import annotations

import re

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError

# Hand-made features are fewer; without a bound, a single line could allocate any amount of memory.
MAX_FEATURES = 10_000
_BLANKS = re.compile(r"[ \t\r]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_UNDEFINED = re.compile(r"[+-]?nan|[+-]?null", re.IGNORECASE)


def find_fault(line: str) -> str:
    """What was expected in `line` of a feature file, and what was found instead."""
    words = _BLANKS.split(line.split("#", 1)[0].strip(" \t\r\n"))
    label = words[0]
    if not _NUMBER.fullmatch(label):
        return f"expected a number as label, found {excerpt(label)}"
    qid = words[1] if len(words) > 1 else ""
    if not qid.startswith("qid:") or qid == "qid:":
        return f"expected a qid (qid:…) after the label, found {excerpt(qid) if qid else 'none'}"
    last = 0
    for word in words[2:]:
        fault = _pair_fault(word, last)
        if fault:
            return fault
        last = int(word.split(":", 1)[0])
    return f"expected a label, a qid and features (2 qid:7 1:0.5 …), found {excerpt(line.strip())}"


def fault_of(location: str, line: bytes) -> RecordError:
    """The error for a line that the compiled pass rejected."""
    return RecordError(location, find_fault(line.decode("utf-8", "replace")))


def _pair_fault(word: str, last: int) -> str | None:
    written, colon, value = word.partition(":")
    if not colon or not re.fullmatch("[0-9]+", written):
        return f"expected a feature number, a colon and a value, found {excerpt(word)}"
    if len(written.lstrip("0")) > 9 or int(written) > MAX_FEATURES:
        return f"expected feature numbers up to {MAX_FEATURES}, found {excerpt(written)}"
    if int(written) == 0:
        return "expected feature numbers from 1 on, found 0"
    if int(written) <= last:
        return f"expected ascending feature numbers, found {int(written)} after {last}"
    if _UNDEFINED.fullmatch(value):
        return None
    if not _NUMBER.fullmatch(value):
        return f"expected a finite number or NULL as feature {int(written)}, found {excerpt(value)}"
    return None
