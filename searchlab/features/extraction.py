"""Feature extraction: a table of the features of each topic's candidates.

Topic by topic, counts and measurements are taken for all candidates at once, and every feature is computed from them.
Only what the chosen features need is done: without features that need them, nothing is searched, no text is read, and
no semantic space or latent topics are opened. A search that found the candidates is reused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from searchlab.blas_threads import one_thread
from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.corpus.values.conversion import make_grades, make_topics
from searchlab.errors import DuplicateError, SettingError, unknown_name
from searchlab.features.candidates import Candidates, make_candidates
from searchlab.features.catalogue import Feature, compute_features
from searchlab.features.counts import looked_up
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.formulas.measured_features import NEIGHBOUR_FEATURES
from searchlab.features.measuring.suppliers import READINGS, SUPPLIERS, open_model, open_space
from searchlab.features.query_context import QueryContext, Space, TopicSpace
from searchlab.features.user_defined.external_features import require_scores
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline
from searchlab.retrieval.composition.topic_batch import search_numbered
from searchlab.retrieval.distributed.distributed_engine import divide_shards_of
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.document_reading import DocumentReading
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import PipelineSearch
from searchlab.types import Array, Progress, no_progress

NO_SEARCHES: Mapping[str, PipelineSearch] = {}
# What to do with unjudged candidates: give them the grade 0, or leave them out.
UNJUDGED = ("zero", "drop")


def extract(
    engine: SearchEngine,
    topics: Any,
    candidates: Any,
    features: str | Path | Iterable[str | Feature] | FeatureSet,
    *,
    qrels: Any = None,
    unjudged: str = "zero",
    strict: bool = False,
    cluster: Cluster | str | None = None,
    divide: str = "auto",
    progress: Progress = no_progress,
    space: Space | None = None,
    topic_model: TopicSpace | None = None,
) -> FeatureTable:
    """The features of each topic's candidates, in the order of topics and candidates.

    Topics and judgments are anything that `make_topics` and `make_qrels` take; candidates are a pipeline, which
    searches for the topics, a Run, judgments, a dict {qid: [docno]}, or `Candidates`.
    `features` is a set or its name, a TOML file, or several sets and features, as in "semantic,field.year". Grades come
    from `qrels`; candidates that have none are graded 0 or dropped, as `unjudged` says. `strict` refuses candidates
    that the index does not hold, which are left out otherwise. With a `cluster`, or its address, its workers compute,
    each for some of the topics, or each reads its shards' documents for all of them, as `divide` says (see
    `BasePipeline.run`); the features are the same, to the last bit. The semantic space and the topic model are opened
    if they are needed and not given.
    """
    wanted = make_feature_set(features).features
    topics, qrels = make_topics(topics), None if qrels is None else make_grades(qrels)
    if unjudged not in UNJUDGED:
        raise unknown_name("way with unjudged documents", unjudged, UNJUDGED)
    with (
        nullcontext() if cluster is None else as_cluster(cluster) as connected,
        divide_shards_of(engine, connected, divide) as divided,
    ):
        if divided is not engine and isinstance(candidates, BasePipeline):
            candidates = candidates.over(divided)
        on_workers = None if divided.is_distributed else connected
        candidates = make_candidates(divided, topics, candidates, on_workers, progress)
        _check_candidates(divided, topics, candidates, wanted, strict=strict)
        found = [CandidateTopic(topic, candidates.of(topic.qid)) for topic in topics]
        if qrels is not None and unjudged == "drop":
            found = [each.only(qrels.get(each.topic.qid, {})) for each in found]
        if on_workers is None:
            blocks = extract_topics(divided, found, wanted, candidates.searches, space, topic_model, progress)
        else:
            from searchlab.features.cluster_extraction import extract_on_cluster

            blocks = extract_on_cluster(on_workers, engine, found, wanted, progress)
    grades = None
    if qrels is not None:
        judged = [(qrels.get(each.topic.qid, {}), each.documents.docnos) for each in found]
        grades = [graded.get(docno, 0) for graded, docnos in judged for docno in docnos]
    table = FeatureTable(
        [feature.name for feature in wanted],
        [each.topic.qid for each in found for _ in each.documents.docnos],
        [docno for each in found for docno in each.documents.docnos],
        np.concatenate([np.zeros((0, len(wanted))), *blocks]),
        grades,
    )
    require_scores(table)
    return table


def _check_candidates(
    engine: SearchEngine, topics: Sequence[Topic], candidates: Candidates, features: Sequence[Feature], *, strict: bool
) -> None:
    """Raise an error unless there are candidates, and the index has what the features need."""
    if strict and candidates.only(topics).n_missing:
        raise SettingError(candidates.only(topics).describe_missing())
    _check_topics(topics, candidates)
    for feature in features:
        feature.check(engine)


class CandidateTopic(NamedTuple):
    """A topic and the documents whose features are computed."""

    topic: Topic
    documents: DocumentList

    def only(self, docnos: Collection[str]) -> CandidateTopic:
        """The topic with those of its documents that are named."""
        rows = [row for row, docno in enumerate(self.documents.docnos) if docno in docnos]
        return CandidateTopic(self.topic, self.documents.take(rows))


def extract_topics(
    engine: SearchEngine,
    topics: Sequence[CandidateTopic],
    features: Sequence[Feature],
    searches: Mapping[str, PipelineSearch] = NO_SEARCHES,
    space: Space | None = None,
    topic_model: TopicSpace | None = None,
    progress: Progress = no_progress,
) -> list[Array]:
    """The features of each topic's candidates, perhaps none; what the features need is opened, if it is not given."""
    if space is None and any(feature.needs == "semantic" for feature in features):
        space = open_space(engine)
    if topic_model is None and any(feature.needs == "topics" for feature in features):
        topic_model = open_model(engine)

    def extract_topic(number: int) -> Array:
        topic, documents = topics[number]
        if not len(documents):
            return np.zeros((0, len(features)))
        search = searches.get(topic.qid)
        query = QueryContext(engine, topic.text, documents, space, topic_model, search, topic.qid)
        return extract_query(query, features)

    return search_numbered(
        extract_topic,
        len(topics),
        jobs=engine.topics_at_a_time,
        progress=progress,
        stop=engine.interrupt,
        stage="extracting",
    )


def _check_topics(topics: Sequence[Topic], candidates: Candidates) -> None:
    for qid, number in Counter(topic.qid for topic in topics).items():
        if number > 1:
            location = next(topic.location for topic in reversed(topics) if topic.qid == qid)
            raise DuplicateError(location or "topics", f"topic {qid} occurs {number} times, expected once")
    if len(candidates.without_any(topics)) == len(topics):
        served = ", ".join(qid for qid, documents in candidates.documents.items() if len(documents))
        raise SettingError(
            f"none of {len(topics)} topics has a candidate in the index; there are candidates for: "
            f"{served[:80] or 'no topic'}"
        )


def extract_query(query: QueryContext, features: Sequence[Feature]) -> Array:
    """The features of one query's candidates: a row for each, a column for each feature."""
    counted = {stream for feature in features for stream in feature.counted}
    wanted_of = {
        needs: names
        for needs in SUPPLIERS
        if (names := [feature.name for feature in features if feature.needs == needs])
    }
    # The same numbers on every machine, whatever the number of its cores.
    with query.engine.snapshot.report_damage(), one_thread():
        _read_together(query, counted, wanted_of)
        counts = query.counts.collect(query.terms, counted)
        measured: dict[str, Array] = {}
        for needs, wanted in wanted_of.items():
            measured |= SUPPLIERS[needs](query, wanted)
        with np.errstate(divide="ignore", invalid="ignore"):
            measured |= {feature.name: feature.measure(query) for feature in features if feature.measure is not None}
    return compute_features(features, replace(counts, measured=measured))


def _read_together(query: QueryContext, counted: Collection[str], wanted_of: Mapping[str, Sequence[str]]) -> None:
    """Read at once what features need of the candidates: other processes, which may have them, are asked once."""
    neighbours = {NEIGHBOUR_FEATURES[name].of for name in wanted_of.get("semantic", ()) if name in NEIGHBOUR_FEATURES}
    streams = {*counted, *(["both"] if neighbours or not {"rm3", "topics"}.isdisjoint(wanted_of) else [])}
    terms = [(stream, term) for stream in looked_up(streams) for term in query.terms]
    if "rm3" in wanted_of or "rm3" in neighbours:
        terms += [("both", term.text) for term in query.feedback.expanded_query.terms]
    counts = query.counts.missing(terms, streams)
    readings: list[DocumentReading[Any]] = [
        reading
        for needs, list_readings in READINGS.items()
        if needs in wanted_of
        for reading in list_readings(query, wanted_of[needs])
    ]
    if not counts.is_empty:
        readings.append(counts)
    if readings:
        query.reader.read_together(readings)
    query.counts.learn(counts)
