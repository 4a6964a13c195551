"""Columns of a stream: postings, counts, lengths, bitmaps of dense terms; and tokens by document."""

from __future__ import annotations

import numpy as np

from searchlab.indexing.building.inversion import InvertedStream, TokenStream
from searchlab.indexing.storage.arrays.bit_packing import pack_postings
from searchlab.indexing.storage.arrays.narrow_column import narrow
from searchlab.indexing.storage.streams import count_terms
from searchlab.types import Array

# A term is dense, and gets a bitmap, if at least one in DENSE_RATIO documents has it.
DENSE_RATIO = 32
MAX_DENSE_TERMS = 256


def stream_columns(name: str, postings: InvertedStream, lengths: Array) -> dict[str, Array]:
    """The columns of a stream by their names; see `storage/columns`."""
    offsets, docs, tfs, _ = postings
    dense, bits, ranks = _bitmaps(postings, len(lengths))
    packed = pack_postings(offsets, docs, tfs)
    counts, max_tfs = count_terms(offsets, tfs)
    # Sixteen bits hold all frequencies, unless a text has a word 65,536 times or more.
    tf_type = np.uint16 if (max_tfs <= np.iinfo(np.uint16).max).all() else np.uint32
    return {
        f"{name}.offsets": offsets,
        f"{name}.packed": packed.blob,
        f"{name}.packed.starts": packed.starts,
        f"{name}.counts": counts,
        f"{name}.max_tfs": max_tfs.astype(tf_type),
        f"{name}.lengths": lengths.astype(np.int32),
        f"{name}.uniques": np.bincount(docs, minlength=len(lengths)).astype(np.int32),
        f"{name}.dense": dense,
        f"{name}.bits": bits,
        f"{name}.ranks": ranks,
    }


def token_columns(name: str, stream: TokenStream, n_terms: int) -> dict[str, Array]:
    """The terms of each document in their order, and where those of each document begin."""
    return {name: narrow(stream.tokens, n_terms), f"{name}.offsets": stream.starts}


def _bitmaps(postings: InvertedStream, n_docs: int) -> tuple[Array, Array, Array]:
    """The dense terms, their documents as bits in 64-bit words, and the number of bits before each word."""
    doc_freqs = np.diff(postings.offsets)
    dense = np.flatnonzero((doc_freqs > 0) & (doc_freqs >= n_docs / DENSE_RATIO))
    # Only the densest if there are many: a row takes n_docs / 5 bytes.
    dense = np.sort(dense[np.argsort(-doc_freqs[dense], kind="stable")][:MAX_DENSE_TERMS])
    n_words = -(-n_docs // 64)
    bits = np.zeros((len(dense), n_words), np.uint64)
    ranks = np.zeros((len(dense), n_words), np.int32)
    for row, term in enumerate(dense.tolist()):
        has = np.zeros(n_words * 64, bool)
        has[postings.docs[postings.offsets[term] : postings.offsets[term + 1]]] = True
        bits[row] = np.packbits(has, bitorder="little").view("<u8")
        ranks[row, 1:] = np.cumsum(has.reshape(-1, 64).sum(axis=1))[:-1]
    return dense, bits, ranks
