"""How do the terms of documents become the documents of terms?

By a sort that keeps the order of equals: documents stand in their final order, so the occurrences of each term are
then sorted by document and position. Of many terms it is a compiled counting sort, for which numba is loaded; a few
are sorted by NumPy before numba would have been.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.types import Array

# So many tokens are sorted by NumPy in about the time that numba takes to load.
WORTH_COMPILING = 3_000_000


class TokenStream(NamedTuple):
    """The term numbers of all documents, one after the other; document i has starts[i]:starts[i + 1]."""

    tokens: Array
    starts: Array

    @property
    def lengths(self) -> Array:
        """The number of terms of each document."""
        return np.diff(self.starts)


class Inverted(NamedTuple):
    """Postings sorted by term, then document; `positions` lists their occurrences in the same order."""

    offsets: Array
    docs: Array
    tfs: Array
    positions: Array


def arrange(streams: Sequence[TokenStream], order: Array) -> TokenStream:
    """The token streams of documents as one, in each document one after the other; the n-th document is `order[n]`."""
    befores = np.cumsum([0, *(len(stream.tokens) for stream in streams)])
    begins = np.column_stack([stream.starts[:-1] + n for stream, n in zip(streams, befores, strict=False)])[order]
    lengths = np.column_stack([stream.lengths for stream in streams])[order].ravel()
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    tokens = np.concatenate([stream.tokens for stream in streams])
    places = np.repeat(begins.ravel() - offsets[:-1], lengths) + np.arange(offsets[-1])
    return TokenStream(tokens[places], offsets[:: len(streams)])


def invert(stream: TokenStream, n_terms: int) -> Inverted:
    """Invert documents that stand in their final order."""
    if len(stream.tokens) < WORTH_COMPILING:
        return _invert_few(stream, n_terms)
    from searchlab.indexing.building.inversion_kernel import invert_tokens

    return Inverted(*invert_tokens(stream.tokens, stream.starts, n_terms))


def _invert_few(stream: TokenStream, n_terms: int) -> Inverted:
    by_term = np.argsort(stream.tokens, kind="stable")
    terms = stream.tokens[by_term].astype(np.int64)
    docs = np.repeat(np.arange(len(stream.lengths)), stream.lengths)[by_term]
    positions = by_term - stream.starts[docs]
    begins = np.flatnonzero(np.diff(terms, prepend=-1).astype(bool) | np.diff(docs, prepend=-1).astype(bool))
    return Inverted(
        np.searchsorted(terms[begins], np.arange(n_terms + 1)).astype(np.int64),
        docs[begins].astype(np.uint32),
        np.diff(begins, append=len(terms)).astype(np.uint32),
        positions.astype(np.uint32),
    )
