"""Errors that a user can cause or do something about:

    SearchlabError
    ├── InputError           a file of the user
    │   ├── SourceError        missing, empty, unreadable, of an unknown format
    │   │   └── EmptySource      it can be read, but has no text
    │   ├── RecordError        one record in it is malformed
    │   └── DuplicateError     two documents or topics with the same name
    ├── SettingError         an unknown name or a value out of range
    ├── ClusterError         a cluster cannot be reached, or cannot do the work
    │   └── ClusterTimeout     workers have not answered in time
    └── StoreError           an index on disk
        ├── IndexMissing       there is no index
        ├── IndexCorrupt       a file is missing, truncated or altered
        ├── IndexTooNew        written by a later version of searchlab
        ├── IndexOutdated      written by rules or an extension that are not here
        ├── IndexLocked        another process is writing it
        └── WriteFailed        a write failed (disk full, read-only, …)

The message is one line: where, what was found, what was expected. The command line prints it and exits with
`exit_code`; a traceback means a bug in searchlab, never a mistake of the user.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePath

# The remedy for an index that cannot be read.
REBUILD = "rebuild it from its sources with `searchlab index --rebuild`"
# The remedy for a file that the system could not read: nothing says that it is damaged.
CHECK_DISK = "check the disk and the permissions"
_PACKAGE = str(Path(__file__).parent)


class SearchlabError(Exception):
    """The base class of all errors that searchlab raises on purpose."""

    exit_code = 1


class InputError(SearchlabError):
    """An error in a file of the user; `location` is a path or `path:line`, empty for values given from Python."""

    def __init__(self, location: object, message: str) -> None:
        super().__init__(f"{location}: {message}" if location != "" else message)
        self.location = str(location)
        self.message = message

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.location, self.message)


class SourceError(InputError):
    """A source that cannot be read."""


class EmptySource(SourceError):
    """A source that can be read, but has no text, as a scanned page."""


class RecordError(InputError):
    """A record that does not have the shape of its format."""


class DuplicateError(InputError):
    """Two records with the same name."""


class SettingError(SearchlabError):
    """A name that does not exist, or a value outside its range."""

    exit_code = 2


class ClusterError(SearchlabError):
    """A cluster that cannot be reached, or whose workers cannot do the work."""


class ClusterTimeout(ClusterError):
    """Workers that have not answered in time."""


class StoreError(SearchlabError):
    """An error about an index on disk."""


class IndexMissing(StoreError):
    """There is no index in the folder."""


class IndexCorrupt(StoreError):
    """A file of the index is missing, truncated or altered."""


class IndexTooNew(StoreError):
    """The index has a layout of a later version."""


class IndexOutdated(StoreError):
    """The index was written by rules that this version no longer has, or by an extension that is not loaded."""


class IndexLocked(StoreError):
    """Another process is writing the index."""


class WriteFailed(StoreError):
    """A write failed."""


class QueryWarning(UserWarning):
    """A query could not be understood as it is written; the message says how it was."""


class TrainingTopicsWarning(UserWarning):
    """A model ranks topics that it was trained on, which is no test of it."""


class TransferWarning(UserWarning):
    """A model is used with an index that differs from those that it was trained on."""


class JudgmentWarning(UserWarning):
    """Judgments do not seem to belong to the run that they evaluate."""


class ClusterWarning(UserWarning):
    """A cluster is reached in a way that others could misuse."""


class DurabilityWarning(UserWarning):
    """A file is written, but could be lost if the machine loses power."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the program that called searchlab."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def unreadable(path: object, error: OSError) -> IndexCorrupt:
    """The error for a file of an index that the system could not read, which is no reason to rebuild the index."""
    return IndexCorrupt(f"{path}: cannot be read ({error.strerror or error}); {CHECK_DISK}")


def unknown_name(kind: str, name: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None) -> SettingError:
    """The error for an unknown name, with the most similar known name and a list of all.

    `synonyms` are other words for known names. Case is disregarded where nothing is similar otherwise.
    """
    names = sorted(" ".join(each.split()) for each in known)
    near = _most_similar(name, names, synonyms or {}) if isinstance(name, str) else None
    hint = f" (did you mean {near}?)" if near else ""
    return SettingError(f"unknown {kind} {name!r}{hint}; there is: {', '.join(names)}")


def _most_similar(name: str, names: Iterable[str], synonyms: Mapping[str, str]) -> str | None:
    same_case = get_close_matches(name, names, n=1)
    if same_case:
        return same_case[0]
    folded = {word.casefold(): known for word, known in [*synonyms.items(), *((each, each) for each in names)]}
    near = get_close_matches(name.casefold(), folded, n=1)
    return folded[near[0]] if near else None


def not_an_object(name: str, kind: type) -> SettingError:
    """The error for a class where an object of it was expected."""
    return SettingError(f"{name} is the class {kind.__name__}, expected an object: {kind.__name__}()")


def require_path(name: str, value: object) -> None:
    """Raise SettingError unless a value is a path: a text or a `Path`."""
    if not isinstance(value, str | PurePath):
        raise SettingError(f"{name} is {type(value).__name__}, expected a path")


def name_some(names: Iterable[str], limit: int = 3) -> str:
    """The first names of a list and the number of the others: "a, b and 3 more"."""
    listed = list(names)
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" and {more:,} more" if more > 0 else "")
