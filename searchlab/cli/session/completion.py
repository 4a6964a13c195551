"""Completion of a line in a session: commands and their arguments, fields, and frequent words of the index."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from searchlab.analysis.tokenizer import fold_text
from searchlab.cli.session.session_commands import COMMANDS, field_names, find_command
from searchlab.errors import SettingError
from searchlab.retrieval.suggest.autocomplete import complete_word

if TYPE_CHECKING:
    from searchlab.cli.session.session_loop import Session

_WORD_AT_END = re.compile(r"(?:(?<!\S)[-+−(]*(?P<field>[^\W\d][\w.-]*):[\"“]?)?(?P<word>[\w.']*)$")
# Other fields store only stems, which are no use as completions.
_FIELDS_WITH_WORDS = ("title", "body")


def complete(session: Session, line: str) -> tuple[str, list[str]]:
    """The incomplete end of a line, and its completions."""
    command = re.match(r"\s*:(\S*)(\s.*)?$", line, re.DOTALL)
    if command is None:
        return _complete_query(session, line)
    name, argument = command.groups()
    if argument is None:
        return f":{name}", [f":{known}" for known in COMMANDS if known.startswith(name)]
    *before, written = re.split(r"\s+", argument.lstrip())
    try:
        definition = find_command(name)
    except SettingError:
        return written, []
    choices = definition.choices(session) if definition.repeats or not before else ()
    return written, [choice for choice in choices if choice.startswith(written)]


def _complete_query(session: Session, line: str) -> tuple[str, list[str]]:
    match = _WORD_AT_END.search(line)
    assert match is not None  # it may be empty
    field, written = match["field"], match["word"]
    if not written or field not in (None, *_FIELDS_WITH_WORDS):
        return written, []
    words = complete_word(session.engine.snapshot, fold_text(written))
    if len(fold_text(written)) == len(written):
        words = [written + word[len(written) :] for word in words]
    names = [f"{name}:" for name in field_names(session) if field is None and name.startswith(written)]
    return written, [*names, *words]
