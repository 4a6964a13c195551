"""Training from an index, topics and judgments, with a test of whether the model beats the search that it re-ranks.

Candidates of each topic are found by the first stage, and their features computed; documents without a judgment count
as not relevant. Cross-validation over topics gives the rankings that the model would make for topics it has not seen.
They are compared with those of the first stage: of its scorer, and of RM3 if it expands queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from searchlab.corpus.values.conversion import make_qrels, make_topics
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_values
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.features.candidates import Candidates
from searchlab.features.catalogue import Feature
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import DEFAULT_SET, FeatureSet, make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.prerequisites import build_prerequisites
from searchlab.rankers.bundle import Bundle, analysis_record
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.document_list import DocumentList, best_first
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import PipelineSearch, tail_scores
from searchlab.retrieval.results import Hits
from searchlab.training.cross_validation import MIN_QUERIES, CrossValidationResult, cross_validate_table
from searchlab.training.from_table import make_bundle, require_different_grades
from searchlab.training.recipe import Recipe, choose_recipe
from searchlab.types import Floats, Progress, no_progress

# The depth of the rankings that are compared, and the measures beside the one that settings are chosen by.
DEPTH = 1000
MEASURES = ("nDCG@10", "AP", "P@10")
EXPANDED = "RM3"

# Features as a caller may give them (see `make_feature_set`).
Features = str | Path | Iterable[str | Feature] | FeatureSet


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Topics with a relevant document, the features of their candidates, and the rankings of the first stage alone.

    `baselines` are those rankings by name, the first search before RM3; `n_skipped` topics have no relevant document.
    """

    topics: tuple[Topic, ...]
    qrels: Judgments
    table: FeatureTable
    baselines: Mapping[str, Sequence[Ranking]]
    n_skipped: int

    def rerank(self, scores: Floats) -> list[Ranking]:
        """The rankings by these scores of the table's rows, followed by what the first search found beyond them."""
        rankings = []
        first = {ranking.qid: ranking for ranking in next(iter(self.baselines.values()))}
        rows_of = dict(self.table.queries())
        for topic in self.topics:
            rows = rows_of.get(topic.qid, slice(0, 0))
            docnos, unordered = self.table.docnos[rows].tolist(), scores[rows]
            order = best_first(unordered, docnos)
            known = set(docnos)
            tail = [docno for docno in first[topic.qid].docnos if docno not in known]
            ranked = [docnos[row] for row in order.tolist()] + tail
            values = unordered[order].tolist() + tail_scores(unordered[order], len(tail)).tolist()
            rankings.append(Ranking(topic.qid, ranked[:DEPTH], values[:DEPTH]))
        return rankings


def prepare_training(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    features: Features,
    first_stage: FirstStage,
    progress: Progress = no_progress,
) -> TrainingSet:
    """Find candidates and compute their features; topics without a relevant document are skipped.

    Candidates, baselines and features share the searches: two a topic, or one without RM3.
    """
    topics = list(topics)
    useful = useful_topics(topics, qrels)
    feature_set = make_feature_set(features)
    build_prerequisites(engine, feature_set, progress)
    pipeline = first_stage.pipeline(engine)
    searches: dict[str, PipelineSearch] = {}
    documents: dict[str, DocumentList] = {}
    baselines: dict[str, list[Ranking]] = {_scorer_label(first_stage): []}
    if first_stage.expanded:
        baselines[EXPANDED] = []
    for number, topic in enumerate(useful):
        progress("searching", number, len(useful))
        search = searches[topic.qid] = pipeline.start(topic.text)
        depth = max(DEPTH, first_stage.k)
        for name, hits in zip(baselines, (search.first(depth), search.expanded(depth)), strict=False):
            baselines[name].append(_rank(topic.qid, hits))
        documents[topic.qid] = search.candidates(first_stage.k)
    candidates = Candidates(documents, searches=searches)
    table = extract(engine, useful, candidates, feature_set, qrels=qrels, progress=progress)
    return TrainingSet(tuple(useful), qrels, table, baselines, len(topics) - len(useful))


def useful_topics(topics: Sequence[Topic], qrels: Judgments) -> list[Topic]:
    """The topics with a relevant document: nothing can be learnt from others, and no system can do well on them."""
    useful = [topic for topic in topics if any(grade > 0 for grade in qrels.get(topic.qid, {}).values())]
    if len(useful) < MIN_QUERIES:
        raise SettingError(
            f"{len(useful)} of {len(topics)} topics have a relevant document, expected at least {MIN_QUERIES}"
        )
    return useful


def _scorer_label(first_stage: FirstStage) -> str:
    return {"bm25": "BM25"}.get(first_stage.scorer, first_stage.scorer)


def _rank(qid: str, hits: Hits) -> Ranking:
    return Ranking(qid, hits.docnos[:DEPTH], hits.scores[:DEPTH].tolist())


def train_from_index(
    engine: SearchEngine,
    topics: Any,
    qrels: Any,
    features: Features = DEFAULT_SET,
    *,
    ranker: Any = None,
    recipe: Recipe | None = None,
    first_stage: FirstStage | None = None,
    source: str = "",
    progress: Progress = no_progress,
) -> Bundle:
    """A model for this index, compared with the search that it re-ranks.

    Topics and judgments are anything that `make_topics` and `make_qrels` take: files, dicts, DataFrames, values. A
    `ranker`, by name or as an estimator, is trained by `Recipe.for_search`; a `recipe` decides on all of the training.
    """
    recipe = choose_recipe(ranker, recipe, Recipe.for_search)
    first_stage = first_stage or FirstStage()
    data = prepare_training(engine, make_topics(topics), make_qrels(qrels), features, first_stage, progress)
    return train_prepared(engine, data, recipe, first_stage, source=source, progress=progress)


def train_prepared(
    engine: SearchEngine,
    data: TrainingSet,
    recipe: Recipe,
    first_stage: FirstStage,
    *,
    source: str,
    progress: Progress,
) -> Bundle:
    """A model trained on prepared data."""
    require_different_grades(data.table)
    measure = recipe.validation_measure(data.qrels)
    result = None
    if recipe.n_folds:
        recipe = replace(recipe, n_folds=min(recipe.n_folds, data.table.n_queries))
        scores = cross_validate_table(recipe, data.table, measure, progress)
        result = compare_with_first_stage(recipe, data, scores)
    choice = recipe.learn(data.table, measure, None, progress)
    bundle = make_bundle(recipe, choice, data.table, None, measure, result, source=source)
    analyser = analysis_record(engine.snapshot.manifest.settings)
    training = {
        **bundle.training,
        "index": {"name": engine.snapshot.folder.name, "n_docs": engine.snapshot.n_docs},
        "n_skipped_topics": data.n_skipped,
        "topics": {topic.qid: topic.text for topic in data.topics},
    }
    return replace(bundle, analyser=analyser, first_stage=first_stage, training=training)


def compare_with_first_stage(recipe: Recipe, data: TrainingSet, scores: Floats) -> CrossValidationResult:
    """The measures of the model and of the baselines on held-out topics, and their differences."""
    measures = list(dict.fromkeys([recipe.validation_measure().name, *MEASURES]))
    qrels = {topic.qid: data.qrels[topic.qid] for topic in data.topics}
    runs = {recipe.label: data.rerank(scores)} | dict(data.baselines)
    evaluations = {
        name: evaluate_run(qrels, run, measures, dialect=recipe.dialect, complete=True, name=name, warn=False)
        for name, run in runs.items()
    }
    model, *others = evaluations.values()
    comparisons = tuple(
        compare_values(
            recipe.inline_label,
            model.values_of(measures[0]),
            other.name,
            other.values_of(measures[0]),
            measures[0],
            seed=recipe.seed,
        )
        for other in others
    )
    means = {name: {measure: each.mean(measure) for measure in measures} for name, each in evaluations.items()}
    n_judgments = sum(map(len, qrels.values()))
    return CrossValidationResult(
        recipe.label,
        model.n_topics,
        recipe.n_folds,
        recipe.dialect,
        means,
        comparisons,
        n_judgments,
        recipe.inline_label,
    )
