"""Errors as HTTP statuses: which message a client gets.

Errors that users can fix are reported in one line. Internal errors are logged and reported without details.
"""

from __future__ import annotations

import errno
from pathlib import Path

from searchlab.errors import ClusterError, ClusterTimeout, IndexLocked, IndexMissing, SearchlabError, SettingError

INTERNAL_ERROR = "internal error; see the log of the server"


class HttpError(Exception):
    """A request that cannot be answered: an HTTP status, a message of one line, and the parameter that it is about."""

    def __init__(self, status: int, message: str, field: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.field = field


class NotFound(HttpError):
    """The request names something that does not exist."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(404, message, field)


class NoIndex(NotFound):
    """The server has no index yet."""

    def __init__(self) -> None:
        super().__init__("there is no index yet, expected documents to be added first: see /upload")


def to_http_error(error: Exception) -> HttpError | None:
    """The HTTP error for an exception; None for an internal error."""
    if isinstance(error, HttpError):
        return error
    if isinstance(error, IndexMissing):
        return HttpError(404, str(error))
    if isinstance(error, IndexLocked):
        return HttpError(409, str(error))
    if isinstance(error, ClusterTimeout):
        return HttpError(504, "the workers that search this index have not answered in time; try again in a moment")
    if isinstance(error, ClusterError):
        return HttpError(503, "the workers that search this index cannot be reached; try again in a moment")
    if isinstance(error, SearchlabError):
        return HttpError(400 if isinstance(error, SettingError) or error.exit_code == 2 else 500, str(error))
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return HttpError(503, "too many open files and connections; try again in a moment")
    return None


def without_folder(message: str, index: Path) -> str:
    """A message without the folder that holds an index, its judgments and its models."""
    for folder in (index.absolute().parent, index.parent):
        if folder != Path():
            message = message.replace(f"{folder}/".replace("//", "/"), "")
    return message
