"""How does a file become lines of text?

Gzip is known by its first two bytes, not by its name. Lines are UTF-8; a line that is not is taken as
Latin-1, in which every byte is a character, so that no byte can stop the reading. Nothing but the
current line is held, and a pipe or standard input can be read, because no file is opened twice.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.text_cleaning import clean
from searchlab.errors import SourceError

HEAD_BYTES = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_UNDECODED = re.compile(r"[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read: `name` stands in messages, `relative` is its path below the source folder.

    `content` is what it holds if it is not on the disk, but was sent or typed: see `in_memory`.
    """

    path: Path
    name: str
    relative: str
    size: int
    content: bytes | None = None


# Known by being this very value: a file may be called `-` too, and be named as `./-`.
STANDARD_INPUT = SourceFile(Path("-"), "-", "-", 0)


def source_from_text(name: str, text: str) -> SourceFile:
    """A text to read as if it were a file of this name."""
    content = text.encode("utf-8", "replace")
    return SourceFile(Path(name), name, name, len(content), content)


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file being read: `head` is its beginning, decoded roughly, for recognising the format."""

    file: SourceFile
    head: str
    stream: BinaryIO
    reading: ReadingContext

    @property
    def name(self) -> str:
        """The path as the user knows it."""
        return self.file.name

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in the file."""
        return len(self.head) < HEAD_BYTES and not self.head.strip()

    @property
    def suffix(self) -> str:
        """The suffix of the name in lower case; that of `a.txt.gz` is `.txt`."""
        return Path(self.file.path.name.lower().removesuffix(".gz")).suffix

    def location(self, line_number: int) -> str:
        """Where a record starts, for messages."""
        return f"{self.name}:{line_number}"

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, without its end (\\n, \\r\\n or \\r)."""
        # surrogateescape carries undecodable bytes through, so that only their line is decoded anew.
        with io.TextIOWrapper(self.stream, "utf-8", errors="surrogateescape", newline=None) as text:
            for number, line in enumerate(text, start=1):
                line = line.removesuffix("\n")
                if number == 1:
                    line = line.removeprefix("\ufeff")
                # Undecoded bytes are not printable, and most lines are: one test settles both.
                yield number, line if line.isprintable() else clean(self._decoded(line))

    def _decoded(self, line: str) -> str:
        if not _UNDECODED.search(line):
            return line
        self.reading.notes.latin1_lines[self.name] += 1
        return line.encode("utf-8", "surrogateescape").decode("latin-1")


class _CountedFile(io.FileIO):
    """A file on disk that tells the notes how much of it has been read."""

    def __init__(self, path: Path, notes: ReadingNotes) -> None:
        super().__init__(path)
        self._notes = notes

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._notes.bytes_read += count or 0
        return count


class _StandardInput(io.RawIOBase):
    """Standard input, from where others have left it, and open for them afterwards."""

    def __init__(self, notes: ReadingNotes) -> None:
        super().__init__()
        self._notes = notes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # read1 gives what is there, so that the first documents need not wait for the last.
        standard: Any = sys.stdin.buffer
        data: bytes = standard.read1(len(buffer))
        buffer[: len(data)] = data
        self._notes.bytes_read += len(data)
        return len(data)


@contextmanager
def open_source_file(file: SourceFile, reading: ReadingContext) -> Iterator[OpenedFile]:
    """Open `file`, unpacked if need be; whatever the disk or gzip objects to is a SourceError."""
    try:
        with _stored(file, reading.notes) as stored, _unpacked(stored) as stream:
            head = stream.peek(HEAD_BYTES)[:HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
            yield OpenedFile(file, head, stream, reading)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(file.name, f"damaged gzip file ({error})") from error
    except OSError as error:
        raise SourceError(file.name, error.strerror or str(error)) from error


def _stored(file: SourceFile, notes: ReadingNotes) -> io.BufferedReader:
    if file.content is not None:
        notes.bytes_read += file.size
        held: Any = io.BytesIO(file.content)
        return io.BufferedReader(held, HEAD_BYTES)
    if file is not STANDARD_INPUT:
        return io.BufferedReader(_CountedFile(file.path, notes), HEAD_BYTES)
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("standard input is closed")
    return io.BufferedReader(_StandardInput(notes), HEAD_BYTES)


def _unpacked(stored: io.BufferedReader) -> io.BufferedReader:
    if not stored.peek(2).startswith(_GZIP_MAGIC):
        return stored
    return io.BufferedReader(gzip.GzipFile(fileobj=stored), HEAD_BYTES)
