"""How are stored documents, and whatever else Whoosh keeps, read back?"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from searchlab.errors import IndexCorrupt
from searchlab.records import Document


class WhooshShard:
    """The Whoosh side of one shard, opened when first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reader: Any = None
        self._finalize: Callable[[], object] | None = None

    def close(self) -> None:
        """Close Whoosh's files, if they were opened."""
        if self._finalize is not None:
            self._finalize()

    @property
    def reader(self) -> Any:
        """Whoosh's own reader."""
        if self._reader is None:
            from whoosh import index as whoosh_index

            try:
                self._reader = whoosh_index.open_dir(str(self.folder)).reader()
            except Exception as error:
                raise IndexCorrupt(f"{self.folder}: Whoosh cannot open it ({error})") from None
            self._finalize = weakref.finalize(self, self._reader.close)
        return self._reader

    def document(self, number: int) -> Document:
        """The stored document with this number."""
        reader = self.reader
        try:
            stored = reader.stored_fields(number)
            return Document(
                stored["docno"], stored.get("title", ""), stored.get("body", ""), stored.get("fields") or {}
            )
        except Exception as error:
            raise IndexCorrupt(f"{self.folder}: stored document {number} cannot be read ({error})") from None
