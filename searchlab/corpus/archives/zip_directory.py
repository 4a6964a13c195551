"""Opening a zip file whose directory may claim anything.

Python reads the directory of a zip file as a whole and makes an object of every entry. So its size is checked before it
is read: a file of 100 MB could have two million entries, which would take more than a gigabyte.
"""

from __future__ import annotations

import zipfile
from typing import Any, BinaryIO

# At least 46 bytes for an entry.
MAX_DIRECTORY_MB = 16
_MEGABYTE = 2**20


class _BoundedReads:
    """A file in which no single read is longer than the directory of a zip file may be."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY_MB * _MEGABYTE:
            raise zipfile.BadZipFile(f"a directory of more than {MAX_DIRECTORY_MB} MB")
        return self._stream.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def open_zip(stream: BinaryIO) -> zipfile.ZipFile:
    """A zip file open for reading; raises BadZipFile, and other errors that zipfile raises for damaged files."""
    bounded: Any = _BoundedReads(stream)
    return zipfile.ZipFile(bounded)
