"""Where are the topics of an index made, kept and found again?

They are learnt from all its documents (`topic_learning`) and kept with it under a name (`topic_files`), to be opened as
a `TopicModel`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from searchlab.errors import IndexCorrupt, SettingError, unknown_name
from searchlab.indexing.index_names import existing_index
from searchlab.indexing.snapshot import Snapshot, live_docs
from searchlab.indexing.storage.artefacts import (
    commit_artefact,
    open_artefact_file,
    read_artefact_record,
    remove_uncommitted,
)
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.vocabulary import all_digests, digests_of
from searchlab.topic_models.plsa import MOST_TOPICS, SEED, TOPICS
from searchlab.topic_models.topic_model import TopicModel
from searchlab.topic_models.topic_model_files import FOLDER, METHODS, TopicRecord, home_of
from searchlab.types import Array, Progress, no_progress


def open_topics(snapshot: Snapshot, name: str = "plsa", *, verify: bool = False) -> TopicModel:
    """The topics kept with the index of a snapshot under a name; `verify` reads all checksums.

    Raises IndexMissing if there are none, IndexOutdated if the index has been made anew with another analyser or from
    other documents, IndexCorrupt if a file is damaged.
    """
    home = home_of(snapshot.folder, name)
    record = read_artefact_record(home, TopicRecord)
    while True:
        try:
            return TopicModel(snapshot, home, record, verify=verify)
        except IndexCorrupt:  # or newer topics have just taken their place
            newer = read_artefact_record(home, TopicRecord)
            if newer == record:
                raise
            record = newer


def list_topics(folder: Path) -> tuple[str, ...]:
    """The names of the topics that an index has."""
    return tuple(sorted(path.parent.name for path in (folder / FOLDER).glob("*/manifest.json")))


def build_topics(
    folder: str | Path,
    *,
    method: str = "plsa",
    n_topics: int = TOPICS,
    seed: int = SEED,
    progress: Progress = no_progress,
    name: str | None = None,
) -> TopicModel:
    """Learn the topics of an index, in place of those that it may have under this name, which is the method's.

    `progress` is called with a stage ("counting", "tempering", "training", "writing"), what is done, and of how much.
    """
    from searchlab.topic_models.learning import learn

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not 1 <= n_topics <= MOST_TOPICS:
        raise SettingError(f"topics is {n_topics}, expected 1 to {MOST_TOPICS}")
    index = existing_index(folder)
    home = home_of(index, name or method)
    with writer_lock(home), remove_uncommitted(home, TopicRecord):
        snapshot = Snapshot(index)
        learnt = learn(snapshot, method, n_topics, seed, progress)
        record = TopicRecord(
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
        return _commit(snapshot, home, record, learnt.arrays, progress)


def save_topics(
    model: TopicModel, name: str, of_docs: Mapping[tuple[int, int], Array], alpha: float, beta: float
) -> TopicModel:
    """Keep topics under another name, with the P(T|D) of some documents, given by shard and number, as trained."""
    home = home_of(model.snapshot.folder, name)
    if home == model.home:
        raise SettingError(f"{home}: trained topics would replace those that they were trained from")
    snapshot = model.snapshot
    digests = all_digests(snapshot)
    learnt = np.empty((len(digests), model.n_topics), np.float32)
    for place, shard in enumerate(snapshot.shards):
        docs = live_docs(shard)
        rows = model.topics_given_document(np.full(len(docs), place), docs)
        learnt[np.searchsorted(digests, digests_of(shard))] = rows
    for (place, doc), row in of_docs.items():
        shard = snapshot.shards[place]
        learnt[np.searchsorted(digests, digests_of(shard, np.array([doc])))] = row
    arrays = dict(open_artefact_file(model.home, model.record, model.record.terms)) | {
        "digests": digests,
        "of_docs": learnt,
    }
    made = datetime.now(UTC).isoformat(timespec="seconds")
    terms = f"terms-{secrets.token_hex(4)}"
    record = replace(model.record, vectors={}, files={}, made=made, terms=terms, alpha=alpha, beta=beta)
    with writer_lock(home), remove_uncommitted(home, TopicRecord):
        return _commit(snapshot, home, record, arrays, no_progress)


def update_topics(folder: str | Path, *, name: str = "plsa", progress: Progress = no_progress) -> TopicModel:
    """Write the topics of documents that came since, and of merged shards; what was learnt stays as it is."""
    index = existing_index(folder)
    home = home_of(index, name)
    read_artefact_record(home, TopicRecord)
    with writer_lock(home), remove_uncommitted(home, TopicRecord):
        model = open_topics(Snapshot(index), name)
        record = model.write_vectors(progress)
        if record != model.record:
            commit_artefact(home, record)
    return TopicModel(model.snapshot, home, record)


def _commit(
    snapshot: Snapshot, home: Path, record: TopicRecord, arrays: Mapping[str, Array], progress: Progress
) -> TopicModel:
    record = record.with_file(home, record.terms, arrays)
    record = TopicModel(snapshot, home, record).write_vectors(progress)
    commit_artefact(home, record)
    return TopicModel(snapshot, home, record)
