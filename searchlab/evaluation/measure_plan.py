"""Measure plans: measures and dialect as the numbers that the compiled loops take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.dialects import Dialect, make_dialect
from searchlab.evaluation.kernels import measure_kernels
from searchlab.evaluation.measure_families import FAMILIES
from searchlab.evaluation.measures import Measure, parse_measures
from searchlab.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class MeasurePlan:
    """Measures in a dialect, with a row of `settings` and a value of `parameters` for each measure.

    The parameter is the recall of IPrec, or the persistence of RBP.
    """

    measures: tuple[Measure, ...]
    dialect: Dialect
    settings: Ints
    parameters: Floats

    def evaluate(
        self, ranked: Ints, offsets: Ints, judged: Ints | None = None, judged_offsets: Ints | None = None
    ) -> Floats:
        """The values of all topics, given the grades in ranked order and those of all judged documents in any order.

        Without `judged`, the ranked documents are the only judged ones.
        """
        if judged is None or judged_offsets is None:
            judged, judged_offsets = ranked, offsets
        self._check_max_grade(judged)
        ideal = measure_kernels.sort_grades(judged, judged_offsets)
        discounts = rank_discounts(offsets, judged_offsets)
        values: Floats = measure_kernels.measure_topics(
            ranked, offsets, ideal, judged_offsets, self.settings, self.parameters, discounts
        )
        for column, measure in enumerate(self.measures):
            function = FAMILIES[measure.family].function
            if function is not None:
                rel = int(self.settings[column, measure_kernels.REL])
                values[:, column] = function(ranked, offsets, ideal, judged_offsets, measure.cutoff, rel)
        return values

    def _check_max_grade(self, judged: Ints) -> None:
        for measure in self.measures:
            if measure.family == "ERR" and len(judged) and np.max(judged) > measure.max_grade:
                found = int(np.max(judged))
                raise SettingError(
                    f"measure {measure}: found grade {found}, expected at most {measure.max_grade};"
                    f" use ERR(max_grade={found})"
                )


def make_plan(measures: Any, dialect: str | Dialect) -> MeasurePlan:
    """The plan for one or several measures, given as names, lists of names with commas, or `Measure`s."""
    parsed = parse_measures(measures if isinstance(measures, list | tuple) else (measures,))
    return _make_plan(parsed, tuple(measure.name for measure in parsed), make_dialect(dialect))


@lru_cache(maxsize=256)
def _make_plan(parsed: tuple[Measure, ...], names: tuple[str, ...], dialect: Dialect) -> MeasurePlan:
    """The plan; measures are equal under other names, which the plan keeps."""
    settings = np.zeros((len(parsed), measure_kernels.N_SETTINGS), np.int64)
    for row, measure in zip(settings, parsed, strict=True):
        row[measure_kernels.KIND] = measure_kernels.KINDS.index(FAMILIES[measure.family].arithmetic)
        row[measure_kernels.CUTOFF] = measure.cutoff
        row[measure_kernels.REL] = dialect.rel if measure.rel is None else measure.rel
        row[measure_kernels.EXPONENTIAL] = (measure.gain or dialect.gain) == "exponential"
        row[measure_kernels.LETOR] = (measure.discount or dialect.discount) == "letor"
        row[measure_kernels.ZERO_SHORT_LISTS] = dialect.zero_short_lists
        row[measure_kernels.MAX_GRADE] = measure.max_grade
    parameters = np.array([measure.persistence if measure.family == "RBP" else measure.recall for measure in parsed])
    settings.flags.writeable = parameters.flags.writeable = False
    return MeasurePlan(parsed, dialect, settings, parameters)


def rank_discounts(offsets: Ints, judged_offsets: Ints) -> Floats:
    """The factors for gains at each rank that occurs: a row for trec_eval's discount and one for LETOR's."""
    longest = max(_longest(offsets), _longest(judged_offsets))
    # Rounded up to a power of two, so that few different lengths are cached.
    discounts: Floats = _discounts(1 << max(longest - 1, 0).bit_length())
    return discounts


def _longest(offsets: Ints) -> int:
    return int(np.max(np.diff(offsets))) if len(offsets) > 1 else 0


@lru_cache(maxsize=32)
def _discounts(n: int) -> Any:
    ranks = np.arange(1, n + 1, dtype=np.float64)
    rows = np.stack([1 / np.log2(1 + ranks), 1 / np.log2(np.maximum(ranks, 2))])
    rows.flags.writeable = False
    return rows
