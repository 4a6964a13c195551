"""The experiment on OHSUMED of Cao et al. (SIGIR 2006, §6.3), on any collection with graded judgments.

The rows are the judged documents of each topic, with the seven features of Table 1. Topics are dealt into four folds;
Ranking SVM and the variants of RSVM-IR learn from three of them, choose C by cross-validation within these, and rank
the fourth. They are compared with BM25 and a language model (LMIR), whose settings are tuned on the training topics of
the first trial and applied to all, as in the paper.

The data of the paper itself are in LETOR 3.0, not as texts but as counts (`read_counted`).

Needed are judged documents of two grades: a pair (eq. 4) consists of documents of different grades. With exactly two
grades τ is one number, and RSVM-IR-Rank is RSVM with another C.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.errors import SettingError, SourceError
from searchlab.features.candidates import Candidates, judged, searched
from searchlab.features.catalogue import compute_features
from searchlab.features.counts import Counts, collect_counts
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.formulas.stream_formula import score_stream
from searchlab.features.letor.letor_files import read_letor
from searchlab.features.letor.meta_files import read_meta_files
from searchlab.records import Judgments, Topic
from searchlab.reproduction import retrieval_models
from searchlab.reproduction.letor import EQ_20, EQ_21, FoldData, RankerResult, reproduce
from searchlab.reproduction.paper_reports.figures import pair_counts
from searchlab.reproduction.retrieval_models import evaluate_feature
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.base import PostingScorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.training.from_table import require_different_grades
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe
from searchlab.training.training_set import DEPTH
from searchlab.types import Floats, Progress, no_progress

N_FOLDS = 4
FEATURES = "table1"
# LETOR's folder of features as they were computed; its file has the grades of all documents.
GRADES_FOLDER = "Feature-null"
RANKERS = ("rsvm", "rsvm-ir", "rsvm-ir-gd", "rsvm-ir-rank", "rsvm-ir-query")
# The settings that BM25 and the language model are tuned over; the defaults are among them.
GRIDS: Mapping[str, tuple[PostingScorer, ...]] = {
    retrieval_models.BM25: tuple(BM25(k1, b) for k1 in (0.6, 0.9, 1.2, 1.6, 2.0) for b in (0.3, 0.5, 0.75, 0.9)),
    retrieval_models.LMIR: tuple(Dirichlet(mu) for mu in (50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0)),
}


@dataclass(frozen=True, eq=False)
class JudgedDocuments:
    """The documents of each topic with their grades and the features of Table 1, and their scores by each scorer.

    `scores` has a row for each of a grid's scorers and a column for each row of the table. `n_unjudged` documents have
    no judgment, `n_missing` judged ones are not in the index, and `n_skipped` topics have no documents.
    """

    table: FeatureTable
    scores: Mapping[str, Floats]
    n_unjudged: int
    n_missing: int
    n_skipped: int

    @property
    def n_without_pairs(self) -> int:
        """How many topics have documents of one grade only: every ranking of them is equally good."""
        return sum(not n_pairs for n_pairs in pair_counts(self.table).values())

    @property
    def grades(self) -> dict[int, int]:
        """How many documents have each grade, the highest first."""
        grades = [] if self.table.grades is None else self.table.grades.tolist()
        return dict(sorted(Counter(grades).items(), reverse=True))


@dataclass(frozen=True, eq=False)
class OhsumedResult:
    """All systems on one collection: `results` by label, and BM25 and LMIR with their `tuned` settings."""

    name: str
    n_docs: int
    documents: JudgedDocuments
    data: FoldData
    results: Mapping[str, RankerResult]
    tuned: Mapping[str, PostingScorer]

    @property
    def by_ranker(self) -> dict[str, RankerResult]:
        """The results of BM25 and LMIR, and of rankers by their names without the recipe."""
        return {name if name in GRIDS else result.ranker: result for name, result in self.results.items()}

    @property
    def labels(self) -> dict[str, str]:
        """The names of rankers with the marks of their recipes, by ranker."""
        return dict(zip(self.by_ranker, self.results, strict=True))

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        measures = [*EQ_20, EQ_21]
        return {
            "collection": self.name,
            "documents": self.n_docs,
            "topics": self.documents.table.n_queries,
            "rows": self.documents.table.n_rows,
            "unjudged": self.documents.n_unjudged,
            "grades": {str(grade): n for grade, n in self.documents.grades.items()},
            "tuned": {model: vars(scorer) for model, scorer in self.tuned.items()},
            "systems": {
                label: {
                    "recipe": None if label in GRIDS else result.recipe.to_json(),
                    **{measure: result.mean(measure) for measure in measures},
                    "folds": [
                        {
                            "fold": fold.fold,
                            **{measure: float(np.mean(fold.per_query[measure])) for measure in measures},
                            "chosen": list(fold.chosen),
                        }
                        for fold in result.folds
                    ],
                }
                for label, result in self.results.items()
            },
        }


def gather_judged(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    *,
    n_unjudged: int = 0,
    seed: int = 0,
    progress: Progress = no_progress,
) -> JudgedDocuments:
    """The judged documents of each topic that has any, with features and scores.

    Many collections list relevant documents only. With `n_unjudged`, that many documents without a judgment are added
    to each topic, and count as not relevant: they are drawn at random from what BM25 and the language model find.
    """
    if isinstance(n_unjudged, bool) or not isinstance(n_unjudged, int) or n_unjudged < 0:
        raise SettingError(f"unjudged is {n_unjudged!r}, expected a whole number from 0")
    listed = list(topics)
    wanted = {topic.qid: qrels[topic.qid] for topic in listed if qrels.get(topic.qid)}
    candidates = found = judged(engine, wanted)
    if n_unjudged:
        with_judgments = [topic for topic in listed if topic.qid in wanted]
        candidates = found.union(_draw_unjudged(engine, with_judgments, wanted, n_unjudged, seed))
    used = [topic for topic in listed if len(candidates.of(topic.qid))]
    if not used:
        raise SettingError(f"none of {len(listed)} topics has a judged document in the index, expected at least one")
    table = extract(engine, used, candidates, FEATURES, qrels=qrels, progress=progress)
    _require_two_grades(table)
    counts = [_count(engine, topic, candidates.of(topic.qid)) for topic in used]
    scores = _score(counts)
    added = table.n_rows - sum(len(found.of(topic.qid)) for topic in used)
    return JudgedDocuments(table, scores, added, candidates.only(used).n_missing, len(listed) - len(used))


def read_counted(folder: Path) -> tuple[JudgedDocuments, int]:
    """The judged documents of LETOR's OHSUMED, from the counts in its Meta files, and the size of the collection.

    Features and scores are computed by the same functions as from an index, on title and abstract together.
    """
    meta = read_meta_files(folder)
    files = sorted(folder.glob(f"{GRADES_FOLDER}/**/*.txt"))
    if len(files) != 1:
        raise SourceError(folder, f"expected one file of features with grades in {GRADES_FOLDER}, found {len(files)}")
    graded = read_letor(files[0])
    if graded.grades is None:
        raise SourceError(files[0], "expected a grade in each row, found none")
    pairs = zip(graded.qids.tolist(), graded.docnos.tolist(), strict=True)
    grades = dict(zip(pairs, graded.grades.tolist(), strict=True))
    rows = [(query.qid, docno) for query in meta.queries for docno in query.docnos]
    ungraded = [row for row in rows if row not in grades]
    if ungraded:
        qid, docno = ungraded[0]
        raise SourceError(files[0], f"expected a grade of document {docno} for query {qid}, found none")
    features = make_feature_set(FEATURES)
    table = FeatureTable(
        features.names,
        [qid for qid, _ in rows],
        [docno for _, docno in rows],
        np.concatenate([compute_features(features.features, query.counts) for query in meta.queries]),
        [grades[row] for row in rows],
    )
    _require_two_grades(table)
    return JudgedDocuments(table, _score([query.counts for query in meta.queries]), 0, 0, 0), meta.n_docs


def deal_trials(table: FeatureTable, n_folds: int = N_FOLDS, seed: int = 0) -> FoldData:
    """Trials of a cross-validation over queries: each fold is tested once, the others train; no validation sets."""
    query_of_row = np.repeat(np.arange(table.n_queries), np.diff(table.group_offsets))
    tested = [np.isin(query_of_row, fold) for fold in deal_folds(table.n_queries, n_folds, seed)]
    tables = tuple((table.rows(~rows), None, table.rows(rows)) for rows in tested)
    for train, _, _ in tables:
        require_different_grades(train)
    return FoldData(tuple(f"trial {number}" for number in range(1, n_folds + 1)), tables)


def run_ohsumed(
    documents: JudgedDocuments,
    *,
    name: str,
    n_docs: int,
    recipe: Recipe,
    n_jobs: int | None = None,
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
) -> OhsumedResult:
    """Run all systems by one recipe, which has the measure that C is chosen by, and the seed of the folds."""
    data = deal_trials(documents.table, seed=recipe.seed)
    results: dict[str, RankerResult] = {}
    tuned: dict[str, PostingScorer] = {}
    for model, grid in GRIDS.items():
        chosen = _tune(documents, data, model, recipe)
        tuned[model] = grid[chosen]
        scored = documents.table.with_values(documents.scores[model][chosen][:, None], [model])
        results[model] = evaluate_feature(deal_trials(scored, seed=recipe.seed), model, recipe)
    trained = reproduce(
        data, RANKERS, recipe=recipe, recipe_names=[recipe.name], n_jobs=n_jobs, cluster=cluster, progress=progress
    )
    return OhsumedResult(name, n_docs, documents, data, results | trained, tuned)


def _draw_unjudged(
    engine: SearchEngine, topics: Sequence[Topic], qrels: Judgments, n_drawn: int, seed: int
) -> Candidates:
    """For each topic `n_drawn` documents at random of those that the searches find and nobody has judged.

    The best of them would not do: a model would learn that documents with high scores are not relevant.
    """
    by_bm25, by_lmir = (searched(Pipeline(engine, scorer), topics, k=DEPTH) for scorer in (BM25(), Dirichlet()))
    rng = np.random.default_rng(seed)
    drawn = {}
    for qid, documents in by_bm25.union(by_lmir).documents.items():
        rows = [row for row, docno in enumerate(documents.docnos) if docno not in qrels[qid]]
        drawn[qid] = documents.take(sorted(rng.permutation(rows)[:n_drawn].tolist()))
    return Candidates(drawn)


def _count(engine: SearchEngine, topic: Topic, documents: DocumentList) -> Counts:
    terms = Counter(engine.snapshot.analyzer.terms(topic.text))
    return collect_counts(engine, terms, documents.shards, documents.docs, ["both"])


def _score(queries: Sequence[Counts]) -> dict[str, Floats]:
    """The scores of all documents by each scorer of the grids: equal to those of a search, without searching."""
    known = [counts.streams["both"].known for counts in queries]
    return {
        model: np.array([np.concatenate([score_stream(counts, scorer) for counts in known]) for scorer in grid])
        for model, grid in GRIDS.items()
    }


def _tune(documents: JudgedDocuments, data: FoldData, model: str, recipe: Recipe) -> int:
    """The number of the scorer that is best on the training queries of the first trial; of equal ones the first."""
    train, _, _ = data.tables[0]
    rows = np.isin(documents.table.qids, train.query_ids)
    measure = recipe.validation_measure()
    return int(np.argmax([np.mean(measure.per_query(train, scores[rows])) for scores in documents.scores[model]]))


def _require_two_grades(table: FeatureTable) -> None:
    """Refuse judgments that make no pairs."""
    try:
        require_different_grades(table)
    except SettingError:
        grades = [] if table.grades is None else table.grades.tolist()
        found = ", ".join(map(str, sorted(set(grades))))
        raise SettingError(
            f"the judged documents of each topic have one grade only ({found}), expected two grades to make pairs of; "
            "--unjudged N adds documents that are not judged as not relevant"
        ) from None
