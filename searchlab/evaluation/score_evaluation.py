"""Evaluation of scores for rows that are grouped by query and include all judged documents.

This is the case of LETOR's feature files and of the inner loops of model selection.
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
    """Evaluate the ranking of each query by `scores`: a row for each query, a column for each measure.

    Query q has the rows offsets[q]:offsets[q + 1]. Equal scores keep the order of their rows, or are in descending
    order of docno if the dialect requires it and `docnos` are given.
    """
    plan = make_plan(measures, dialect)
    scores = np.ascontiguousarray(scores, np.float64)
    grades = _whole_grades(grades)
    offsets = np.ascontiguousarray(offsets, np.int64)
    _check_shapes(scores, grades, offsets)
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise SettingError(f"the score of row {row} is not a number (NaN); expected a number for every row")
    if plan.dialect.float32:
        scores = round_to_float32(scores)
    if docnos is not None and plan.dialect.ties == "docno":
        if len(docnos) != len(scores):
            raise SettingError(f"found {len(docnos)} docnos for {len(scores)} scores")
        rows = _order_by_docno(docnos, offsets)
        scores, grades = scores[rows], grades[rows]
    ranked = grades[measure_kernels.rank_rows(scores, offsets)]
    return plan.evaluate(ranked, offsets)


def round_to_float32(scores: Floats) -> Floats:
    """The scores rounded to 32 bits, as trec_eval stores them; those beyond the range become infinite."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def _whole_grades(grades: npt.ArrayLike) -> Ints:
    array = np.asarray(grades)
    if array.dtype.kind in "iub":
        return np.ascontiguousarray(array, np.int64)
    if array.dtype.kind != "f" or not np.array_equal(array, np.floor(array)):
        raise SettingError("grades are not all whole numbers, expected whole numbers only")
    return array.astype(np.int64)


def _check_shapes(scores: Floats, grades: Ints, offsets: Ints) -> None:
    if scores.ndim != 1 or scores.shape != grades.shape:
        raise SettingError(f"expected one score for each grade, found {scores.shape} scores and {grades.shape} grades")
    # The compiled loops do not check their indices.
    has_valid_ends = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(scores)
    if not has_valid_ends or (offsets[1:] < offsets[:-1]).any():
        raise SettingError(f"expected offsets that rise from 0 to the {len(scores)} rows")


def _order_by_docno(docnos: Sequence[str], offsets: Ints) -> Ints:
    """The rows in descending order of docno within each query."""
    queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    # Python compares code points, trec_eval bytes of UTF-8: the order is the same.
    positions = np.unique(np.asarray(docnos, dtype=np.str_), return_inverse=True)[1].reshape(-1)
    return np.lexsort((-positions, queries))
