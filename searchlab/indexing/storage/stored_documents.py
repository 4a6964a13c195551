"""Stored documents of a shard: title, body and fields as they were indexed.

Each document is a JSON list of its title, body and fields, compressed by itself; its docno is in the columns. JSON
holds plain values only: reading a document of an unknown origin runs no code. The file is an array file:

    texts      the compressed documents, one after the other
    offsets    where each begins
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.indexing.storage.arrays.array_file import ArrayFile
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.records import Document
from searchlab.types import Array

COMPRESSION = 3
# A document of this size has a text of some hundred thousand pages; a larger one is damaged or hostile.
MAX_DOCUMENT_BYTES = 1 << 30


def pack_documents(documents: Iterable[Document]) -> dict[str, Array]:
    """The arrays of the file."""
    return join_documents(
        zlib.compress(
            json.dumps([document.title, document.body, dict(document.fields)], ensure_ascii=False, default=str).encode(
                "utf-8", "surrogatepass"
            ),
            COMPRESSION,
        )
        for document in documents
    )


def join_documents(packed: Iterable[bytes | memoryview]) -> dict[str, Array]:
    """The arrays of the file, of documents that are compressed already."""
    pieces = list(packed)
    return {
        "texts": np.frombuffer(b"".join(pieces), np.uint8),
        "offsets": offsets_of([len(piece) for piece in pieces]),
    }


class StoredDocuments:
    """The stored documents of one shard; several threads can read at once."""

    def __init__(self, path: Path, docnos: Strings) -> None:
        self.file = ArrayFile(path)
        self._docnos = docnos
        try:
            self._texts, self._offsets = self.file["texts"], self.file["offsets"]
        except KeyError as error:
            raise self.file.blocks.damaged(f"lacks {error.args[0]}") from None
        if (
            (self._texts.dtype.str, self._texts.memory.ndim) != ("|u1", 1)
            or (self._offsets.dtype.str, self._offsets.shape) != ("<i8", (len(docnos) + 1,))
            or self._offsets[-1] != len(self._texts)
        ):
            raise self.file.blocks.damaged("the documents do not fit their offsets")

    def packed(self, numbers: Array) -> list[memoryview]:
        """The compressed documents with these numbers."""
        starts, ends = self._offsets[numbers], self._offsets[numbers + 1]
        if len(numbers) and not (starts.min() >= 0 and (starts <= ends).all() and ends.max() <= len(self._texts)):
            raise self.file.blocks.damaged("documents with wrong offsets")
        self._texts.verify_ranges(starts, ends)
        texts = self._texts.memory.data
        return [texts[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def document(self, number: int) -> Document:
        """The stored document with this number."""
        start, end = self._offsets[number : number + 2].tolist()
        if not 0 <= start <= end <= len(self._texts):
            raise self.file.blocks.damaged(f"document {number} has wrong offsets")
        packed = self._texts[start:end].tobytes()
        try:
            title, body, fields = json.loads(_decompress(packed).decode("utf-8", "surrogatepass"))
            if not (isinstance(title, str) and isinstance(body, str) and isinstance(fields, dict)):
                raise ValueError("not a title, a body and fields")
        except (zlib.error, ValueError, TypeError, RecursionError, MemoryError) as error:
            raise self.file.blocks.damaged(f"document {number} cannot be read: {error}") from None
        return Document(self._docnos[number], title, body, fields)


def _decompress(packed: bytes) -> bytes:
    """The bytes of a compressed document; raises ValueError beyond MAX_DOCUMENT_BYTES, and if bytes are left over."""
    stream = zlib.decompressobj()
    content = stream.decompress(packed, MAX_DOCUMENT_BYTES)
    if not stream.eof or stream.unused_data:
        raise ValueError(f"more than {MAX_DOCUMENT_BYTES:,} bytes" if stream.unconsumed_tail else "incomplete")
    return content
