"""Is one system better than another?

Systems are compared topic by topic, on the topics that all of them have, by all tests of `significance`. The verdict is
that of the randomisation test, which assumes least about how differences are distributed (Smucker, Allan, Carterette
2007), after Holm's correction over all pairs that are compared on the same measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.measures import MEAN, parse_measure
from searchlab.evaluation.run_evaluation import Evaluation
from searchlab.evaluation.significance import (
    TIE,
    Interval,
    Outcome,
    bootstrap_interval,
    holm,
    paired_t,
    randomisation_test,
    sign_test,
)
from searchlab.types import Floats

# Where chance is called a good explanation.
ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """System a against system b on one measure: `difference` is the mean of a less that of b.

    `wins` and `losses` are those of a. `p` is that of the randomisation test; `p_corrected` the same after the
    correction for all pairs, if there were others.
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
    t: Outcome
    sign: Outcome
    randomisation: Outcome
    interval: Interval
    p_corrected: float | None = None

    @property
    def difference(self) -> float:
        """How much better a is than b, in the mean."""
        return self.mean_a - self.mean_b

    @property
    def p(self) -> float:
        """The probability of such a difference by chance alone, not corrected."""
        return self.randomisation.p

    @property
    def significant(self) -> bool:
        """Whether chance is no good explanation: p, corrected if there were other pairs, is below .05."""
        return (self.p if self.p_corrected is None else self.p_corrected) < ALPHA

    def sentence(self) -> str:
        """What was found, in plain words."""
        better, worse = f"better on {self.wins:,}", f"worse on {self.losses:,}"
        of = f"of {self.n_topics:,} topic{'s' * (self.n_topics != 1)}"
        equal = f", equal on {self.ties:,}" if self.ties else ""
        if abs(self.difference) <= TIE:
            lead = f"{self.name_a} and {self.name_b} are equal in the mean: {better} {of}, {worse}{equal}"
            return f"{lead}: {self.measure} {show_number(self.mean_a)}"
        first, second = (better, worse) if self.difference > 0 else (worse, better)
        what, where = first.split(" ", 1)
        lead = f"{self.name_a} is {what} than {self.name_b} {where} {of}, {second}{equal}"
        p = show_p(self.p if self.p_corrected is None else self.p_corrected)
        corrected = "" if self.p_corrected is None else " after correction"
        doubt = "" if self.significant else "; this may be chance"
        return f"{lead}: {self.measure} {show_difference(self.difference)}, {p}{corrected}{doubt}"


@dataclass(frozen=True)
class Report:
    """Comparisons of several systems on the `n_topics` that all of them have; others, `left_out`, were not counted."""

    comparisons: tuple[Comparison, ...]
    n_topics: int
    left_out: tuple[str, ...]

    def sentences(self) -> list[str]:
        """What was found, a sentence a pair and measure."""
        return [comparison.sentence() for comparison in self.comparisons]


def compare(
    evaluations: Iterable[Evaluation],
    *,
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    all_pairs: bool = False,
    seed: int = 0,
) -> Report:
    """Compare systems with the baseline (the first, if none is named), or each with each.

    The p-values of each measure are corrected over all pairs.
    """
    systems = list(evaluations)
    names = [system.name for system in systems]
    if len(systems) < 2:
        raise SettingError(f"found {len(systems)} to compare, expected at least two")
    if len(set(names)) < len(names):
        raise SettingError(f"two of what is compared have one name: {', '.join(names)}")
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise unknown_name("baseline", first, names)
    if len({system.dialect for system in systems}) > 1:
        raise SettingError("what is compared was evaluated by different rules")
    common = set.intersection(*(set(system.qids) for system in systems))
    if not common:
        raise SettingError(f"no topic is common to {', '.join(names)}")
    left_out = tuple(dict.fromkeys(qid for system in systems for qid in system.qids if qid not in common))
    by_name = {system.name: system for system in systems}
    # The new system comes first in a pair, the one that it is held against second.
    pairs = [(a, first) for a in names if a != first]
    if all_pairs:
        pairs = [(b, a) for a, b in combinations([first, *(name for name in names if name != first)], 2)]
    found: list[Comparison] = []
    for measure in measures or systems[0].measures:
        refuse_totals(measure)
        values = {name: _aligned(by_name[name], measure, common) for name in names}
        own = [compare_values(a, values[a], b, values[b], measure, seed=seed) for a, b in pairs]
        if len(own) > 1:
            corrected = holm([comparison.p for comparison in own])
            own = [replace(each, p_corrected=float(p)) for each, p in zip(own, corrected, strict=True)]
        found += own
    return Report(tuple(found), len(common), left_out)


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
    wins, losses = int(np.sum(differences > TIE)), int(np.sum(differences < -TIE))
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
        paired_t(differences),
        sign_test(differences),
        randomisation_test(differences, seed=seed),
        bootstrap_interval(differences, seed=seed),
    )


def refuse_totals(measure: str) -> None:
    """A count has no mean over topics to compare, a geometric mean no difference of means."""
    parsed = parse_measure(measure)
    if parsed.summary != MEAN:
        raise SettingError(f"measure {measure} is a {parsed.summary} over topics; only means are compared")


def show_number(value: float) -> str:
    """A number between -1 and 1 as .4123."""
    return f"{value:.4f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.4f}"


def show_difference(value: float) -> str:
    """A difference with its sign: +.031."""
    digits = 3 if abs(value) >= 0.001 else 4 if abs(value) >= 0.0001 else 6
    return f"{value:+.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:+.{digits}f}"


def show_p(p: float) -> str:
    """A probability as it is printed in papers: p = .03, p < .001."""
    if p < 0.001:
        return "p < .001"
    digits = 2 if p >= 0.0095 else 3
    return f"p = {p:.{digits}f}".replace(" 0.", " .")


def _aligned(system: Evaluation, measure: str, common: set[str]) -> Floats:
    """The values of the common topics, sorted by qid."""
    by_qid = dict(zip(system.qids, system.of(measure).tolist(), strict=True))
    return np.array([by_qid[qid] for qid in sorted(common)])
