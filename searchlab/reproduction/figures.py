"""What do the figures of the papers show, in numbers?

Cao et al. (2006) show two queries in the plane of their first two principal components, with the direction in which a
hyperplane for each two grades ranks (Figure 1), the queries by their number of pairs (Figure 5), NDCG@N (Figure 6), and
a sign test (Table 2). Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.evaluation.significance import sign_test
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.solvers.pair_weights import GradePair, count_pairs
from searchlab.types import Array, Floats

# The ranks of Figure 6, and at most so many groups of queries as in Figure 5.
RANKS = (1, 5, 10, 15, 20, 25, 30)
MAX_GROUPS = 10


@dataclass(frozen=True, eq=False)
class Plane:
    """The first two principal components of some rows.

    `axes` has two rows of length 1, the directions in which the rows vary most; each points to where its largest
    component is positive, so that the same data give the same picture. `shares` are the parts of the variance.
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

    def place(self, rows: Floats) -> Floats:
        """Where rows lie in the plane."""
        places: Floats = (rows - self.center) @ self.axes.T
        return places

    def direction(self, weights: Floats) -> Floats:
        """The direction of a weight vector as the plane shows it, of length 1; 0 if it stands upright on the plane."""
        shown: Floats = self.axes @ weights
        length = float(np.linalg.norm(shown))
        return shown / length if length > 0 else shown


@dataclass(frozen=True, eq=False)
class Direction:
    """In which direction a hyperplane ranks: its weights, learnt from so many pairs."""

    weights: Floats
    n_pairs: int


@dataclass(frozen=True, eq=False)
class Directions:
    """What separates documents of some queries: for each two grades, for each query, and for all pairs together."""

    pairs: Mapping[GradePair, Direction]
    queries: Mapping[str, Direction]
    together: Direction

    def nearness(self, other: Direction) -> float:
        """How near the direction of all pairs together is to another: the cosine, 1 is the same."""
        return cosine(self.together.weights, other.weights)


def cosine(one: Floats, other: Floats) -> float:
    """The cosine of the angle between two vectors; 0 if one of them is 0."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths > 0 else 0.0


def pair_counts(table: FeatureTable) -> dict[str, int]:
    """How many pairs of documents of different grades each query has."""
    grades = _grades(table)
    found = count_pairs(table.group_offsets, grades)
    return {qid: int(sum(pairs.values())) for qid, pairs in zip(table.query_ids, found, strict=True)}


def choose_queries(table: FeatureTable) -> tuple[str, str] | None:
    """The queries with the fewest and with the most pairs, of those with the most kinds of pairs; None if there is one.

    A query without documents of some grade would show nothing of the hyperplanes of that grade.
    """
    found = dict(zip(table.query_ids, count_pairs(table.group_offsets, _grades(table)), strict=True))
    most_kinds = max((len(pairs) for pairs in found.values()), default=0)
    sizes = {qid: sum(pairs.values()) for qid, pairs in found.items() if pairs and len(pairs) == most_kinds}
    if len(sizes) < 2:
        return None
    few, many = min(sizes, key=lambda qid: sizes[qid]), max(sizes, key=lambda qid: sizes[qid])
    return (few, many) if few != many else (few, next(qid for qid in sizes if qid != few))


def check_queries(table: FeatureTable, qids: Sequence[str]) -> tuple[str, str]:
    """Two queries that somebody chose: both must be there, and have documents of different grades."""
    if len(set(qids)) != 2 or len(qids) != 2:
        raise SettingError(f"queries are {', '.join(qids) or 'none'}, expected two different ones, such as 12,50")
    counts = pair_counts(table)
    for qid in qids:
        if qid not in counts:
            raise SettingError(f"query {qid} is not in the folds, expected two of their {len(counts)} queries")
        if not counts[qid]:
            raise SettingError(f"query {qid} has no two documents of different grades, expected one that has")
    return qids[0], qids[1]


def find_directions(table: FeatureTable) -> Directions:
    """Hyperplanes for the queries of a table: for each two grades (all queries together), each query, and all pairs.

    All by a Ranking SVM of the usual strength, C = 100 / (number of pairs). Deviation: they are trained with all
    features and then shown in the plane; the paper does not say whether it trained in the plane.
    """
    from searchlab.rankers.estimators.ranksvm import RankSVM

    grades = _grades(table)

    def learn(chosen: Array) -> Direction:
        fitted = RankSVM().fit(table.values[chosen], grades[chosen], table.qids[chosen])
        # A linear function at each unit vector is its weight.
        return Direction(fitted.predict(np.eye(table.n_features)), int(fitted.details_["n_pairs"]))

    found = count_pairs(table.group_offsets, grades)
    kinds = sorted({pair for pairs in found for pair in pairs}, reverse=True)
    return Directions(
        {pair: learn(np.isin(grades, pair)) for pair in kinds},
        {qid: learn(table.qids == qid) for qid in table.query_ids},
        learn(np.ones(table.n_rows, dtype=bool)),
    )


def curves_of_few(table: FeatureTable, ranks: Sequence[int] = RANKS) -> dict[str, Floats]:
    """NDCG@N (eq. 20) of RSVM and RSVM-IR, trained with and shown on the queries of a table, as in Figure 6."""
    from searchlab.rankers.estimators.ranksvm import RankSVM, RankSVMIR

    curves = {}
    for ranker in (RankSVM(), RankSVMIR()):
        scores = ranker.fit(table.values, _grades(table), table.qids).predict(table.values, table.qids)
        measures = [f"nDCG(dcg='exp-log2')@{rank}" for rank in ranks]
        values = evaluate_scores(scores, _grades(table), table.group_offsets, measures, dialect="letor3")
        curves[ranker.name] = np.mean(values, axis=0)
    return curves


@dataclass(frozen=True)
class Group:
    """The queries that have from `low` to `high` pairs."""

    low: int
    high: int
    qids: tuple[str, ...]

    @property
    def label(self) -> str:
        """The range, as the paper writes it: 1000–1999."""
        return f"{self.low}–{self.high}"


def group_by_pairs(counts: Mapping[str, int], width: int | None = None) -> list[Group]:
    """Queries grouped by their number of pairs, from 0 on; groups without queries are there too.

    The width is 1, 2 or 5 times a power of 10 unless it is given, so that there are at most ten groups.
    """
    largest = max(counts.values(), default=0)
    size = width or _round_width(largest)
    members: list[list[str]] = [[] for _ in range(largest // size + 1)]
    for qid, number in counts.items():
        members[number // size].append(qid)
    return [Group(place * size, (place + 1) * size - 1, tuple(qids)) for place, qids in enumerate(members)]


def _round_width(largest: int) -> int:
    power = 1
    while True:
        for step in (1, 2, 5):
            if largest // (step * power) < MAX_GROUPS:
                return step * power
        power *= 10


@dataclass(frozen=True)
class SignTest:
    """How often a ranker is better than another, query by query, and how likely that is by chance."""

    other: str
    wins: int
    ties: int
    losses: int
    p: float


def sign_tests(own: Floats, others: Mapping[str, Floats]) -> list[SignTest]:
    """The two-sided sign test of Table 2, ties dropped, against each of the others, on the same queries."""
    found = []
    for name, values in others.items():
        outcome = sign_test(own - values)
        wins = int(outcome.statistic)
        found.append(SignTest(name, wins, len(own) - outcome.n, outcome.n - wins, outcome.p))
    return found


def _grades(table: FeatureTable) -> Array:
    if table.grades is None:
        raise SettingError(f"{table!r} has no grades, expected a grade for each row")
    return table.grades
