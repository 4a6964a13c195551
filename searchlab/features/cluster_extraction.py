"""Features on a cluster: the candidates of some topics are a task, and the numbers are those of one machine."""

from __future__ import annotations

from collections.abc import Sequence

from searchlab.cluster.cluster import Cluster
from searchlab.features.catalogue import Feature
from searchlab.features.extraction import CandidateTopic, extract_topics
from searchlab.features.feature_sets import make_feature_set
from searchlab.features.user_defined.external_features import ExternalFeature
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.retrieval.composition.cluster_batch import run_on_parts
from searchlab.retrieval.engine import SearchEngine
from searchlab.types import Array, Progress

# A feature by its name, unless it has scores that only the client knows.
SentFeature = str | ExternalFeature


def extract_on_cluster(
    cluster: Cluster,
    engine: SearchEngine,
    topics: Sequence[CandidateTopic],
    features: Sequence[Feature],
    progress: Progress,
) -> list[Array]:
    """The features of each topic's candidates: a row for each, a column for each feature."""
    sent = [feature if isinstance(feature, ExternalFeature) else feature.name for feature in features]
    with cluster:
        cluster.check_contents([engine.snapshot.folder / MANIFEST])
        blocks = run_on_parts(cluster, extract_part, topics, lambda part: (engine, part, sent), "extracting", progress)
    return [block for part in blocks for block in part]


def extract_part(
    engine: SearchEngine, topics: Sequence[CandidateTopic], features: Sequence[SentFeature]
) -> list[Array]:
    """The features of some topics, in a worker."""
    return extract_topics(engine, topics, make_feature_set(features).features)
