"""Artefacts with a vector for each document: how they are opened, written for the first time, and brought up to date.

A kind of artefact derives from `VectorArtefact`. It reads its own arrays from the terms' file, and computes the vectors
of documents that have none on disk.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Generic, Self

from searchlab.cluster.cluster import Cluster
from searchlab.errors import IndexCorrupt, IndexOutdated
from searchlab.indexing.blockwise.workspace import Workspace, open_workspace
from searchlab.indexing.document_vectors import DocumentVectors
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.artefacts import (
    R,
    WrittenFile,
    commit_artefact,
    open_artefact_file,
    read_artefact_record,
    remove_uncommitted,
    write_artefact_file,
)
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vocabulary import Vocabulary, staleness
from searchlab.types import Array, Progress

# An artefact is stale if more than this share of the live documents was added or changed after it was made.
MAX_STALENESS = 0.2
# Artefacts that a worker of a cluster keeps open.
MAX_OPEN_ARTEFACTS = 4


class VectorArtefact(ABC, Generic[R]):
    """An opened artefact: what was learnt about terms, and the vectors of one snapshot's documents."""

    def __init__(self, snapshot: Snapshot, home: Path, record: R, *, verify: bool = False) -> None:
        if record.analysis_fingerprint != snapshot.manifest.settings.fingerprint:
            raise IndexOutdated(f"{home}: made with another analyser than the index has; {record.remedy(home)}")
        self.snapshot = snapshot
        self.home = home
        self.record = record
        # What failed after the commit that wrote this artefact, if it was just written.
        self.warnings: tuple[str, ...] = ()
        try:
            arrays = open_artefact_file(home, record, record.terms, verify=verify)
            self._vocabulary = Vocabulary(Strings(arrays["terms"], arrays["terms.offsets"]))
            self._blocks = arrays.blocks
            self._digests = arrays["digests"].whole
            is_consistent = self._load(arrays)
        except KeyError:
            is_consistent = False
        if not is_consistent:
            raise IndexCorrupt(f"{home}: the files do not fit together; {record.remedy(home)}")
        self._vectors = DocumentVectors(
            snapshot, home, record, self._vocabulary, self._compute_vectors, self.n_columns, verify=verify
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the same files, once for all that it is sent."""
        return _open_again, (type(self), self.snapshot.whole, str(self.home.absolute()), self._record_text)

    def __copy__(self) -> Self:
        """An artefact that shares the open files."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    @cached_property
    def _record_text(self) -> str:
        return json.dumps(self.record.to_json())

    @classmethod
    @abstractmethod
    def record_type(cls) -> type[R]:
        """The class of the artefact's record."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The length of a document's vector."""

    @abstractmethod
    def _load(self, arrays: Mapping[str, Column]) -> bool:
        """Take the arrays of the terms' file; whether their shapes fit together. KeyError: one is missing."""

    @abstractmethod
    def _compute_vectors(self, shard: Shard, docs: Array, numbers: Array) -> Array:
        """The vectors of documents of a shard, whose terms have these numbers in the vocabulary."""

    @property
    def n_unwritten(self) -> int:
        """The number of live documents whose vectors are not on disk but computed on demand."""
        return self._vectors.n_unwritten

    @cached_property
    def staleness(self) -> float:
        """The share of live documents that were added or changed after the artefact was made."""
        return staleness(self.snapshot, self._digests)

    def verify(self, pause: Callable[[], object] = lambda: None) -> None:
        """Verify every block of every file; `pause` is called after each megabyte. Raises IndexCorrupt for damage."""
        for blocks in (self._blocks, *(vectors.blocks for vectors in self._vectors.stored.values())):
            if blocks is not None:
                blocks.verify_all(pause)

    @property
    def is_stale(self) -> bool:
        """Whether the share of newer documents is so large that the artefact should be made again."""
        return self.staleness > MAX_STALENESS

    @classmethod
    def load(cls, snapshot: Snapshot, home: Path, *, verify: bool = False) -> Self:
        """Open the artefact in `home`; `verify` checks all checksums."""
        record = read_artefact_record(home, cls.record_type())
        while True:
            try:
                return cls(snapshot, home, record, verify=verify)
            except IndexCorrupt:
                # Or a newer version has replaced the files since the record was read.
                newer = read_artefact_record(home, cls.record_type())
                if newer == record:
                    raise
                record = newer

    @classmethod
    def create(
        cls,
        snapshot: Snapshot,
        home: Path,
        record: R,
        arrays: Mapping[str, Array],
        workspace: Workspace,
        progress: Progress,
        stage: str,
    ) -> Self:
        """Write the terms' file and the vectors of all documents, and commit them; the caller holds the lock."""
        record = record.with_file(write_artefact_file(home, record.terms, arrays))
        record = cls(snapshot, home, record)._write_vectors(workspace, stage, progress)
        return cls._commit(snapshot, home, record)

    @classmethod
    def update(cls, index: Path, home: Path, cluster: Cluster | str | None, progress: Progress, stage: str) -> Self:
        """Write the vectors of shards that have none on disk, and drop those of shards that no longer exist."""
        kind = cls.record_type()
        # Before the lock, which would make the folder: an artefact that does not exist is an error.
        read_artefact_record(home, kind)
        with writer_lock(home), remove_uncommitted(home, kind), open_workspace(home, cluster) as workspace:
            artefact = cls.load(Snapshot(index), home)
            record = artefact._write_vectors(workspace, stage, progress)
            if record == artefact.record:
                return artefact
            return cls._commit(artefact.snapshot, home, record)

    def _write_vectors(self, workspace: Workspace, stage: str, progress: Progress) -> R:
        """Write the vectors of all shards that have none on disk; returns the record for the shards of the snapshot."""
        lacking = self._vectors.unwritten_shards
        total = sum(self.snapshot.shards[shard_index].columns.n_docs for shard_index in lacking)
        done = 0

        def count(n_docs: int) -> None:
            nonlocal done
            progress(stage, done := done + n_docs, total)

        record = self._vectors.kept_record
        if workspace.cluster is None:
            for shard_index in lacking:
                record = record.with_file(self._vectors.write_shard(shard_index, count))
            return record
        calls = [(type(self), self.snapshot, self.home.absolute(), self.record, number) for number in lacking]
        for shard_index, file in zip(lacking, workspace.map(write_shard_vectors, calls), strict=True):
            record = record.with_file(file)
            count(self.snapshot.shards[shard_index].columns.n_docs)
        return record

    @classmethod
    def _commit(cls, snapshot: Snapshot, home: Path, record: R) -> Self:
        warnings = commit_artefact(home, record)
        artefact = cls(snapshot, home, record)
        artefact.warnings = tuple(warnings)
        return artefact


@lru_cache(MAX_OPEN_ARTEFACTS)
def _open_again(kind: type[VectorArtefact[R]], snapshot: Snapshot, home: str, record: str) -> VectorArtefact[R]:
    """The artefact that another process has open."""
    return kind(snapshot, Path(home), kind.record_type().from_json(json.loads(record)))


def write_shard_vectors(
    kind: type[VectorArtefact[R]], snapshot: Snapshot, home: Path, record: R, shard_index: int
) -> WrittenFile:
    """Write the vectors of a shard, in a worker."""
    return kind(snapshot, home, record)._vectors.write_shard(shard_index)
