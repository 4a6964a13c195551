"""Results of training on one collection and testing on another, compared with BM25 and with the diagonal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.significance import holm
from searchlab.reproduction.cross_collection.collection import MEASURE
from searchlab.reproduction.retrieval import BASELINE
from searchlab.types import Floats


@dataclass(frozen=True, eq=False)
class CrossCell:
    """One system, trained on one collection and tested on one: a value for each topic, and what was learnt.

    On the diagonal `trained_on` is `tested_on`, and the values are cross-validated. `own` compares with the diagonal.
    """

    system: str
    trained_on: str
    tested_on: str
    values: Floats
    learnt: str
    baseline: Comparison
    own: Comparison | None = None

    @property
    def mean(self) -> float:
        """The mean over topics."""
        return float(np.mean(self.values))

    @property
    def is_diagonal(self) -> bool:
        """Whether it was trained and tested on the same collection."""
        return self.trained_on == self.tested_on

    def to_json(self) -> dict[str, Any]:
        """The cell as plain JSON."""
        return {
            "system": self.system,
            "trained_on": self.trained_on,
            "tested_on": self.tested_on,
            "cross_validated": self.is_diagonal,
            MEASURE: self.mean,
            "learnt": self.learnt,
            "against_bm25": _compared_json(self.baseline),
            "against_diagonal": None if self.own is None else _compared_json(self.own),
        }


@dataclass(frozen=True, eq=False)
class CrossResult:
    """All cells; `baselines` has BM25's value of each topic, by collection.

    `sizes` are the numbers of documents and topics of each collection, `left_out` lists what could not be trained.
    """

    sizes: Mapping[str, tuple[int, int]]
    baselines: Mapping[str, Floats]
    systems: tuple[str, ...]
    cells: tuple[CrossCell, ...]
    left_out: tuple[str, ...]
    n_folds: int

    def cell(self, system: str, trained_on: str, tested_on: str) -> CrossCell | None:
        """A cell; None if the system could not be trained there."""
        wanted = (system, trained_on, tested_on)
        return next((each for each in self.cells if (each.system, each.trained_on, each.tested_on) == wanted), None)

    def compare(self, system: str, other: str, *, seed: int = 0) -> dict[tuple[str, str], Comparison]:
        """Two systems with the same training and test collection; not corrected, as in the lecture's table."""
        comparisons = {}
        for cell in self.cells:
            rival = self.cell(other, cell.trained_on, cell.tested_on)
            if cell.system == system and rival is not None:
                compared = compare_values(system, cell.values, other, rival.values, MEASURE, seed=seed)
                comparisons[cell.trained_on, cell.tested_on] = compared
        return comparisons

    def verdict(self) -> str:
        """How often training elsewhere is worse than on the collection itself, and better than BM25, in a sentence."""
        moved = [cell for cell in self.cells if not cell.is_diagonal]
        worse = sum(cell.own is not None and cell.own.significant and cell.own.difference < 0 for cell in moved)
        better = sum(cell.baseline.significant and cell.baseline.difference > 0 for cell in moved)
        below = sum(cell.baseline.significant and cell.baseline.difference < 0 for cell in moved)
        return (
            f"Trained on another collection, {worse} of {len(moved)} systems are significantly worse by {MEASURE} than "
            f"trained on the collection itself; {better} are significantly better than {BASELINE}, {below} worse."
        )

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            "measure": MEASURE,
            "dialect": "trec",
            "folds": self.n_folds,
            "collections": {
                name: {"documents": n_docs, "topics": n_topics, BASELINE: float(np.mean(self.baselines[name]))}
                for name, (n_docs, n_topics) in self.sizes.items()
            },
            "cells": [cell.to_json() for cell in self.cells],
            "left_out": list(self.left_out),
        }


def cells_tested_on(
    tested_on: str, found: Mapping[tuple[str, str, str], tuple[Floats, str]], baseline: Floats, seed: int
) -> list[CrossCell]:
    """The cells of one column; p-values are corrected over the column, against BM25 and against the diagonal each."""
    column = {key: each for key, each in found.items() if key[2] == tested_on}
    against_baseline = _correct(
        compare_values(f"{system} trained on {source}", values, BASELINE, baseline, MEASURE, seed=seed)
        for (system, source, _), (values, _) in column.items()
    )
    moved = {
        key: each for key, each in column.items() if key[1] != tested_on and (key[0], tested_on, tested_on) in column
    }
    against_own = _correct(
        compare_values(
            f"{system} trained on {source}",
            values,
            f"trained on {tested_on}",
            column[system, tested_on, tested_on][0],
            MEASURE,
            seed=seed,
        )
        for (system, source, _), (values, _) in moved.items()
    )
    own = dict(zip(moved, against_own, strict=True))
    return [
        CrossCell(*key, values, learnt, compared, own.get(key))
        for (key, (values, learnt)), compared in zip(column.items(), against_baseline, strict=True)
    ]


def _correct(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected by Holm's method over all of them."""
    listed = list(comparisons)
    if not listed:
        return []
    corrected = holm([each.p for each in listed])
    return [replace(each, p_corrected=float(p)) for each, p in zip(listed, corrected, strict=True)]


def _compared_json(compared: Comparison) -> dict[str, Any]:
    return {"difference": compared.difference, "p": compared.p, "p_corrected": compared.p_corrected}
