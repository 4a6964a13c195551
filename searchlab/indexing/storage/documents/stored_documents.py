"""Stored documents of a shard: title, body and fields as they were indexed.

Each document is a JSON list of its title, body and fields, compressed by itself as a Zstandard frame; its docno is in
the columns. JSON holds plain values only: reading a document of an unknown origin runs no code. The file is an array
file (written by `document_packing`):

    texts      the compressed documents, one after the other
    offsets    where each begins

A document with a long body begins with LONG_MAGIC and the length of its compressed JSON, four bytes each. The body
follows the JSON in blocks (`long_body.py`), which are compressed one by one: a passage is read without the rest. The
JSON has lists of numbers in its place: the bytes of each block, and its measures.

A frame has the length of its content, so that no more is written than was expected, and no checksum: blocks of the file
have checksums already.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from zstandard import ZstdDecompressor, ZstdError, frame_content_size

from searchlab.array_ranges import offsets_of
from searchlab.indexing.storage.arrays.array_file import ArrayFile
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.documents.long_body import BlockMeasures, LongBody
from searchlab.records import Document
from searchlab.types import Array

# Another beginning than that of a Zstandard frame.
LONG_MAGIC = b"LONG"
LENGTH_BYTES = 4
# A document of this size has a text of some hundred thousand pages; a larger one is damaged or hostile.
MAX_DOCUMENT_BYTES = 1 << 30
# Four bytes a character at most, in UTF-8.
MAX_CHARACTER_BYTES = 4


@dataclass(frozen=True)
class StoredDocument:
    """A stored document; a long body has not been read yet."""

    docno: str
    title: str
    body: str | LongBody
    fields: Mapping[str, Any]

    def whole(self) -> Document:
        """The document."""
        return self.beginning(len(self.body))

    def beginning(self, length: int) -> Document:
        """The document with at most this many characters of its body."""
        return Document(self.docno, self.title, self.part(0, length), self.fields)

    def part(self, start: int, stop: int) -> str:
        """The characters of the body from `start` up to `stop`, of which there may be fewer."""
        return self.body[start:stop] if isinstance(self.body, str) else self.body.read(start, stop)


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
        """The packed documents with these numbers."""
        starts, ends = self._offsets[numbers], self._offsets[numbers + 1]
        if len(numbers) and not (starts.min() >= 0 and (starts <= ends).all() and ends.max() <= len(self._texts)):
            raise self.file.blocks.damaged("documents with wrong offsets")
        self._texts.verify_ranges(starts, ends)
        texts = self._texts.memory.data
        return [texts[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def document(self, number: int) -> Document:
        """The whole document with this number."""
        return self.read(number).whole()

    def read(self, number: int) -> StoredDocument:
        """The document with this number; a long body is read when it is asked for."""
        start, end = self._offsets[number : number + 2].tolist()
        if not 0 <= start <= end <= len(self._texts):
            raise self.file.blocks.damaged(f"document {number} has wrong offsets")
        try:
            begin, after = self._json_bounds(start, end)
            content = self._decompress(begin, after, MAX_DOCUMENT_BYTES)
            title, body, fields = json.loads(content.decode("utf-8", "surrogatepass"))
            if not (isinstance(title, str) and isinstance(fields, dict)):
                raise ValueError("not a title, a body and fields")
            if begin > start and isinstance(body, list):
                body = self._long_body(number, body, after, end)
            elif begin > start or not isinstance(body, str):
                raise ValueError("not a body")
        except (ZstdError, ValueError, TypeError, RecursionError, MemoryError, OverflowError) as error:
            raise self._unreadable(number, error) from None
        return StoredDocument(self._docnos[number], title, body, fields)

    def _json_bounds(self, start: int, end: int) -> tuple[int, int]:
        """Where the JSON of a document begins and ends; raises ValueError if it cannot be there."""
        begin = start + len(LONG_MAGIC) + LENGTH_BYTES
        if bytes(self._texts[start : start + len(LONG_MAGIC)]) != LONG_MAGIC:
            return start, end
        after = begin + int.from_bytes(bytes(self._texts[begin - LENGTH_BYTES : begin]), "little")
        if after > end:
            raise ValueError("incomplete")
        return begin, after

    def _long_body(self, number: int, listed: list[Any], start: int, end: int) -> LongBody:
        """The body whose blocks are listed; raises ValueError, TypeError or OverflowError if they cannot be right."""
        table = np.array(listed)
        if (table.dtype.kind, table.ndim) != ("i", 2) or table.min() < 0 or table.max() > MAX_DOCUMENT_BYTES:
            raise ValueError("not a list of blocks")
        n_bytes, *of_blocks = table
        begins, measures = start + offsets_of(n_bytes), BlockMeasures(*of_blocks)
        if begins[-1] != end or measures.n_characters.sum() > MAX_DOCUMENT_BYTES:
            raise ValueError("blocks that do not fit")

        def read_block(block: int) -> str:
            length = int(measures.n_characters[block])
            try:
                stop = int(begins[block + 1])
                content = self._decompress(int(begins[block]), stop, MAX_CHARACTER_BYTES * length)
                text = content.decode("utf-8", "surrogatepass")
                if len(text) != length:
                    raise ValueError(f"block {block} has another length")
            except (ZstdError, ValueError, MemoryError) as error:
                raise self._unreadable(number, error) from None
            return text

        return LongBody(measures, read_block)

    def _decompress(self, start: int, end: int, max_bytes: int) -> bytes:
        """The content of a frame; raises ValueError if that is more than `max_bytes`, and ZstdError."""
        frame = self._texts[start:end]
        # -1 if the frame does not say: then it is none of ours.
        if not 0 <= frame_content_size(frame) <= max_bytes:
            raise ValueError("more bytes than expected")
        return _DECOMPRESSOR.decompress(frame, allow_extra_data=False)

    def _unreadable(self, number: int, error: Exception) -> Exception:
        return self.file.blocks.damaged(f"document {number} cannot be read: {error}")


class _Decompressor(threading.local):
    """A decompressor for each thread: one cannot be shared."""

    def __init__(self) -> None:
        self.decompress = ZstdDecompressor().decompress


_DECOMPRESSOR = _Decompressor()
