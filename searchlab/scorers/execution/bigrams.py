"""How often does one term follow another in each document?

The texts of the documents that have both are looked through at once. No pair begins in the title and ends in the body;
stop words are no terms, so words on both sides of one are neighbours.
"""

from __future__ import annotations

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.storage.columns import ShardColumns
from searchlab.types import Array


def count_bigram(columns: ShardColumns, first: int, second: int, having: Array, others: Array) -> tuple[Array, Array]:
    """The documents of a shard in which `second` follows `first`, both given by their numbers, and how often.

    `having` and `others` are the documents that have the one and the other, ascending.
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
    places = concatenate_ranges(starts, np.maximum(ends - 1, starts))
    places = places[tokens[places] == first]
    places = places[tokens[places + 1] == second]
    rows = np.searchsorted(starts, places, "right") - 1
    middles = starts + columns.streams["title"].lengths[docs]
    rows = rows[places + 1 != middles[rows]]
    counts = np.bincount(rows, minlength=len(docs))
    found = np.flatnonzero(counts)
    return docs[found].astype(having.dtype), counts[found]
