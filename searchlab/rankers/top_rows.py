"""The first rows of each query in an order by keys, where equal rows share the last places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from searchlab.types import Floats, Ints


def top_weights(keys: Sequence[Floats], offsets: Ints, weights: Floats, depths: Sequence[int]) -> Floats:
    """How much of each row is among the first `depth` rows of its query, from 0 to its weight, for each of `depths`.

    Rows are in descending order of the first key, equal ones in that of the next. A row of weight 2 has two places.
    Rows with equal keys divide the places that are left by their weights, so the order of rows has no effect. Query q
    has the rows `offsets[q]:offsets[q + 1]`. Complexity: a sort.
    """
    taken = np.zeros((len(depths), len(weights)))
    if not len(weights):
        return taken
    queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort([-key for key in reversed(keys)] + [queries])
    changes = np.diff(queries[order]) != 0
    for key in keys:
        changes |= np.diff(key[order]) != 0
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    block_of_rows = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(weights))))
    sizes = np.add.reduceat(weights[order], starts)
    before = np.cumsum(sizes) - sizes
    # Places are counted from the first block of each query.
    query_of_blocks = queries[order][starts]
    before -= before[np.searchsorted(query_of_blocks, query_of_blocks)]
    for number, depth in enumerate(depths):
        shares = np.clip(depth - before, 0.0, sizes) / np.where(sizes > 0, sizes, 1.0)
        taken[number, order] = weights[order] * shares[block_of_rows]
    return taken
