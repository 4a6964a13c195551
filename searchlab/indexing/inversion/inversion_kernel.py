"""Compiled loops over many tokens: the counting sort that inverts them, and the positions of frequent terms."""

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


@njit(cache=True)  # type: ignore[untyped-decorator]
def encode_positions(tokens, rows, largest):  # type: ignore[no-untyped-def]
    """Where the bytes of the positions of each row begin, and the bytes; see `position_columns`."""
    n_rows = len(largest)
    offsets = np.zeros(n_rows + 1, np.int64)
    before = np.zeros(n_rows, np.int64)
    for i in range(len(tokens)):
        row = rows[tokens[i]]
        if row < 0:
            continue
        width = 1 if largest[row] < 256 else 2
        distance, before[row] = i - before[row], i
        # A division takes longer than all else, and is hardly ever needed.
        offsets[row + 1] += width
        while distance >= largest[row]:
            offsets[row + 1] += width
            distance -= largest[row]
    offsets = np.cumsum(offsets)

    units = np.empty(offsets[-1], np.uint8)
    at = offsets[:-1].copy()
    before[:] = 0
    for i in range(len(tokens)):
        row = rows[tokens[i]]
        if row < 0:
            continue
        distance, before[row] = i - before[row], i
        while True:
            unit = min(distance, largest[row])
            units[at[row]] = unit & 255
            at[row] += 1
            if largest[row] >= 256:
                units[at[row]] = unit >> 8
                at[row] += 1
            if unit < largest[row]:
                break
            distance -= unit
    return offsets, units
