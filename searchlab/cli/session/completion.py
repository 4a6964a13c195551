"""What could the user be about to type?

Commands and what they expect, fields, and words of the index, the most frequent first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from searchlab.analysis.analyzer import fold
from searchlab.cli.session.session_commands import COMMANDS, field_names, find_command
from searchlab.errors import SettingError
from searchlab.retrieval.suggest.autocomplete import complete_word

if TYPE_CHECKING:
    from searchlab.cli.session.session_loop import Session

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
    words = complete_word(session.engine.snapshot, fold(written))
    if len(fold(written)) == len(written):
        words = [written + word[len(written) :] for word in words]
    names = [f"{name}:" for name in field_names(session) if field is None and name.startswith(written)]
    return written, [*names, *words]
