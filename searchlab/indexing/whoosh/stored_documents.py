"""Stored documents of a shard, and access to its Whoosh index.

Whoosh reads by moving about in an open file, which two threads cannot do at once. Documents are read by many threads:
their file is mapped into memory; everything else goes through Whoosh's reader, one thread at a time.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from searchlab.errors import IndexCorrupt
from searchlab.records import Document


class WhooshShard:
    """The Whoosh index of one shard, opened when first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opening = threading.Lock()
        self._reader: Any = None
        self._stored: Sequence[dict[str, Any]] | None = None
        self._closing: list[Callable[[], object]] = []

    def close(self) -> None:
        """Close Whoosh's files, if they were opened."""
        for close in self._closing:
            close()

    @property
    def reader(self) -> Any:
        """Whoosh's reader, for one thread at a time."""
        with self._opening:
            if self._reader is None:
                from whoosh import index as whoosh_index

                try:
                    self._reader = whoosh_index.open_dir(str(self.folder)).reader()
                except Exception as error:
                    raise IndexCorrupt(f"{self.folder}: Whoosh cannot open it ({error})") from None
                self._closing.append(weakref.finalize(self, self._reader.close))
            return self._reader

    def document(self, number: int) -> Document:
        """The stored document with this number; safe to call from several threads."""
        column = self._stored or self._open_stored(self.reader)
        try:
            stored = column[number]
            return Document(
                stored["docno"], stored.get("title", ""), stored.get("body", ""), stored.get("fields") or {}
            )
        except Exception as error:
            raise IndexCorrupt(f"{self.folder}: stored document {number} cannot be read ({error})") from None

    def _open_stored(self, reader: Any) -> Sequence[dict[str, Any]]:
        """Whoosh's column of stored documents, on a file that is mapped into memory."""
        from whoosh.codec.whoosh3 import STORED_COLUMN, W3Codec
        from whoosh.filedb.structfile import StructFile

        class MappedFile(StructFile):  # type: ignore[misc]
            def __init__(self, path: Path) -> None:
                super().__init__(path.open("rb"))
                self.mapped = mmap.mmap(self.fileno(), 0, access=mmap.ACCESS_READ)

            def get(self, position: int, length: int) -> bytes:
                return self.mapped[position : position + length]

            def close(self) -> None:
                self.mapped.close()
                super().close()

        with self._opening:
            if self._stored is None:
                try:
                    file = MappedFile(self.folder / W3Codec.column_filename(reader.segment(), "_stored"))
                    self._closing.append(weakref.finalize(self, file.close))
                    self._stored = STORED_COLUMN.reader(file, 0, len(file.mapped), reader.doc_count_all())
                except Exception as error:
                    raise IndexCorrupt(f"{self.folder}: stored documents cannot be read ({error})") from None
            return self._stored
