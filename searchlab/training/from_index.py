"""How is a model trained straight from an index, topics and judgments, and does it beat the search it re-ranks?

Candidates of each topic are found by the first stage, their features computed, documents without a judgment taken for
not relevant. Cross-validation over topics makes the rankings that the model would give for topics it has not seen; they
are compared with those of the first stage: of its scorer, and of RM3 if that takes part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_values
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.features.candidates import Candidates
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.prerequisites import make_what_is_missing
from searchlab.rankers.bundle import Bundle, analysis_record
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.reranking import best_first, tail_scores
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.cross_validation import MIN_QUERIES, CrossValidationResult, cross_validate_table
from searchlab.training.from_table import make_bundle, require_different_grades
from searchlab.training.recipe import Recipe
from searchlab.types import Floats, Progress, no_progress

# How long the rankings are that are compared, and by what beside the measure that is chosen by.
DEPTH = 1000
MEASURES = ("nDCG@10", "AP", "P@10")
# What suits candidates of a search. A document without any word of the query has no BM25: 0 tells it from the worst
# match of the query, which the query's minimum would not. Bends were not found to help here.
USUAL: Mapping[str, Any] = {"filling": "letor", "bends": "none", "measure": "nDCG@10", "dialect": "trec"}


@dataclass(frozen=True, eq=False)
class Task:
    """Topics that can be learnt from, their candidates with features, and what the first stage alone gives."""

    topics: tuple[Topic, ...]
    qrels: Judgments
    table: FeatureTable
    candidates: Candidates
    baselines: Mapping[str, Sequence[Ranking]]
    n_skipped: int

    def reranked(self, scores: Floats) -> list[Ranking]:
        """The rankings by these scores of the table's rows; what the first search found beyond follows."""
        rankings = []
        first = {ranking.qid: ranking for ranking in next(iter(self.baselines.values()))}
        rows_of = dict(self.table.queries())
        for topic in self.topics:
            rows = rows_of.get(topic.qid, slice(0, 0))
            docnos, own = self.table.docnos[rows].tolist(), scores[rows]
            order = best_first(own, docnos)
            known = set(docnos)
            tail = [docno for docno in first[topic.qid].docnos if docno not in known]
            ranked = [docnos[place] for place in order.tolist()] + tail
            values = own[order].tolist() + tail_scores(own[order], len(tail)).tolist()
            rankings.append(Ranking(topic.qid, ranked[:DEPTH], values[:DEPTH]))
        return rankings


def prepare(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    features: str | FeatureSet,
    first_stage: FirstStage,
    progress: Progress = no_progress,
) -> Task:
    """Find candidates, compute features; topics without a relevant document teach nothing and are skipped."""
    asked = list(topics)
    useful = [topic for topic in asked if any(grade > 0 for grade in qrels.get(topic.qid, {}).values())]
    if len(useful) < MIN_QUERIES:
        raise SettingError(
            f"{len(useful)} of {len(asked)} topics have a relevant document, expected at least {MIN_QUERIES}"
        )
    chosen = make_feature_set(features)
    make_what_is_missing(engine, chosen, progress)
    found = {}
    baselines: dict[str, list[Ranking]] = {_name(first_stage): []}
    if first_stage.expanded:
        baselines["RM3"] = []
    scorer = first_stage.make_scorer()
    for number, topic in enumerate(useful):
        progress("searching", number, len(useful))
        query = engine.parse(topic.text, scorer)
        found[topic.qid] = first_stage.of(engine, query)
        queries = [query, first_stage.expand(engine, query)] if first_stage.expanded else [query]
        for name, asked_for in zip(baselines, queries, strict=True):
            hits = engine.search(asked_for, k=DEPTH, scorer=scorer)
            baselines[name].append(Ranking(topic.qid, hits.docnos, hits.scores.tolist()))
    candidates = Candidates(found)
    table = extract(engine, useful, candidates, chosen, qrels=qrels, progress=progress)
    return Task(tuple(useful), qrels, table, candidates, baselines, len(asked) - len(useful))


def _name(first_stage: FirstStage) -> str:
    return {"bm25": "BM25"}.get(first_stage.scorer, first_stage.scorer)


def train_from_index(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    features: str | FeatureSet = "semantic",
    *,
    recipe: Recipe | None = None,
    first_stage: FirstStage | None = None,
    source: str = "",
    progress: Progress = no_progress,
) -> Bundle:
    """A model for this index, with a trial against the search that it re-ranks."""
    own = first_stage or FirstStage()
    learnt = recipe or Recipe(**USUAL)
    task = prepare(engine, topics, qrels, features, own, progress)
    return train_task(engine, task, learnt, own, source=source, progress=progress)


def train_task(
    engine: SearchEngine, task: Task, recipe: Recipe, first_stage: FirstStage, *, source: str, progress: Progress
) -> Bundle:
    """The same, of what was prepared before."""
    require_different_grades(task.table)
    measure = recipe.validation_measure(task.qrels)
    trial = None
    if recipe.n_folds:
        recipe = replace(recipe, n_folds=min(recipe.n_folds, task.table.n_queries))
        scores = cross_validate_table(recipe, task.table, measure, progress)
        trial = compare_with_first_stage(recipe, task, scores)
    choice = recipe.learn(task.table, measure, None, progress)
    bundle = make_bundle(recipe, choice, task.table, None, measure, trial, source=source)
    analyser = analysis_record(engine.snapshot.manifest.settings)
    training = {
        **bundle.training,
        "index": {"name": engine.snapshot.folder.name, "n_docs": engine.snapshot.n_docs},
        "n_skipped_topics": task.n_skipped,
        "topics": {topic.qid: topic.text for topic in task.topics},
    }
    return replace(bundle, analyser=analyser, first_stage=first_stage, training=training)


def compare_with_first_stage(recipe: Recipe, task: Task, scores: Floats) -> CrossValidationResult:
    """What held-out topics say of the model and of the rankings that need no training."""
    measures = list(dict.fromkeys([recipe.validation_measure().name, *MEASURES]))
    qrels = {topic.qid: task.qrels[topic.qid] for topic in task.topics}
    runs = {recipe.ranker: task.reranked(scores)} | dict(task.baselines)
    found = {
        name: evaluate_run(qrels, run, measures, dialect=recipe.dialect, complete=True, name=name)
        for name, run in runs.items()
    }
    own, *others = found.values()
    comparisons = tuple(
        compare_values(
            own.name,
            own.values_of(measures[0]),
            other.name,
            other.values_of(measures[0]),
            measures[0],
            seed=recipe.seed,
        )
        for other in others
    )
    means = {name: {measure: each.mean(measure) for measure in measures} for name, each in found.items()}
    n_judgments = sum(map(len, qrels.values()))
    return CrossValidationResult(
        recipe.ranker, own.n_topics, recipe.n_folds, recipe.dialect, means, comparisons, n_judgments
    )
