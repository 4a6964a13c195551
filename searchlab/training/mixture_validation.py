"""Cross-validation of mixture weights over queries.

Each fold is searched with the weights learnt from the other folds, and all held-out queries are evaluated as one run.
These ways to find weights are compared:

    untrained          document and corpus, half and half
    fixed              document and corpus, by the best of a grid of weights on the training folds (AP)
    em, mce            trained weights, the same for all documents
    mce-per-document   the same, with individual weights for the documents that are relevant to a training query
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from searchlab.evaluation.comparison import ComparisonTable, compare_evaluations
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.mixtures.em import EM
from searchlab.mixtures.mce import MCE
from searchlab.mixtures.setting_checks import require_number
from searchlab.mixtures.training_queries import TrainingQueries
from searchlab.mixtures.weight_training import LearntWeights, learn_em, learn_mce
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.execution.mixture_components import UNIGRAMS, TopicProbabilities
from searchlab.scorers.mixture import Mixture
from searchlab.training.cross_validation import cross_validate
from searchlab.training.query_folds import deal_folds
from searchlab.types import Ints, Progress, no_progress

MEASURES = ("AP", "nDCG@10")
# Weights of the document that the system `fixed` chooses from.
GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))
SYSTEMS = ("untrained", "fixed", "em", "mce", "mce-per-document")
BASELINE = "fixed"
DEPTH = 1000


@dataclass(frozen=True, eq=False)
class MixtureTrial:
    """One way to find weights: the evaluation of its held-out queries, and the weights of each fold.

    `training` is the mean AP of the training queries, averaged over the folds.
    """

    evaluation: Evaluation
    learnt: tuple[LearntWeights, ...]
    training: float


@dataclass(frozen=True, eq=False)
class MixtureCrossValidation:
    """All ways to find weights, each compared with the best fixed weights."""

    trials: tuple[MixtureTrial, ...]
    report: ComparisonTable
    n_folds: int
    seed: int
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rules(self) -> str:
        """The evaluation rules, in words."""
        return self.trials[0].evaluation.dialect.describe()

    def of(self, name: str) -> MixtureTrial:
        """A trial by its name."""
        return next(trial for trial in self.trials if trial.evaluation.name == name)


def cross_validate_mixture(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    queries: TrainingQueries,
    *,
    systems: Sequence[str] = SYSTEMS,
    em: EM | None = None,
    mce: MCE | None = None,
    per_document: MCE | None = None,
    held_out: float | None = None,
    topic_model: TopicProbabilities | None = None,
    n_folds: int = 5,
    seed: int = 1,
    progress: Progress | None = None,
) -> MixtureCrossValidation:
    """Cross-validate over `queries`, which were gathered from these topics and judgments."""
    require_number("folds", n_folds, 2, 1000, whole=True)
    require_number("seed", seed, 0, 2**63 - 1, whole=True)
    by_qid = {topic.qid: topic for topic in topics}
    used = [by_qid[qid] for qid in queries.qids]
    used_qrels = {qid: qrels[qid] for qid in queries.qids}
    folds = deal_folds(len(used), n_folds, seed)
    show = progress or no_progress

    def search(scorer: Mixture, numbers: Iterable[int]) -> list[Ranking]:
        return list(Pipeline(engine, scorer).run([used[number] for number in numbers], k=DEPTH))

    def evaluate(rankings: Iterable[Ranking], name: str) -> Evaluation:
        return evaluate_run(used_qrels, rankings, list(MEASURES), dialect="trec", name=name, warn=False)

    grid: dict[float, dict[str, float]] = {}
    for step, weight in enumerate(GRID):
        show("searching the grid", step, len(GRID))
        evaluation = evaluate(search(Mixture(weight, 1 - weight), range(len(used))), "grid")
        grid[weight] = dict(zip(evaluation.qids, evaluation.values_of("AP").tolist(), strict=True))

    def learn(system: str, training: list[int]) -> LearntWeights:
        if system == "untrained":
            return _document_and_corpus(system, Mixture().document)
        if system == "fixed":
            qids = [used[number].qid for number in training]
            best = max(GRID, key=lambda weight: np.mean([grid[weight][qid] for qid in qids]))
            return _document_and_corpus(system, best)
        part = queries.take(training)
        if system == "em":
            return learn_em(part, em)
        if system == "mce":
            return learn_mce(part, mce, held_out=held_out, seed=seed)
        return learn_mce(part, per_document, per_document=True, held_out=held_out, seed=seed)

    def rank(system: str, training: Ints, held_out: Ints) -> tuple[LearntWeights, list[Ranking], float]:
        learnt = learn(system, training.tolist())
        scorer = learnt.scorer(topic_model)
        rankings = search(scorer, held_out.tolist())
        return learnt, rankings, evaluate(search(scorer, training.tolist()), system).mean("AP")

    def report_fold(number: int, system: str, fold: int) -> None:
        show(f"training {system}", number * n_folds + fold, len(systems) * n_folds)

    trials = []
    for number, system in enumerate(systems):
        ranked = cross_validate(folds, partial(rank, system), partial(report_fold, number, system))
        rankings = [ranking for _, held_out_rankings, _ in ranked for ranking in held_out_rankings]
        weights = tuple(learnt for learnt, _, _ in ranked)
        training_mean = float(np.mean([mean for _, _, mean in ranked]))
        trials.append(MixtureTrial(evaluate(rankings, system), weights, training_mean))
    baseline = BASELINE if BASELINE in systems else systems[0]
    report = compare_evaluations([trial.evaluation for trial in trials], baseline=baseline, seed=seed)
    return MixtureCrossValidation(tuple(trials), report, n_folds, seed, queries.skipped)


def _document_and_corpus(method: str, weight: float) -> LearntWeights:
    return LearntWeights(method, UNIGRAMS, np.array([weight, 1 - weight]))


def format_cross_validation(result: MixtureCrossValidation) -> str:
    """A text table, a row for each trial: held-out AP and nDCG@10, their differences from `fixed`, and training AP."""
    header = ["", *MEASURES, *(f"{name} against {BASELINE}" for name in MEASURES), "AP in training"]
    comparisons = {(each.name_a, each.measure): each for each in result.report.comparisons}
    rows = [header]
    for trial in result.trials:
        name, means = trial.evaluation.name, trial.evaluation.means
        row = [name, *(f"{means[measure]:.4f}" for measure in MEASURES)]
        for measure in MEASURES:
            each = comparisons.get((name, measure))
            if each is None:
                row.append("")
                continue
            p = each.p if each.p_corrected is None else each.p_corrected
            row.append(f"{each.difference:+.4f} p={p:.3f}{'*' * each.significant}")
        rows.append([*row, f"{trial.training:.4f}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) if not column else cell.rjust(width) for column, (cell, width) in enumerate(cells))
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    return "\n".join(line.rstrip() for line in lines)
