"""Broder's categories of queries as ranking objectives: which pairs of documents count in each, by grades or positions.

By grades, a category has its own levels in place of grades:

    informational   all pairs
    transactional   documents of at least the grade `relevant` before others
    navigational    documents of the query's highest grade before all others

By positions (Bian, Liu, Qin and Zha, Ranking with Query-Dependent Loss for Web Search, WSDM 2010; as in Liu, Learning
to Rank for Information Retrieval, eq. 7.5–7.6), a category c has a set of positions Φ_c on which its users expect
accuracy, and only documents that belong there have a loss:

    L_c(f; q) = min over π in Ω_q of Σ_{i: π(i) in Φ_c} Σ_{j: y_j < y_i} exp(−(f(x_i) − f(x_j)))
    Φ_informational = {1, …, k},  Φ_navigational = {1}

Ω_q are the perfect rankings of q, which differ in the order of equal grades. The source has the indicator "π(i) in Φ_c
for some π in Ω_q", which with two grades holds for all relevant documents and makes all categories one; the minimum is
ours: f chooses which of the equal documents are first, so the minimum is at the ranking by grade, then by score. The
source counts transactional queries as navigational; here they have their own depth, 1 to restore the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from searchlab.rankers.solvers.exponential_loss import GradedRows
from searchlab.rankers.top_rows import top_weights
from searchlab.types import Flags, Floats

CATEGORIES = ("informational", "transactional", "navigational")
READINGS = ("grades", "positions")


@dataclass(frozen=True, eq=False)
class CategoryPairs:
    """The pairs of a category: rows of different `levels`; ln of the weight of each row as the better one of a pair."""

    levels: Floats
    log_winning: Floats


class Reading(Protocol):
    """What the categories mean for some rows.

    `is_nested` is whether the pairs of a category are among those of another in every query, by which its loss is
    lower whatever the query.
    """

    is_nested: ClassVar[bool]

    def pairs(self, scores: Floats) -> list[CategoryPairs]:
        """The pairs of each category, if the rows have these scores."""


@dataclass(frozen=True, eq=False)
class AllPairs:
    """A single category with all pairs."""

    is_nested: ClassVar[bool] = False
    rows: GradedRows

    def pairs(self, scores: Floats) -> list[CategoryPairs]:
        """All pairs, whatever the scores."""
        return [CategoryPairs(self.rows.grades, self.rows.log_weights)]


@dataclass(frozen=True, eq=False)
class GradePairs:
    """The categories by grades."""

    is_nested: ClassVar[bool] = False
    rows: GradedRows
    relevant: float

    def pairs(self, scores: Floats) -> list[CategoryPairs]:
        """The pairs of each category, whatever the scores."""
        rows = self.rows
        highest = rows.grades[rows.offsets[1:] - 1][rows.query_of_rows()]
        wanted = (rows.grades >= self.relevant).astype(np.float64), (rows.grades == highest).astype(np.float64)
        return [CategoryPairs(levels, rows.log_weights) for levels in (rows.grades, *wanted)]


@dataclass(frozen=True, eq=False)
class PositionPairs:
    """The categories by positions: the first `depths[c]` positions matter in category c."""

    is_nested: ClassVar[bool] = True
    rows: GradedRows
    depths: tuple[int, int, int]

    def pairs(self, scores: Floats) -> list[CategoryPairs]:
        """The pairs of each category: better documents are the first ones by grade, then by score."""
        rows = self.rows
        first = top_weights([rows.grades, scores], rows.offsets, np.exp(rows.log_weights), self.depths)
        with np.errstate(divide="ignore"):
            return [CategoryPairs(rows.grades, logs) for logs in np.log(first)]


def has_three_grades(rows: GradedRows) -> bool:
    """Whether some query has three grades or more, without which all categories by grades are one."""
    rises = (np.diff(rows.grades) > 0) & (np.diff(rows.query_of_rows()) == 0)
    if not rises.any():
        return False
    return int(np.bincount(rows.query_of_rows()[1:][rises]).max()) > 1


def coinciding_queries(
    one: CategoryPairs, other: CategoryPairs, log_counts: tuple[Floats, Floats], rows: GradedRows
) -> Flags:
    """In which queries two categories have the same pairs, or one of them none.

    `log_counts` are ln of their numbers of pairs: by positions the pairs of one are among those of the other, so that
    equal numbers mean the same pairs; by grades the levels have to rise at the same rows.
    """
    queries = rows.query_of_rows()
    differs = (np.diff(one.levels) > 0) != (np.diff(other.levels) > 0)
    differs &= np.diff(queries) == 0
    n_different = np.bincount(queries[1:][differs], minlength=rows.n_queries)
    absent = np.isneginf(log_counts[0]) | np.isneginf(log_counts[1])
    return np.asarray(absent | ((n_different == 0) & np.isclose(*log_counts)))
