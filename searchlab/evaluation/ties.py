"""How far could equal scores move a result?

Documents with equal scores have no order of their own; every dialect invents one. The best and the worst value that
any order could give are found by putting the highest grades first, or last, in each tie; infAP alone, which depends on
where unjudged documents stand, can lie a little outside. The value to expect of a random order is exact for nDCG, AP,
P, R, RR, Rprec, Success and Judged (closed forms), and for measures that no order changes; that of the others (Bpref,
ERR, infAP, IPrec) is the mean of 200 random orders with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from searchlab.evaluation.dialects import Dialect
from searchlab.evaluation.kernels import measure_kernels
from searchlab.evaluation.measure_plan import Plan, discounts_for, make_plan
from searchlab.evaluation.measures import TOTAL, Measure
from searchlab.evaluation.run_evaluation import Evaluation, JudgedRun, evaluate_judged, judge_run
from searchlab.records import Judgments, Ranking
from searchlab.types import Floats, Ints

N_DRAWS = 200
# A mean that ties could move by more than this deserves a warning.
WORTH_A_WARNING = 0.005


@dataclass(frozen=True, eq=False)
class TieRange:
    """What a run is worth if ties are broken by best luck, by chance, or by worst luck; `tied` topics have ties."""

    best: Evaluation
    expected: Evaluation
    worst: Evaluation
    tied: tuple[str, ...]

    def width(self, name: str) -> float:
        """How far the mean of a measure could move."""
        return self.best.mean(name) - self.worst.mean(name)

    def warning(self, *, above: float = WORTH_A_WARNING) -> str:
        """One sentence if ties could move a mean by more than `above`, else nothing."""
        moved = [name for name in self.best.measures if self.width(name) > above]
        if not moved:
            return ""
        ranges = ", ".join(
            f"{name} from {self.worst.mean(name):.4f} to {self.best.mean(name):.4f}"
            f" (expected {self.expected.mean(name):.4f})"
            for name in moved
        )
        share = f"{len(self.tied):,} of {self.best.n_queries:,} topics"
        return f"{self.best.name}: {share} have equal scores, and their order could move {ranges}"


def tie_range(
    qrels: Judgments,
    rankings: Iterable[Ranking],
    measures: Sequence[str | Measure] | str | Measure,
    *,
    dialect: str | Dialect = "trec",
    complete: bool = False,
    name: str = "run",
    seed: int = 0,
) -> TieRange:
    """The best, the expected and the worst value of each measure that the ties of a run allow."""
    plan = make_plan(measures, dialect)
    return judged_tie_range(
        judge_run(qrels, rankings, dialect=plan.dialect, complete=complete, name=name), plan, seed=seed
    )


def judged_tie_range(run: JudgedRun, plan: Plan, *, seed: int = 0) -> TieRange:
    """The same for a run that has been judged already."""
    topics = np.repeat(np.arange(len(run.qids)), np.diff(run.offsets))
    changes = (run.scores[1:] != run.scores[:-1]) | (topics[1:] != topics[:-1])
    groups: Ints = np.concatenate([np.zeros(min(1, len(topics)), np.int64), np.cumsum(changes, dtype=np.int64)])
    tied = np.unique(topics[1:][~changes])
    evaluation = evaluate_judged(run, plan)

    def with_values(values: Floats) -> Evaluation:
        return replace(evaluation, values=values)

    if not len(tied):
        return TieRange(evaluation, evaluation, evaluation, ())
    best = run.evaluate(plan, run.ranked[np.lexsort((-run.ranked, groups))])
    worst = run.evaluate(plan, run.ranked[np.lexsort((run.ranked, groups))])
    expected = _expect(run, plan, groups, evaluation.values, seed)
    return TieRange(with_values(best), with_values(expected), with_values(worst), tuple(run.qids[q] for q in tied))


def _expect(run: JudgedRun, plan: Plan, groups: Ints, values: Floats, seed: int) -> Floats:
    from searchlab.evaluation.kernels import tie_kernels

    kinds = plan.settings[:, measure_kernels.KIND]
    closed = np.isin(kinds, tie_kernels.CLOSED_FORMS)
    fixed = np.array([measure.summary == TOTAL or measure.family.startswith("Set") for measure in plan.measures])
    expected = values.copy()
    if closed.any():
        listed = plan.dialect.ideal == "listed"
        judged, judged_offsets = (run.ranked, run.offsets) if listed else (run.judged, run.judged_offsets)
        exact = tie_kernels.expect_topics(
            run.ranked,
            groups,
            run.offsets,
            measure_kernels.sort_grades(judged, judged_offsets),
            judged_offsets,
            plan.settings[closed],
            discounts_for(run.offsets, judged_offsets),
        )
        expected[:, closed] = _cut(plan, closed, exact, run.offsets)
    sampled = ~closed & ~fixed
    if sampled.any():
        expected[:, sampled] = _sample(run, plan, groups, sampled, seed)
    return expected


def _cut(plan: Plan, closed: npt.NDArray[np.bool_], exact: Floats, offsets: Ints) -> Floats:
    """nDCG@k of short lists is 0 where the dialect says so."""
    settings = plan.settings[closed]
    short = np.diff(offsets)[:, None] < settings[:, measure_kernels.CUTOFF]
    rule = (settings[:, measure_kernels.CUT_SHORT] == 1) & (settings[:, measure_kernels.KIND] == measure_kernels.NDCG)
    return np.where(short & rule, 0.0, exact)


def _sample(run: JudgedRun, plan: Plan, groups: Ints, chosen: npt.NDArray[np.bool_], seed: int) -> Floats:
    part = make_plan([measure for measure, wanted in zip(plan.measures, chosen, strict=True) if wanted], plan.dialect)
    generator = np.random.default_rng(seed)
    total = np.zeros((len(run.qids), len(part.measures)))
    for _ in range(N_DRAWS):
        total += run.evaluate(part, run.ranked[np.lexsort((generator.random(len(groups)), groups))])
    return total / N_DRAWS
