"""Segment writer: writes a shard as a Whoosh index, block by block.

Whoosh's own writer collects one Python tuple a posting, sorts them, and adds them one by one: about 7 µs a posting. Our
columns already hold the same postings sorted, so they go to Whoosh's codec a block at a time. The result is Whoosh's
ordinary format: `whoosh.index.open_dir` reads it.

Two choices that the format leaves to the writer: blocks are pickled with protocol 4 (Whoosh writes protocol 2, in which
bytes are slow and large), and blocks too small to gain are not compressed.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from whoosh import index as whoosh_index
from whoosh.codec.whoosh3 import WHOOSH3_HEADER_MAGIC, W3Codec, W3TermInfo
from whoosh.fields import FieldType
from whoosh.system import pack_int, pack_uint, pack_ushort
from whoosh.util.numeric import length_to_byte
from whoosh.writing import IndexingError, SegmentWriter

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import WriteFailed
from searchlab.indexing.building.inversion import InvertedStream
from searchlab.indexing.whoosh.schema import make_schema
from searchlab.records import Document
from searchlab.types import Array

BLOCK_POSTINGS = 128
COMPRESSION = 3
# Below this size the set-up of zlib costs more than the bytes that it saves.
MIN_COMPRESSED_BYTES = 120
# The number of postings that are held as Python objects at once.
BATCH_POSTINGS = 1 << 19


def write_whoosh(
    folder: Path,
    settings: AnalysisSettings,
    documents: Sequence[Document],
    terms: Sequence[str],
    inverted: dict[str, InvertedStream],
    lengths: dict[str, Array],
) -> None:
    """Write documents (in docno order) and the postings of title and body as a Whoosh index."""
    folder.mkdir()
    try:
        index = whoosh_index.create_in(str(folder), make_schema(settings))
        writer = _BlockWriter(index, codec=W3Codec(), compound=False)
        writer.store(documents, lengths)
        encoded_terms = [term.encode() for term in terms]
        writer.fields = {
            "body": (encoded_terms, inverted["body"], lengths["body"]),
            "docno": ([document.docno.encode() for document in documents], _one_each(len(documents)), None),
            "title": (encoded_terms, inverted["title"], lengths["title"]),
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


class _BlockWriter(SegmentWriter):  # type: ignore[misc]
    """Whoosh's segment writer for sorted postings instead of documents."""

    fields: dict[str, tuple[Sequence[bytes], InvertedStream, Array | None]]

    def store(self, documents: Sequence[Document], lengths: dict[str, Array]) -> None:
        """Write the stored fields and Whoosh's one-byte length of each document."""
        writer, schema = self.perdocwriter, self.schema
        title, body, docno = schema["title"], schema["body"], schema["docno"]
        rows = zip(documents, lengths["title"].tolist(), lengths["body"].tolist(), strict=True)
        for number, (document, title_length, body_length) in enumerate(rows):
            writer.start_doc(number)
            writer.add_field("docno", docno, document.docno, 0)
            writer.add_field("title", title, document.title, title_length)
            # The text itself is stored beside the columns (`stored_documents`).
            writer.add_field("body", body, None, body_length)
            writer.finish_doc()
        self.docnum = len(documents)
        self._added = True

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        for name in sorted(self.fields):
            terms, inverted, lengths = self.fields[name]
            codes = np.zeros(self.docnum, np.uint8) if lengths is None else _length_codes(lengths)
            self.fieldwriter.start_field(name, self.schema[name])
            for batch in _batches(inverted.offsets):
                self._write_terms(self.schema[name], terms, inverted, codes, batch)
            self.fieldwriter.finish_field()
        self.fieldwriter.close()

    def _write_terms(
        self, field: FieldType, terms: Sequence[bytes], inverted: InvertedStream, length_codes: Array, batch: range
    ) -> None:
        """Write the blocks and the dictionary entries of a range of terms."""
        offsets = inverted.offsets[batch.start : batch.stop + 1]
        if offsets[0] == offsets[-1]:
            return
        blocks = _Blocks.make(inverted, offsets, length_codes, with_positions=field.format.supports("positions"))
        posts, dictionary = self.fieldwriter._postfile, self.fieldwriter._tindex
        field_key = pack_ushort(self.fieldwriter._fieldid)
        # Collected and written at once: most terms are rare, and separate writes would take most of the time.
        written, start = bytearray(), posts.tell()
        block = 0
        for number, doc_freq in zip(batch, np.diff(offsets).tolist(), strict=True):
            if not doc_freq:
                continue
            begin, after = len(written), block - (-doc_freq // BLOCK_POSTINGS)
            written += WHOOSH3_HEADER_MAGIC
            for number_of_block in range(block, after):
                head, data = blocks.encode(number_of_block)
                size = len(head) + len(data)
                written += pack_int(size if number_of_block < after - 1 else -size)
                written += head
                written += data
            info = blocks.term_info(block, after, doc_freq, start + begin, len(written) - begin)
            dictionary.add(field_key + terms[number], info)
            block = after
        posts.write(bytes(written))


class _Blocks(NamedTuple):
    """The postings of a range of terms in Whoosh's blocks: block b has the postings bounds[b]:bounds[b + 1].

    Plain lists, since Python reads single items of lists much faster than those of arrays.
    """

    bounds: list[int]
    gaps: list[int]
    weights: list[float]
    positions: list[bytes] | None
    first_doc: list[int]
    last_doc: list[int]
    min_weight: list[float]
    max_weight: list[float]
    total_weight: list[float]
    min_length: list[int]
    max_length: list[int]

    @classmethod
    def make(cls, inverted: InvertedStream, offsets: Array, length_codes: Array, *, with_positions: bool) -> _Blocks:
        first, last = int(offsets[0]), int(offsets[-1])
        starts = _block_starts(offsets - first)
        bounds = np.append(starts, last - first)
        docs = inverted.docs[first:last].astype(np.int64)
        gaps = np.diff(docs, prepend=0)
        gaps[starts] = docs[starts]
        weights = inverted.tfs[first:last].astype(np.float64)
        codes = length_codes[docs]
        return cls(
            bounds.tolist(),
            gaps.tolist(),
            weights.tolist(),
            _encode_positions(inverted, first, last) if with_positions else None,
            docs[starts].tolist(),
            docs[bounds[1:] - 1].tolist(),
            np.minimum.reduceat(weights, starts).tolist(),
            np.maximum.reduceat(weights, starts).tolist(),
            np.add.reduceat(weights, starts).tolist(),
            np.minimum.reduceat(codes, starts).tolist(),
            np.maximum.reduceat(codes, starts).tolist(),
        )

    def encode(self, block: int) -> tuple[bytes, bytes]:
        """A block in Whoosh's format: its statistics and its postings."""
        rows = slice(self.bounds[block], self.bounds[block + 1])
        weights: Any = None  # all are 1
        if self.min_weight[block] < self.max_weight[block]:
            weights = tuple(self.weights[rows])
        elif self.max_weight[block] != 1.0:
            weights = self.max_weight[block]
        positions = None if self.positions is None else tuple(self.positions[rows])
        data = pickle.dumps((tuple(self.gaps[rows]), weights, positions), 4)
        compression = COMPRESSION if len(data) >= MIN_COMPRESSED_BYTES else 0
        if compression:
            data = zlib.compress(data, compression)
        head = (
            rows.stop - rows.start,
            self.last_doc[block],
            self.max_weight[block],
            compression,
            self.min_length[block],
            self.max_length[block],
        )
        return pickle.dumps(head, 4), data

    def term_info(self, block: int, after: int, doc_freq: int, offset: int, size: int) -> bytes:
        """The dictionary entry of the term with the blocks from `block` up to `after`."""
        blocks = slice(block, after)
        return _TERM_INFO.pack(
            0,  # the postings are not inlined
            sum(self.total_weight[blocks]),
            doc_freq,
            min(self.min_length[blocks]),
            max(self.max_length[blocks]),
            max(self.max_weight[blocks]),
            self.first_doc[block],
            self.last_doc[after - 1],
            offset,
            size,
        )


# The format that W3TermInfo writes; it would encode lengths, but ours are encoded already. The last two numbers are the
# offset and size of the postings.
_TERM_INFO = struct.Struct(W3TermInfo._struct.format + "qi")


def _length_codes(lengths: Array) -> Array:
    """Whoosh's one-byte code of each document's length."""
    distinct, inverse = np.unique(lengths, return_inverse=True)
    return np.array([length_to_byte(int(length)) for length in distinct], np.uint8)[inverse]


def _batches(offsets: Array) -> Iterator[range]:
    """Ranges of terms with about BATCH_POSTINGS postings each."""
    n_terms = len(offsets) - 1
    start = 0
    while start < n_terms:
        stop = max(int(np.searchsorted(offsets, offsets[start] + BATCH_POSTINGS)), start + 1)
        stop = min(stop, n_terms)
        yield range(start, stop)
        start = stop


def _block_starts(offsets: Array) -> Array:
    """Where blocks begin: at each term that has postings, and after every BLOCK_POSTINGS postings of it."""
    begins, doc_freqs = offsets[:-1], np.diff(offsets)
    n_blocks = -(-doc_freqs // BLOCK_POSTINGS)
    of_term = np.repeat(begins, n_blocks)
    firsts = np.repeat(np.cumsum(n_blocks) - n_blocks, n_blocks)
    starts: Array = of_term + BLOCK_POSTINGS * (np.arange(len(of_term)) - firsts)
    return starts


def _encode_positions(inverted: InvertedStream, first: int, last: int) -> list[bytes]:
    """The positions of each posting in Whoosh's encoding: their number, and a pickled list of their gaps."""
    tfs = inverted.tfs[first:last].astype(np.int64)
    ends = np.cumsum(tfs)
    begin = int(inverted.tfs[:first].sum(dtype=np.int64))
    positions = inverted.positions[begin : begin + int(ends[-1])].astype(np.int64)
    gaps = np.diff(positions, prepend=0)
    gaps[ends - tfs] = positions[ends - tfs]

    # Most terms occur once in a document: each of the few thousand distinct single values is encoded once.
    singles: dict[int, bytes] = {}
    gap_list = gaps.tolist()
    values = []
    start = 0
    for tf in tfs.tolist():
        if tf == 1:
            gap = gap_list[start]
            value = singles.get(gap)
            if value is None:
                value = singles[gap] = pack_uint(1) + pickle.dumps([gap], 2)
        else:
            value = pack_uint(tf) + pickle.dumps(gap_list[start : start + tf], 2)
        values.append(value)
        start += tf
    return values
