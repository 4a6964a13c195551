"""Compiled counting sort that inverts many tokens."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator]
def invert_tokens(tokens, starts, n_terms, with_positions):  # type: ignore[no-untyped-def]
    """The parts of an `InvertedStream`: offsets, documents, frequencies and positions."""
    offsets = np.zeros(n_terms + 1, np.int64)
    for token in tokens:
        offsets[token + 1] += 1
    offsets = np.cumsum(offsets)

    next_row = offsets[:-1].copy()
    docs = np.empty(offsets[-1], np.uint32)
    positions = np.empty(offsets[-1] if with_positions else 0, np.uint32)
    for doc in range(len(starts) - 1):
        for i in range(starts[doc], starts[doc + 1]):
            docs[next_row[tokens[i]]] = doc
            if with_positions:
                positions[next_row[tokens[i]]] = i - starts[doc]
            next_row[tokens[i]] += 1

    # Each run of one document within one term becomes one posting.
    tfs = np.empty(offsets[-1], np.uint32)
    postings = 0
    posting_offsets = np.zeros(n_terms + 1, np.int64)
    for term in range(n_terms):
        i = offsets[term]
        while i < offsets[term + 1]:
            run = i
            while i < offsets[term + 1] and docs[i] == docs[run]:
                i += 1
            docs[postings] = docs[run]
            tfs[postings] = i - run
            postings += 1
        posting_offsets[term + 1] = postings
    return posting_offsets, docs[:postings], tfs[:postings], positions
