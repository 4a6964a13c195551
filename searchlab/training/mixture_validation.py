"""Do trained weights of a mixture serve queries that they were not trained with?

Queries are dealt into folds; each fold is searched with what was learnt from the others, and all of them together are
evaluated as one run. The ways to find weights stand side by side:

    untrained          document and corpus, half and half
    fixed              document and corpus, by the best of a grid of weights on the training folds (AP)
    em, mce            trained weights, the same for all documents
    mce-per-document   the same, with weights of their own for documents that are relevant to a training query
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Report, compare
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.mixtures.em import EM
from searchlab.mixtures.mce import MCE
from searchlab.mixtures.setting_checks import require_number
from searchlab.mixtures.training_queries import TrainingQueries
from searchlab.mixtures.weight_training import Learnt, learn_em, learn_mce
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.batch import search_topics
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.execution.mixture_components import UNIGRAMS, TopicProbabilities
from searchlab.scorers.mixture import Mixture
from searchlab.types import Progress, no_progress

MEASURES = ("AP", "nDCG@10")
# The document's weight in the grid of fixed weights.
GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))
SYSTEMS = ("untrained", "fixed", "em", "mce", "mce-per-document")
BASELINE = "fixed"
DEPTH = 1000


@dataclass(frozen=True, eq=False)
class Trial:
    """One way to find weights: its evaluation on queries that it was not trained with, and the weights of each fold.

    `training` is the mean AP of the training queries, over the folds.
    """

    evaluation: Evaluation
    learnt: tuple[Learnt, ...]
    training: float


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """All ways side by side, and how sure it is that they differ from the best fixed weights."""

    trials: tuple[Trial, ...]
    report: Report
    n_folds: int
    seed: int
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rules(self) -> str:
        """By which rules was evaluated?"""
        return self.trials[0].evaluation.dialect.describe()

    def of(self, name: str) -> Trial:
        """A trial by its name."""
        return next(trial for trial in self.trials if trial.evaluation.name == name)


def deal(n_queries: int, n_folds: int, seed: int) -> list[list[int]]:
    """The numbers of the queries of each fold, ascending: shuffled, and dealt out one by one."""
    require_number("folds", n_folds, 2, 1000, whole=True)
    require_number("seed", seed, 0, 2**63 - 1, whole=True)
    if n_queries < n_folds:
        raise SettingError(f"{n_queries} queries can be trained with, expected at least {n_folds}, one for each fold")
    order = np.random.default_rng(seed).permutation(n_queries).tolist()
    return [sorted(order[fold::n_folds]) for fold in range(n_folds)]


def cross_validate(
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
) -> CrossValidation:
    """Cross-validate over the queries of `queries`, which were gathered from these topics and judgments."""
    by_qid = {topic.qid: topic for topic in topics}
    asked = [by_qid[qid] for qid in queries.qids]
    judged = {qid: qrels[qid] for qid in queries.qids}
    folds = deal(len(asked), n_folds, seed)
    show = progress or (no_progress)

    def search(scorer: Mixture, numbers: Iterable[int]) -> list[Ranking]:
        return list(search_topics(engine, [asked[number] for number in numbers], k=DEPTH, scorer=scorer))

    def measure(rankings: Iterable[Ranking], name: str) -> Evaluation:
        return evaluate_run(judged, rankings, list(MEASURES), dialect="trec", name=name)

    grid: dict[float, dict[str, float]] = {}
    for step, weight in enumerate(GRID):
        show("searching the grid", step, len(GRID))
        found = measure(search(Mixture(weight, 1 - weight), range(len(asked))), "grid")
        grid[weight] = dict(zip(found.qids, found.of("AP").tolist(), strict=True))

    def learn(system: str, taught: list[int]) -> Learnt:
        if system == "untrained":
            return _fixed(system, Mixture().document)
        if system == "fixed":
            qids = [asked[number].qid for number in taught]
            return _fixed(system, max(GRID, key=lambda weight: np.mean([grid[weight][qid] for qid in qids])))
        part = queries.take(taught)
        if system == "em":
            return learn_em(part, em)
        if system == "mce":
            return learn_mce(part, mce, held_out=held_out, seed=seed)
        return learn_mce(part, per_document, per_document=True, held_out=held_out, seed=seed)

    trials = []
    for number, system in enumerate(systems):
        rankings: list[Ranking] = []
        learnt: list[Learnt] = []
        training: list[float] = []
        for fold, chosen in enumerate(folds):
            show(f"training {system}", number * n_folds + fold, len(systems) * n_folds)
            taught = sorted({*range(len(asked))} - {*chosen})
            learnt.append(learn(system, taught))
            scorer = learnt[-1].scorer(topic_model)
            rankings += search(scorer, chosen)
            training.append(measure(search(scorer, taught), system).mean("AP"))
        trials.append(Trial(measure(rankings, system), tuple(learnt), float(np.mean(training))))
    baseline = BASELINE if BASELINE in systems else systems[0]
    report = compare([trial.evaluation for trial in trials], baseline=baseline, seed=seed)
    return CrossValidation(tuple(trials), report, n_folds, seed, queries.skipped)


def _fixed(method: str, weight: float) -> Learnt:
    return Learnt(method, UNIGRAMS, np.array([weight, 1 - weight]))


def as_table(found: CrossValidation) -> str:
    """A line for each way: AP and nDCG@10 of held-out queries, against the best fixed weights, and AP in training."""
    header = ["", *MEASURES, *(f"{name} against {BASELINE}" for name in MEASURES), "AP in training"]
    comparisons = {(each.name_a, each.measure): each for each in found.report.comparisons}
    rows = [header]
    for trial in found.trials:
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
