"""The prompt of a session at a terminal.

The history persists between sessions, and the Tab key completes. Ctrl-C clears the line, Ctrl-D ends the session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import create_output

from searchlab.cli.printing.terminal_text import printable
from searchlab.cli.session.completion import complete
from searchlab.errors import SearchlabError

if TYPE_CHECKING:
    from searchlab.cli.session.session_loop import Session


def typed_lines(session: Session) -> Iterator[str]:
    """The lines that the user types, one by one."""
    prompt: PromptSession[str] = PromptSession(
        f"{printable(session.engine.snapshot.folder.name)}> ",
        history=open_history(),
        completer=SessionCompleter(session),
        complete_while_typing=False,
        # Keeps typed lines apart from results that go to a file.
        output=create_output(always_prefer_tty=True),
    )
    while True:
        try:
            yield prompt.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


class SessionCompleter(Completer):
    """`complete` as a completer of prompt_toolkit."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The completions of the text before the cursor."""
        try:
            written, choices = complete(self._session, document.text_before_cursor)
        except (SearchlabError, IndexError, UnicodeError):
            return []  # a damaged index: the next search reports it
        return [Completion(choice, start_position=-len(written)) for choice in choices]


class TolerantHistory(FileHistory):
    """A history in a file; if the file cannot be read or written, the history lasts only for the session."""

    def load_history_strings(self) -> Iterable[str]:
        """The lines of earlier sessions, newest first."""
        with suppress(OSError):
            return list(super().load_history_strings())
        return []

    def store_string(self, string: str) -> None:
        """Add a line to the file."""
        with suppress(OSError, UnicodeError):
            super().store_string(string)


def open_history() -> History:
    """The history of all sessions of a user, in a file that only this user can read."""
    state_home = os.environ.get("XDG_STATE_HOME", "")
    try:
        # The XDG specification says to ignore paths that are not absolute.
        state = Path(state_home) if Path(state_home).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:  # there is no home folder
        return InMemoryHistory()
    path = state / "searchlab" / "history"
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    return TolerantHistory(str(path))
