"""Segment writer: writes a shard as a Whoosh index.

Whoosh's own writer collects one Python tuple a posting, sorts them, and adds them one by one: about 7 µs a posting. Our
columns already hold the same postings sorted: many terms are encoded at a time (`posting_encoding.py`,
`term_table.py`). The result is Whoosh's ordinary format: `whoosh.index.open_dir` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from whoosh import index as whoosh_index
from whoosh.codec.whoosh3 import LENGTHS_COLUMN, W3Codec
from whoosh.fields import FieldType
from whoosh.system import pack_ushort
from whoosh.util.numeric import length_to_byte
from whoosh.writing import IndexingError, SegmentWriter

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.array_ranges import offsets_of
from searchlab.errors import WriteFailed
from searchlab.indexing.inversion.inversion import InvertedStream
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.whoosh import posting_encoding
from searchlab.indexing.whoosh.posting_encoding import (
    BININT,
    BININT1,
    BLOCK_BYTES,
    BLOCK_POSTINGS,
    ENTRY_NUMBERS,
    NONE,
    POSITION_BYTES,
    POSTING_BYTES,
    STOP,
    TUPLE1,
    TUPLE3,
)
from searchlab.indexing.whoosh.schema import make_schema
from searchlab.indexing.whoosh.stored_docnos import stored_docnos
from searchlab.indexing.whoosh.term_table import TermTable, smallest_array
from searchlab.types import Array

# The numbers of postings and of terms that are encoded at once.
BATCH_POSTINGS = 1 << 19
BATCH_TERMS = 1 << 14
# Python encodes about this many postings in the time that numba takes to load.
MIN_COMPILED_POSTINGS = 200_000
# A term's entry, as Whoosh's W3TermInfo writes it, without its postings.
TERM_ENTRY = [
    ("is_inlined", "u1"),
    ("weight", ">f4"),
    ("doc_freq", ">u4"),
    ("min_length", "u1"),
    ("max_length", "u1"),
    ("max_weight", ">f4"),
    ("first_doc", ">u4"),
    ("last_doc", ">u4"),
]
# The entry of a term with postings elsewhere, and of one whose only posting, of weight 1, is in the entry: a pickled
# tuple of documents, weights and values.
REFERRING_ENTRY = np.dtype([*TERM_ENTRY, ("offset", ">i8"), ("n_bytes", ">i4")])
_INLINED = [*TERM_ENTRY, ("doc_opcode", "u1"), ("doc", "<i4"), ("after_doc", "u1", 4), ("value_opcode", "u1")]
INLINED_ENTRY = np.dtype([*_INLINED, ("end", "u1", 3)])
INLINED_ENTRY_WITH_POSITION = np.dtype([*_INLINED, ("position", "<i4"), ("end", "u1", 3)])


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
        n_postings = sum(len(postings.docs) for _, postings, _ in writer.fields.values())
        writer.is_compiled = n_postings >= MIN_COMPILED_POSTINGS
        writer.commit(merge=False)
        # Whoosh's objects refer to each other: the postings would stay in memory until these are looked for.
        writer.fields.clear()
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
    is_compiled: bool

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        file = self.fieldwriter._tindex.dbfile
        file.seek(0)
        self.fieldwriter._tindex = TermTable(file)
        self.fieldwriter._tindex.extras["fieldmap"] = self.fieldwriter._fieldmap

    def store(self, docnos: PackedStrings, lengths: dict[str, Array]) -> None:
        """Write the docnos as stored fields, and Whoosh's one-byte code of each text's length."""
        writer = self.perdocwriter
        stored = stored_docnos(docnos)
        n_docs = len(docnos.offsets) - 1
        column = writer._get_column("_stored")._child
        column._dbfile.write(stored.blob.data)
        column._count, column._offset_base = n_docs, int(stored.offsets[-1])
        column._lengths.array = smallest_array(np.diff(stored.offsets))
        column._offsets.array = smallest_array(stored.offsets[:-1])
        for name in ("title", "body"):
            if lengths[name].any():
                column_name = f"_{name}_len"
                writer._create_column(column_name, LENGTHS_COLUMN)
                codes = np.trim_zeros(_length_codes(lengths[name]), "b")
                of_lengths = writer._get_column(column_name)
                of_lengths._dbfile.write(codes.tobytes())
                of_lengths._count = len(codes)
                writer._fieldlengths[name] = int(lengths[name].sum())
        self.docnum = writer._doccount = n_docs
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
        has_positions = field.format.supports("positions")
        encoder = _Encoder(inverted, codes, has_positions=has_positions, is_compiled=self.is_compiled)
        posts, table = self.fieldwriter._postfile, self.fieldwriter._tindex
        prefix = pack_ushort(self.fieldwriter._fieldid)
        for start, stop in _batches(inverted.offsets):
            begin = posts.tell()
            content, numbers = encoder.encode(start, stop)
            posts.write(content)
            used = np.flatnonzero(numbers[:, 1])
            entries = _term_entries(numbers[used], begin, has_positions=has_positions)
            table.add_terms(prefix, terms.take(start + used), entries)


class _Encoder:
    """Encodes the postings of a field, term by term in their order."""

    def __init__(
        self, inverted: InvertedStream, length_codes: Array, *, has_positions: bool, is_compiled: bool
    ) -> None:
        self._inverted = inverted
        positions = inverted.positions if has_positions else inverted.positions[:0]
        weights = np.arange(int(inverted.tfs.max()) + 1, dtype=">f8").view(np.uint8)
        columns = [inverted.offsets, inverted.docs, inverted.tfs, positions]
        self._is_compiled = is_compiled
        # Python reads single numbers of lists much faster than those of arrays.
        convert = (lambda array: array) if self._is_compiled else np.ndarray.tolist
        self._columns = [convert(column) for column in columns]
        self._tables = [convert(length_codes), weights if self._is_compiled else weights.tobytes()]
        self._n_written = 0

    def encode(self, start: int, stop: int) -> tuple[bytes, Array]:
        """The postings of the terms from `start` up to `stop`, and nine numbers for each (see `encode_terms`)."""
        first, last = self._inverted.offsets[start], self._inverted.offsets[stop]
        n_terms, n_postings = stop - start, int(last - first)
        n_positions = int(self._inverted.tfs[first:last].sum(dtype=np.int64))
        n_blocks = n_terms + n_postings // BLOCK_POSTINGS
        size = n_blocks * BLOCK_BYTES + n_postings * POSTING_BYTES + n_positions * POSITION_BYTES
        out: Any = bytearray(size)
        entries: Any = [0] * (ENTRY_NUMBERS * n_terms)
        encode_terms: Any = posting_encoding.encode_terms
        if self._is_compiled:
            from searchlab.indexing.whoosh import compiled_encoding

            encode_terms = compiled_encoding.encode_terms
            out, entries = np.frombuffer(out, np.uint8), np.array(entries)
        n_bytes, self._n_written = encode_terms(
            start, stop, *self._columns, self._n_written, *self._tables, out, entries
        )
        return bytes(out[:n_bytes]), np.array(entries, np.int64).reshape(n_terms, ENTRY_NUMBERS)


def _term_entries(numbers: Array, begin: int, *, has_positions: bool) -> PackedStrings:
    """The entries of terms with these numbers (see `encode_terms`); the postings of the first begin at `begin`."""
    ends = numbers[:, 7]
    n_bytes = np.diff(ends, prepend=0)
    inlined = n_bytes == 0
    entries = np.zeros(len(numbers), REFERRING_ENTRY)
    for column, (name, _) in enumerate(TERM_ENTRY[1:]):
        entries[name] = numbers[:, column]
    entries["is_inlined"] = inlined
    entries["offset"], entries["n_bytes"] = begin + ends - n_bytes, n_bytes
    whole = np.zeros(len(numbers), INLINED_ENTRY_WITH_POSITION if has_positions else INLINED_ENTRY)
    for name, _ in TERM_ENTRY:
        whole[name] = entries[name]
    whole["doc_opcode"], whole["doc"] = BININT, numbers[:, 5]
    whole["after_doc"], whole["end"] = (TUPLE1, BININT1, 1, TUPLE1), (TUPLE1, TUPLE3, STOP)
    whole["value_opcode"] = BININT if has_positions else NONE
    if has_positions:
        whole["position"] = numbers[:, 8]
    # Rows of the longer kind, in which entries of the shorter kind do not reach the end.
    rows = _as_rows(whole).copy()
    referring = np.flatnonzero(~inlined)
    rows[referring, : REFERRING_ENTRY.itemsize] = _as_rows(entries[referring])
    sizes = np.where(inlined, whole.itemsize, REFERRING_ENTRY.itemsize)
    return PackedStrings(rows[np.arange(whole.itemsize) < sizes[:, None]], offsets_of(sizes))


def _as_rows(records: Array) -> Array:
    """The bytes of records, a row each."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)


def _length_codes(lengths: Array) -> Array:
    """Whoosh's one-byte code of each document's length."""
    distinct, inverse = np.unique(lengths, return_inverse=True)
    return np.array([length_to_byte(int(length)) for length in distinct], np.uint8)[inverse]


def _batches(offsets: Array) -> Iterator[tuple[int, int]]:
    """Ranges of terms with about BATCH_POSTINGS postings each, at least one, and no more than BATCH_TERMS terms."""
    n_terms = len(offsets) - 1
    start = 0
    while start < n_terms:
        last = int(np.searchsorted(offsets, offsets[start] + BATCH_POSTINGS))
        stop = min(max(last, start + 1), start + BATCH_TERMS, n_terms)
        if offsets[stop] > offsets[start]:
            yield start, stop
        start = stop
