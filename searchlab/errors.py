"""What can go wrong, and who has to mend it?

Every error that a user can cause, or can do something about, is one of these:

    SearchlabError
    ├── InputError           a file that the user gave
    │   ├── SourceError        missing, empty, unreadable, of an unknown format
    │   ├── RecordError        one record in it is malformed
    │   └── DuplicateError     two documents or topics with one name
    ├── SettingError         an unknown name or a value out of range
    └── StoreError           the index on disk
        ├── IndexMissing       there is none where one was named
        ├── IndexCorrupt       a file is missing, truncated or not what was written
        ├── IndexTooNew        written by a later version of searchlab
        ├── IndexOutdated      written by rules that this version no longer has
        ├── IndexLocked        another process is writing it
        └── WriteFailed        the disk refused (full, read-only, …)

The message is one line: where, what was found, what was expected. The command line prints it and
exits with `exit_code`; a traceback is for our mistakes, never for the user's.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# What to do about an index that can no longer be read.
REBUILD = "rebuild it from its sources with `searchlab index --rebuild`"


class SearchlabError(Exception):
    """The root: catch this to catch everything that searchlab raises on purpose."""

    exit_code = 1


class InputError(SearchlabError):
    """Something in a file that the user gave; `location` is a path or `path:line`."""

    def __init__(self, location: object, message: str) -> None:
        super().__init__(f"{location}: {message}")
        self.location = str(location)
        self.message = message

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.location, self.message)


class SourceError(InputError):
    """A source that cannot be read at all."""


class RecordError(InputError):
    """A record that does not have the shape of its format."""


class DuplicateError(InputError):
    """Two records with the same name."""


class SettingError(SearchlabError):
    """A name that does not exist, or a value outside its range."""

    exit_code = 2


class StoreError(SearchlabError):
    """Something about an index on disk."""


class IndexMissing(StoreError):
    """No index where one was named or expected."""


class IndexCorrupt(StoreError):
    """A file of the index is missing, truncated or altered."""


class IndexTooNew(StoreError):
    """The index has a layout that this version does not know."""


class IndexOutdated(StoreError):
    """The index was written by rules that this version no longer has."""


class IndexLocked(StoreError):
    """Another process holds the index for writing."""


class WriteFailed(StoreError):
    """The operating system refused a write."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> SettingError:
    """The error for a misspelt name: says the nearest one, and lists what there is."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return SettingError(f"unknown {kind} {name!r}{hint}; there is: {', '.join(names)}")


def name_some(names: Iterable[str], limit: int = 3) -> str:
    """The first names of a long list, and how many more there are: "a, b and 3 more"."""
    listed = list(names)
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" and {more:,} more" if more > 0 else "")
