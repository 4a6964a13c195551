"""Folds of queries, for cross-validation and for parts that are held out in turn."""

from __future__ import annotations

import numpy as np

from searchlab.errors import SettingError
from searchlab.types import Ints


def deal_folds(n_queries: int, n_folds: int, seed: int) -> list[Ints]:
    """Deal queries into folds at random: the row numbers of each fold's queries, ascending."""
    if n_folds > n_queries:
        raise SettingError(f"{n_folds} folds for {n_queries} queries, expected at least one query for each")
    shuffled = np.random.default_rng(seed).permutation(n_queries)
    return [np.sort(shuffled[fold::n_folds]) for fold in range(n_folds)]
