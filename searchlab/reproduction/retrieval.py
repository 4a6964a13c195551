"""How much do language models, feedback and learning gain over BM25 on a collection, as Figure 4 asks for OHSUMED?

Cao et al. (2006) set BM25 and language models beside Ranking SVMs. Here the same is done for any collection with topics
and judgments: searches that need no training, a mixture of language models with trained weights, and re-rankers with
each set of features. Whatever is trained is cross-validated over topics: a topic is ranked by what was learnt from
others. All are evaluated on the topics that have a relevant document, by trec_eval's rules, and compared with BM25.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, Report, compare
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.features.sets import FeatureSet, make_set
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.batch import search_topics
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.from_index import DEPTH, Task, prepare
from searchlab.training.from_table import Recipe, cross_validate, require_differences
from searchlab.training.mixture_validation import deal
from searchlab.types import Progress, no_progress

MEASURES = ("nDCG@10", "AP", "P@10")
BASELINE = "BM25"
# Language models by what they are called here, and by their scorers.
LANGUAGE_MODELS = {"Dirichlet": "dirichlet", "Jelinek–Mercer": "jm", "absolute discount": "absolute"}
EXPANDED = "RM3"
MIXTURE = "mixture, trained (MCE)"
FEATURES = ("table1", "letor45", "semantic")
RERANKERS = ("rsvm", "rsvm-ir")
# Fewer topics that a mixture can be trained with are not worth dealing into folds.
LEAST_TOPICS = 10


@dataclass(frozen=True)
class System:
    """One way to rank: what it is called, and, if it re-ranks, with which features and by which ranker."""

    name: str
    features: str | None = None
    ranker: str | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """All systems on one collection, the baseline first; `left_out` says which could not be tried, and why."""

    name: str
    n_docs: int
    n_topics: int
    n_skipped: int
    n_folds: int
    systems: tuple[System, ...]
    evaluations: tuple[Evaluation, ...]
    report: Report
    left_out: tuple[str, ...]

    def mean(self, system: str, measure: str) -> float:
        """The mean of a measure over topics."""
        return next(each for each in self.evaluations if each.name == system).mean(measure)

    def comparison(self, system: str, measure: str) -> Comparison | None:
        """How a system stands against BM25; None for BM25 itself."""
        for each in self.report.comparisons:
            if (each.name_a, each.measure) == (system, measure):
                return each
        return None

    def sentences(self) -> list[str]:
        """What was found of each system, by the first measure."""
        return [each.sentence() for each in self.report.comparisons if each.measure == MEASURES[0]]

    def verdict(self) -> str:
        """What is best, and how it stands against BM25, in a sentence."""
        best = max(self.systems, key=lambda system: self.mean(system.name, MEASURES[0]))
        found = self.comparison(best.name, MEASURES[0])
        if found is None:
            return (
                f"{self.name}: nothing is better than BM25 by {MEASURES[0]}, {self.mean(best.name, MEASURES[0]):.4f}."
            )
        return f"{self.name}: {found.sentence()}."


def run_retrieval(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    *,
    name: str,
    features: Sequence[str] = FEATURES,
    rankers: Sequence[str] = RERANKERS,
    n_folds: int = 5,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Outcome:
    """All systems on one collection."""
    recipes = make_recipes(rankers, n_folds, seed)
    sets = {each: make_set(each) for each in features}
    everything = make_set([feature for each in sets.values() for feature in each.names] or ["letor.both.bm25"])
    task = prepare(engine, topics, qrels, everything, FirstStage(), progress)
    judged = {topic.qid: qrels[topic.qid] for topic in task.topics}
    left_out: list[str] = []

    def rankings() -> Iterator[tuple[System, Sequence[Ranking]]]:
        yield System(BASELINE), task.baselines[BASELINE]
        for number, (label, scorer) in enumerate(LANGUAGE_MODELS.items()):
            progress("language models", number, len(LANGUAGE_MODELS))
            yield System(label), _search(engine, task.topics, scorer)
        yield System(EXPANDED), task.baselines[EXPANDED]
        try:
            mixed = search_with_mixture(engine, task.topics, judged, n_folds, seed, progress)
        except SettingError as error:
            left_out.append(f"{MIXTURE}: {error}")
        else:
            yield System(MIXTURE), mixed
        yield from _rerank(task, recipes, sets, progress)

    systems, evaluations = [], []
    for system, run in rankings():
        systems.append(system)
        evaluations.append(evaluate_run(judged, run, list(MEASURES), dialect="trec", complete=True, name=system.name))
    progress("comparing", 0, 1)
    return Outcome(
        name,
        engine.snapshot.n_docs,
        len(task.topics),
        task.n_skipped,
        min(n_folds, len(task.topics)),
        tuple(systems),
        tuple(evaluations),
        compare(evaluations, baseline=BASELINE, seed=seed),
        tuple(left_out),
    )


def make_recipes(rankers: Sequence[str], n_folds: int, seed: int) -> dict[str, Recipe]:
    """How each ranker is trained; unknown names and wrong numbers are refused before any work is done."""
    if n_folds < 2:
        raise SettingError(f"folds is {n_folds!r}, expected a whole number from 2")
    common = {"measure": MEASURES[0], "dialect": "trec", "bends": "none", "n_folds": n_folds, "seed": seed}
    return {ranker: Recipe(ranker, **common) for ranker in rankers}  # type: ignore[arg-type]


def _rerank(
    task: Task, recipes: Mapping[str, Recipe], sets: Mapping[str, FeatureSet], progress: Progress
) -> Iterator[tuple[System, list[Ranking]]]:
    """Every ranker with every set of features, each topic by what was learnt from the topics of other folds."""
    require_differences(task.table)
    total = len(recipes) * len(sets)
    for place, (label, chosen) in enumerate(sets.items()):
        own = replace(task, table=task.table.select(chosen.names))
        for number, (ranker, recipe) in enumerate(recipes.items()):
            done = place * len(recipes) + number
            fair = replace(recipe, n_folds=min(recipe.n_folds, own.table.n_queries))

            def show(stage: str, fold: int, folds: int, done: int = done) -> None:
                progress("re-ranking", done * folds + fold, total * folds)

            scores = cross_validate(fair, own.table, fair.judge(task.qrels), show)
            yield System(f"{ranker}, {label}", label, ranker), own.reranked(scores)


def search_with_mixture(
    engine: SearchEngine,
    topics: Sequence[Topic],
    qrels: Judgments,
    n_folds: int,
    seed: int,
    progress: Progress = no_progress,
) -> list[Ranking]:
    """Every topic by a mixture of document and corpus whose weights were learnt (MCE) from the topics of other folds.

    Topics that nothing can be learnt from are searched with weights of one half each.
    """
    from searchlab.mixtures.training_queries import gather
    from searchlab.mixtures.weight_training import learn_mce
    from searchlab.scorers.mixture import Mixture

    queries = gather(engine, topics, qrels, progress=progress)
    if len(queries.qids) < LEAST_TOPICS:
        raise SettingError(f"{len(queries.qids)} topics to train with, expected at least {LEAST_TOPICS}")
    by_qid = {topic.qid: topic for topic in topics}
    found: dict[str, Ranking] = {}
    folds = deal(len(queries.qids), n_folds, seed)
    for number, fold in enumerate(folds):
        progress("training a mixture", number, len(folds))
        taught = sorted({*range(len(queries.qids))} - {*fold})
        scorer = learn_mce(queries.take(taught), seed=seed).scorer()
        for ranking in search_topics(engine, [by_qid[queries.qids[place]] for place in fold], k=DEPTH, scorer=scorer):
            found[ranking.qid] = ranking
    others = [topic for topic in topics if topic.qid not in found]
    found |= {ranking.qid: ranking for ranking in search_topics(engine, others, k=DEPTH, scorer=Mixture())}
    return [found[topic.qid] for topic in topics]


def _search(engine: SearchEngine, topics: Sequence[Topic], scorer: str) -> list[Ranking]:
    from searchlab.scorers.registry import make_scorer

    return list(search_topics(engine, topics, k=DEPTH, scorer=make_scorer(scorer, {})))
