"""Training sets: the features of the candidates of judged topics, and the rankings that a model is compared with.

Candidates of each topic are found by the first stage, and their features computed; documents without a judgment count
as not relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.errors import SettingError
from searchlab.features.candidates import Candidates
from searchlab.features.catalogue import Feature
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.prerequisites import build_prerequisites
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.composition.cluster_batch import run_on_parts
from searchlab.retrieval.composition.topic_batch import STAGE, search_numbered
from searchlab.retrieval.distributed.distributed_engine import divide_shards_of
from searchlab.retrieval.distributed.shard_division import TOPICS
from searchlab.retrieval.document_list import DocumentList, best_first
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import PipelineSearch, tail_scores
from searchlab.retrieval.results import Hits
from searchlab.training.cross_validation import MIN_QUERIES
from searchlab.types import Floats, Progress, no_progress

# The depth of the rankings that are compared.
DEPTH = 1000
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
    cluster: Cluster | str | None = None,
    divide: str = "auto",
) -> TrainingSet:
    """Find candidates and compute their features, perhaps on a cluster, as `divide` says (see `BasePipeline.run`).

    Topics without a relevant document are skipped.

    Candidates, baselines and features share the searches: two a topic, or one without RM3.
    """
    topics = list(topics)
    useful = useful_topics(topics, qrels)
    feature_set = make_feature_set(features)
    build_prerequisites(engine, feature_set, progress, cluster)
    with (
        nullcontext() if cluster is None else as_cluster(cluster) as connected,
        divide_shards_of(engine, connected, divide) as divided,
    ):
        searches: dict[str, PipelineSearch] = {}
        if connected is None or divided.is_distributed:
            connected = None
            pipeline = first_stage.pipeline(divided)
            searches = {topic.qid: pipeline.start(topic.text) for topic in useful}

            def find(number: int) -> FoundCandidates:
                topic = useful[number]
                return _find_candidates(searches[topic.qid], topic, first_stage)

            jobs, stop = divided.topics_at_a_time, divided.interrupt
            found = search_numbered(find, len(useful), jobs=jobs, progress=progress, stop=stop)
        else:
            found = _search_on_cluster(connected, engine, useful, first_stage, progress)
        documents = {topic.qid: each.documents for topic, each in zip(useful, found, strict=True)}
        candidates = Candidates(documents, searches=searches)
        table = extract(
            divided, useful, candidates, feature_set, qrels=qrels, cluster=connected, divide=TOPICS, progress=progress
        )
    names = [_scorer_label(first_stage), *([EXPANDED] if first_stage.expanded else [])]
    baselines = {name: [each.rankings[number] for each in found] for number, name in enumerate(names)}
    return TrainingSet(tuple(useful), qrels, table, baselines, len(topics) - len(useful))


class FoundCandidates(NamedTuple):
    """The rankings of a topic by the first stage, without and with expansion, and its candidates."""

    rankings: tuple[Ranking, ...]
    documents: DocumentList


def _find_candidates(search: PipelineSearch, topic: Topic, first_stage: FirstStage) -> FoundCandidates:
    depth = max(DEPTH, first_stage.k)
    hits = [search.first(depth), *([search.expanded(depth)] if first_stage.expanded else [])]
    return FoundCandidates(tuple(_rank(topic.qid, each) for each in hits), search.candidates(first_stage.k))


def find_candidates(engine: SearchEngine, topics: Sequence[Topic], first_stage: FirstStage) -> list[FoundCandidates]:
    """The candidates of some topics, in a worker."""
    pipeline = first_stage.pipeline(engine)
    return [_find_candidates(pipeline.start(topic.text), topic, first_stage) for topic in topics]


def _search_on_cluster(
    cluster: Cluster, engine: SearchEngine, topics: Sequence[Topic], first_stage: FirstStage, progress: Progress
) -> list[FoundCandidates]:
    """The candidates of topics, which are divided among the workers."""
    with cluster:
        cluster.check_contents([engine.snapshot.folder / MANIFEST])
        found = run_on_parts(
            cluster, find_candidates, topics, lambda part: (engine, part, first_stage), STAGE, progress
        )
    return [each for part in found for each in part]


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
