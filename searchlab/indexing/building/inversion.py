"""Inversion: from the terms of each document to the documents of each term.

A stable sort by term: documents are in their final order, so the occurrences of each term come out sorted by document
and position. Many tokens are sorted by a compiled counting sort, for which numba is loaded; NumPy sorts a few
before numba would be loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.array_ranges import concatenate_ranges, offsets_of
from searchlab.types import Array

# NumPy sorts about this many tokens in the time that numba takes to load.
MIN_COMPILED_TOKENS = 3_000_000


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
    return TokenStream(tokens[concatenate_ranges(begins, begins + lengths, len(tokens))], offsets_of(lengths))


def combine_streams(streams: Sequence[TokenStream], order: Array) -> TokenStream:
    """One stream of several, concatenated within each document; the n-th document is `order[n]`."""
    bases = np.cumsum([0, *(len(stream.tokens) for stream in streams)])
    begins = np.column_stack([stream.starts[:-1] + base for stream, base in zip(streams, bases, strict=False)])[order]
    lengths = np.column_stack([stream.lengths for stream in streams])[order].ravel()
    texts = take_texts(np.concatenate([stream.tokens for stream in streams]), begins.ravel(), lengths)
    return TokenStream(texts.tokens, texts.starts[:: len(streams)])


def invert(stream: TokenStream, n_terms: int) -> InvertedStream:
    """The postings of documents that are in their final order."""
    if len(stream.tokens) < MIN_COMPILED_TOKENS:
        return _invert_with_numpy(stream, n_terms)
    from searchlab.indexing.building.inversion_kernel import invert_tokens

    return InvertedStream(*invert_tokens(stream.tokens, stream.starts, n_terms))


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
