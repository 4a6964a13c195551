"""Inversion: from the terms of each document to the documents of each term.

A stable sort by term: documents are in their final order, so the occurrences of each term come out sorted by document
and position. Many tokens are sorted by a compiled counting sort, for which numba is loaded; NumPy sorts a few
before numba would be loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from searchlab.array_ranges import concatenate_ranges, offsets_of, require_within
from searchlab.types import Array

# NumPy sorts about this many tokens in the time that numba takes to load.
MIN_COMPILED_TOKENS = 3_000_000
# Tokens that are put into their order at once.
TAKEN_TOKENS = 1 << 20


class TokenStream(NamedTuple):
    """The term numbers of all documents, one after the other; document i has starts[i]:starts[i + 1]."""

    tokens: Array
    starts: Array

    @property
    def lengths(self) -> Array:
        """The number of terms of each document."""
        return np.diff(self.starts)


class InvertedStream(NamedTuple):
    """Postings sorted by term, then document; `positions` lists their occurrences in the same order."""

    offsets: Array
    docs: Array
    tfs: Array
    positions: Array


def take_texts(tokens: Array, begins: Array, lengths: Array) -> TokenStream:
    """The stream of texts that begin anywhere in `tokens`, in the given order."""
    starts = offsets_of(lengths)
    taken = np.empty(starts[-1], tokens.dtype)
    if "numba" in sys.modules:
        from searchlab.indexing.inversion.inversion_kernel import take_ranges

        require_within(begins, lengths, len(tokens))
        take_ranges(tokens, begins, starts, taken)
        return TokenStream(taken, starts)
    # In pieces: the positions of all tokens would take several times their memory.
    cuts = np.flatnonzero(np.diff(starts[:-1] // TAKEN_TOKENS)) + 1
    for first, last in pairwise([0, *cuts.tolist(), len(lengths)]):
        texts = slice(first, last)
        positions = concatenate_ranges(begins[texts], begins[texts] + lengths[texts], len(tokens))
        taken[starts[first] : starts[last]] = tokens[positions]
    return TokenStream(taken, starts)


def combine_streams(streams: Sequence[TokenStream], order: Array) -> TokenStream:
    """One stream of several, concatenated within each document; the n-th document is `order[n]`."""
    if len(streams) == 1:
        return take_texts(streams[0].tokens, streams[0].starts[:-1][order], streams[0].lengths[order])
    bases = np.cumsum([0, *(len(stream.tokens) for stream in streams)])
    begins = np.column_stack([stream.starts[:-1] + base for stream, base in zip(streams, bases, strict=False)])[order]
    lengths = np.column_stack([stream.lengths for stream in streams])[order].ravel()
    texts = take_texts(np.concatenate([stream.tokens for stream in streams]), begins.ravel(), lengths)
    return TokenStream(texts.tokens, texts.starts[:: len(streams)])


def invert(stream: TokenStream, n_terms: int) -> InvertedStream:
    """The postings of documents that are in their final order."""
    if len(stream.tokens) < MIN_COMPILED_TOKENS and "numba" not in sys.modules:
        return _invert_with_numpy(stream, n_terms)
    from searchlab.indexing.inversion.inversion_kernel import invert_tokens

    return InvertedStream(*invert_tokens(stream.tokens, stream.starts, n_terms))


def unite(first: InvertedStream, second: InvertedStream) -> InvertedStream:
    """The postings of two streams of the same documents as one, without positions.

    Their lists of documents are read from end to end, whereas an inversion writes each token to where its term is.
    """
    no_positions = np.zeros(0, np.uint32)
    if "numba" in sys.modules:
        from searchlab.indexing.inversion.inversion_kernel import unite_postings

        offsets, docs, tfs = unite_postings(
            first.offsets, first.docs, first.tfs, second.offsets, second.docs, second.tfs
        )
        return InvertedStream(offsets, docs, tfs, no_positions)
    n_docs = max(int(each.docs.max(initial=0)) for each in (first, second)) + 1
    terms = np.concatenate(
        [np.repeat(np.arange(len(each.offsets) - 1), np.diff(each.offsets)) for each in (first, second)]
    )
    keys = terms * n_docs + np.concatenate([first.docs, second.docs])
    postings, places = np.unique(keys, return_inverse=True)
    tfs = np.bincount(places, np.concatenate([first.tfs, second.tfs]), len(postings))
    of_term, of_doc = np.divmod(postings, n_docs)
    offsets = np.searchsorted(of_term, np.arange(len(first.offsets))).astype(np.int64)
    return InvertedStream(offsets, of_doc.astype(np.uint32), tfs.astype(np.uint32), no_positions)


def _invert_with_numpy(stream: TokenStream, n_terms: int) -> InvertedStream:
    by_term = np.argsort(stream.tokens, kind="stable")
    terms = stream.tokens[by_term].astype(np.int64)
    docs = np.repeat(np.arange(len(stream.lengths)), stream.lengths)[by_term]
    positions = by_term - stream.starts[docs]
    begins = np.flatnonzero(np.diff(terms, prepend=-1).astype(bool) | np.diff(docs, prepend=-1).astype(bool))
    return InvertedStream(
        np.searchsorted(terms[begins], np.arange(n_terms + 1)).astype(np.int64),
        docs[begins].astype(np.uint32),
        np.diff(begins, append=len(terms)).astype(np.uint32),
        positions.astype(np.uint32),
    )
