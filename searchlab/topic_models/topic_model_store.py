"""Topic models of an index: build, save, update, list and open them.

A topic model is learnt from all documents of an index (`topic_model_learning`), stored with it under a name
(`topic_model_files`) and opened as a `TopicModel`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.blockwise.workspace import IN_MEMORY, open_workspace
from searchlab.indexing.index_names import existing_index
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.artefacts import (
    open_artefact_file,
    remove_uncommitted,
)
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.vocabulary import all_digests, digests_of
from searchlab.topic_models.plsa import DEFAULT_N_TOPICS, DEFAULT_SEED, MAX_TOPICS
from searchlab.topic_models.topic_model import TopicModel
from searchlab.topic_models.topic_model_files import FOLDER, METHODS, TopicModelRecord, topic_model_folder
from searchlab.types import Array, Progress, no_progress


def open_topic_model(snapshot: Snapshot, name: str = "plsa", *, verify: bool = False) -> TopicModel:
    """The topic model of a snapshot's index with this name; `verify` checks all checksums.

    Raises IndexMissing if there is none, IndexOutdated if the index was rebuilt with another analyser or from other
    documents, IndexCorrupt if a file is damaged.
    """
    return TopicModel.load(snapshot, topic_model_folder(snapshot.folder, name), verify=verify)


def list_topic_models(folder: Path) -> tuple[str, ...]:
    """The names of the topic models of an index."""
    return tuple(sorted(path.parent.name for path in (folder / FOLDER).glob("*/manifest.json")))


def build_topic_model(
    folder: str | Path,
    *,
    method: str = "plsa",
    n_topics: int = DEFAULT_N_TOPICS,
    seed: int = DEFAULT_SEED,
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
    name: str | None = None,
) -> TopicModel:
    """Learn a topic model of an index, and replace an existing one of this name (by default the method's).

    With a `cluster`, or its address, its workers count, and do the work of each iteration; the model is the same to the
    last bit.

    `progress` is called with a stage ("counting", "tempering", "training", "writing"), the steps done, and all steps.
    """
    from searchlab.topic_models.topic_model_learning import learn_topic_model

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not 1 <= n_topics <= MAX_TOPICS:
        raise SettingError(f"n_topics is {n_topics}, expected 1 to {MAX_TOPICS}")
    index = existing_index(folder)
    home = topic_model_folder(index, name or method)
    with writer_lock(home), remove_uncommitted(home, TopicModelRecord), open_workspace(home, cluster) as workspace:
        snapshot = Snapshot(index)
        learnt = learn_topic_model(workspace, snapshot, method, n_topics, seed, progress)
        record = TopicModelRecord(
            method=method,
            n_topics=n_topics,
            seed=seed,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            analysis=snapshot.manifest.settings.fingerprint,
            n_docs=snapshot.n_docs,
            n_terms=len(learnt.arrays["background"]),
            temperature=learnt.temperature,
            perplexity=learnt.perplexity,
            terms=f"terms-{secrets.token_hex(4)}",
        )
        return TopicModel.create(snapshot, home, record, learnt.arrays, workspace, progress, "writing")


def save_topic_model(
    model: TopicModel, name: str, of_docs: Mapping[tuple[int, int], Array], alpha: float, beta: float
) -> TopicModel:
    """Save a topic model under another name, with the trained P(T|D) of some documents, given by shard and number."""
    home = topic_model_folder(model.snapshot.folder, name)
    if home == model.home:
        raise SettingError(f"{home}: the trained topic model would replace the one it was trained from")
    snapshot = model.snapshot
    digests = all_digests(snapshot)
    learnt = np.empty((len(digests), model.n_topics), np.float32)
    for shard_index, shard in enumerate(snapshot.shards):
        docs = shard.live_docs
        rows = model.topics_given_document(np.full(len(docs), shard_index), docs)
        learnt[np.searchsorted(digests, digests_of(shard))] = rows
    for (shard_index, doc), row in of_docs.items():
        shard = snapshot.shards[shard_index]
        learnt[np.searchsorted(digests, digests_of(shard, np.array([doc])))] = row
    columns = open_artefact_file(model.home, model.record, model.record.terms)
    arrays = {name: column.whole for name, column in columns.items()} | {"digests": digests, "of_docs": learnt}
    made = datetime.now(UTC).isoformat(timespec="seconds")
    terms = f"terms-{secrets.token_hex(4)}"
    record = replace(model.record, vectors={}, files={}, made=made, terms=terms, alpha=alpha, beta=beta)
    with writer_lock(home), remove_uncommitted(home, TopicModelRecord):
        return TopicModel.create(snapshot, home, record, arrays, IN_MEMORY, no_progress, "writing")


def update_topic_model(
    folder: str | Path,
    *,
    name: str = "plsa",
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
) -> TopicModel:
    """Write P(T|D) of documents added since, and of merged shards; what was learnt does not change."""
    index = existing_index(folder)
    return TopicModel.update(index, topic_model_folder(index, name), cluster, progress, "writing")
