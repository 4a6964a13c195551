"""Judging priorities: the unjudged documents that could change the comparison of two systems most.

Two systems are compared by Δ, the mean difference of a measure over the judged topics. For an unjudged document,

    swing = |Δ(if it is relevant) − Δ(if it is not)|

is the amount by which its judgment could change the comparison, after Carterette, Allan & Sitaraman (2006), who choose
documents by their effect on the difference in AP. Their formula is for AP; here both cases are evaluated by
`evaluate_run` as they would be after the judgment, so that any measure can be used: each case is a separate topic of
one evaluation. Unjudged documents are not relevant, as in every evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.measure_families import MEAN
from searchlab.evaluation.measures import Measure, parse_measure
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.score_evaluation import round_to_float32
from searchlab.records import Judgments, Ranking

DIALECT = "trec"
# The largest number of ranked documents in an evaluation; candidates at lower ranks are left for a later one.
MAX_RANKED_DOCUMENTS = 4_000_000
# Relevant or not, for each of the two systems.
N_CASES = 4


@dataclass(frozen=True, slots=True)
class Priority:
    """A document to judge, and the amount by which its judgment could change the comparison."""

    qid: str
    docno: str
    swing: float


@dataclass(frozen=True, slots=True)
class Priorities:
    """The documents by descending swing.

    `difference` is Δ for the current judgments, left minus right, over `n_topics`; `n_waiting` candidates were too many
    to evaluate now.
    """

    measure: str
    difference: float
    n_topics: int
    documents: tuple[Priority, ...]
    n_waiting: int


def prioritise_judgments(
    left: Iterable[Ranking],
    right: Iterable[Ranking],
    grades: Judgments,
    *,
    measure: str = "nDCG@10",
    depth: int = 20,
    n: int | None = None,
) -> Priorities:
    """The `n` unjudged documents whose judgments could change the comparison of two runs most.

    Candidates are among the first `depth` documents of either run, and within the cutoff of the measure. A topic
    without judgments is counted from its first judgment on. A topic that is only in one run scores 0 for the other.
    """
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected 1 or more")
    parsed = parse_measure(measure)
    if parsed.summary != MEAN:
        raise SettingError(f"measure is {measure}, expected one that is averaged over topics")
    runs = _Run.of(left, parsed), _Run.of(right, parsed)
    qids = list(dict.fromkeys([*runs[0].docnos, *runs[1].docnos]))
    judged = {qid: grades[qid] for qid in qids if grades.get(qid)}
    differences = _differences(runs, judged, {qid: qid for qid in judged}, parsed)
    candidates = _candidates(runs, qids, grades, min(depth, parsed.cutoff or depth))
    evaluated = candidates[: _count_affordable(runs, candidates)]
    swings = _swings(runs, evaluated, judged, parsed)
    priorities = [Priority(qid, docno, swing) for (qid, docno), swing in zip(evaluated, swings, strict=True)]
    priorities.sort(key=lambda priority: -priority.swing)
    difference = float(np.mean(differences)) if judged else 0.0
    return Priorities(parsed.name, difference, len(judged), tuple(priorities[:n]), len(candidates) - len(evaluated))


@dataclass(frozen=True)
class _Run:
    """The docnos of each topic in the order of evaluation, down to the cutoff of the measure."""

    docnos: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, rankings: Iterable[Ranking], measure: Measure) -> _Run:
        docnos: dict[str, Sequence[str]] = {}
        for ranking in rankings:
            if ranking.qid in docnos:
                raise SettingError(f"topic {ranking.qid} has two rankings")
            # As in trec_eval: 32-bit scores, equal ones by docno, descending.
            scores = round_to_float32(np.asarray(ranking.scores, np.float64))
            if np.isnan(scores).any():
                raise SettingError(f"topic {ranking.qid} has a score that is not a number (NaN)")
            ordered = sorted(zip(scores.tolist(), ranking.docnos, strict=True), reverse=True)
            docnos[ranking.qid] = [docno for _, docno in ordered[: measure.cutoff or None]]
        return cls(docnos)

    def of_topic(self, qid: str) -> Sequence[str]:
        return self.docnos.get(qid, ())


def _candidates(runs: Sequence[_Run], qids: Sequence[str], grades: Judgments, depth: int) -> list[tuple[str, str]]:
    """Topic and docno of the unjudged documents, by the better of their two ranks."""
    ranks: dict[tuple[str, str], int] = {}
    for run in runs:
        for qid in qids:
            for rank, docno in enumerate(run.of_topic(qid)[:depth]):
                if docno not in grades.get(qid, {}):
                    ranks[qid, docno] = min(rank, ranks.get((qid, docno), rank))
    positions = {qid: position for position, qid in enumerate(qids)}
    return sorted(ranks, key=lambda pair: (ranks[pair], positions[pair[0]], pair[1]))


def _count_affordable(runs: Sequence[_Run], candidates: Sequence[tuple[str, str]]) -> int:
    """The number of candidates that can be evaluated within the limit."""
    lengths = [sum(len(run.of_topic(qid)) for run in runs) * N_CASES // 2 for qid, _ in candidates]
    return int(np.searchsorted(np.cumsum(lengths), MAX_RANKED_DOCUMENTS, side="right"))


def _swings(
    runs: tuple[_Run, _Run], candidates: Sequence[tuple[str, str]], judged: Judgments, measure: Measure
) -> list[float]:
    relevant = max(1, measure.rel or make_dialect(DIALECT).rel)
    cases: dict[str, Mapping[str, int]] = {}
    origins: dict[str, str] = {}
    for number, (qid, docno) in enumerate(candidates):
        for name, grade in ((f"{number}+", relevant), (f"{number}-", 0)):
            cases[name] = {**judged.get(qid, {}), docno: grade}
            origins[name] = qid
    differences = _differences(runs, cases, origins, measure).reshape(-1, 2)
    n_topics = np.array([len(judged) + (qid not in judged) for qid, _ in candidates], np.float64)
    swings: list[float] = (np.abs(differences[:, 0] - differences[:, 1]) / n_topics).tolist()
    return swings


def _differences(
    runs: tuple[_Run, _Run], judged: Judgments, origins: Mapping[str, str], measure: Measure
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Left minus right for each topic of `judged`, with the rankings of its original topic in `origins`."""
    if not judged:
        return np.zeros(0)
    values = []
    for run in runs:
        docnos = {name: run.of_topic(origins[name]) for name in judged}
        rankings = [Ranking(name, ranked, range(len(ranked), 0, -1)) for name, ranked in docnos.items()]
        values.append(evaluate_run(judged, rankings, measure, dialect=DIALECT, warn=False).values[:, 0])
    left, right = values
    return np.asarray(left - right)
