"""How good are the scores of a model, when all documents of a query are judged?

This is the case of LETOR's feature files, and of the inner loops of model selection: rows are grouped by query, and
everything that is judged is among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.evaluation.dialects import Dialect
from searchlab.evaluation.kernels import measure_kernels
from searchlab.evaluation.measure_plan import make_plan
from searchlab.evaluation.measures import Measure
from searchlab.types import Floats, Ints


def evaluate_scores(
    scores: npt.ArrayLike,
    grades: npt.ArrayLike,
    offsets: npt.ArrayLike,
    measures: Sequence[str | Measure] | str | Measure,
    *,
    dialect: str | Dialect = "letor3",
    docnos: Sequence[str] | None = None,
) -> Floats:
    """Measure the ranking by `scores` of each query: a row a query, a column a measure.

    Query q has the rows offsets[q]:offsets[q + 1]. Equal scores keep the order of their rows, or stand in descending
    order of docno if the dialect says so and `docnos` are given.
    """
    plan = make_plan(measures, dialect)
    scores = np.ascontiguousarray(scores, np.float64)
    grades = _whole_grades(grades)
    offsets = np.ascontiguousarray(offsets, np.int64)
    _check_shapes(scores, grades, offsets)
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise SettingError(f"the score of row {row} is not a number (NaN); expected a number for every row")
    if plan.dialect.single:
        scores = round_scores(scores)
    if docnos is not None and plan.dialect.ties == "docno":
        if len(docnos) != len(scores):
            raise SettingError(f"found {len(docnos)} docnos for {len(scores)} scores")
        rows = _by_docno(docnos, offsets)
        scores, grades = scores[rows], grades[rows]
    ranked = grades[measure_kernels.rank_rows(scores, offsets)]
    return plan.evaluate(ranked, offsets)


def round_scores(scores: Floats) -> Floats:
    """The scores as trec_eval holds them, in 32 bits: what is too large for these is infinite."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def _whole_grades(grades: npt.ArrayLike) -> Ints:
    given = np.asarray(grades)
    return np.ascontiguousarray(given, np.int64) if given.dtype.kind in "iub" else _rounded(given)


def _rounded(given: npt.NDArray[np.float64]) -> Ints:
    if given.dtype.kind != "f" or not np.array_equal(given, np.floor(given)):
        raise SettingError("grades are not all whole numbers; measures are defined for these alone")
    return given.astype(np.int64)


def _check_shapes(scores: Floats, grades: Ints, offsets: Ints) -> None:
    if scores.ndim != 1 or scores.shape != grades.shape:
        raise SettingError(f"expected one score for each grade, found {scores.shape} scores and {grades.shape} grades")
    # The compiled loops do not check their places.
    starts_well = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(scores)
    if not starts_well or (offsets[1:] < offsets[:-1]).any():
        raise SettingError(f"expected offsets that rise from 0 to the {len(scores)} rows")


def _by_docno(docnos: Sequence[str], offsets: Ints) -> Ints:
    """The rows in descending order of docno within each query."""
    queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    # Strings compare by code points, and so do their bytes in UTF-8.
    places = np.unique(np.asarray(docnos, dtype=np.str_), return_inverse=True)[1].reshape(-1)
    return np.lexsort((-places, queries))
