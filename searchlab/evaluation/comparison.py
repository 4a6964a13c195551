"""Comparison of systems, topic by topic, on the topics that all of them have.

Each pair is tested by all tests of `significance`. The verdict is that of the randomisation test, which makes the
fewest assumptions about the distribution of differences (Smucker, Allan, Carterette 2007), after Holm's correction
over all pairs compared on the same measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.measure_families import MEAN
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.number_text import format_count, format_difference, format_p_value, format_value
from searchlab.evaluation.run_evaluation import Evaluation
from searchlab.evaluation.significance import (
    TIE_TOLERANCE,
    ConfidenceInterval,
    SignificanceResult,
    bootstrap_interval,
    holm,
    paired_t_test,
    randomisation_test,
    sign_test,
)
from searchlab.notebook_html import html_block, html_table, unbroken
from searchlab.types import Floats

# The significance level: a difference with a p-value below it is called significant.
ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """System a compared with system b on one measure.

    `wins` and `losses` are topics on which a is better or worse than b. `p_corrected` is the p-value of the
    randomisation test after correction, None if this pair was the only one.
    """

    name_a: str
    name_b: str
    measure: str
    n_topics: int
    mean_a: float
    mean_b: float
    wins: int
    ties: int
    losses: int
    t: SignificanceResult
    sign: SignificanceResult
    randomisation: SignificanceResult
    interval: ConfidenceInterval
    p_corrected: float | None = None

    @property
    def difference(self) -> float:
        """The mean of a minus the mean of b."""
        return self.mean_a - self.mean_b

    @property
    def p(self) -> float:
        """The uncorrected p-value of the randomisation test."""
        return self.randomisation.p

    @property
    def significant(self) -> bool:
        """Whether p, corrected if there were other pairs, is below .05."""
        return (self.p if self.p_corrected is None else self.p_corrected) < ALPHA

    def sentence(self) -> str:
        """The result in one sentence."""
        better, worse = f"better on {self.wins:,}", f"worse on {self.losses:,}"
        of_topics = f"of {format_count(self.n_topics, 'topic')}"
        equal = f", equal on {self.ties:,}" if self.ties else ""
        if abs(self.difference) <= TIE_TOLERANCE:
            counts = f"{self.name_a} and {self.name_b} have equal means: {better} {of_topics}, {worse}{equal}"
            return f"{counts}: {self.measure} {format_value(self.mean_a)}"
        first, second = (better, worse) if self.difference > 0 else (worse, better)
        verdict, on_topics = first.split(" ", 1)
        counts = f"{self.name_a} is {verdict} than {self.name_b} {on_topics} {of_topics}, {second}{equal}"
        p = format_p_value(self.p if self.p_corrected is None else self.p_corrected)
        corrected = "" if self.p_corrected is None else " after correction"
        doubt = "" if self.significant else "; this may be chance"
        return f"{counts}: {self.measure} {format_difference(self.difference)}, {p}{corrected}{doubt}"


@dataclass(frozen=True)
class ComparisonTable:
    """Comparisons of several systems on the `n_topics` that all of them have; topics `left_out` are in some only."""

    comparisons: tuple[Comparison, ...]
    n_topics: int
    left_out: tuple[str, ...]

    def sentences(self) -> list[str]:
        """One sentence for each pair and measure."""
        return [comparison.sentence() for comparison in self.comparisons]

    def to_dataframe(self, *, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars, with a row for each pair and measure.

        `low` and `high` bound the confidence interval of the difference; `p` is corrected if there were several pairs.
        """
        from searchlab.dataframes import make_dataframe

        names = ("measure", "name_a", "name_b", "mean_a", "mean_b", "difference", "wins", "ties", "losses")
        columns: dict[str, Any] = {name: [getattr(each, name) for each in self.comparisons] for name in names}
        columns["low"] = [each.interval.low for each in self.comparisons]
        columns["high"] = [each.interval.high for each in self.comparisons]
        columns["p"] = [each.p if each.p_corrected is None else each.p_corrected for each in self.comparisons]
        columns["significant"] = [each.significant for each in self.comparisons]
        return make_dataframe(columns, polars=polars)

    def _repr_html_(self) -> str:
        rows = [
            (
                each.measure,
                each.name_a,
                each.mean_a,
                each.name_b,
                each.mean_b,
                unbroken(f"{format_difference(each.difference)} {_mark(each)}"),
                unbroken(f"[{format_difference(each.interval.low)}, {format_difference(each.interval.high)}]"),
                unbroken(format_p_value(each.p if each.p_corrected is None else each.p_corrected)),
                unbroken(f"{each.wins:,} / {each.ties:,} / {each.losses:,}"),
            )
            for each in self.comparisons
        ]
        header = ("measure", "system", "mean", "against", "mean", "difference", "interval", "", "better/equal/worse")
        corrected = any(each.p_corrected is not None for each in self.comparisons)
        correction = ", corrected over all pairs" if corrected else ""
        return html_block(
            f"Comparison on {format_count(self.n_topics, 'topic')}",
            html_table(header, rows),
            note=f"▲▼ significant (p < .05, randomisation test{correction})",
        )


def compare_evaluations(
    evaluations: Iterable[Evaluation],
    *,
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    all_pairs: bool = False,
    seed: int = 0,
) -> ComparisonTable:
    """Compare each system with the baseline (by default the first), or all pairs of systems.

    The p-values of each measure are corrected over all pairs.
    """
    systems = list(evaluations) if isinstance(evaluations, Iterable) else [evaluations]
    for system in systems:
        if not isinstance(system, Evaluation):
            raise SettingError(f"found a {type(system).__name__}, expected Evaluations, as evaluate_run returns")
    names = [system.name for system in systems]
    if len(systems) < 2:
        raise SettingError(f"found {len(systems)} to compare, expected at least two")
    if len(set(names)) < len(names):
        raise SettingError(f"two compared systems have the same name: {', '.join(names)}")
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise unknown_name("baseline", first, names)
    if len({system.dialect for system in systems}) > 1:
        raise SettingError("the compared systems were evaluated with different dialects")
    common = set.intersection(*(set(system.qids) for system in systems))
    if not common:
        raise SettingError(f"no topic is common to {', '.join(names)}")
    left_out = tuple(dict.fromkeys(qid for system in systems for qid in system.qids if qid not in common))
    by_name = {system.name: system for system in systems}
    # In each pair the baseline is second, so that a positive difference is an improvement.
    pairs = [(a, first) for a in names if a != first]
    if all_pairs:
        pairs = [(b, a) for a, b in combinations([first, *(name for name in names if name != first)], 2)]
    comparisons: list[Comparison] = []
    for measure in measures or systems[0].measures:
        check_comparable(measure)
        values = {name: _align_values(by_name[name], measure, common) for name in names}
        of_measure = [compare_values(a, values[a], b, values[b], measure, seed=seed) for a, b in pairs]
        if len(of_measure) > 1:
            corrected = holm([comparison.p for comparison in of_measure])
            of_measure = [replace(each, p_corrected=float(p)) for each, p in zip(of_measure, corrected, strict=True)]
        comparisons += of_measure
    return ComparisonTable(tuple(comparisons), len(common), left_out)


def compare_values(
    name_a: str, values_a: npt.ArrayLike, name_b: str, values_b: npt.ArrayLike, measure: str, *, seed: int = 0
) -> Comparison:
    """Compare two systems by their values for the same topics in the same order."""
    a, b = np.asarray(values_a, np.float64), np.asarray(values_b, np.float64)
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise SettingError(
            f"expected values for the same topics, found {a.shape} of {name_a} and {b.shape} of {name_b}"
        )
    differences = a - b
    wins, losses = int(np.sum(differences > TIE_TOLERANCE)), int(np.sum(differences < -TIE_TOLERANCE))
    return Comparison(
        name_a,
        name_b,
        measure,
        len(a),
        float(np.mean(a)),
        float(np.mean(b)),
        wins,
        len(a) - wins - losses,
        losses,
        paired_t_test(differences),
        sign_test(differences),
        randomisation_test(differences, seed=seed),
        bootstrap_interval(differences, seed=seed),
    )


def _mark(comparison: Comparison) -> str:
    return ("▲" if comparison.difference > 0 else "▼") if comparison.significant else ""


def check_comparable(measure: str) -> None:
    """Raise an error unless the measure is averaged over topics: totals and geometric means are not compared."""
    parsed = parse_measure(measure)
    if parsed.summary != MEAN:
        raise SettingError(f"measure {measure} is a {parsed.summary} over topics; only means are compared")


def _align_values(system: Evaluation, measure: str, common: set[str]) -> Floats:
    """The values of the common topics, sorted by qid."""
    by_qid = dict(zip(system.qids, system.values_of(measure).tolist(), strict=True))
    return np.array([by_qid[qid] for qid in sorted(common)])
