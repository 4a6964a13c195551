"""What may sets, topics, judges, documents, grades and notes be?

They come from web pages and files, and are shown and written to other files: names are one printable line, a qid is a
column of TREC's files, and everything has a limit.
"""

from __future__ import annotations

from searchlab.corpus.text_cleaning import clean, excerpt, on_one_line
from searchlab.errors import SettingError

MAX_NAME_LENGTH = 100
MAX_QID_LENGTH = 200
MAX_DOCNO_LENGTH = 4_000
MAX_TEXT_LENGTH = 4_000
MAX_NOTE_LENGTH = 4_000
MAX_GRADE = 9


def check_topic_set(name: str) -> str:
    """The name of a set of topics."""
    return _line("set", name)


def check_judge(name: str) -> str:
    """The name of somebody who judges."""
    return _line("judge", name)


def check_qid(qid: str) -> str:
    """The name of a topic: a column of TREC's files, so without blanks, and nothing that reading them would change.

    A brace, an angle or a dot would make a file that begins with it look as if it were in another format.
    """
    _check("qid", qid, MAX_QID_LENGTH)
    if not is_column(qid):
        raise SettingError(f"qid is {excerpt(qid)}, expected one word without blanks")
    if qid[0] in "{<.":
        raise SettingError(f"qid is {excerpt(qid)}, expected one that does not begin with {qid[0]}")
    return qid


def check_docno(docno: str) -> str:
    """The name of a document: whatever an index may hold."""
    return _check("document", docno, MAX_DOCNO_LENGTH)


def check_text(text: str) -> str:
    """The text of a topic, as one line."""
    if not isinstance(text, str):
        raise SettingError(f"text is {excerpt(repr(text))}, expected words")
    # A text that is far too long is not worth cleaning.
    return _check("text", on_one_line(text) if len(text) <= 4 * MAX_TEXT_LENGTH else text, MAX_TEXT_LENGTH)


def check_note(note: str) -> str:
    """A remark on a judgment, which may be empty."""
    return _check("note", note, MAX_NOTE_LENGTH) if note else ""


def check_grade(grade: int, where: str = "grade") -> int:
    """How relevant a document is."""
    if isinstance(grade, bool) or not isinstance(grade, int) or abs(grade) > MAX_GRADE:
        expected = f"a whole number from -{MAX_GRADE} to {MAX_GRADE}"
        raise SettingError(f"{where} is {str(grade)[:40]}, expected {expected}")
    return grade


def fold_case(text: str) -> str:
    """What two texts share that differ in case and blanks alone."""
    return on_one_line(text).casefold()


def is_column(name: str) -> bool:
    """Whether a name, written as a column of a TREC file, is read as the same."""
    return name.split() == [name] and clean(name) == name and not name.startswith("\ufeff")


def _line(kind: str, name: str) -> str:
    _check(kind, name, MAX_NAME_LENGTH)
    if name != name.strip() or not name.isprintable():
        raise SettingError(f"{kind} is {excerpt(name)}, expected one printable line without blanks around it")
    return name


def _check(kind: str, text: str, longest: int) -> str:
    if not isinstance(text, str) or not text:
        raise SettingError(f"{kind} is {excerpt(repr(text)) if text else 'empty'}, expected a text")
    if len(text) > longest:
        raise SettingError(f"{kind} has {len(text):,} characters, expected at most {longest:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingError(f"{kind} is {excerpt(text)}, expected characters that UTF-8 can write") from None
    return text
