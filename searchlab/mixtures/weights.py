"""Files of mixture weights.

A JSON file holds the weights and what they apply to: the components in their order, the analyser that made the terms,
the topic model if one is used, and the documents with individual weights. A file that does not fit an index is refused.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SettingError, SourceError
from searchlab.indexing.snapshot import Snapshot
from searchlab.json_records import one_line, parse_json, texts
from searchlab.mixtures.likelihood import check_weights
from searchlab.mixtures.weight_training import LearntWeights
from searchlab.scorers.base import MIN_SETTING
from searchlab.scorers.execution.mixture_components import COMPONENTS, TOPICS, UNIGRAMS
from searchlab.scorers.trained_mixture import TrainedMixture

KIND = "searchlab mixture weights"
VERSION = 1
DIGEST_DIGITS = 16
EXPECTED = "expected weights that `searchlab train-lm` wrote"


@dataclass(frozen=True)
class WeightsOrigin:
    """What weights were trained on: the analyser's fingerprint, the index, and the topic model.

    `topics` has the name and the fingerprint of the topic model; it is empty if none is used.
    """

    analysis: str
    n_docs: int
    sources: tuple[str, ...]
    topics: tuple[str, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot, components: tuple[str, ...], topics: str) -> WeightsOrigin:
        """The origin of weights that are trained on this index."""
        model: tuple[str, ...] = ()
        if TOPICS in components:
            from searchlab.topic_models.topic_model_store import open_topic_model

            model = (topics, open_topic_model(snapshot, topics).fingerprint)
        return cls(snapshot.manifest.settings.fingerprint, snapshot.n_docs, snapshot.manifest.sources, model)


@dataclass(frozen=True, eq=False)
class MixtureWeights:
    """Weights with their origin; `digests` show whether documents with individual weights have changed since.

    `location` is their file, for messages.
    """

    learnt: LearntWeights
    origin: WeightsOrigin
    settings: dict[str, Any]
    n_queries: int
    digests: tuple[str, ...] = ()
    location: str = "weights"

    @classmethod
    def of(
        cls, learnt: LearntWeights, snapshot: Snapshot, settings: dict[str, Any], n_queries: int, topics: str = "plsa"
    ) -> MixtureWeights:
        """Weights that were trained on this index, with its topic model `topics` if that is a component."""
        digests = tuple(_digest(snapshot, docno) for docno in learnt.docnos)
        return cls(learnt, WeightsOrigin.of(snapshot, learnt.components, topics), settings, n_queries, digests)

    def scorer(self, snapshot: Snapshot) -> TrainedMixture:
        """The scorer for an index; refuses an index that the weights were not made for."""
        analysis = snapshot.manifest.settings.fingerprint
        if analysis != self.origin.analysis:
            raise SettingError(
                f"{self.location}: made for an index with analyser {self.origin.analysis}, "
                f"but {snapshot.folder} has {analysis}"
            )
        if self.learnt.docnos and self.n_changed(snapshot) == len(self.learnt.docnos):
            raise SettingError(
                f"{self.location}: made for another index; all of the {len(self.learnt.docnos):,} documents with "
                f"individual weights are missing or changed in {snapshot.folder}"
            )
        if not self.origin.topics:
            return self.learnt.scorer()
        from searchlab.topic_models.topic_model_store import open_topic_model

        name, fingerprint = self.origin.topics
        model = open_topic_model(snapshot, name)
        if model.fingerprint != fingerprint:
            raise SettingError(
                f"{self.location}: made with topic model {name} {fingerprint}, but {snapshot.folder} has "
                f"{model.fingerprint}; train the weights again"
            )
        return self.learnt.scorer(model)

    def n_changed(self, snapshot: Snapshot) -> int:
        """The number of documents with individual weights that are missing or changed in an index."""
        digests = zip(self.learnt.docnos, self.digests, strict=True)
        return sum(_digest(snapshot, docno) != digest for docno, digest in digests)

    def remarks(self, snapshot: Snapshot) -> list[str]:
        """Warnings for the use of the weights with an index."""
        remarks = []
        if self.origin.sources != snapshot.manifest.sources:
            sources = ", ".join(self.origin.sources) or "other sources"
            remarks.append(f"{self.location}: trained on another index ({self.origin.n_docs:,} documents of {sources})")
        n_changed, n_docs = self.n_changed(snapshot), len(self.learnt.docnos)
        if 0 < n_changed < n_docs:
            changed = f"{n_changed:,} of {n_docs:,} documents with individual weights are missing or changed"
            remarks.append(f"{self.location}: {changed}")
        return remarks

    def to_json(self) -> dict[str, Any]:
        """The weights as plain JSON."""
        learnt = self.learnt
        documents = zip(learnt.docnos, self.digests, learnt.document_weights.tolist(), strict=True)
        return {
            "kind": KIND,
            "version": VERSION,
            "method": learnt.method,
            "settings": self.settings,
            "queries": self.n_queries,
            "origin": asdict(self.origin),
            "components": list(learnt.components),
            "weights": learnt.shared.tolist(),
            "documents": {docno: {"digest": digest, "weights": row} for docno, digest, row in documents},
        }


def write_weights(path: str | Path, weights: MixtureWeights) -> None:
    """Write weights to a file, atomically."""
    with open_atomic(path) as file:
        json.dump(weights.to_json(), file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_weights(path: str | Path) -> MixtureWeights:
    """The weights in a file."""
    try:
        record = parse_json(read_text_file(path))
    except ValueError:
        raise SourceError(path, f"not a JSON file, {EXPECTED}") from None
    if not isinstance(record, dict) or record.get("kind") != KIND:
        raise SourceError(path, EXPECTED)
    if record.get("version") != VERSION:
        raise SourceError(path, f"version {record.get('version')!r}, expected {VERSION}")
    try:
        return _from_json(record, str(path))
    except SettingError as error:
        raise SourceError(path, on_one_line(str(error))) from None
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise SourceError(path, f"damaged ({type(error).__name__}: {on_one_line(str(error))}), {EXPECTED}") from None


def _from_json(record: dict[str, Any], location: str) -> MixtureWeights:
    components = texts(record, "components")
    if not set(UNIGRAMS) <= set(components) <= set(COMPONENTS) or len(set(components)) < len(components):
        others = ", ".join(name for name in COMPONENTS if name not in UNIGRAMS)
        raise SettingError(
            f"components are {', '.join(components)}; expected {', '.join(UNIGRAMS)} and some of {others}"
        )
    shared = check_weights([float(weight) for weight in record["weights"]], len(components))[0]
    documents, document_weights = record["documents"], np.zeros((0, len(components)))
    if documents:
        rows = [[float(weight) for weight in document["weights"]] for document in documents.values()]
        document_weights = check_weights(rows, len(components), "weights of documents")
    smoothing = np.append(document_weights[:, components.index("corpus")], shared[components.index("corpus")])
    if np.min(smoothing) < MIN_SETTING:
        raise SettingError("corpus has no weight, expected one above 0 for smoothing")
    origin = record["origin"]
    topics = tuple(str(part) for part in origin["topics"])
    if len(topics) != (2 if TOPICS in components else 0):
        raise SettingError("components and topic model do not match")
    return MixtureWeights(
        LearntWeights(str(record["method"]), components, shared, tuple(documents), document_weights),
        WeightsOrigin(one_line(origin, "analysis"), int(origin["n_docs"]), tuple(map(str, origin["sources"])), topics),
        dict(record["settings"]),
        int(record["queries"]),
        tuple(str(document["digest"]) for document in documents.values()),
        location,
    )


def _digest(snapshot: Snapshot, docno: str) -> str:
    """The first digits of a document's digest, which changes with its text; empty if the index does not hold it."""
    for shard in snapshot.shards:
        number = shard.columns.docnos.find(docno)
        if number >= 0 and (shard.live is None or shard.live[number]):
            return str(shard.columns.digests[number].tobytes().hex()[:DIGEST_DIGITS])
    return ""
