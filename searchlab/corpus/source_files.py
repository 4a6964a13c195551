"""Source files: opening, decompressing and decoding them into lines.

Gzip is recognised by its first two bytes, not by the file name, UTF-16 by its mark or its zero bytes, and encodings of
other scripts than Latin by what they say (see `encoding_detection`). Lines are UTF-8; a line that is not is decoded as
Windows-1252, so that no byte stops the reading. Only the current line is held in memory, and of a line that is too long
only its beginning; no file is opened twice, so standard input can be read.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from searchlab.corpus.archives.unpacking import Unpacking
from searchlab.corpus.encoding_detection import DetectedEncoding, detect_encoding
from searchlab.corpus.encodings import RecodedStream, decode_windows_1252, wide_encoding
from searchlab.corpus.file_ranges import FileRange
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ENCODING, ReadingNotes
from searchlab.corpus.text_cleaning import clean
from searchlab.errors import SourceError

HEAD_BYTES = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
# Documents whose parts have encodings of their own: PDF, RTF, zip files, mail.
_OWN_ENCODINGS = (b"%PDF-", b"{\\rtf", b"PK\x03\x04", b"From ", b"Received:", b"Return-Path:")
_UNDECODED = re.compile(r"[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read: `name` is for messages, `relative` is its path below the source folder.

    `content` is the content of a file that is not on disk (see `source_from_text`). `unpacking` is the state of the
    archive that the file is an entry of, and `open_entry` opens it there. `range` is the part of the file to read, if
    it is not the whole; `size` is then that of the part.
    """

    path: Path
    name: str
    relative: str
    size: int
    content: bytes | None = None
    unpacking: Unpacking | None = None
    open_entry: Callable[[], io.RawIOBase] | None = None
    range: FileRange | None = None

    @property
    def suffix(self) -> str:
        """The suffix of the name in lower case; that of `a.txt.gz` is `.txt`."""
        return Path(self.path.name.lower().removesuffix(".gz")).suffix


# Compared by identity, since a file can also be named `-` (and be given as `./-`).
STANDARD_INPUT = SourceFile(Path("-"), "-", "-", 0)


def source_from_text(name: str, text: str) -> SourceFile:
    """A text as a source file with this name."""
    content = text.encode("utf-8", "replace")
    return SourceFile(Path(name), name, name, len(content), content)


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that is being read; `head` is its beginning, roughly decoded, for format detection.

    `is_plain` is whether the document is the file itself, on disk or as its content, and not compressed in it.
    """

    file: SourceFile
    head: str
    stream: io.BufferedReader
    reading: ReadingContext
    is_plain: bool = False

    @property
    def name(self) -> str:
        """The path as the user wrote it."""
        return self.file.name

    @property
    def is_blank(self) -> bool:
        """Whether the file has nothing but white space."""
        return len(self.head) < HEAD_BYTES and not self.head.strip()

    @property
    def suffix(self) -> str:
        """The suffix of the file's name."""
        return self.file.suffix

    @property
    def head_bytes(self) -> bytes:
        """The beginning of the file, as long as nothing of it has been read."""
        return self.stream.peek(HEAD_BYTES)[:HEAD_BYTES]

    def read_content(self, max_bytes: int) -> bytes:
        """The content of the whole file; one that is longer is an error."""
        content = self.stream.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise SourceError(self.name, f"expected at most {max_bytes // 2**20:,} MB, found more")
        return content

    def location(self, line_number: int) -> str:
        """The location of a line, for messages."""
        return f"{self.name}:{line_number}"

    def lines(self, is_clean: Callable[[str], bool] = str.isprintable) -> Iterator[tuple[int, str]]:
        """Every line with its number, without its line end (\\n, \\r\\n or \\r).

        Lines are cleaned, but for those that are known to be clean, or are cleaned later (`is_clean`).
        A line longer than a record may be is cut one character after that limit: so its record is too long too.
        """
        cut = self.reading.max_record_length + 1
        part = self.file.range or FileRange(0, 0)
        # surrogateescape keeps undecodable bytes, so that only their line has to be decoded again.
        with io.TextIOWrapper(self.stream, "utf-8", errors="surrogateescape", newline=None) as text:
            for number, line in enumerate(iter(partial(text.readline, cut), ""), start=1):
                if len(line) == cut and not line.endswith("\n"):
                    _skip_line(text)
                line = line.removesuffix("\n")
                if number == 1 and (part.header_end or not part.start):
                    line = line.removeprefix("\ufeff")
                if number > part.n_header_lines:
                    number += part.n_lines_skipped
                # Most lines are printable, and undecoded bytes are not: one test covers both.
                yield number, line if is_clean(line) else clean(self.decode(line))

    def blocks(self) -> Iterator[str]:
        """The text in pieces of any length, for formats whose lines mean nothing; `decode` completes its decoding."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        first = True
        while data := self.stream.read(HEAD_BYTES):
            text = decoder.decode(data)
            yield text.removeprefix("\ufeff") if first else text
            first = False
        if rest := decoder.decode(b"", final=True):
            yield rest

    def records(self, is_clean: Callable[[str], bool] = str.isprintable) -> Iterator[tuple[int, str]]:
        """The lines of a file in which each line is a record; one that is too long is a bad record."""
        limit = self.reading.max_record_length
        for number, line in self.lines(is_clean):
            if len(line) > limit:
                self.reading.reject(self.reading.too_long(self.location(number)))
            else:
                yield number, line

    def whole(self) -> list[str]:
        """The lines of a file that is one record; none if it is too long, and thus a bad record."""
        lines: list[str] = []
        left = self.reading.max_record_length
        for number, line in self.lines():
            left -= len(line) + 1
            if left < -1:
                self.reading.reject(self.reading.too_long(self.location(number)))
                return []
            lines.append(line)
        return lines

    def decode(self, line: str) -> str:
        """A text with characters for the bytes that are not UTF-8."""
        if not _UNDECODED.search(line):
            return line
        notes = self.reading.notes
        if not notes.latin1_lines[self.name]:
            notes.add(ENCODING, self.name, "lines that are not UTF-8 are read as Windows-1252")
        notes.latin1_lines[self.name] += 1
        return decode_windows_1252(line.encode("utf-8", "surrogateescape"))


def _skip_line(text: TextIO) -> None:
    """Skip the rest of a line."""
    while (piece := text.readline(HEAD_BYTES)) and not piece.endswith("\n"):
        pass


class _CountedFile(io.FileIO):
    """A file on disk that adds the bytes read to the notes."""

    def __init__(self, path: Path, notes: ReadingNotes) -> None:
        super().__init__(path)
        self._notes = notes

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._notes.bytes_read += count or 0
        return count


class _FilePart(_CountedFile):
    """A range of a file on disk, after the header."""

    def __init__(self, path: Path, notes: ReadingNotes, part: FileRange) -> None:
        super().__init__(path, notes)
        self._left = [(part.start, part.end)]
        if part.start >= part.header_end > 0:
            self._left.insert(0, (0, part.header_end))

    def readinto(self, buffer: Any) -> int | None:
        while self._left and self._left[0][0] >= self._left[0][1]:
            del self._left[0]
        if not self._left:
            return 0
        position, end = self._left[0]
        self.seek(position)
        count = super().readinto(memoryview(buffer)[: end - position])
        self._left[0] = (position + (count or end), end)
        return count


class _StandardInput(io.RawIOBase):
    """Standard input from its current position; closing this does not close it."""

    def __init__(self, notes: ReadingNotes) -> None:
        super().__init__()
        self._notes = notes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # read1 returns what is available, so that the first documents need not wait for the last.
        standard: Any = sys.stdin.buffer
        data: bytes = standard.read1(len(buffer))
        buffer[: len(data)] = data
        self._notes.bytes_read += len(data)
        return len(data)


@contextmanager
def open_source_file(file: SourceFile, reading: ReadingContext) -> Iterator[OpenedFile]:
    """Open `file`, decompressed if it is gzip; errors of the disk or of gzip become SourceError."""
    try:
        with (
            _open_stored(file, reading.notes) as stored,
            _decompress(stored, file) as unpacked,
            _recode(unpacked, file, reading.notes) as stream,
        ):
            head = stream.peek(HEAD_BYTES)[:HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
            is_stored = file.content is not None or (isinstance(stored.raw, _CountedFile) and file.path.is_file())
            is_plain = unpacked is stored and is_stored
            yield OpenedFile(file, head, stream, reading, is_plain)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(file.name, f"damaged gzip file ({error})") from error
    except OSError as error:
        raise SourceError(file.name, error.strerror or str(error)) from error
    except MemoryError:
        raise SourceError(file.name, "takes more memory than there is; a smaller --max-record-mb may help") from None
    except RecursionError:
        raise SourceError(file.name, "nested too deeply") from None


def _open_stored(file: SourceFile, notes: ReadingNotes) -> io.BufferedReader:
    if file.content is not None:
        notes.bytes_read += file.size
        held: Any = io.BytesIO(file.content)
        return io.BufferedReader(held, HEAD_BYTES)
    if file.open_entry is not None:
        return io.BufferedReader(file.open_entry(), HEAD_BYTES)
    if file.range is not None:
        return io.BufferedReader(_FilePart(file.path, notes, file.range), HEAD_BYTES)
    if file is not STANDARD_INPUT:
        return io.BufferedReader(_CountedFile(file.path, notes), HEAD_BYTES)
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("standard input is closed")
    return io.BufferedReader(_StandardInput(notes), HEAD_BYTES)


def _decompress(stored: io.BufferedReader, file: SourceFile) -> io.BufferedReader:
    # Only files that are not compressed are divided; a range may begin with any bytes.
    if file.range is not None or not stored.peek(2).startswith(_GZIP_MAGIC):
        return stored
    return io.BufferedReader(gzip.GzipFile(fileobj=stored), HEAD_BYTES)


def _recode(stream: io.BufferedReader, file: SourceFile, notes: ReadingNotes) -> io.BufferedReader:
    if file.range is not None:
        return stream  # only files that are not recoded are divided
    head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
    if head.startswith(_OWN_ENCODINGS):
        return stream
    wide = wide_encoding(head)
    detected = detect_encoding(head) if wide is None else DetectedEncoding(wide.replace("-", "_"))
    if detected is None:
        return stream
    notes.add(ENCODING, file.name, f"read as {detected}")
    if detected.is_guess:
        notes.guessed_encodings[file.name] = str(detected)
    return io.BufferedReader(RecodedStream(stream, detected.name), HEAD_BYTES)
