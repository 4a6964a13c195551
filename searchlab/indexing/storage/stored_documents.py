"""Stored documents of a shard: title, body and fields as they were indexed.

Each document is a JSON list of its title, body and fields, compressed by itself; its docno is in the columns. JSON
holds plain values only: reading a document of an unknown origin runs no code. The file is an array file:

    texts      the compressed documents, one after the other
    offsets    where each begins

A long body follows its document's JSON in blocks (`long_body.py`), which are compressed one by one: a passage is read
without the rest. The JSON has lists of numbers in its place: the bytes of each block, and its measures.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.indexing.storage.arrays.array_file import ArrayFile
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.long_body import BlockMeasures, LongBody, cut_body
from searchlab.records import Document
from searchlab.types import Array

# Level 6 takes a tenth longer than level 3 and saves 2 to 5 %; level 9 saves nothing more.
COMPRESSION = 6
# Bare DEFLATE, without zlib's own checksum: blocks of the file have checksums already.
WINDOW_BITS = -15
# A document of this size has a text of some hundred thousand pages; a larger one is damaged or hostile.
MAX_DOCUMENT_BYTES = 1 << 30
# The compressed JSON of a document is read in pieces of this size: what follows it may be long.
READ_BYTES = 1 << 16
# Four bytes a character at most, in UTF-8.
MAX_CHARACTER_BYTES = 4


def pack_document(document: Document, n_terms: Sequence[int] = ()) -> bytes:
    """The bytes of a document; `n_terms` has the number of terms of each block of a long body, if that is known."""
    blocks = cut_body(document.body)
    if len(blocks) < 2:
        return _compress(_as_json([document.title, document.body, dict(document.fields)]))
    packed = [_compress(block) for block in blocks]
    listed = [[len(piece) for piece in packed], *BlockMeasures.of(blocks, n_terms).lists()]
    return b"".join([_compress(_as_json([document.title, listed, dict(document.fields)])), *packed])


def join_documents(packed: Iterable[bytes | memoryview]) -> dict[str, Array]:
    """The arrays of the file, of documents that are packed already."""
    pieces = list(packed)
    return {
        "texts": np.frombuffer(b"".join(pieces), np.uint8),
        "offsets": offsets_of([len(piece) for piece in pieces]),
    }


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
            content, after = self._inflate(start, end, MAX_DOCUMENT_BYTES)
            title, body, fields = json.loads(content.decode("utf-8", "surrogatepass"))
            if not (isinstance(title, str) and isinstance(fields, dict)):
                raise ValueError("not a title, a body and fields")
            if isinstance(body, list):
                body = self._long_body(number, body, after, end)
            elif not isinstance(body, str) or after != end:
                raise ValueError("not a body" if after == end else "bytes are left over")
        except (zlib.error, ValueError, TypeError, RecursionError, MemoryError, OverflowError) as error:
            raise self._unreadable(number, error) from None
        return StoredDocument(self._docnos[number], title, body, fields)

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
                content, after = self._inflate(int(begins[block]), stop, MAX_CHARACTER_BYTES * length)
                text = content.decode("utf-8", "surrogatepass")
                if after != stop or len(text) != length:
                    raise ValueError(f"block {block} has another length")
            except (zlib.error, ValueError, MemoryError) as error:
                raise self._unreadable(number, error) from None
            return text

        return LongBody(measures, read_block)

    def _inflate(self, start: int, end: int, max_bytes: int) -> tuple[bytes, int]:
        """What was compressed at `start`, and where that ends, `end` at the latest.

        Raises ValueError beyond `max_bytes`, and zlib.error.
        """
        stream = zlib.decompressobj(WINDOW_BITS)
        pieces: list[bytes] = []
        position = start
        while position < end and not stream.eof:
            piece = self._texts[position : min(position + READ_BYTES, end)]
            position += len(piece)
            pieces.append(stream.decompress(piece, max_bytes + 1))
            max_bytes -= len(pieces[-1])
            if max_bytes < 0 or stream.unconsumed_tail:
                raise ValueError("more bytes than expected")
        if not stream.eof:
            raise ValueError("incomplete")
        return b"".join(pieces), position - len(stream.unused_data)

    def _unreadable(self, number: int, error: Exception) -> Exception:
        return self.file.blocks.damaged(f"document {number} cannot be read: {error}")


def _as_json(content: list[Any]) -> str:
    return json.dumps(content, ensure_ascii=False, default=str)


def _compress(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), COMPRESSION, WINDOW_BITS)
