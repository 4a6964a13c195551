"""Rows grouped by query: the columns of a run or of a feature table, in which the rows of a query are adjacent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from searchlab.types import Array, Floats, Ints


def group_rows(qids: Array) -> tuple[Ints, Ints | None]:
    """The offsets of each query's rows, and the order that makes them adjacent; None if they are already."""
    if not len(qids):
        return np.zeros(1, np.int64), None
    starts = np.concatenate([[0], np.flatnonzero(qids[1:] != qids[:-1]) + 1, [len(qids)]]).astype(np.int64)
    return group_runs(qids[starts[:-1]].tolist(), starts)


def group_runs(heads: list[str], starts: Ints) -> tuple[Ints, Ints | None]:
    """The same for runs of rows with one query, given the query of each, where it begins, and the number of rows."""
    numbers = {qid: number for number, qid in enumerate(dict.fromkeys(heads))}
    if len(numbers) == len(heads):
        return starts, None
    codes = np.repeat([numbers[qid] for qid in heads], np.diff(starts))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
    return offsets, np.argsort(codes, kind="stable")


def find_duplicate(docnos: Array, offsets: Ints) -> tuple[int, int] | None:
    """Two rows of one query with the same docno, if there are any; empty docnos are ignored."""
    for start, end in pairwise(offsets.tolist()):
        group = docnos[start:end].tolist()
        if len(set(group)) < len(group):
            seen: dict[str, int] = {}
            for row, docno in enumerate(group, start):
                if docno and seen.setdefault(docno, row) != row:
                    return seen[docno], row
    return None


def order_by_score(scores: Floats, offsets: Ints, docnos_of: Callable[[int], Sequence[str]]) -> Ints | None:
    """The order of rows by descending score within each group, equal scores by descending docno.

    None if the rows have this order already. `docnos_of` gives the docnos of a group. They compare by code points,
    which is the order of their bytes in UTF-8, and so trec_eval's.
    """
    starts = np.zeros(len(scores) + 1, np.bool_)
    starts[offsets] = True
    if ((scores[1:] < scores[:-1]) | starts[1:-1]).all():
        return None
    order: Ints = np.arange(len(scores), dtype=np.int64)
    if not ((scores[1:] <= scores[:-1]) | starts[1:-1]).all():
        order = np.lexsort((-scores, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)))).astype(np.int64)
    ordered = scores[order]
    # A tie begins where the score or the group changes.
    begins = np.flatnonzero(np.concatenate([starts[:1], (ordered[1:] != ordered[:-1]) | starts[1:-1], [True]]))
    sizes = np.diff(begins)
    groups = np.searchsorted(offsets, begins[:-1], "right") - 1
    for tie in np.flatnonzero(sizes > 1).tolist():
        begin, group = int(begins[tie]), int(groups[tie])
        rows = order[begin : begin + int(sizes[tie])].tolist()
        docnos, start = docnos_of(group), int(offsets[group])
        order[begin : begin + len(rows)] = sorted(rows, key=lambda row: docnos[row - start], reverse=True)
    return order
