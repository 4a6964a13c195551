"""Packing of documents for the file of stored documents (see `stored_documents`)."""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np
import orjson
from zstandard import ZstdCompressor

from searchlab.indexing.storage.documents.long_body import MAX_WHOLE_LENGTH, BlockMeasures, cut_body
from searchlab.indexing.storage.documents.stored_documents import LENGTH_BYTES, LONG_MAGIC
from searchlab.records import Document
from searchlab.types import Array

# Short texts: level 3 takes a quarter longer than level 1 and saves nothing. DEFLATE saves 6 % and takes four times as
# long.
COMPRESSION = 1
# Documents that are put after the others at once.
JOINED_AT_ONCE = 1 << 14


def pack_document(document: Document, n_terms: Sequence[int] = ()) -> bytes:
    """The bytes of a document; `n_terms` has the number of terms of each block of a long body, if that is known."""
    compress = _COMPRESSOR.compress
    if len(document.body) <= MAX_WHOLE_LENGTH:
        return compress(_as_json(document.title, document.body, document.fields))
    blocks = cut_body(document.body)
    if len(blocks) < 2:
        return compress(_as_json(document.title, document.body, document.fields))
    packed = [compress(block.encode("utf-8", "surrogatepass")) for block in blocks]
    listed = [[len(piece) for piece in packed], *BlockMeasures.of(blocks, n_terms).lists()]
    head = compress(_as_json(document.title, listed, document.fields))
    return b"".join([LONG_MAGIC, len(head).to_bytes(LENGTH_BYTES, "little"), head, *packed])


class PackedDocuments:
    """Packed documents one after the other: as objects of their own they would leave gaps in memory when freed."""

    def __init__(self, packed: Iterable[bytes | memoryview] = ()) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])
        pieces = iter(packed)
        while some := list(islice(pieces, JOINED_AT_ONCE)):
            end = len(self._bytes)
            self._bytes += b"".join(some)
            self._ends.extend(end + last for last in accumulate(map(len, some)))

    def append(self, packed: bytes | memoryview) -> None:
        """Add a document."""
        self._bytes += packed
        self._ends.append(len(self._bytes))

    def arrays(self) -> dict[str, Array]:
        """The arrays of the file; no document can be added afterwards."""
        return {"texts": np.frombuffer(self._bytes, np.uint8), "offsets": np.frombuffer(self._ends, np.int64)}


def _as_json(title: str, body: str | list[list[int]], fields: Mapping[str, Any]) -> bytes:
    # Python's own encoder for the fields: orjson writes NaN as null, and some types in another way.
    others = _dump(dict(fields)) if fields else b"{}"
    try:
        if not fields:
            return orjson.dumps((title, body, {}))
        return b"%b,%b]" % (orjson.dumps([title, body])[:-1], others)
    except orjson.JSONEncodeError:  # a surrogate
        return b"%b,%b]" % (_dump([title, body])[:-1], others)


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


class _Compressor(threading.local):
    """A compressor for each thread: one cannot be shared."""

    def __init__(self) -> None:
        self.compress = ZstdCompressor(level=COMPRESSION, write_checksum=False).compress


_COMPRESSOR = _Compressor()
