"""What could the user be about to type?

Commands and what they expect, fields, and words of the index, the most frequent first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from searchlab.cli.session_commands import COMMANDS, field_names, find_command
from searchlab.errors import SettingError
from searchlab.indexing.analysis import fold

if TYPE_CHECKING:
    from searchlab.cli.session import Session
    from searchlab.indexing.snapshot import Snapshot

MOST_WORDS = 20
# In byte order, no word that begins alike comes after a beginning with this behind it.
_LAST = "\U0010ffff"
_WORD_AT_END = re.compile(r"(?:(?<!\S)[-+−(]*(?P<field>[^\W\d][\w.-]*):[\"“]?)?(?P<word>[\w.']*)$")
# Of other fields, words are kept only as stems, which nobody types.
_WRITTEN = ("title", "body")


def complete(session: Session, line: str) -> tuple[str, list[str]]:
    """The end of a line that is incomplete, and what could stand in its place."""
    command = re.match(r"\s*:(\S*)(\s.*)?$", line, re.DOTALL)
    if command is None:
        return _complete_query(session, line)
    name, argument = command.groups()
    if argument is None:
        return f":{name}", [f":{known}" for known in COMMANDS if known.startswith(name)]
    *before, written = re.split(r"\s+", argument.lstrip())
    try:
        meant = find_command(name)
    except SettingError:
        return written, []
    choices = meant.choices(session) if meant.repeats or not before else ()
    return written, [choice for choice in choices if choice.startswith(written)]


def _complete_query(session: Session, line: str) -> tuple[str, list[str]]:
    match = _WORD_AT_END.search(line)
    assert match is not None  # it may be empty
    field, written = match["field"], match["word"]
    if not written or field not in (None, *_WRITTEN):
        return written, []
    words = frequent_words(session.engine.snapshot, fold(written))
    if len(fold(written)) == len(written):
        words = [written + word[len(written) :] for word in words]
    names = [f"{name}:" for name in field_names(session) if field is None and name.startswith(written)]
    return written, [*names, *words]


def frequent_words(snapshot: Snapshot, beginning: str) -> list[str]:
    """The most frequent words of the index that begin so, stop words left out."""
    terms: dict[str, str] = {}
    for shard in snapshot.shards:
        columns = shard.columns
        first, after = columns.words.first_from(beginning), columns.words.first_from(beginning + _LAST)
        numbers = np.asarray(columns.word_terms[first:after], np.int64)
        offsets = columns.streams["both"].offsets
        # Stop words have no term, and come last.
        frequencies = np.where(numbers < 0, -1, offsets[numbers + 1] - offsets[numbers])
        for place in np.argsort(-frequencies, kind="stable")[:MOST_WORDS].tolist():
            if numbers[place] >= 0:
                terms[columns.words[first + place]] = columns.terms[int(numbers[place])]
    frequency = {word: snapshot.count_term("both", term).doc_freq for word, term in terms.items()}
    best = sorted(frequency, key=lambda word: (-frequency[word], word))
    return [word for word in best if frequency[word]][:MOST_WORDS]
