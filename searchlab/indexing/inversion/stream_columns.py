"""Columns of a stream: postings, counts and lengths; and tokens by document."""

from __future__ import annotations

import sys

import numpy as np

from searchlab.indexing.inversion.inversion import InvertedStream, TokenStream
from searchlab.indexing.storage.arrays.bit_packing import pack_postings
from searchlab.indexing.storage.arrays.narrow_column import narrow
from searchlab.indexing.storage.streams import count_terms
from searchlab.types import Array


def stream_columns(name: str, postings: InvertedStream, lengths: Array) -> dict[str, Array]:
    """The columns of a stream by their names; see `storage/columns`."""
    offsets, docs, tfs, _ = postings
    packed = pack_postings(offsets, docs, tfs)
    counts, max_tfs, uniques = _summarise(postings, len(lengths))
    # Sixteen bits hold all frequencies, unless a text has a word 65,536 times or more.
    tf_type = np.uint16 if (max_tfs <= np.iinfo(np.uint16).max).all() else np.uint32
    return {
        f"{name}.offsets": offsets,
        f"{name}.packed": packed.blob,
        f"{name}.packed.starts": packed.starts,
        f"{name}.counts": counts,
        f"{name}.max_tfs": max_tfs.astype(tf_type),
        f"{name}.lengths": lengths.astype(np.int32),
        f"{name}.uniques": uniques,
    }


def _summarise(postings: InvertedStream, n_docs: int) -> tuple[Array, Array, Array]:
    """The sum and the largest of the frequencies of each term, and the number of terms of each document."""
    offsets, docs, tfs, _ = postings
    if "numba" in sys.modules:
        from searchlab.indexing.inversion.inversion_kernel import summarise_postings

        sums: tuple[Array, Array, Array] = summarise_postings(offsets, docs, tfs, n_docs)
        return sums
    return *count_terms(offsets, tfs), np.bincount(docs, minlength=n_docs).astype(np.int32)


def token_columns(name: str, stream: TokenStream, n_terms: int) -> dict[str, Array]:
    """The terms of each document in their order, and where those of each document begin."""
    return {name: narrow(stream.tokens, n_terms), f"{name}.offsets": stream.starts}
