"""Sources: which files a name on the command line or in the API stands for.

A file stands for itself, and `-` for standard input. A folder stands for all files below it, sorted by path, unless it
is a collection: it directly holds exactly one file named `docs`, `documents` or `corpus` (with any suffix), and topics
or judgments. Then only that file is read, and every other one is noted. Hidden files and folders are left out. A named
pipe, a socket or a device is refused: reading it may never end, or never begin.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus.collection import find_collection, hidden_entries, visible_entries
from searchlab.corpus.reading_notes import HIDDEN, ReadingNotes
from searchlab.corpus.source_files import STANDARD_INPUT, SourceFile
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SettingError, SourceError

# What the process has open already, such as the pipe that a shell makes for <(command).
_OPEN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


@dataclass(frozen=True, slots=True)
class Source:
    """A source by its name, and its files; unrecognised files of a `mixed` source are skipped."""

    name: str
    files: tuple[SourceFile, ...]
    mixed: bool = False


def list_source(source: str | Path, notes: ReadingNotes) -> Source:
    """The files that a name stands for."""
    file, is_folder = _look_up(source)
    if not is_folder:
        return Source(file.name, (file,))
    try:
        return _list_folder(file.path, file.name, notes)
    except OSError as error:
        raise SourceError(shown_path(error.filename or file.name), error.strerror or str(error)) from error


def single_file(source: str | Path | SourceFile) -> SourceFile:
    """The file with this name, which must not be a folder; a SourceFile is returned as it is."""
    if isinstance(source, SourceFile):
        return source
    file, is_folder = _look_up(source)
    if is_folder:
        raise SourceError(file.name, "expected a file, found a folder")
    return file


def _look_up(source: str | Path) -> tuple[SourceFile, bool]:
    if not isinstance(source, str | os.PathLike):
        hint = "make_topics, make_qrels and make_run take values"
        raise SettingError(f"found a {type(source).__name__}, expected the path of a file ({hint})")
    if str(source) == STANDARD_INPUT.name:
        return STANDARD_INPUT, False
    name = shown_path(source)
    path = Path(source)
    try:
        # Path("") would be the current folder, but an empty name is a mistake.
        status = path.stat() if str(source) else None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        status = None
    except OSError as error:
        raise SourceError(name, error.strerror or str(error)) from error
    if status is None:
        raise SourceError(name, "no such file or folder")
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_folder and not stat.S_ISREG(status.st_mode) and not str(path).startswith(_OPEN_FILES):
        raise SourceError(name, f"{kind_of_file(status)}, expected a file; - reads standard input")
    return SourceFile(path, name, path.name, status.st_size), is_folder


def kind_of_file(status: os.stat_result) -> str:
    """What something on disk is that is neither a file nor a folder."""
    if stat.S_ISFIFO(status.st_mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(status.st_mode) else "a device"


def _list_folder(folder: Path, name: str, notes: ReadingNotes) -> Source:
    collection = find_collection(folder)
    documents = collection.documents if collection and (collection.topics or collection.qrels) else None
    # The topics and judgments that `searchlab run` uses are reported as such; whatever else is in the folder is noted.
    known = {*collection.topics[:1], *collection.qrels[:1]} if collection and documents is not None else set()
    files = []
    for path in sorted(_walk(folder, notes)):
        if path in known:
            continue
        if documents is not None and path != documents:
            reason = f"set aside, {documents.name} has the documents of this collection"
            notes.skip_file(shown_path(path), reason)
        # Opening a pipe would block until it has a writer.
        elif path.is_file():
            files.append(_source_file(path, folder))
        else:
            reason = "not a regular file" if path.exists() else "a link to nothing"
            notes.skip_file(shown_path(path), reason)
    return Source(name, tuple(files), mixed=documents is None)


def _source_file(path: Path, folder: Path) -> SourceFile:
    relative = path.relative_to(folder).as_posix()
    return SourceFile(path, shown_path(path), relative, path.stat().st_size)


def _walk(folder: Path, notes: ReadingNotes) -> Iterator[Path]:
    waiting = deque([folder])
    # Links to folders are followed, each folder once, so that a link to a parent does not loop.
    seen = set()
    while waiting:
        current = waiting.popleft()
        try:
            status = current.stat()
            entries = [(path, path.is_dir()) for path in visible_entries(current)]
            hidden = hidden_entries(current)
        except OSError as error:
            if current == folder:
                raise
            notes.add_unreadable(shown_path(current), f"a folder that cannot be read ({error.strerror or error})")
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        for path in hidden:
            notes.add(HIDDEN, shown_path(path), "its name begins with a point: not read")
        for path, is_folder in entries:
            if is_folder:
                waiting.append(path)
            else:
                yield path
