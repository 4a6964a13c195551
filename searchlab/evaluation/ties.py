"""The effect of tied scores on measures: best, expected and worst values over all orders of equal scores.

The order of documents with equal scores is arbitrary; every dialect chooses one. The best and the worst value are found
by putting the highest grades first, or last, in each tie; only infAP, which depends on the ranks of unjudged
documents, can lie slightly outside. The expected value of a random order is exact for nDCG, AP, P, R, RR, Rprec,
Success and Judged (closed forms) and for measures that do not depend on the order; for the others (Bpref, ERR, infAP,
IPrec) it is the mean of 200 random orders with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from searchlab.evaluation.dialects import Dialect
from searchlab.evaluation.kernels import measure_kernels
from searchlab.evaluation.measure_families import TOTAL
from searchlab.evaluation.measure_plan import MeasurePlan, make_plan, rank_discounts
from searchlab.evaluation.measures import Measure
from searchlab.evaluation.number_text import format_share
from searchlab.evaluation.run_evaluation import Evaluation, GradedRun, evaluate_graded_run, grade_run
from searchlab.records import Judgments, Ranking
from searchlab.types import Flags, Floats, Ints

# The number of random orders for measures without a closed form.
N_DRAWS = 200
# The smallest range of a mean that causes a warning.
MIN_WARNING_WIDTH = 0.005


@dataclass(frozen=True, eq=False)
class TieRange:
    """The evaluation of a run with its ties in the best, a random and the worst order; `tied` topics have ties."""

    best: Evaluation
    expected: Evaluation
    worst: Evaluation
    tied: tuple[str, ...]

    def width(self, name: str) -> float:
        """The difference between the best and the worst mean of a measure."""
        return self.best.mean(name) - self.worst.mean(name)

    def warning(self, *, above: float = MIN_WARNING_WIDTH) -> str:
        """A sentence if ties could change a mean by more than `above`, otherwise an empty string."""
        affected = [name for name in self.best.measures if self.width(name) > above]
        if not affected:
            return ""
        ranges = ", ".join(
            f"{name} from {self.worst.mean(name):.4f} to {self.best.mean(name):.4f}"
            f" (expected {self.expected.mean(name):.4f})"
            for name in affected
        )
        share = format_share(len(self.tied), self.best.n_topics, "topic")
        return f"{self.best.name}: {share} with equal scores, whose order could change {ranges}"


def evaluate_ties(
    qrels: Judgments,
    rankings: Iterable[Ranking],
    measures: Sequence[str | Measure] | str | Measure,
    *,
    dialect: str | Dialect = "trec",
    complete: bool = False,
    name: str = "run",
    seed: int = 0,
) -> TieRange:
    """The best, expected and worst value of each measure over all orders of the ties of a run."""
    plan = make_plan(measures, dialect)
    return evaluate_graded_ties(
        grade_run(qrels, rankings, dialect=plan.dialect, complete=complete, name=name), plan, seed=seed
    )


def evaluate_graded_ties(run: GradedRun, plan: MeasurePlan, *, seed: int = 0) -> TieRange:
    """The same for a run whose grades have been looked up."""
    topics = np.repeat(np.arange(len(run.qids)), np.diff(run.offsets))
    changes = (run.scores[1:] != run.scores[:-1]) | (topics[1:] != topics[:-1])
    groups: Ints = np.concatenate([np.zeros(min(1, len(topics)), np.int64), np.cumsum(changes, dtype=np.int64)])
    tied = np.unique(topics[1:][~changes])
    evaluation = evaluate_graded_run(run, plan)

    def with_values(values: Floats) -> Evaluation:
        return replace(evaluation, values=values)

    if not len(tied):
        return TieRange(evaluation, evaluation, evaluation, ())
    best = run.evaluate(plan, run.ranked[np.lexsort((-run.ranked, groups))])
    worst = run.evaluate(plan, run.ranked[np.lexsort((run.ranked, groups))])
    expected = _expected_values(run, plan, groups, evaluation.values, seed)
    return TieRange(with_values(best), with_values(expected), with_values(worst), tuple(run.qids[q] for q in tied))


def _expected_values(run: GradedRun, plan: MeasurePlan, groups: Ints, values: Floats, seed: int) -> Floats:
    from searchlab.evaluation.kernels import tie_kernels

    kinds = plan.settings[:, measure_kernels.KIND]
    closed = np.isin(kinds, tie_kernels.CLOSED_FORMS)
    fixed = np.array([measure.summary == TOTAL or measure.family.startswith("Set") for measure in plan.measures])
    expected = values.copy()
    if closed.any():
        listed = plan.dialect.ideal == "listed"
        judged, judged_offsets = (run.ranked, run.offsets) if listed else (run.judged, run.judged_offsets)
        exact = tie_kernels.expected_values(
            run.ranked,
            groups,
            run.offsets,
            measure_kernels.sort_grades(judged, judged_offsets),
            judged_offsets,
            plan.settings[closed],
            rank_discounts(run.offsets, judged_offsets),
        )
        expected[:, closed] = _zero_short_lists(plan, closed, exact, run.offsets)
    sampled = ~closed & ~fixed
    if sampled.any():
        expected[:, sampled] = _sampled_values(run, plan, groups, sampled, seed)
    return expected


def _zero_short_lists(plan: MeasurePlan, closed: Flags, exact: Floats, offsets: Ints) -> Floats:
    """The expected values, with 0 for nDCG@k of lists shorter than k if the dialect requires it."""
    settings = plan.settings[closed]
    short = np.diff(offsets)[:, None] < settings[:, measure_kernels.CUTOFF]
    is_ndcg = settings[:, measure_kernels.KIND] == measure_kernels.NDCG
    return np.where(short & is_ndcg & (settings[:, measure_kernels.ZERO_SHORT_LISTS] == 1), 0.0, exact)


def _sampled_values(run: GradedRun, plan: MeasurePlan, groups: Ints, sampled: Flags, seed: int) -> Floats:
    """The means of the values over random orders, for the measures that are `sampled`."""
    part = make_plan([measure for measure, chosen in zip(plan.measures, sampled, strict=True) if chosen], plan.dialect)
    generator = np.random.default_rng(seed)
    total = np.zeros((len(run.qids), len(part.measures)))
    for _ in range(N_DRAWS):
        total += run.evaluate(part, run.ranked[np.lexsort((generator.random(len(groups)), groups))])
    return total / N_DRAWS
