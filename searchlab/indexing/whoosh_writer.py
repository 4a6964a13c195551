"""How does a shard become a real Whoosh index, quickly?

Whoosh's own writer collects one Python tuple a posting, sorts them, and adds them one by one: about 7 µs
a posting. Our columns hold the same postings sorted already, so they go to Whoosh's codec a block at a
time. What is written is Whoosh's ordinary format: `whoosh.index.open_dir` reads it.

Two liberties that the format leaves to the writer: blocks are pickled with protocol 4 (Whoosh writes
protocol 2, in which bytes are slow and large), and blocks too small to gain are not compressed.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from whoosh import index as whoosh_index
from whoosh.codec.whoosh3 import WHOOSH3_HEADER_MAGIC, W3Codec, W3TermInfo
from whoosh.fields import FieldType
from whoosh.system import pack_uint, pack_ushort
from whoosh.util.numeric import length_to_byte
from whoosh.writing import SegmentWriter

from searchlab.indexing.analysis import AnalysisSettings
from searchlab.indexing.columns import Array
from searchlab.indexing.inversion import Inverted
from searchlab.indexing.whoosh_schema import make_schema
from searchlab.records import Document

BLOCK = 128
COMPRESSION = 3
# Below this size zlib's set-up costs more than the bytes that it saves.
WORTH_COMPRESSING = 120
# Postings that are held as Python objects at once.
BATCH = 1 << 19


def write_whoosh(
    folder: Path,
    settings: AnalysisSettings,
    documents: Sequence[Document],
    terms: Sequence[str],
    inverted: dict[str, Inverted],
    lengths: dict[str, Array],
) -> None:
    """Write documents (in docno order) and the postings of title and body as a Whoosh index."""
    folder.mkdir()
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


def _one_each(n: int) -> Inverted:
    """Postings in which term i occurs once, in document i."""
    docs = np.arange(n, dtype=np.uint32)
    ones = np.ones(n, np.uint32)
    return Inverted(np.arange(n + 1, dtype=np.int64), docs, ones, np.zeros(n, np.uint32))


class _BlockWriter(SegmentWriter):  # type: ignore[misc]
    """Whoosh's segment writer, fed with sorted postings instead of documents."""

    fields: dict[str, tuple[Sequence[bytes], Inverted, Array | None]]

    def store(self, documents: Sequence[Document], lengths: dict[str, Array]) -> None:
        """Write what is kept for each document: stored fields, and Whoosh's one-byte lengths."""
        writer, schema = self.perdocwriter, self.schema
        title, body, docno, fields = schema["title"], schema["body"], schema["docno"], schema["fields"]
        rows = zip(documents, lengths["title"].tolist(), lengths["body"].tolist(), strict=True)
        for number, (document, title_length, body_length) in enumerate(rows):
            writer.start_doc(number)
            writer.add_field("docno", docno, document.docno, 0)
            writer.add_field("title", title, document.title, title_length)
            writer.add_field("body", body, document.body, body_length)
            writer.add_field("fields", fields, dict(document.fields) or None, 0)
            writer.finish_doc()
        self.docnum = len(documents)
        self._added = True

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        for name in sorted(self.fields):
            terms, inverted, lengths = self.fields[name]
            self.fieldwriter.start_field(name, self.schema[name])
            for batch in _batches(inverted.offsets):
                self._write_terms(self.schema[name], terms, inverted, lengths, batch)
            self.fieldwriter.finish_field()
        self.fieldwriter.close()

    def _write_terms(
        self,
        field: FieldType,
        terms: Sequence[bytes],
        inverted: Inverted,
        lengths: Array | None,
        batch: range,
    ) -> None:
        """Write the blocks and the dictionary entries of a run of terms."""
        offsets = inverted.offsets[batch.start : batch.stop + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        if first == last:
            return
        docs = inverted.docs[first:last].astype(np.int64)
        tfs = inverted.tfs[first:last]
        weights = tfs.astype(np.float64)
        starts = _block_starts(offsets - first)
        gaps = np.diff(docs, prepend=0)
        gaps[starts] = docs[starts]
        max_weight = np.maximum.reduceat(weights, starts).tolist()
        length_codes = np.zeros(len(docs), np.uint8) if lengths is None else _LENGTH_CODES.take(lengths, docs)
        min_length = np.minimum.reduceat(length_codes, starts).tolist()
        max_length = np.maximum.reduceat(length_codes, starts).tolist()
        same_weight = (np.minimum.reduceat(weights, starts) == np.maximum.reduceat(weights, starts)).tolist()
        last_doc = docs[np.append(starts[1:], len(docs)) - 1].tolist()
        first_doc = docs[starts].tolist()
        values = _position_values(inverted, first, last) if field.format.supports("positions") else None

        gap_list, weight_list = gaps.tolist(), weights.tolist()
        bounds = [*starts.tolist(), len(docs)]
        term_weights = np.add.reduceat(weights, (offsets - first)[:-1][np.diff(offsets) > 0]).tolist()
        posts, dictionary = self.fieldwriter._postfile, self.fieldwriter._tindex
        field_key = pack_ushort(self.fieldwriter._fieldid)
        doc_freqs = np.diff(offsets).tolist()
        block = written = 0
        for number, doc_freq in zip(batch, doc_freqs, strict=True):
            if not doc_freq:
                continue
            first_block, begin = block, posts.tell()
            last_block = block + (doc_freq - 1) // BLOCK
            posts.write(WHOOSH3_HEADER_MAGIC)
            while block <= last_block:
                lo, hi = bounds[block], bounds[block + 1]
                if not same_weight[block]:
                    block_weights: Any = tuple(weight_list[lo:hi])
                else:
                    block_weights = None if weight_list[lo] == 1.0 else weight_list[lo]
                data = pickle.dumps((tuple(gap_list[lo:hi]), block_weights, values and tuple(values[lo:hi])), 4)
                compression = COMPRESSION if len(data) >= WORTH_COMPRESSING else 0
                if compression:
                    data = zlib.compress(data, compression)
                head = pickle.dumps(
                    (
                        hi - lo,
                        last_doc[block],
                        max_weight[block],
                        compression,
                        min_length[block],
                        max_length[block],
                    ),
                    4,
                )
                size = len(head) + len(data)
                posts.write_int(-size if block == last_block else size)
                posts.write(head)
                posts.write(data)
                block += 1
            info = W3TermInfo(
                term_weights[written],
                doc_freq,
                minid=first_doc[first_block],
                maxid=last_doc[last_block],
                maxweight=max(max_weight[first_block:block]),
            )
            info.set_extent(begin, posts.tell() - begin)
            entry = bytearray(info.to_bytes())
            entry[_MIN_LENGTH_BYTE] = min(min_length[first_block:block])
            entry[_MIN_LENGTH_BYTE + 1] = max(max_length[first_block:block])
            dictionary.add(field_key + terms[number], bytes(entry))
            written += 1


# Where W3TermInfo packs its two length codes: behind one flag, a float and an integer.
_MIN_LENGTH_BYTE = 9


class _LengthCodes:
    """Whoosh's one-byte code for each field length, by table."""

    def __init__(self) -> None:
        self._table = np.zeros(0, np.uint8)

    def take(self, lengths: Array, docs: Array) -> Array:
        longest = int(lengths.max(initial=0))
        if longest >= len(self._table):
            self._table = np.array([length_to_byte(n) for n in range(longest + 1)], np.uint8)
        return self._table[lengths][docs]


_LENGTH_CODES = _LengthCodes()


def _batches(offsets: Array) -> Iterator[range]:
    """Runs of terms with about BATCH postings each."""
    n_terms = len(offsets) - 1
    start = 0
    while start < n_terms:
        stop = max(int(np.searchsorted(offsets, offsets[start] + BATCH)), start + 1)
        stop = min(stop, n_terms)
        yield range(start, stop)
        start = stop


def _block_starts(offsets: Array) -> Array:
    """Where blocks begin: at each term that has postings, and after every BLOCK postings of it."""
    begins, doc_freqs = offsets[:-1], np.diff(offsets)
    n_blocks = -(-doc_freqs // BLOCK)
    of_term = np.repeat(begins, n_blocks)
    firsts = np.repeat(np.cumsum(n_blocks) - n_blocks, n_blocks)
    starts: Array = of_term + BLOCK * (np.arange(len(of_term)) - firsts)
    return starts


def _position_values(inverted: Inverted, first: int, last: int) -> list[bytes]:
    """The positions of each posting in Whoosh's encoding: how many, and a pickled list of their gaps."""
    tfs = inverted.tfs[first:last].astype(np.int64)
    ends = np.cumsum(tfs)
    begin = int(inverted.tfs[:first].sum(dtype=np.int64))
    positions = inverted.positions[begin : begin + int(ends[-1])].astype(np.int64)
    gaps = np.diff(positions, prepend=0)
    gaps[ends - tfs] = positions[ends - tfs]

    # Most terms occur once in a document: the few thousand distinct single values are encoded once each.
    singles: dict[int, bytes] = {}
    gap_list = gaps.tolist()
    values = []
    place = 0
    for tf in tfs.tolist():
        if tf == 1:
            gap = gap_list[place]
            value = singles.get(gap)
            if value is None:
                value = singles[gap] = pack_uint(1) + pickle.dumps([gap], 2)
        else:
            value = pack_uint(tf) + pickle.dumps(gap_list[place : place + tf], 2)
        values.append(value)
        place += tf
    return values
