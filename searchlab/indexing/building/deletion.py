"""Deletion of documents by their docnos."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from searchlab.indexing.building.build_summary import BuildSummary, summarise
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.index_names import existing_index
from searchlab.indexing.merging.merge import merge_after_commit
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.manifest import (
    commit_manifest,
    new_shard_prefix,
    read_index_manifest,
    remove_unreferenced,
)
from searchlab.types import Progress, no_progress


def delete(name: str | Path, docnos: Iterable[str], *, progress: Progress = no_progress) -> BuildSummary:
    """Remove documents from an index; if one of them is not in it, nothing is removed."""
    started = time.perf_counter()
    folder = existing_index(name)
    with writer_lock(folder):
        warnings = remove_unreferenced(folder, read_index_manifest(folder))
        with new_shard_prefix(folder):  # no new shards, but a failure also removes new lists of deleted documents
            with closing(Snapshot(folder)) as snapshot:
                changes = IndexChanges(snapshot)
                for docno in docnos:
                    changes.remove(*snapshot.locate(docno))
                manifest = snapshot.manifest.next(changes.write_records())
            if changes.n_removed:
                warnings += commit_manifest(folder, manifest)
                warnings += merge_after_commit(folder, manifest, progress)
        return summarise(folder, changes, 0, time.perf_counter() - started, warnings)
