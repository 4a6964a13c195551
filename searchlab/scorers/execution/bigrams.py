"""Bigram counts: how often one term follows another in each document.

The texts of the documents that have both are read at once. No bigram begins in the title and ends in the body. Stop
words are no terms, so the words on both sides of one are adjacent.
"""

from __future__ import annotations

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.storage.columns import ShardColumns
from searchlab.types import Array


def count_bigram(columns: ShardColumns, first: int, second: int, having: Array, others: Array) -> tuple[Array, Array]:
    """The documents of a shard in which term `second` follows term `first`, given by their numbers, and the counts.

    `having` and `others` are the documents that have the first and the second term, ascending.
    """
    rare, common = (having, others) if len(having) < len(others) else (others, having)
    if not len(rare):
        return having[:0], np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(common, rare), len(common) - 1)
    docs = rare[common[at] == rare].astype(np.int64)
    starts, ends = columns.token_offsets[docs], columns.token_offsets[docs + 1]
    tokens = columns.tokens
    if (ends < starts).any() or (ends > len(tokens)).any():
        raise IndexError("a document reaches beyond the tokens")
    positions = concatenate_ranges(starts, np.maximum(ends - 1, starts), len(tokens))
    positions = positions[tokens[positions] == first]
    positions = positions[tokens[positions + 1] == second]
    rows = np.searchsorted(starts, positions, "right") - 1
    body_starts = starts + columns.streams["title"].lengths[docs]
    rows = rows[positions + 1 != body_starts[rows]]
    counts = np.bincount(rows, minlength=len(docs))
    nonzero = np.flatnonzero(counts)
    return docs[nonzero].astype(having.dtype), counts[nonzero]
