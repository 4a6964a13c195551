"""What is worth judging next?

Two rankers are compared by Δ, the mean difference of a measure over the judged topics. For an unjudged document,

    swing = |Δ(if it is relevant) − Δ(if it is not)|

is by how much its judgment could change the comparison, after Carterette, Allan & Sitaraman (2006), who choose
documents by their effect on the difference in AP. Theirs is a formula for AP; here both cases are evaluated as they
would be after the judgment, by `evaluate_run`, so that any measure will do: each case is a topic of its own in one
evaluation. What is not judged is not relevant, as in every evaluation.
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
from searchlab.records import Judgments, Ranking

DIALECT = "trec"
# So many ranked documents are looked at in all: the best ranked candidates come first, and the others wait.
MAX_RANKED_DOCUMENTS = 4_000_000
# If it is relevant, for the one ranker and the other; if it is not.
N_CASES = 4


@dataclass(frozen=True, slots=True)
class Priority:
    """A document to judge, and by how much that could change the comparison."""

    qid: str
    docno: str
    swing: float


@dataclass(frozen=True, slots=True)
class Priorities:
    """The documents that could change most, first.

    `difference` is Δ by the judgments so far, left minus right, over `n_topics`; `n_waiting` candidates were too many
    to look at now.
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
    """The `n` unjudged documents whose judgments could change most in the comparison of two runs.

    Candidates are among the first `depth` of either run, and within the cutoff of the measure. A topic that nothing is
    judged of yet would count from its first judgment on. A topic that only one run has scores 0 for the other.
    """
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected 1 or more")
    chosen = parse_measure(measure)
    if chosen.summary != MEAN:
        raise SettingError(f"measure is {measure}, expected one that is averaged over topics")
    runs = _Run.of(left, chosen), _Run.of(right, chosen)
    qids = list(dict.fromkeys([*runs[0].docnos, *runs[1].docnos]))
    judged = {qid: grades[qid] for qid in qids if grades.get(qid)}
    differences = _differences(runs, judged, {qid: qid for qid in judged}, chosen)
    candidates = _candidates(runs, qids, grades, min(depth, chosen.cutoff or depth))
    now = candidates[: _affordable(runs, candidates)]
    swings = _swings(runs, now, judged, chosen)
    found = [Priority(qid, docno, swing) for (qid, docno), swing in zip(now, swings, strict=True)]
    found.sort(key=lambda priority: -priority.swing)
    difference = float(np.mean(differences)) if judged else 0.0
    return Priorities(chosen.name, difference, len(judged), tuple(found[:n]), len(candidates) - len(now))


@dataclass(frozen=True)
class _Run:
    """The docnos of each topic in the order in which they are evaluated, as far down as the measure looks."""

    docnos: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, rankings: Iterable[Ranking], measure: Measure) -> _Run:
        docnos: dict[str, Sequence[str]] = {}
        for ranking in rankings:
            if ranking.qid in docnos:
                raise SettingError(f"topic {ranking.qid} has two rankings")
            # Scores as trec_eval holds them, in 32 bits; equal ones by docno, descending.
            with np.errstate(over="ignore"):
                scores = np.asarray(ranking.scores, np.float64).astype(np.float32)
            if np.isnan(scores).any():
                raise SettingError(f"topic {ranking.qid} has a score that is not a number (NaN)")
            ordered = sorted(zip(scores.tolist(), ranking.docnos, strict=True), reverse=True)
            docnos[ranking.qid] = [docno for _, docno in ordered[: measure.cutoff or None]]
        return cls(docnos)

    def of_topic(self, qid: str) -> Sequence[str]:
        return self.docnos.get(qid, ())


def _candidates(runs: Sequence[_Run], qids: Sequence[str], grades: Judgments, depth: int) -> list[tuple[str, str]]:
    """Topic and docno of what is not judged yet, by the better of its two ranks."""
    ranks: dict[tuple[str, str], int] = {}
    for run in runs:
        for qid in qids:
            for rank, docno in enumerate(run.of_topic(qid)[:depth]):
                if docno not in grades.get(qid, {}):
                    ranks[qid, docno] = min(rank, ranks.get((qid, docno), rank))
    places = {qid: place for place, qid in enumerate(qids)}
    return sorted(ranks, key=lambda pair: (ranks[pair], places[pair[0]], pair[1]))


def _affordable(runs: Sequence[_Run], candidates: Sequence[tuple[str, str]]) -> int:
    """How many candidates can be looked at."""
    lengths = [sum(len(run.of_topic(qid)) for run in runs) * N_CASES // 2 for qid, _ in candidates]
    return int(np.searchsorted(np.cumsum(lengths), MAX_RANKED_DOCUMENTS, side="right"))


def _swings(
    runs: tuple[_Run, _Run], candidates: Sequence[tuple[str, str]], judged: Judgments, measure: Measure
) -> list[float]:
    relevant = max(1, measure.rel or make_dialect(DIALECT).rel)
    cases: dict[str, Mapping[str, int]] = {}
    origins: dict[str, str] = {}
    for place, (qid, docno) in enumerate(candidates):
        for name, grade in ((f"{place}+", relevant), (f"{place}-", 0)):
            cases[name] = {**judged.get(qid, {}), docno: grade}
            origins[name] = qid
    differences = _differences(runs, cases, origins, measure).reshape(-1, 2)
    n_topics = np.array([len(judged) + (qid not in judged) for qid, _ in candidates], np.float64)
    swings: list[float] = (np.abs(differences[:, 0] - differences[:, 1]) / n_topics).tolist()
    return swings


def _differences(
    runs: tuple[_Run, _Run], judged: Judgments, origins: Mapping[str, str], measure: Measure
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Left minus right for each topic of the judgments, whose rankings are those of the topic that it stands for."""
    if not judged:
        return np.zeros(0)
    values = []
    for run in runs:
        docnos = {name: run.of_topic(origins[name]) for name in judged}
        rankings = [Ranking(name, own, range(len(own), 0, -1)) for name, own in docnos.items()]
        values.append(evaluate_run(judged, rankings, measure, dialect=DIALECT).values[:, 0])
    left, right = values
    return np.asarray(left - right)
