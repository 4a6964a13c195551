"""What is each word about, judged by the words that stand around it?

The word topic model (Chen, ACM TALIP 8(1), 2009; named on slide 9 of his lecture): each word w has a pseudo-document
O_w of all words within `WINDOW` places of its occurrences, and topics of its own, learnt from these as PLSA learns
those of documents:

    P(v|O_w) = Σ_k P(v|T_k)·P(T_k|w)

A document mixes the models of its words, which gives it topics without any training:

    P(q|D) = Σ_w P(w|D)·Σ_k P(q|T_k)·P(T_k|w) = Σ_k P(q|T_k)·P(T_k|D),    P(T_k|D) = Σ_w P(w|D)·P(T_k|w)

Deviations: windows reach from the title into the body; an occurrence is not in its own window, so a word is in its
pseudo-document only where it stands near itself.
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
    """How often each word stands within `window` places of each: a row a word, a column a neighbour; symmetric.

    A text holds the terms of some documents, one after the other, and where each begins.
    """
    from scipy.sparse import csr_array

    found = csr_array((n_terms, n_terms), dtype=np.float32)
    for tokens, starts in texts:
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        for distance in range(1, window + 1):
            near = owners[distance:] == owners[:-distance]
            pairs = tokens[:-distance][near], tokens[distance:][near]
            ones = np.ones(len(pairs[0]), np.float32)
            # Pairs of one distance are added up before the next ones come, so that few are held at a time.
            found = found + csr_array((ones, pairs), shape=(n_terms, n_terms))
    both = (found + found.T).tocsr()
    both.sort_indices()
    return both


def mix_words(counts: csr_array, of_words: Floats, shares: Floats) -> Floats:
    """P(T|D) of documents from their counts and P(T|w), a row each; one without known words has those of all, `shares`.

    A row of `of_words` is 0 for a word that never had a neighbour.
    """
    sums = np.asarray(counts @ of_words, np.float64)
    totals = sums.sum(axis=1)
    sums[totals <= 0] = shares
    mixed: Floats = sums / np.where(totals > 0, totals, 1)[:, None]
    return mixed
