"""Stored fields of a Whoosh segment: of each document a pickled dictionary of its docno, as a zlib stream.

So short a text becomes no shorter: it is the only block of a stream that is stored and not compressed, as
`zlib.compress(content, 0)` writes it. All documents are written at once; one by one they take twenty times as long.
"""

from __future__ import annotations

import pickle
import zlib
from itertools import pairwise
from typing import Any

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.whoosh.byte_layout import put_rows, put_strings
from searchlab.types import Array

# The two bytes of zlib's head, and the kind of the block: the last one, stored. Its length follows, and that with all
# bits flipped.
HEAD = b"\x78\x01\x01"
LENGTH_BYTES = 4
MAX_STORED_BYTES = (1 << 16) - 1
# A pickled dictionary with the key "docno" and a text, before the text's length and after it.
BEFORE = pickle.EMPTY_DICT + pickle.SHORT_BINUNICODE + b"\x05docno" + pickle.SHORT_BINUNICODE
AFTER = pickle.SETITEM + pickle.STOP
MAX_DOCNO_BYTES = 255
# Of the checksum at the end, Adler-32.
CHECKSUM_BYTES = 4
MODULUS = 65_521


def stored_docnos(docnos: PackedStrings) -> PackedStrings:
    """The stored fields of documents with these docnos."""
    lengths = np.diff(docnos.offsets)
    if lengths.max(initial=0) > MAX_DOCNO_BYTES:
        blob = docnos.blob.tobytes()
        pieces = [_stored_docno(blob[begin:end]) for begin, end in pairwise(docnos.offsets.tolist())]
        return PackedStrings(np.frombuffer(b"".join(pieces), np.uint8), offsets_of([*map(len, pieces)]))
    before = [*HEAD, *[0] * LENGTH_BYTES, *BEFORE, 0]
    n_contents = len(BEFORE) + 1 + lengths + len(AFTER)
    heads = np.tile(np.array(before, np.uint8), (len(lengths), 1))
    heads[:, -1] = lengths
    heads[:, len(HEAD) : len(HEAD) + LENGTH_BYTES] = _as_bytes(
        n_contents | (n_contents ^ MAX_STORED_BYTES) << 16, "<u4"
    )
    tails = np.tile(np.array([*AFTER, *[0] * CHECKSUM_BYTES], np.uint8), (len(lengths), 1))
    tails[:, len(AFTER) :] = _as_bytes(_checksums(docnos, lengths, n_contents), ">u4")
    offsets = offsets_of(heads.shape[1] + lengths + tails.shape[1])
    stored = np.empty(offsets[-1], np.uint8)
    put_rows(stored, offsets[:-1], heads)
    put_strings(stored, offsets[:-1] + heads.shape[1], docnos)
    put_rows(stored, offsets[1:] - tails.shape[1], tails)
    return PackedStrings(stored, offsets)


def _stored_docno(docno: bytes) -> bytes:
    return zlib.compress(pickle.dumps({"docno": docno.decode()}, pickle.HIGHEST_PROTOCOL), 0)


def _as_bytes(numbers: Array, kind: str) -> Array:
    return numbers.astype(kind).view(np.uint8).reshape(len(numbers), np.dtype(kind).itemsize)


def _checksums(docnos: PackedStrings, lengths: Array, n_contents: Array) -> Array:
    """Adler-32 of each content: 1 and the sum of its bytes, and the sum of these sums after each byte."""
    texts = docnos.blob.astype(np.int64)
    # Sums over the bytes of each docno: of the bytes, and of the bytes times their places in the docno.
    sums = np.diff(offsets_of(texts)[docnos.offsets])
    weighted = np.diff(offsets_of(texts * np.arange(len(texts)))[docnos.offsets]) - docnos.offsets[:-1] * sums
    first, second = 1 + sums, n_contents + (n_contents - len(BEFORE) - 1) * sums - weighted
    others: list[tuple[Any, Any]] = [*enumerate(BEFORE), (len(BEFORE), lengths)]
    others += [(n_contents - len(AFTER) + place, byte) for place, byte in enumerate(AFTER)]
    for place, byte in others:
        first = first + byte
        second = second + (n_contents - place) * byte
    checksums: Array = second % MODULUS << 16 | first % MODULUS
    return checksums
