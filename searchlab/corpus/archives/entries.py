"""The entries of archives (zip, tar) as source files: read from the archive, never written to disk.

The name of an entry is only a name. It follows that of the archive: `papers.zip/2008/a.txt`. Hidden entries are left
out as hidden files are. The entries of a tar file are read in their order, one after the other.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from searchlab.corpus.archives.unpacking import MEGABYTE, Unpacking
from searchlab.corpus.archives.zip_directory import open_zip
from searchlab.corpus.extraction.limits import MAX_HELD_MB
from searchlab.corpus.extraction.recognition import recognise
from searchlab.corpus.source_files import OpenedFile, SourceFile
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SourceError

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
TAR_MAGIC, TAR_MAGIC_OFFSET = b"ustar", 257
# What macOS adds to its archives.
RESOURCE_FORKS = "__MACOSX"
BLOCK_BYTES = 64 * 1024
# Longer headers of a tar file are no names.
MAX_TAR_HEADER = 2**20

# NotImplementedError is an unknown method of compression.
ENTRY_ERRORS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def is_archive(opened: OpenedFile) -> bool:
    """Whether a file is a tar file, or a zip file that is not a document."""
    return _is_tar(opened) or (opened.head_bytes.startswith(ZIP_MAGIC) and recognise(opened) is None)


def read_entries(opened: OpenedFile) -> Iterator[SourceFile]:
    """The files in an archive; each has to be read, if at all, before the next one is asked for."""
    outer = opened.file.unpacking
    unpacking = outer.inner(opened.name) if outer else Unpacking.begin(opened.name, opened.file.size)
    read = _read_tar if _is_tar(opened) else _read_zip
    try:
        yield from read(opened, unpacking)
    except ENTRY_ERRORS as error:
        raise SourceError(opened.name, f"damaged archive ({error})") from None


def _is_tar(opened: OpenedFile) -> bool:
    return opened.head_bytes.startswith(TAR_MAGIC, TAR_MAGIC_OFFSET)


def _read_zip(opened: OpenedFile, unpacking: Unpacking) -> Iterator[SourceFile]:
    # A zip file is read from its end, so one that is an entry itself is held in memory.
    is_on_disk = opened.is_plain and opened.file.content is None
    archive = open_zip(opened.stream if is_on_disk else io.BytesIO(opened.read_content(MAX_HELD_MB * MEGABYTE)))
    for entry in archive.infolist():
        unpacking.count_entry()
        if entry.is_dir():
            continue
        made = _EntryMaker(opened, entry.filename, unpacking)
        if not made.is_hidden:
            yield made.file(entry.file_size, partial(archive.open, entry))


def _read_tar(opened: OpenedFile, unpacking: Unpacking) -> Iterator[SourceFile]:
    stored: Any = _ForwardFile(opened.stream, unpacking)
    archive = tarfile.TarFile(fileobj=stored, mode="r")
    for entry in archive:
        unpacking.count_entry()
        made = _EntryMaker(opened, entry.name, unpacking)
        if entry.isdir() or made.is_hidden:
            continue
        if entry.isreg():
            yield made.file(entry.size, partial(archive.extractfile, entry))
        else:
            opened.reading.notes.skip_file(made.name, "not a regular file")


class _EntryMaker:
    """Makes the source file of an entry."""

    def __init__(self, opened: OpenedFile, written: str, unpacking: Unpacking) -> None:
        self._archive = opened.file
        self._path = PurePosixPath(written.replace("\\", "/"))
        self._unpacking = unpacking
        self.name = shown_path(f"{opened.name}/{self._path}")

    @property
    def is_hidden(self) -> bool:
        return any(part.startswith((".", RESOURCE_FORKS)) and part != ".." for part in self._path.parts)

    def file(self, size: int, open_entry: Callable[[], IO[bytes] | None]) -> SourceFile:
        """The file; its bytes count as those of the archive do."""
        relative = f"{self._archive.relative}/{self._path}"
        opener = lambda: EntryStream(self.name, open_entry, self._unpacking)  # noqa: E731
        return SourceFile(Path(self._path.name), self.name, relative, size, None, self._unpacking, opener)


class EntryStream(io.RawIOBase):
    """An entry of an archive; counts what is unpacked."""

    def __init__(self, name: str, open_entry: Callable[[], IO[bytes] | None], unpacking: Unpacking) -> None:
        super().__init__()
        self._name = name
        self._unpacking = unpacking
        self._stored = self._try(open_entry)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the beginning of `buffer`; 0 at the end of the entry."""
        data = self._try(lambda: self._stored.read(min(len(buffer), BLOCK_BYTES)))
        self._unpacking.count_bytes(len(data), self._name)
        buffer[: len(data)] = data
        return len(data)

    def _try(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except ENTRY_ERRORS as error:
            is_encrypted = isinstance(error, RuntimeError) and "password" in str(error)
            problem = "encrypted, it can be read only with a password" if is_encrypted else f"damaged entry ({error})"
            raise SourceError(self._name, problem) from None


class _ForwardFile:
    """A stream that is read from its beginning to its end, as tarfile reads it: `seek` only skips."""

    def __init__(self, stream: io.BufferedReader, unpacking: Unpacking) -> None:
        self._stream = stream
        self._unpacking = unpacking
        self._position = 0

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        if position < self._position:
            raise tarfile.ReadError("an entry that begins before the end of the last one")
        while self._position < position and self._skip(min(MAX_TAR_HEADER, position - self._position)):
            pass

    def _skip(self, size: int) -> int:
        skipped = len(self.read(size))
        self._unpacking.count_bytes(skipped, self._unpacking.archive)
        return skipped

    def read(self, size: int) -> bytes:
        if size > MAX_TAR_HEADER:
            raise tarfile.ReadError(f"a header of more than {MAX_TAR_HEADER:,} bytes")
        data = self._stream.read(size)
        self._position += len(data)
        return data
