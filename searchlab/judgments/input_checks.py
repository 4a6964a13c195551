"""Checks of names, texts, grades and notes before they are stored.

They come from web pages and files, and are displayed and written to other files: names are one printable line, a qid is
a column of TREC files, and every length is limited.
"""

from __future__ import annotations

from searchlab.corpus.parsing.identifiers import is_column, require_columns
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import SettingError

MAX_NAME_LENGTH = 100
MAX_QID_LENGTH = 200
MAX_DOCNO_LENGTH = 4_000
MAX_TEXT_LENGTH = 4_000
MAX_NOTE_LENGTH = 4_000
MAX_GRADE = 9
CHANGE_KINDS = ("import", "batch", "edit", "rename", "delete", "merge", "undo")


def check_topic_set(name: str) -> str:
    """The name of a topic set."""
    return _check_line("topic set", name)


def check_judge(name: str) -> str:
    """The name of a judge."""
    return _check_line("judge", name)


def check_qid(qid: str) -> str:
    """The id of a topic: a column of TREC files, so without blanks or anything that reading would change.

    A file of topics that begins with a brace, an angle bracket or a dot would be read in another format.
    """
    _check_length("qid", qid, MAX_QID_LENGTH)
    if not is_column(qid):
        raise SettingError(f"qid is {excerpt(qid)}, expected one word without blanks")
    if qid[0] in "{<.":
        raise SettingError(f"qid is {excerpt(qid)}, expected one that does not begin with {qid[0]}")
    return qid


def check_docno(docno: str) -> str:
    """The id of a document: a column of TREC files, as every docno of an index."""
    require_columns("docno", [_check_length("docno", docno, MAX_DOCNO_LENGTH)])
    return docno


def check_text(text: str) -> str:
    """The text of a topic, as one line."""
    if not isinstance(text, str):
        raise SettingError(f"text is {excerpt(repr(text))}, expected a text")
    # A text that is far too long is not cleaned, only rejected.
    return _check_length("text", on_one_line(text) if len(text) <= 4 * MAX_TEXT_LENGTH else text, MAX_TEXT_LENGTH)


def check_note(note: str) -> str:
    """A remark on a judgment, which may be empty."""
    return _check_length("note", note, MAX_NOTE_LENGTH) if note else ""


def check_optional_judge(name: str) -> str:
    """The name of a judge, which may be empty."""
    return check_judge(name) if name else ""


def check_change_kind(kind: str) -> str:
    """The kind of a change of topics."""
    if kind not in CHANGE_KINDS:
        raise SettingError(f"kind of a change is {excerpt(repr(kind))}, expected one of {', '.join(CHANGE_KINDS)}")
    return kind


def check_date(date: str) -> str:
    """When something was judged, as it is stored."""
    return _check_line("date", date)


def check_grade(grade: int, where: str = "grade") -> int:
    """The grade of a document."""
    if isinstance(grade, bool) or not isinstance(grade, int) or abs(grade) > MAX_GRADE:
        expected = f"a whole number from -{MAX_GRADE} to {MAX_GRADE}"
        raise SettingError(f"{where} is {str(grade)[:40]}, expected {expected}")
    return grade


def fold_case(text: str) -> str:
    """The text on one line with case folded: equal for texts that differ only in case and blanks."""
    return on_one_line(text).casefold()


def _check_line(kind: str, name: str) -> str:
    _check_length(kind, name, MAX_NAME_LENGTH)
    if name != name.strip() or not name.isprintable():
        raise SettingError(f"{kind} is {excerpt(name)}, expected one printable line without blanks around it")
    return name


def _check_length(kind: str, text: str, max_length: int) -> str:
    if not isinstance(text, str) or not text:
        raise SettingError(f"{kind} is {excerpt(repr(text)) if text else 'empty'}, expected a text")
    if len(text) > max_length:
        raise SettingError(f"{kind} has {len(text):,} characters, expected at most {max_length:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingError(f"{kind} is {excerpt(text)}, expected characters that UTF-8 can write") from None
    return text
