"""How far do judges agree?

Cohen's κ (Cohen 1960) compares how often two judges gave the same grade with how often they would have by chance, if
each gave grades as often as they did, but blindly:

    κ = 1 − Σ w(i,j) n(i,j) / Σ w(i,j) e(i,j),    e(i,j) = n(i,·) n(·,j) / n

where n(i,j) documents got grade i of the one and j of the other. Unweighted, w = 1 for i ≠ j and 0 otherwise, and κ is
(observed − expected) / (1 − expected). With quadratic weights (Cohen 1968), w = (i − j)²: 0 and 2 are further apart
than 1 and 2. 1 is full agreement, 0 what chance gives. If both gave all documents one and the same grade, or there are
none that both judged, κ is undefined.
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
    """Two judges, over the `n` documents that both judged.

    `agreement` is the share with equal grades, None if n is 0. `table[i][j]` documents got grades[i] of the first and
    grades[j] of the second.
    """

    judges: tuple[str, str]
    n: int
    agreement: float | None
    kappa: float | None
    weighted_kappa: float | None
    grades: tuple[int, ...]
    table: tuple[tuple[int, ...], ...]


def cohen_kappa(a: Sequence[int], b: Sequence[int], weights: str | None = None) -> float | None:
    """κ of two judges, a[i] and b[i] being their grades of document i; None if it is undefined."""
    if len(a) != len(b):
        raise SettingError(f"found {len(a)} grades of one judge and {len(b)} of the other, expected as many")
    return _kappa(*_table(a, b), weights)


def compare_judges(store: JudgmentStore, set: str, most: int | None = None) -> list[Agreement]:
    """Each two judges of a set, by name; those who have no document in common too.

    Pairs are many where judges are: with `most`, only so many judges, who have judged the most, are held together.
    """
    judges = [judge for own in store.sets() if own.name == set for judge in own.judges]
    by_judge = {judge: store.grades(set, judge) for judge in judges}
    if most is not None and len(judges) > most:
        by_diligence = sorted(judges, key=lambda judge: -sum(map(len, by_judge[judge].values())))
        judges = sorted(by_diligence[:most])
    return [_compare(pair, by_judge[pair[0]], by_judge[pair[1]]) for pair in combinations(judges, 2)]


def _compare(judges: tuple[str, str], first: Judgments, second: Judgments) -> Agreement:
    both = [
        (grade, second[qid][docno])
        for qid, own in first.items()
        for docno, grade in own.items()
        if docno in second.get(qid, ())
    ]
    grades, table = _table([grade for grade, _ in both], [grade for _, grade in both])
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


def _table(a: Sequence[int], b: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The grades that occur, and how many documents have each two of them."""
    grades, places = np.unique(np.array([a, b], np.int64), return_inverse=True)
    rows, columns = places.reshape(2, -1)
    table = np.zeros((len(grades), len(grades)), np.int64)
    np.add.at(table, (rows, columns), 1)
    return grades, table


def _kappa(grades: npt.NDArray[np.int64], table: npt.NDArray[np.int64], weights: str | None) -> float | None:
    if weights not in WEIGHTS:
        raise SettingError(f"weights is {weights!r}, expected None or 'quadratic'")
    apart = np.subtract.outer(grades, grades) ** 2 if weights else 1 - np.eye(len(grades), dtype=np.int64)
    by_chance = int((apart * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    if by_chance == 0:
        return None
    return 1 - int(table.sum()) * int((apart * table).sum()) / by_chance
