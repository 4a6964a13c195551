"""Prerequisites of features: the semantic space and the latent topics of an index, built if they are missing."""

from __future__ import annotations

from searchlab.cluster.cluster import Cluster
from searchlab.errors import IndexMissing
from searchlab.features.feature_sets import FeatureSet
from searchlab.retrieval.engine import SearchEngine
from searchlab.types import Progress


def lacks_space(engine: SearchEngine, features: FeatureSet) -> bool:
    """Whether features need the semantic space and the index has none."""
    if all(feature.needs != "semantic" for feature in features.features):
        return False
    from searchlab.features.latent_semantics.semantic_space import SemanticSpace

    try:
        SemanticSpace.open(engine.snapshot)
    except IndexMissing:
        return True
    return False


def build_prerequisites(
    engine: SearchEngine, features: FeatureSet, progress: Progress, cluster: Cluster | str | None = None
) -> list[str]:
    """Build the semantic space and the latent topics, perhaps on a cluster, if features need them and there are none.

    Returns remarks about those that are out of date.
    """
    needed = {feature.needs for feature in features.features}
    remarks = []
    if "semantic" in needed:
        from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space

        if lacks_space(engine, features):
            build_space(engine.snapshot.folder, cluster=cluster, progress=progress)
        else:
            space = SemanticSpace.open(engine.snapshot)
            if space.is_stale:
                newer = f"{space.staleness:.0%} of the documents are newer than the semantic space"
                remarks.append(f"{newer}; `searchlab semantic` rebuilds it")
    if "topics" in needed:
        from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model

        try:
            model = open_topic_model(engine.snapshot)
        except IndexMissing:
            build_topic_model(engine.snapshot.folder, cluster=cluster, progress=progress)
        else:
            if model.is_stale:
                newer = f"{model.staleness:.0%} of the documents are newer than the topics"
                remarks.append(f"{newer}; `searchlab topic-model --rebuild` finds new")
    return remarks
