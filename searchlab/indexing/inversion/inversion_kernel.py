"""Compiled loops over many tokens: inversion by counting sort, unions and sums of postings, positions of terms."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator]
def invert_tokens(tokens, starts, n_terms):  # type: ignore[no-untyped-def]
    """The parts of an `InvertedStream`: offsets, documents, frequencies and positions."""
    offsets = np.zeros(n_terms + 1, np.int64)
    for token in tokens:
        offsets[token + 1] += 1
    offsets = np.cumsum(offsets)

    next_row = offsets[:-1].copy()
    docs = np.empty(offsets[-1], np.uint32)
    positions = np.empty(offsets[-1], np.uint32)
    for doc in range(len(starts) - 1):
        for i in range(starts[doc], starts[doc + 1]):
            docs[next_row[tokens[i]]] = doc
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
def take_ranges(values, begins, starts, taken):  # type: ignore[no-untyped-def]
    """Copy the values from each of `begins` on to where it `starts`; the last of the starts is the end."""
    for i in range(len(begins)):
        begin, start = begins[i], starts[i]
        for place in range(starts[i + 1] - start):
            taken[start + place] = values[begin + place]


@njit(cache=True)  # type: ignore[untyped-decorator]
def summarise_postings(offsets, docs, tfs, n_docs):  # type: ignore[no-untyped-def]
    """The sum and the largest of the frequencies of each term, and the number of terms of each document."""
    n_terms = len(offsets) - 1
    counts, max_tfs = np.zeros(n_terms, np.int64), np.zeros(n_terms, np.int32)
    uniques = np.zeros(n_docs, np.int32)
    for term in range(n_terms):
        total, largest = np.int64(0), np.uint32(0)
        for i in range(offsets[term], offsets[term + 1]):
            total += tfs[i]
            largest = max(largest, tfs[i])
            uniques[docs[i]] += 1
        counts[term], max_tfs[term] = total, largest
    return counts, max_tfs, uniques


@njit(cache=True)  # type: ignore[untyped-decorator]
def unite_postings(offsets, docs, tfs, other_offsets, other_docs, other_tfs):  # type: ignore[no-untyped-def]
    """Offsets, documents and frequencies of each term in two streams; frequencies in one document are added."""
    n_terms = len(offsets) - 1
    united_offsets = np.zeros(n_terms + 1, np.int64)
    united_docs = np.empty(len(docs) + len(other_docs), np.uint32)
    united_tfs = np.empty(len(docs) + len(other_docs), np.uint32)
    n = 0
    for term in range(n_terms):
        i, j = offsets[term], other_offsets[term]
        while i < offsets[term + 1] or j < other_offsets[term + 1]:
            has_first = i < offsets[term + 1] and (j == other_offsets[term + 1] or docs[i] <= other_docs[j])
            has_second = j < other_offsets[term + 1] and (i == offsets[term + 1] or other_docs[j] <= docs[i])
            tf = np.uint32(0)
            if has_first:
                united_docs[n] = docs[i]
                tf += tfs[i]
                i += 1
            if has_second:
                united_docs[n] = other_docs[j]
                tf += other_tfs[j]
                j += 1
            united_tfs[n] = tf
            n += 1
        united_offsets[term + 1] = n
    return united_offsets, united_docs[:n], united_tfs[:n]


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
