"""How do the terms of documents become the documents of terms?

By one counting sort, compiled: documents are visited in their final order, so the occurrences of each
term fall into place already sorted by document and position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from searchlab.indexing.strings import Array


class TokenStream(NamedTuple):
    """The term numbers of all documents, one after the other; document i has starts[i]:starts[i + 1]."""

    tokens: Array
    starts: Array


class Inverted(NamedTuple):
    """Postings sorted by term, then document; `positions` lists their occurrences in the same order."""

    offsets: Array
    docs: Array
    tfs: Array
    positions: Array


def invert(streams: list[TokenStream], order: Array, n_terms: int) -> Inverted:
    """Invert documents made of one or two token streams; the n-th document is `order[n]`."""
    first = streams[0]
    second = streams[1] if len(streams) > 1 else TokenStream(first.tokens[:0], np.zeros_like(first.starts))
    return Inverted(*_invert(first.tokens, first.starts, second.tokens, second.starts, order, n_terms))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _invert(tokens, starts, more_tokens, more_starts, order, n_terms):  # type: ignore[no-untyped-def]
    offsets = np.zeros(n_terms + 1, np.int64)
    for token in tokens:
        offsets[token + 1] += 1
    for token in more_tokens:
        offsets[token + 1] += 1
    offsets = np.cumsum(offsets)

    place = offsets[:-1].copy()
    docs = np.empty(offsets[-1], np.uint32)
    positions = np.empty(offsets[-1], np.uint32)
    for number in range(len(order)):
        doc = order[number]
        position = 0
        for i in range(starts[doc], starts[doc + 1]):
            docs[place[tokens[i]]] = number
            positions[place[tokens[i]]] = position
            place[tokens[i]] += 1
            position += 1
        for i in range(more_starts[doc], more_starts[doc + 1]):
            docs[place[more_tokens[i]]] = number
            positions[place[more_tokens[i]]] = position
            place[more_tokens[i]] += 1
            position += 1

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
    return posting_offsets, docs[:postings].copy(), tfs[:postings].copy(), positions
