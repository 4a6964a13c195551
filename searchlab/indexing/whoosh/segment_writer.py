"""Segment writer: writes a shard as a Whoosh index.

Whoosh's own writer collects one Python tuple a posting, sorts them, and adds them one by one: about 7 µs a posting. Our
columns already hold the same postings sorted, so many terms are encoded at a time (`posting_encoding.py`,
`term_table.py`). The result is Whoosh's ordinary format: `whoosh.index.open_dir` reads it.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from whoosh import index as whoosh_index
from whoosh.codec.whoosh3 import LENGTHS_COLUMN, W3Codec
from whoosh.columns import VarBytesColumn
from whoosh.fields import FieldType
from whoosh.system import pack_ushort
from whoosh.util.numeric import length_to_byte
from whoosh.writing import IndexingError, SegmentWriter

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import WriteFailed
from searchlab.indexing.building.inversion import InvertedStream
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.whoosh import posting_encoding
from searchlab.indexing.whoosh.posting_encoding import (
    BLOCK_BYTES,
    BLOCK_POSTINGS,
    MAX_REMEMBERED,
    POSITION_BYTES,
    POSTING_BYTES,
)
from searchlab.indexing.whoosh.schema import make_schema
from searchlab.indexing.whoosh.term_table import TermTable
from searchlab.types import Array

# The number of postings that are encoded at once.
BATCH_POSTINGS = 1 << 19
# Python encodes about this many postings in the time that numba takes to load.
MIN_COMPILED_POSTINGS = 200_000
# A term's entry, as Whoosh's W3TermInfo writes it, and the extent of its postings.
TERM_ENTRY = np.dtype(
    [
        ("is_inlined", "u1"),
        ("weight", ">f4"),
        ("doc_freq", ">u4"),
        ("min_length", "u1"),
        ("max_length", "u1"),
        ("max_weight", ">f4"),
        ("first_doc", ">u4"),
        ("last_doc", ">u4"),
        ("offset", ">i8"),
        ("n_bytes", ">i4"),
    ]
)


def write_whoosh(
    folder: Path,
    settings: AnalysisSettings,
    docnos: PackedStrings,
    terms: PackedStrings,
    inverted: dict[str, InvertedStream],
    lengths: dict[str, Array],
) -> None:
    """Write the docnos, in their order, and the postings of title and body as a Whoosh index."""
    folder.mkdir()
    try:
        index = whoosh_index.create_in(str(folder), make_schema(settings))
        writer = _ColumnWriter(index, codec=W3Codec(), compound=False)
        writer.store(docnos, lengths)
        writer.fields = {
            "body": (terms, inverted["body"], lengths["body"]),
            "docno": (docnos, _one_each(len(docnos.offsets) - 1), None),
            "title": (terms, inverted["title"], lengths["title"]),
        }
        writer.commit(merge=False)
    except (whoosh_index.IndexError, whoosh_index.LockError, IndexingError) as error:
        # Whoosh's answer to some errors of the file system, which it catches.
        raise WriteFailed(f"{folder}: cannot be written ({error})") from error


def _one_each(n: int) -> InvertedStream:
    """Postings in which term i occurs once, in document i."""
    docs = np.arange(n, dtype=np.uint32)
    ones = np.ones(n, np.uint32)
    return InvertedStream(np.arange(n + 1, dtype=np.int64), docs, ones, np.zeros(n, np.uint32))


class _ColumnWriter(SegmentWriter):  # type: ignore[misc]
    """Whoosh's segment writer for sorted postings instead of documents."""

    fields: dict[str, tuple[PackedStrings, InvertedStream, Array | None]]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        file = self.fieldwriter._tindex.dbfile
        file.seek(0)
        self.fieldwriter._tindex = TermTable(file)
        self.fieldwriter._tindex.extras["fieldmap"] = self.fieldwriter._fieldmap

    def store(self, docnos: PackedStrings, lengths: dict[str, Array]) -> None:
        """Write the docnos as stored fields, and Whoosh's one-byte code of each text's length."""
        writer = self.perdocwriter
        column, put = writer._get_column("_stored")._child, VarBytesColumn.Writer.add
        blob, bounds = docnos.blob.tobytes(), docnos.offsets.tolist()
        for number, (begin, end) in enumerate(pairwise(bounds)):
            stored = pickle.dumps({"docno": blob[begin:end].decode()}, 2)
            # Level 0 is the format without its cost: so short a text becomes no shorter.
            put(column, number, zlib.compress(stored, 0))
        for name in ("title", "body"):
            if lengths[name].any():
                column_name = f"_{name}_len"
                writer._create_column(column_name, LENGTHS_COLUMN)
                codes = np.trim_zeros(_length_codes(lengths[name]), "b")
                of_lengths = writer._get_column(column_name)
                of_lengths._dbfile.write(codes.tobytes())
                of_lengths._count = len(codes)
                writer._fieldlengths[name] = int(lengths[name].sum())
        self.docnum = writer._doccount = len(bounds) - 1
        self._added = True

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        for name in sorted(self.fields):
            terms, inverted, lengths = self.fields[name]
            codes = np.zeros(self.docnum, np.uint8) if lengths is None else _length_codes(lengths)
            self.fieldwriter.start_field(name, self.schema[name])
            self._write_field(self.schema[name], terms, inverted, codes)
            self.fieldwriter.finish_field()
        self.fieldwriter.close()

    def _write_field(self, field: FieldType, terms: PackedStrings, inverted: InvertedStream, codes: Array) -> None:
        """Write the postings and the entries of all terms of a field."""
        if not len(inverted.docs):
            return
        encoder = _Encoder(inverted, codes, with_positions=field.format.supports("positions"))
        posts, table = self.fieldwriter._postfile, self.fieldwriter._tindex
        prefix = pack_ushort(self.fieldwriter._fieldid)
        for start, stop in _batches(inverted.offsets):
            begin = posts.tell()
            content, numbers = encoder.encode(start, stop)
            posts.write(content)
            used = np.flatnonzero(numbers[:, 1])
            table.add_terms(prefix, terms.take(start + used), _term_entries(numbers, used, begin))


class _Encoder:
    """Encodes the postings of a field, term by term in their order."""

    def __init__(self, inverted: InvertedStream, length_codes: Array, *, with_positions: bool) -> None:
        self._inverted = inverted
        positions = inverted.positions if with_positions else inverted.positions[:0]
        weights = np.arange(int(inverted.tfs.max()) + 1, dtype=">f8").view(np.uint8)
        columns = [inverted.offsets, inverted.docs, inverted.tfs, positions]
        self._is_compiled = len(inverted.docs) >= MIN_COMPILED_POSTINGS
        # Python reads single numbers of lists much faster than those of arrays.
        convert = (lambda array: array) if self._is_compiled else np.ndarray.tolist
        self._columns = [convert(column) for column in columns]
        self._tables = [convert(length_codes), weights if self._is_compiled else weights.tobytes()]
        self._n_written = 0

    def encode(self, start: int, stop: int) -> tuple[bytes, Array]:
        """The postings of the terms from `start` up to `stop`, and eight numbers for each (see `encode_terms`)."""
        first, last = self._inverted.offsets[start], self._inverted.offsets[stop]
        n_terms, n_postings = stop - start, int(last - first)
        n_positions = int(self._inverted.tfs[first:last].sum(dtype=np.int64))
        n_blocks = n_terms + n_postings // BLOCK_POSTINGS
        size = n_blocks * BLOCK_BYTES + n_postings * POSTING_BYTES + n_positions * POSITION_BYTES
        out: Any = bytearray(size)
        seen: Any = [0] * (2 * MAX_REMEMBERED)
        entries: Any = [0] * (8 * n_terms)
        encode_terms: Any = posting_encoding.encode_terms
        if self._is_compiled:
            from searchlab.indexing.whoosh import compiled_encoding

            encode_terms = compiled_encoding.encode_terms
            out, seen, entries = np.frombuffer(out, np.uint8), np.array(seen), np.array(entries)
        n_bytes, self._n_written = encode_terms(
            start, stop, *self._columns, self._n_written, *self._tables, seen, out, entries
        )
        return bytes(out[:n_bytes]), np.array(entries, np.int64).reshape(n_terms, 8)


def _term_entries(numbers: Array, used: Array, begin: int) -> Array:
    """The bytes of the entries of terms with postings, a row each; the postings of the first begin at `begin`."""
    ends = numbers[used, 7]
    entries = np.zeros(len(used), TERM_ENTRY)
    names = ("weight", "doc_freq", "min_length", "max_length", "max_weight", "first_doc", "last_doc")
    for column, name in enumerate(names):
        entries[name] = numbers[used, column]
    entries["offset"][0], entries["offset"][1:] = begin, begin + ends[:-1]
    entries["n_bytes"] = np.diff(ends, prepend=0)
    return entries.view(np.uint8).reshape(len(used), TERM_ENTRY.itemsize)


def _length_codes(lengths: Array) -> Array:
    """Whoosh's one-byte code of each document's length."""
    distinct, inverse = np.unique(lengths, return_inverse=True)
    return np.array([length_to_byte(int(length)) for length in distinct], np.uint8)[inverse]


def _batches(offsets: Array) -> Iterator[tuple[int, int]]:
    """Ranges of terms with about BATCH_POSTINGS postings each, at least one."""
    n_terms = len(offsets) - 1
    start = 0
    while start < n_terms:
        stop = min(max(int(np.searchsorted(offsets, offsets[start] + BATCH_POSTINGS)), start + 1), n_terms)
        if offsets[stop] > offsets[start]:
            yield start, stop
        start = stop
