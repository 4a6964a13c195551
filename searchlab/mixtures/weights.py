"""How are the weights of a mixture kept?

As a JSON file that says what they are for: the components in their order, the analyser that made the terms, the topic
model if one takes part, and the documents that have weights of their own. A file that does not fit an index is refused.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.atomic_file import open_atomic
from searchlab.errors import SettingError, SourceError
from searchlab.indexing.snapshot import Snapshot
from searchlab.mixtures.likelihood import check_weights
from searchlab.mixtures.weight_training import Learnt
from searchlab.scorers.base import MIN_SETTING
from searchlab.scorers.execution.mixture_components import COMPONENTS, TOPICS, UNIGRAMS
from searchlab.scorers.trained_mixture import TrainedMixture

KIND = "searchlab mixture weights"
VERSION = 1
DIGEST_DIGITS = 16
EXPECTED = "expected weights that `searchlab train-lm` wrote"


@dataclass(frozen=True)
class Origin:
    """What weights were trained on: the analyser's fingerprint, the index, and the topic model by name and fingerprint.

    `topics` is empty where no topic model takes part.
    """

    analysis: str
    n_docs: int
    sources: tuple[str, ...]
    topics: tuple[str, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot, components: tuple[str, ...], topics: str) -> Origin:
        """The origin of weights that are trained on this index."""
        named: tuple[str, ...] = ()
        if TOPICS in components:
            from searchlab.topic_models.topic_model_store import open_topics

            named = (topics, open_topics(snapshot, topics).fingerprint)
        return cls(snapshot.manifest.settings.fingerprint, snapshot.n_docs, snapshot.manifest.sources, named)


@dataclass(frozen=True, eq=False)
class MixtureWeights:
    """Weights with where they come from: `digests` tell whether documents with their own have changed since.

    `place` names their file in messages.
    """

    learnt: Learnt
    origin: Origin
    settings: dict[str, Any]
    n_queries: int
    digests: tuple[str, ...] = ()
    place: str = "weights"

    @classmethod
    def of(
        cls, learnt: Learnt, snapshot: Snapshot, settings: dict[str, Any], n_queries: int, topics: str = "plsa"
    ) -> MixtureWeights:
        """Weights that were trained on this index, with its topics of that name if they take part."""
        digests = tuple(_digest(snapshot, docno) for docno in learnt.docnos)
        return cls(learnt, Origin.of(snapshot, learnt.components, topics), settings, n_queries, digests)

    def scorer(self, snapshot: Snapshot) -> TrainedMixture:
        """The scorer for an index; refuses one that the weights were not made for."""
        found = snapshot.manifest.settings.fingerprint
        if found != self.origin.analysis:
            raise SettingError(
                f"{self.place}: made for an index with analyser {self.origin.analysis}, "
                f"but {snapshot.folder} has {found}"
            )
        if self.learnt.docnos and self.n_changed(snapshot) == len(self.learnt.docnos):
            raise SettingError(
                f"{self.place}: made for another index; of its {len(self.learnt.docnos):,} documents with weights "
                f"of their own {snapshot.folder} holds none as it was"
            )
        if not self.origin.topics:
            return self.learnt.scorer()
        from searchlab.topic_models.topic_model_store import open_topics

        name, fingerprint = self.origin.topics
        model = open_topics(snapshot, name)
        if model.fingerprint != fingerprint:
            raise SettingError(
                f"{self.place}: made with topics {name} {fingerprint}, but {snapshot.folder} has {model.fingerprint}; "
                "train the weights anew"
            )
        return self.learnt.scorer(model)

    def n_changed(self, snapshot: Snapshot) -> int:
        """How many of the documents with weights of their own the index does not hold, or not as they were."""
        known = zip(self.learnt.docnos, self.digests, strict=True)
        return sum(_digest(snapshot, docno) != digest for docno, digest in known)

    def remarks(self, snapshot: Snapshot) -> list[str]:
        """What a user should know before using the weights with an index."""
        told = []
        if self.origin.sources != snapshot.manifest.sources:
            sources = ", ".join(self.origin.sources) or "other sources"
            told.append(f"{self.place}: trained on another index ({self.origin.n_docs:,} documents of {sources})")
        n_changed, n_own = self.n_changed(snapshot), len(self.learnt.docnos)
        if 0 < n_changed < n_own:
            told.append(
                f"{self.place}: {n_changed:,} of {n_own:,} documents with weights of their own have changed or are gone"
            )
        return told

    def to_json(self) -> dict[str, Any]:
        """The weights as plain JSON."""
        learnt = self.learnt
        own = zip(learnt.docnos, self.digests, learnt.own.tolist(), strict=True)
        return {
            "kind": KIND,
            "version": VERSION,
            "method": learnt.method,
            "settings": self.settings,
            "queries": self.n_queries,
            "origin": asdict(self.origin),
            "components": list(learnt.components),
            "weights": learnt.shared.tolist(),
            "documents": {docno: {"digest": digest, "weights": row} for docno, digest, row in own},
        }


def write_weights(path: str | Path, weights: MixtureWeights) -> None:
    """Write weights to a file, which appears when it is complete."""
    with open_atomic(path) as file:
        json.dump(weights.to_json(), file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_weights(path: str | Path) -> MixtureWeights:
    """The weights in a file."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise SourceError(path, f"not a JSON file, {EXPECTED}") from None
    if not isinstance(record, dict) or record.get("kind") != KIND:
        raise SourceError(path, EXPECTED)
    if record.get("version") != VERSION:
        raise SourceError(path, f"version {record.get('version')!r}, expected {VERSION}")
    try:
        return _from_json(record, str(path))
    except SettingError as error:
        raise SourceError(path, str(error)) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(path, f"damaged ({type(error).__name__}: {error}), {EXPECTED}") from None


def _from_json(record: dict[str, Any], place: str) -> MixtureWeights:
    components = tuple(str(name) for name in record["components"])
    if not set(UNIGRAMS) <= set(components) <= set(COMPONENTS) or len(set(components)) < len(components):
        others = ", ".join(name for name in COMPONENTS if name not in UNIGRAMS)
        raise SettingError(
            f"components are {', '.join(components)}; expected {', '.join(UNIGRAMS)} and some of {others}"
        )
    shared = check_weights([float(weight) for weight in record["weights"]], len(components))[0]
    documents, own = record["documents"], np.zeros((0, len(components)))
    if documents:
        rows = [[float(weight) for weight in kept["weights"]] for kept in documents.values()]
        own = check_weights(rows, len(components), "weights of documents")
    smoothing = np.append(own[:, components.index("corpus")], shared[components.index("corpus")])
    if np.min(smoothing) < MIN_SETTING:
        raise SettingError("corpus has no weight, expected one above 0 to smooth with")
    origin = record["origin"]
    topics = tuple(str(part) for part in origin["topics"])
    if len(topics) != (2 if TOPICS in components else 0):
        raise SettingError("components and topic model do not fit together")
    return MixtureWeights(
        Learnt(str(record["method"]), components, shared, tuple(documents), own),
        Origin(str(origin["analysis"]), int(origin["n_docs"]), tuple(map(str, origin["sources"])), topics),
        dict(record["settings"]),
        int(record["queries"]),
        tuple(str(kept["digest"]) for kept in documents.values()),
        place,
    )


def _digest(snapshot: Snapshot, docno: str) -> str:
    """What tells a document from others of its name; nothing for one that the index does not hold."""
    for shard in snapshot.shards:
        number = shard.columns.docnos.find(docno)
        if number >= 0 and (shard.alive is None or shard.alive[number]):
            return str(shard.columns.digests[number].tobytes().hex()[:DIGEST_DIGITS])
    return ""
