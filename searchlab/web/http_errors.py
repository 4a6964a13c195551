"""Why is a request not answered?

What users can mend is told in one line; our own mistakes are logged and told as such, without any detail.
"""

from __future__ import annotations

import errno
from pathlib import Path

from searchlab.errors import IndexLocked, IndexMissing, SearchlabError, SettingError

INTERNAL = "an internal error; the log of the server has more"


class Failure(Exception):
    """A request that is refused, with a status of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class NotFound(Failure):
    """Something was named that is not there."""

    def __init__(self, message: str) -> None:
        super().__init__(404, message)


def as_failure(error: Exception) -> Failure | None:
    """What is told of an error; None if it is a mistake of ours."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, IndexMissing):
        return Failure(404, str(error))
    if isinstance(error, IndexLocked):
        return Failure(409, str(error))
    if isinstance(error, SearchlabError):
        return Failure(400 if isinstance(error, SettingError) or error.exit_code == 2 else 500, str(error))
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return Failure(503, "too many files and connections are open; try again in a moment")
    return None


def without_folder(message: str, index: Path) -> str:
    """A message without the folder in which an index lies, and with it its judgments and models."""
    for folder in (index.absolute().parent, index.parent):
        if folder != Path():
            message = message.replace(f"{folder}/".replace("//", "/"), "")
    return message
