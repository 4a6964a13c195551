"""The word topic model (WTM): latent topics of words, from the words around them.

Each word w has a pseudo-document O_w of all words within `WINDOW` positions of its occurrences (Chen, ACM TALIP 8(1),
2009; named on slide 9 of his lecture). PLSA learns the latent topics of words from these pseudo-documents:

    P(v|O_w) = Σ_k P(v|T_k)·P(T_k|w)

A document mixes the models of its words, so it needs no training:

    P(q|D) = Σ_w P(w|D)·Σ_k P(q|T_k)·P(T_k|w) = Σ_k P(q|T_k)·P(T_k|D),    P(T_k|D) = Σ_w P(w|D)·P(T_k|w)

Deviations: windows reach from the title into the body; an occurrence is not in its window, so a word is in its
pseudo-document only if it occurs near itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from searchlab.types import Array, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


WINDOW = 10


def count_neighbours(texts: Iterable[tuple[Array, Array]], n_terms: int, window: int = WINDOW) -> csr_array:
    """How often each two words occur within `window` positions of each other: a symmetric matrix of words × words.

    Each of `texts` holds the terms of some documents, one after the other, and the offsets at which these begin.
    """
    return join_neighbours([count_following(texts, n_terms, window)], n_terms)


def count_following(texts: Iterable[tuple[Array, Array]], n_terms: int, window: int = WINDOW) -> csr_array:
    """How often a word (column) follows a word (row) within `window` positions."""
    from scipy.sparse import csr_array

    following = csr_array((n_terms, n_terms), dtype=np.float32)
    for tokens, starts in texts:
        doc_of_token = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        for distance in range(1, window + 1):
            in_same_doc = doc_of_token[distance:] == doc_of_token[:-distance]
            pairs = tokens[:-distance][in_same_doc], tokens[distance:][in_same_doc]
            ones = np.ones(len(pairs[0]), np.float32)
            # Summed after each distance, so that few pairs are in memory at a time.
            following = following + csr_array((ones, pairs), shape=(n_terms, n_terms))
    return following


def join_neighbours(following: Iterable[csr_array], n_terms: int) -> csr_array:
    """The neighbours of words from the counts of some texts each, see `count_following`."""
    from scipy.sparse import csr_array

    total = csr_array((n_terms, n_terms), dtype=np.float32)
    for counts in following:
        total = total + counts
    neighbours = (total + total.T).tocsr()
    neighbours.sort_indices()
    return neighbours


def mix_words(counts: csr_array, of_words: Floats, shares: Floats) -> Floats:
    """P(T|D) of documents from their counts and P(T|w): a row per document, `shares` for one without known words.

    A row of `of_words` is 0 for a word without neighbours.
    """
    sums = np.asarray(counts @ of_words, np.float64)
    totals = sums.sum(axis=1)
    sums[totals <= 0] = shares
    mixed: Floats = sums / np.where(totals > 0, totals, 1)[:, None]
    return mixed
