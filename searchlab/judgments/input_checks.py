"""What may sets, topics, judges, documents, grades and notes be?

They come from web pages and files, and are shown and written to other files: names are one printable line, a qid is a
column of TREC's files, and everything has a limit.
"""

from __future__ import annotations

from searchlab.corpus.text_cleaning import clean, excerpt, on_one_line
from searchlab.errors import SettingError

LONGEST_NAME = 100
LONGEST_QID = 200
LONGEST_DOCNO = 4_000
LONGEST_TEXT = 4_000
LONGEST_NOTE = 4_000
LARGEST_GRADE = 9


def check_set(name: str) -> str:
    """The name of a set of topics."""
    return _line("set", name)


def check_judge(name: str) -> str:
    """The name of somebody who judges."""
    return _line("judge", name)


def check_qid(qid: str) -> str:
    """The name of a topic: a column of TREC's files, so without blanks, and nothing that reading them would change.

    A brace, an angle or a dot would make a file that begins with it look as if it were in another format.
    """
    _check("qid", qid, LONGEST_QID)
    if not is_column(qid):
        raise SettingError(f"qid is {excerpt(qid)}, expected one word without blanks")
    if qid[0] in "{<.":
        raise SettingError(f"qid is {excerpt(qid)}, expected one that does not begin with {qid[0]}")
    return qid


def check_docno(docno: str) -> str:
    """The name of a document: whatever an index may hold."""
    return _check("document", docno, LONGEST_DOCNO)


def check_text(text: str) -> str:
    """The text of a topic, as one line."""
    if not isinstance(text, str):
        raise SettingError(f"text is {excerpt(repr(text))}, expected words")
    # A text that is far too long is not worth cleaning.
    return _check("text", on_one_line(text) if len(text) <= 4 * LONGEST_TEXT else text, LONGEST_TEXT)


def check_note(note: str) -> str:
    """A remark on a judgment, which may be empty."""
    return _check("note", note, LONGEST_NOTE) if note else ""


def check_grade(grade: int, where: str = "grade") -> int:
    """How relevant a document is."""
    if isinstance(grade, bool) or not isinstance(grade, int) or abs(grade) > LARGEST_GRADE:
        expected = f"a whole number from -{LARGEST_GRADE} to {LARGEST_GRADE}"
        raise SettingError(f"{where} is {str(grade)[:40]}, expected {expected}")
    return grade


def fold(text: str) -> str:
    """What two texts share that differ in case and blanks alone."""
    return on_one_line(text).casefold()


def is_column(name: str) -> bool:
    """Whether a name, written as a column of a TREC file, is read as the same."""
    return name.split() == [name] and clean(name) == name and not name.startswith("\ufeff")


def _line(kind: str, name: str) -> str:
    _check(kind, name, LONGEST_NAME)
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
