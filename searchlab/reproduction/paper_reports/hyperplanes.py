"""The numbers behind OrdRank's figures and its Table III: hyperplanes of grade pairs, one by one.

RSVM has one hyperplane of all pairs of documents, MHR one for each two grades, OrdRank one for each two adjacent grades
(Sun et al.). The paper draws a query under them (Figures 1 and 2) and compares their training times (Table III).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.solvers.pair_weights import GradePair, count_pairs
from searchlab.types import Floats


@dataclass(frozen=True)
class HyperplaneTime:
    """The seconds of training one hyperplane, of a pair of grades or (None) of all pairs, and its number of pairs."""

    pair: GradePair | None
    n_pairs: int
    seconds: float


def hyperplane_pairs(ranker: str, table: FeatureTable) -> list[GradePair | None]:
    """The pairs of grades of the hyperplanes of rsvm (None: all pairs), mhr or ordrank, highest grades first."""
    counted = {pair for pairs in count_pairs(table.group_offsets, _grades(table)) for pair in pairs}
    grades = sorted({float(grade) for pair in counted for grade in pair}, reverse=True)
    if ranker == "rsvm":
        return [None]
    wanted = pairwise(grades) if ranker == "ordrank" else combinations(grades, 2)
    return [pair for pair in wanted if pair in counted]


def time_hyperplane(table: FeatureTable, pair: GradePair | None, C: float | None) -> HyperplaneTime:
    """Train a Ranking SVM on the rows of two grades, or on all, with preprocessed features, and take the time.

    C is as for the Ranking SVM: None for its default.
    """
    from searchlab.rankers.estimators.ranksvm import RankSVM

    chosen = np.ones(table.n_rows, dtype=bool) if pair is None else np.isin(_grades(table), pair)
    values, grades, qids = table.values[chosen], _grades(table)[chosen], table.qids[chosen]
    began = time.perf_counter()
    ranker = RankSVM(C=C).fit(values, grades, qids)
    return HyperplaneTime(pair, int(ranker.details_["n_pairs"]), time.perf_counter() - began)


def share_in_order(table: FeatureTable, scores: Floats) -> dict[GradePair, float]:
    """For each pair of grades, the share of a table's pairs of documents that scores put in order; ties count half."""
    right: dict[GradePair, float] = {}
    total: dict[GradePair, int] = {}
    for _, rows in table.queries():
        grades, values = _grades(table)[rows], scores[rows]
        for low, high in combinations(sorted({float(grade) for grade in grades.tolist()}), 2):
            gains = values[grades == high][:, None] - values[grades == low][None, :]
            pair = high, low
            right[pair] = right.get(pair, 0.0) + float(np.sum(gains > 0) + np.sum(gains == 0) / 2)
            total[pair] = total.get(pair, 0) + gains.size
    return {pair: right[pair] / total[pair] for pair in sorted(total, reverse=True)}


def _grades(table: FeatureTable) -> Floats:
    if table.grades is None:
        raise SettingError(f"{table!r} has no grades, expected a grade for each row")
    return table.grades.astype(np.float64)
