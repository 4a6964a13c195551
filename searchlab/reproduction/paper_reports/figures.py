"""The numbers behind the figures and tables of Cao et al. (2006).

The paper shows two queries in the plane of their first two principal components, with the direction in which the
hyperplane of each pair of grades ranks (Figure 1), queries by their number of pairs (Figure 5), NDCG@N (Figure 6), a
sign test (Table 2), and the reversed pairs among the best documents of a query (Table 3). Nothing is plotted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.evaluation.significance import holm, sign_test
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.ranker_registry import make_ranker
from searchlab.rankers.solvers.pair_weights import GradePair, count_pairs, name_pair
from searchlab.types import Array, Floats

# The ranks of Figure 6, and the number of groups in Figure 5 at most.
RANKS = (1, 5, 10, 15, 20, 25, 30)
MAX_GROUPS = 10
# With more pairs of grades, only adjacent grades and the two extremes are drawn.
MAX_DRAWN_PAIRS = 3

Segment = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane of the first two principal components of some rows.

    `axes` has two rows of length 1, the directions of the largest variance. Each is oriented so that its largest
    component is positive, so that the same data give the same figure. `shares` are their shares of the variance.
    """

    center: Floats
    axes: Floats
    shares: tuple[float, float]

    @classmethod
    def of(cls, rows: Floats) -> Plane:
        """The plane of these rows; where they vary in fewer than two directions, an axis is 0."""
        center = np.mean(rows, axis=0)
        _, sizes, directions = np.linalg.svd(rows - center, full_matrices=False)
        total = float(np.sum(sizes**2))
        axes = np.zeros((2, rows.shape[1]))
        shares = [0.0, 0.0]
        for number, (size, direction) in enumerate(zip(sizes[:2].tolist(), directions, strict=False)):
            if size**2 > 1e-24 * total:
                axes[number] = direction * np.sign(direction[np.argmax(np.abs(direction))])
                shares[number] = size**2 / total
        return cls(center, axes, (shares[0], shares[1]))

    def project(self, rows: Floats) -> Floats:
        """The coordinates of rows in the plane."""
        coordinates: Floats = (rows - self.center) @ self.axes.T
        return coordinates

    def direction(self, weights: Floats) -> Floats:
        """The projection of a weight vector on the plane, of length 1; 0 if it is orthogonal to the plane."""
        projected: Floats = self.axes @ weights
        length = float(np.linalg.norm(projected))
        return projected / length if length > 0 else projected

    def arrows(self, directions: Mapping[str, Direction], points: Floats) -> dict[str, Segment]:
        """An arrow from the centre for each direction, as long as the largest coordinate of the points."""
        reach = float(np.max(np.abs(points))) if len(points) else 1.0
        ends = {name: (reach * self.direction(each.weights)).tolist() for name, each in directions.items()}
        return {name: ((0.0, 0.0), (x, y)) for name, (x, y) in ends.items()}


@dataclass(frozen=True, eq=False)
class Direction:
    """The direction in which a hyperplane ranks: its weights, and the number of pairs they were learnt from."""

    weights: Floats
    n_pairs: int


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions that separate documents: for each pair of grades, for each query, and for all pairs together."""

    pairs: Mapping[GradePair, Direction]
    queries: Mapping[str, Direction]
    together: Direction

    def similarity(self, other: Direction) -> float:
        """The cosine between the direction of all pairs together and another one."""
        return cosine(self.together.weights, other.weights)

    def drawn_pairs(self) -> dict[str, Direction]:
        """The directions of grade pairs that a figure has room for, by names such as `2 over 1`."""
        drawn = choose_pairs(list(self.pairs))
        return {name_pair(pair): self.pairs[pair] for pair in drawn}


def choose_pairs(pairs: Sequence[GradePair]) -> list[GradePair]:
    """The pairs of grades that a figure has room for: all, or adjacent grades and the two extremes."""
    if len(pairs) <= MAX_DRAWN_PAIRS:
        return list(pairs)
    grades = sorted({grade for pair in pairs for grade in pair}, reverse=True)
    wanted = {*pairwise(grades), (grades[0], grades[-1])}
    return [pair for pair in pairs if pair in wanted]


def cosine(one: Floats, other: Floats) -> float:
    """The cosine of the angle between two vectors; 0 if one of them is 0."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths > 0 else 0.0


def pair_counts(table: FeatureTable) -> dict[str, int]:
    """The number of pairs of documents with different grades, for each query."""
    counts = count_pairs(table.group_offsets, _grades(table))
    return {qid: int(sum(pairs.values())) for qid, pairs in zip(table.query_ids, counts, strict=True)}


def choose_queries(table: FeatureTable) -> tuple[str, str] | None:
    """The queries with the fewest and with the most pairs, of those with the most kinds of pairs; None if under two.

    A query without documents of some grade shows nothing of the hyperplanes of that grade.
    """
    counts = dict(zip(table.query_ids, count_pairs(table.group_offsets, _grades(table)), strict=True))
    most_kinds = max((len(pairs) for pairs in counts.values()), default=0)
    sizes = {qid: sum(pairs.values()) for qid, pairs in counts.items() if pairs and len(pairs) == most_kinds}
    if len(sizes) < 2:
        return None
    few, many = min(sizes, key=lambda qid: sizes[qid]), max(sizes, key=lambda qid: sizes[qid])
    return (few, many) if few != many else (few, next(qid for qid in sizes if qid != few))


def check_queries(table: FeatureTable, qids: Sequence[str]) -> tuple[str, str]:
    """Two queries chosen by the user; both must be in the table and have documents of different grades."""
    if len(set(qids)) != 2 or len(qids) != 2:
        raise SettingError(f"queries are {', '.join(qids) or 'none'}, expected two different ones, such as 12,50")
    counts = pair_counts(table)
    for qid in qids:
        if qid not in counts:
            raise SettingError(f"query {qid} is not in the folds, expected two of their {len(counts)} queries")
        if not counts[qid]:
            raise SettingError(f"query {qid} has no two documents of different grades, expected a query that has")
    return qids[0], qids[1]


def find_directions(table: FeatureTable) -> Directions:
    """Hyperplanes of a table: for each pair of grades (over all queries), for each query, and for all pairs.

    All by a Ranking SVM with the default C = 100 / (number of pairs). Deviation: they are trained with all features and
    then projected on the plane; the paper does not say whether it trained in the plane.
    """
    from searchlab.rankers.estimators.ranksvm import RankSVM

    grades = _grades(table)

    def learn(chosen: Array) -> Direction:
        fitted = RankSVM().fit(table.values[chosen], grades[chosen], table.qids[chosen])
        # The value of a linear function at each unit vector is its weight.
        return Direction(fitted.predict(np.eye(table.n_features)), int(fitted.details_["n_pairs"]))

    counts = count_pairs(table.group_offsets, grades)
    kinds = sorted({pair for pairs in counts for pair in pairs}, reverse=True)
    return Directions(
        {pair: learn(np.isin(grades, pair)) for pair in kinds},
        {qid: learn(table.qids == qid) for qid in table.query_ids},
        learn(np.ones(table.n_rows, dtype=bool)),
    )


def training_curves(table: FeatureTable, ranks: Sequence[int] = RANKS) -> dict[str, Floats]:
    """NDCG@N (eq. 20) of RSVM and RSVM-IR, QP and GD, on the queries they were trained with, as in Figure 6."""
    curves = {}
    for name in ("rsvm", "rsvm-ir", "rsvm-ir-gd"):
        scores = make_ranker(name).fit(table.values, _grades(table), table.qids).predict(table.values, table.qids)
        measures = [f"nDCG(dcg='exp-log2')@{rank}" for rank in ranks]
        values = evaluate_scores(scores, _grades(table), table.group_offsets, measures, dialect="letor3")
        curves[name] = np.mean(values, axis=0)
    return curves


@dataclass(frozen=True)
class Group:
    """The queries with `low` to `high` pairs."""

    low: int
    high: int
    qids: tuple[str, ...]

    @property
    def label(self) -> str:
        """The range as in the paper: 1000–1999."""
        return f"{self.low}–{self.high}"


def group_by_pairs(counts: Mapping[str, int], width: int | None = None) -> list[Group]:
    """Queries grouped by their number of pairs, from 0; empty groups are included.

    The default width is 1, 2 or 5 times a power of 10, the smallest with at most ten groups.
    """
    largest = max(counts.values(), default=0)
    size = width or _round_width(largest)
    members: list[list[str]] = [[] for _ in range(largest // size + 1)]
    for qid, n_pairs in counts.items():
        members[n_pairs // size].append(qid)
    return [Group(number * size, (number + 1) * size - 1, tuple(qids)) for number, qids in enumerate(members)]


def _round_width(largest: int) -> int:
    power = 1
    while True:
        for step in (1, 2, 5):
            if largest // (step * power) < MAX_GROUPS:
                return step * power
        power *= 10


@dataclass(frozen=True)
class SignTest:
    """The numbers of queries on which a ranker is better than, equal to and worse than another, and the p-value.

    `p_corrected` is the p-value after Holm's correction for the number of tests.
    """

    other: str
    wins: int
    ties: int
    losses: int
    p: float
    p_corrected: float


def sign_tests(values: Floats, others: Mapping[str, Floats]) -> list[SignTest]:
    """The two-sided sign test of Table 2 against each of the others on the same queries; ties are dropped."""
    outcomes = [sign_test(values - other_values) for other_values in others.values()]
    corrected = holm([outcome.p for outcome in outcomes])
    tests = []
    for name, outcome, p_corrected in zip(others, outcomes, corrected, strict=True):
        wins = int(outcome.statistic)
        tests.append(SignTest(name, wins, len(values) - outcome.n, outcome.n - wins, outcome.p, float(p_corrected)))
    return tests


def reversed_pairs(ranked: Sequence[float]) -> dict[GradePair, int]:
    """The pairs in a ranking whose lower grade comes first, counted by (grade, lower grade); highest grades first."""
    counts = Counter((low, high) for high, low in combinations(ranked, 2) if low > high)
    return dict(sorted(counts.items(), reverse=True))


def _grades(table: FeatureTable) -> Array:
    if table.grades is None:
        raise SettingError(f"{table!r} has no grades, expected a grade for each row")
    return table.grades
