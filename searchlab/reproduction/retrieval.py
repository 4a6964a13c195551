"""Language models, RM3 and re-rankers compared with BM25 on a collection, as in Figure 4 of Cao et al. for OHSUMED.

Cao et al. (2006) compare BM25 and language models with Ranking SVMs. Here the same is done for any collection with
topics and judgments: searches that need no training, a mixture of language models with trained weights, and re-rankers
with each feature set. All training is cross-validated over topics: a topic is ranked by a model learnt from other
topics. All are evaluated on the topics that have a relevant document, by trec_eval's rules, and compared with BM25.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, ComparisonTable, compare_evaluations
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.distributed.distributed_engine import divide_shards_of
from searchlab.retrieval.distributed.shard_division import TOPICS
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import make_scorer
from searchlab.training.cross_validation import cross_validate_table
from searchlab.training.from_table import require_different_grades
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import PAPER, Recipe
from searchlab.training.training_set import DEPTH, TrainingSet, prepare_training
from searchlab.types import Progress, no_progress

if TYPE_CHECKING:
    from searchlab.mixtures.training_queries import TrainingQueries

MEASURES = ("nDCG@10", "AP", "P@10")
BASELINE = "BM25"
# The labels of language models, and their scorers.
LANGUAGE_MODELS = {"Dirichlet": "dirichlet", "Jelinek–Mercer": "jm", "absolute discount": "absolute"}
EXPANDED = "RM3"
MIXTURE = "mixture, trained (MCE)"
FEATURES = ("table1", "letor45", "semantic")
RERANKERS = ("rsvm", "rsvm-ir")
# Fewer topics to train a mixture with are not worth dealing into folds.
MIN_TOPICS = 10


@dataclass(frozen=True)
class RetrievalSystem:
    """A system that is compared: its name, and, if it re-ranks, its feature set and its ranker, with its recipe."""

    name: str
    features: str | None = None
    ranker: str | None = None


@dataclass(frozen=True, eq=False)
class RetrievalResult:
    """All systems on one collection, the baseline first; `left_out` lists those that could not be tried, and why."""

    name: str
    n_docs: int
    n_topics: int
    n_skipped: int
    n_folds: int
    systems: tuple[RetrievalSystem, ...]
    evaluations: tuple[Evaluation, ...]
    report: ComparisonTable
    left_out: tuple[str, ...]
    recipe: str = PAPER

    def mean(self, system: str, measure: str) -> float:
        """The mean of a measure over topics."""
        return next(each for each in self.evaluations if each.name == system).mean(measure)

    def comparison(self, system: str, measure: str) -> Comparison | None:
        """The comparison of a system with BM25; None for BM25 itself."""
        for each in self.report.comparisons:
            if (each.name_a, each.measure) == (system, measure):
                return each
        return None

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        systems: dict[str, Any] = {}
        for system in self.systems:
            compared = self.comparison(system.name, MEASURES[0])
            systems[system.name] = {
                "features": system.features,
                "ranker": system.ranker,
                **{measure: self.mean(system.name, measure) for measure in MEASURES},
                "against_bm25": None if compared is None else compared.sentence(),
            }
        sizes = {"documents": self.n_docs, "topics": self.n_topics, "skipped": self.n_skipped, "folds": self.n_folds}
        return {**sizes, "systems": systems, "left_out": list(self.left_out)}

    def sentences(self) -> list[str]:
        """The comparison of each system with BM25 by the first measure."""
        return [each.sentence() for each in self.report.comparisons if each.measure == MEASURES[0]]

    def verdict(self) -> str:
        """The best system and its comparison with BM25, in a sentence."""
        best = max(self.systems, key=lambda system: self.mean(system.name, MEASURES[0]))
        compared = self.comparison(best.name, MEASURES[0])
        if compared is None:
            return (
                f"{self.name}: nothing is better than BM25 by {MEASURES[0]}, {self.mean(best.name, MEASURES[0]):.4f}."
            )
        return f"{self.name}: {compared.sentence()}."


def run_retrieval(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    *,
    name: str,
    features: Sequence[str] = FEATURES,
    rankers: Sequence[str] = RERANKERS,
    recipe_name: str = PAPER,
    n_folds: int = 5,
    seed: int = 0,
    cluster: Cluster | None = None,
    divide: str = "auto",
    progress: Progress = no_progress,
) -> RetrievalResult:
    """Run and compare all systems on one collection; rankers are trained by the recipe of this name.

    A cluster may search, compute features, and learn from the folds; `divide` says what its workers divide (see
    `BasePipeline.run`).
    """
    recipes = make_reranker_recipes(rankers, n_folds, seed, recipe_name)
    sets = {each: make_feature_set(each) for each in features}
    all_features = make_feature_set(
        [feature for each in sets.values() for feature in each.names] or ["letor.both.bm25"]
    )
    data = prepare_training(engine, topics, qrels, all_features, FirstStage(), progress, cluster, divide)
    judged = {topic.qid: qrels[topic.qid] for topic in data.topics}
    left_out: list[str] = []

    def rankings() -> Iterator[tuple[RetrievalSystem, Sequence[Ranking]]]:
        yield RetrievalSystem(BASELINE), data.baselines[BASELINE]
        for number, (label, scorer) in enumerate(LANGUAGE_MODELS.items()):
            progress("language models", number, len(LANGUAGE_MODELS))
            pipeline = Pipeline(engine, make_scorer(scorer, {}))
            yield RetrievalSystem(label), list(pipeline.run(data.topics, k=DEPTH, cluster=cluster, divide=divide))
        yield RetrievalSystem(EXPANDED), data.baselines[EXPANDED]
        try:
            mixed = search_with_mixture(engine, data.topics, judged, n_folds, seed, progress, cluster, divide)
        except SettingError as error:
            left_out.append(f"{MIXTURE}: {error}")
        else:
            yield RetrievalSystem(MIXTURE), mixed
        yield from _rerank(data, recipes, sets, progress, cluster)

    systems, evaluations = [], []
    for system, run in rankings():
        systems.append(system)
        evaluations.append(
            evaluate_run(judged, run, list(MEASURES), dialect="trec", complete=True, name=system.name, warn=False)
        )
    progress("comparing", 0, 1)
    return RetrievalResult(
        name,
        engine.snapshot.n_docs,
        len(data.topics),
        data.n_skipped,
        min(n_folds, len(data.topics)),
        tuple(systems),
        tuple(evaluations),
        compare_evaluations(evaluations, baseline=BASELINE, seed=seed),
        tuple(left_out),
        recipe_name,
    )


def make_reranker_recipes(
    rankers: Sequence[str], n_folds: int, seed: int, recipe_name: str = PAPER, measure: str = MEASURES[0]
) -> list[Recipe]:
    """The recipe of each ranker; unknown names and wrong numbers are refused before any work is done."""
    if n_folds < 2:
        raise SettingError(f"folds is {n_folds!r}, expected a whole number from 2")
    common = Recipe(measure=measure, dialect="trec", n_folds=n_folds, seed=seed, name=recipe_name, from_search=True)
    return [replace(common, ranker=ranker) for ranker in rankers]


def _rerank(
    data: TrainingSet,
    recipes: Sequence[Recipe],
    sets: Mapping[str, FeatureSet],
    progress: Progress,
    cluster: Cluster | None,
) -> Iterator[tuple[RetrievalSystem, list[Ranking]]]:
    """Every ranker with every feature set; each topic is ranked by a model learnt from the topics of other folds."""
    require_different_grades(data.table)
    total = len(recipes) * len(sets)
    for n_sets_done, (label, feature_set) in enumerate(sets.items()):
        selected = replace(data, table=data.table.select(feature_set.names))
        for number, recipe in enumerate(recipes):
            done = n_sets_done * len(recipes) + number
            limited = replace(recipe, n_folds=min(recipe.n_folds, selected.table.n_queries))

            def show(stage: str, fold: int, folds: int, done: int = done) -> None:
                progress("re-ranking", done * folds + fold, total * folds)

            scores = cross_validate_table(
                limited, selected.table, limited.validation_measure(data.qrels), show, cluster
            )
            yield RetrievalSystem(f"{recipe.label}, {label}", label, recipe.label), selected.rerank(scores)


def search_with_mixture(
    engine: SearchEngine,
    topics: Sequence[Topic],
    qrels: Judgments,
    n_folds: int,
    seed: int,
    progress: Progress = no_progress,
    cluster: Cluster | None = None,
    divide: str = "auto",
) -> list[Ranking]:
    """Every topic ranked by a mixture of document and corpus with weights learnt (MCE) from the topics of other folds.

    Topics that cannot be used for training are searched with weights of one half each.
    """
    from searchlab.mixtures.training_queries import gather
    from searchlab.scorers.mixture import Mixture

    with divide_shards_of(engine, cluster, divide) as divided:
        queries = gather(divided, topics, qrels, progress=progress)
        if len(queries.qids) < MIN_TOPICS:
            raise SettingError(f"{len(queries.qids)} topics to train with, expected at least {MIN_TOPICS}")
        by_qid = {topic.qid: topic for topic in topics}
        folds = [fold.tolist() for fold in deal_folds(len(queries.qids), n_folds, seed)]
        calls = [(queries.take(sorted({*range(len(queries.qids))} - {*fold})), seed) for fold in folds]
        stage = "training a mixture"
        progress(stage, 0, len(folds))
        learnt = run_calls(learn_mixture, calls, cluster, lambda n_done: progress(stage, n_done, len(folds)))
        searches = [
            (scorer, [by_qid[queries.qids[row]] for row in fold]) for scorer, fold in zip(learnt, folds, strict=True)
        ]
        searches.append((Mixture(), [topic for topic in topics if topic.qid not in queries.qids]))
        place = None if divided.is_distributed else cluster
        rankings = {
            ranking.qid: ranking
            for scorer, wanted in searches
            for ranking in Pipeline(divided, scorer).run(wanted, k=DEPTH, cluster=place, divide=TOPICS)
        }
    return [rankings[topic.qid] for topic in topics]


def learn_mixture(queries: TrainingQueries, seed: int) -> Scorer:
    """A mixture with weights learnt from some topics, which may be a cluster's task."""
    from searchlab.mixtures.weight_training import learn_mce

    return learn_mce(queries, seed=seed).scorer()
