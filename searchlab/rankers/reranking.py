"""Re-ranking: a trained model as the last step of a retrieval pipeline.

    pipeline = Reranker(engine, bundle).pipeline()
    hits = pipeline.search("t-cell lymphoma", k=10)

Candidates are found as in training, their features are computed and prepared as in training, and the model orders them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from searchlab.corpus.values.conversion import make_topics
from searchlab.errors import IndexLocked, SettingError, StoreError, TransferWarning, WriteFailed, warn_caller
from searchlab.features.extraction import extract_query
from searchlab.features.feature_sets import FeatureSet, look_up_feature, make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.prerequisites import build_prerequisites
from searchlab.features.query_context import QueryContext
from searchlab.features.user_defined.external_features import ExternalFeature
from searchlab.indexing.storage.columns import STREAMS
from searchlab.rankers.builtin import as_bundle
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BaseSearch
from searchlab.retrieval.document_list import DocumentList, best_first
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.retrieval.query.syntax_tree import Range, positive_leaves
from searchlab.retrieval.results import Explanation, Hits, Query
from searchlab.types import Array, Floats, Progress, no_progress

if TYPE_CHECKING:
    from searchlab.features.latent_semantics.semantic_space import SemanticSpace
    from searchlab.topic_models.topic_model import TopicModel


@dataclass(frozen=True, eq=False, init=False)
class Reranker:
    """A model, given as a `Bundle`, by the path of one or as `"builtin"`, for one index; one that does not fit is
    refused.

    A model with scores computed elsewhere needs them as `external`. The run of a pipeline knows its topics; for other
    searches, `topics` (anything that `make_topics` takes) are those whose texts will be searched.
    """

    engine: SearchEngine
    bundle: Bundle
    external: Sequence[ExternalFeature] = ()
    topics: Any = ()

    def __init__(
        self,
        engine: SearchEngine,
        bundle: Bundle | str | Path,
        external: Sequence[ExternalFeature] = (),
        topics: Any = (),
    ) -> None:
        if not isinstance(engine, SearchEngine):
            raise SettingError(
                f"found {type(engine).__name__} as engine, expected the engine first: Reranker(engine, model)"
            )
        if not isinstance(external, list | tuple) or not all(isinstance(each, ExternalFeature) for each in external):
            raise SettingError(
                f"external is {type(external).__name__}, expected a list of features made by external_feature"
            )
        values = {"engine": engine, "bundle": as_bundle(bundle), "external": external, "topics": topics}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes it again, with what it opens of the index."""
        return Reranker, (self.engine, self.bundle, self.external, self.topics)

    def _check(self) -> None:
        self.bundle.check_index(self.engine, [feature.name for feature in self.external])
        for feature in self._features.features:
            feature.check(self.engine)
        for external in self.external:
            if external.name not in self.bundle.features:
                raise SettingError(f"the model does not use {external.name}, expected only features that it uses")
            external.check_topics(make_topics(self.topics))
        _ = self._space, self._topic_model

    @property
    def first_stage(self) -> FirstStage:
        """How candidates are found."""
        return self.bundle.first_stage or FirstStage()

    def pipeline(self) -> Pipeline:
        """The pipeline of the model's first stage, with the model as its last step."""
        return self.first_stage.pipeline(self.engine, model=self)

    @property
    def n_candidates(self) -> int:
        """How many documents of each search are re-ranked."""
        return self.first_stage.k

    @property
    def candidates_label(self) -> str:
        """How candidates are found, in a few words."""
        return self.first_stage.label

    @property
    def label(self) -> str:
        """The ranker of the model."""
        return f"rerank({self.bundle.label})"

    def verify(self, pause: Callable[[], object] = lambda: None) -> None:
        """Verify what the model needs beside the index: a semantic space, a topic model (see `VectorArtefact`)."""
        for artefact in (self._space, self._topic_model):
            if artefact is not None:
                artefact.verify(pause)

    def over(self, engine: SearchEngine) -> Reranker:
        """The same model over another engine of the same index."""
        return Reranker(engine, self.bundle, self.external, self.topics)

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of those topics that the model was trained on, as far as its file records them."""
        known = self.bundle.known_topics(topics, self.engine.snapshot.folder.name, lambda: ())
        return {topic.qid for topic in known}

    def score_hits(self, search: BaseSearch, hits: Hits) -> ScoredTable:
        """Compute the features of the hits of a search, and score them."""
        return self.score(search, DocumentList.of(hits))

    def score(self, search: BaseSearch, documents: DocumentList) -> ScoredTable:
        """Compute the features of candidates, and score them."""
        values = np.zeros((0, len(self._features)))
        if len(documents):
            qid = self._find_qid(search) if self.external else None
            query = QueryContext(
                self.engine, _words(search.query), documents, self._space, self._topic_model, search.retrieval, qid
            )
            values = extract_query(query, self._features.features)
        table = FeatureTable(self._features.names, ["q"] * len(documents), documents.docnos, values)
        return ScoredTable(self.bundle, documents, table)

    def _find_qid(self, search: BaseSearch) -> str | None:
        """The qid of the topic that is searched, which must have scores; None for a query that is no topic."""
        if search.qid is None:
            return self._qids.get(search.query.text)
        for external in self.external:
            external.check_topics([Topic(search.qid, search.query.text)])
        return search.qid

    @cached_property
    def _features(self) -> FeatureSet:
        given = {feature.name: feature for feature in self.external}
        return make_feature_set([given.get(name, name) for name in self.bundle.features])

    @cached_property
    def _qids(self) -> dict[str, str]:
        return {topic.text: topic.qid for topic in make_topics(self.topics)}

    @cached_property
    def _space(self) -> SemanticSpace | None:
        if all(feature.needs != "semantic" for feature in self._features.features):
            return None
        from searchlab.features.latent_semantics.semantic_space import SemanticSpace

        return SemanticSpace.open(self.engine.snapshot)

    @cached_property
    def _topic_model(self) -> TopicModel | None:
        if all(feature.needs != "topics" for feature in self._features.features):
            return None
        from searchlab.topic_models.topic_model_store import open_topic_model

        return open_topic_model(self.engine.snapshot)


def features_of(bundle: Bundle) -> FeatureSet:
    """The features of a model that are computed from an index."""
    known = (look_up_feature(name) for name in bundle.features)
    return FeatureSet(bundle.label, tuple(feature for feature in known if feature is not None))


def build_missing(engine: SearchEngine, bundle: Bundle, progress: Progress = no_progress) -> list[str]:
    """Build what the features of a model need and the index lacks, such as the semantic space, in the index.

    Returns remarks about what is out of date. An index that cannot be written is reported with what to do.
    """
    try:
        return build_prerequisites(engine, features_of(bundle), progress)
    except (WriteFailed, IndexLocked) as error:
        folder = engine.snapshot.folder
        todo = f"make it once, where the index can be written: `searchlab semantic -i {folder}`"
        raise StoreError(f"{error}; the model {bundle.label} needs the semantic space of the index: {todo}") from None


def warn_of_transfer(engine: SearchEngine, bundle: Bundle) -> None:
    """Warn the caller of a model that was trained on texts of another kind."""
    remark = bundle.describe_transfer(engine)
    if remark:
        warn_caller(remark, TransferWarning)


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The candidates of one query with their features and their scores by a model."""

    bundle: Bundle
    documents: DocumentList
    table: FeatureTable

    @cached_property
    def scores(self) -> Floats:
        """The score of each candidate."""
        return self.bundle.scores(self.table) if self.table.n_rows else np.zeros(0)

    @cached_property
    def order(self) -> Array:
        """The rows, best first."""
        return best_first(self.scores, self.documents.docnos)

    def explain(self, row: int) -> Explanation:
        """Why a candidate has its score."""
        return self.bundle.explain(self.table, row)


def _words(query: Query) -> str:
    """The text of a query for features: without operators and fields, only words that a text should have."""
    if query.node is None:
        return query.text
    leaves = [leaf for leaf, _ in positive_leaves(query.node) if leaf.field is None or leaf.field in STREAMS]
    return " ".join(leaf.text for leaf in leaves if not isinstance(leaf, Range))
