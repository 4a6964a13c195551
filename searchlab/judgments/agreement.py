"""Agreement between judges: Cohen's κ (Cohen 1960).

κ compares how often two judges gave the same grade with how often they would have by chance, if each gave each grade as
often as observed, but at random:

    κ = 1 − Σ w(i,j) n(i,j) / Σ w(i,j) e(i,j),    e(i,j) = n(i,·) n(·,j) / n

where n(i,j) is the number of documents with grade i from the first judge and j from the second. Unweighted, w = 1 for
i ≠ j and 0 otherwise, and κ is (observed − expected) / (1 − expected). With quadratic weights (Cohen 1968),
w = (i − j)²: 0 and 2 are further apart than 1 and 2. κ is 1 for full agreement and 0 for agreement by chance. It is
undefined if both judges gave all documents the same grade, or have judged no document in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.records import Judgments

WEIGHTS = (None, "quadratic")


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two judges on the `n` documents that both judged.

    `agreement` is the share with equal grades, None if n is 0. `table[i][j]` is the number of documents with grades[i]
    from the first judge and grades[j] from the second.
    """

    judges: tuple[str, str]
    n: int
    agreement: float | None
    kappa: float | None
    weighted_kappa: float | None
    grades: tuple[int, ...]
    table: tuple[tuple[int, ...], ...]


def cohen_kappa(a: Sequence[int], b: Sequence[int], weights: str | None = None) -> float | None:
    """κ of two judges, where a[i] and b[i] are their grades of document i; None if it is undefined."""
    if len(a) != len(b):
        raise SettingError(f"found {len(a)} grades of one judge and {len(b)} of the other, expected equal numbers")
    return _kappa(*_contingency_table(a, b), weights)


def compare_judges(store: JudgmentStore, topic_set: str, max_judges: int | None = None) -> list[Agreement]:
    """The agreement of each pair of judges of a topic set, by name, with or without documents in common.

    The number of pairs is quadratic: with `max_judges`, only those with the most judgments are compared.
    """
    judges = [judge for summary in store.topic_sets() if summary.name == topic_set for judge in summary.judges]
    by_judge = {judge: store.grades(topic_set, judge) for judge in judges}
    if max_judges is not None and len(judges) > max_judges:
        by_judgments = sorted(judges, key=lambda judge: -sum(map(len, by_judge[judge].values())))
        judges = sorted(by_judgments[:max_judges])
    return [_compare_pair(pair, by_judge[pair[0]], by_judge[pair[1]]) for pair in combinations(judges, 2)]


def _compare_pair(judges: tuple[str, str], first: Judgments, second: Judgments) -> Agreement:
    both = [
        (grade, second[qid][docno])
        for qid, judged in first.items()
        for docno, grade in judged.items()
        if docno in second.get(qid, ())
    ]
    grades, table = _contingency_table([grade for grade, _ in both], [grade for _, grade in both])
    n = len(both)
    return Agreement(
        judges,
        n,
        float(np.trace(table)) / n if n else None,
        _kappa(grades, table, None),
        _kappa(grades, table, "quadratic"),
        tuple(map(int, grades)),
        tuple(tuple(map(int, row)) for row in table),
    )


def _contingency_table(a: Sequence[int], b: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The grades that occur, and the number of documents for each pair of grades."""
    grades, indices = np.unique(np.array([a, b], np.int64), return_inverse=True)
    rows, columns = indices.reshape(2, -1)
    table = np.zeros((len(grades), len(grades)), np.int64)
    np.add.at(table, (rows, columns), 1)
    return grades, table


def _kappa(grades: npt.NDArray[np.int64], table: npt.NDArray[np.int64], weights: str | None) -> float | None:
    if weights not in WEIGHTS:
        raise SettingError(f"weights is {weights!r}, expected None or 'quadratic'")
    distances = np.subtract.outer(grades, grades) ** 2 if weights else 1 - np.eye(len(grades), dtype=np.int64)
    by_chance = int((distances * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    if by_chance == 0:
        return None
    return 1 - int(table.sum()) * int((distances * table).sum()) / by_chance
