"""What does a run change in an index that is there already?

Documents are told apart by their docnos. One whose digest is unchanged is left as it is; one that has changed
is written again, and its older self is dead from the commit on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from searchlab.analysis.analyzer import TermLookup
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.digest import digest
from searchlab.indexing.storage.shard import Shard, ShardRecord, bury, recall_largest
from searchlab.indexing.storage.string_table import Strings
from searchlab.records import Document
from searchlab.types import Array

BATCH = 200
# So many docnos are looked up in about the time that numba takes to load.
WORTH_COMPILING = 50_000


class Changes:
    """Which documents of a snapshot are to die, and how many came that are new, changed or as they were.

    Without a snapshot, all that come are new.
    """

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._shards: list[Shard] = snapshot.shards if snapshot else []
        self._alive = [
            np.ones(shard.columns.n_docs, bool) if shard.alive is None else shard.alive.copy() for shard in self._shards
        ]
        self._seen = [np.zeros(shard.columns.n_docs, bool) for shard in self._shards]
        self._n_looked_up = 0
        self.n_added = self.n_updated = self.n_unchanged = self.n_removed = 0

    @property
    def lookup(self) -> TermLookup | None:
        """What the largest shard knows of words."""
        return recall_largest(self._shards)

    def pick(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents that have to be written: those that are new or have changed."""
        while batch := list(islice(documents, BATCH)):
            for document, (place, number) in zip(batch, self._find(batch), strict=True):
                if place < 0:
                    self.n_added += 1
                    yield document
                    continue
                self._seen[place][number] = True
                if self._shards[place].columns.digests[number].tobytes() == digest(document):
                    self.n_unchanged += 1
                    continue
                self._alive[place][number] = False
                self.n_updated += 1
                yield document

    def _find(self, batch: list[Document]) -> Iterable[tuple[int, int]]:
        """The shard and the number there of each document; the shard is -1 for a new one."""
        docnos = [document.docno for document in batch]
        places, numbers = np.full(len(batch), -1), np.full(len(batch), -1)
        for place, shard in enumerate(self._shards):
            found = self._numbers(shard.columns.docnos, docnos)
            here = found >= 0
            if shard.alive is not None:
                here[here] = shard.alive[found[here]]
            places[here], numbers[here] = place, found[here]
        return zip(places.tolist(), numbers.tolist(), strict=True)

    def _numbers(self, known: Strings, docnos: list[str]) -> Array:
        """The numbers of documents in a shard, -1 for those that it does not have."""
        self._n_looked_up += len(docnos)
        if self._n_looked_up < WORTH_COMPILING:
            return np.array([known.find(docno) for docno in docnos])
        from searchlab.indexing.docno_kernels import find_docnos

        return find_docnos(known, docnos)

    def remove_unseen(self) -> None:
        """Let all documents die that did not come."""
        for alive, seen in zip(self._alive, self._seen, strict=True):
            gone = alive & ~seen
            self.n_removed += int(np.count_nonzero(gone))
            alive &= ~gone

    def remove(self, place: int, number: int) -> None:
        """Let one document die."""
        self.n_removed += int(self._alive[place][number])
        self._alive[place][number] = False

    def records(self) -> list[ShardRecord]:
        """The shards as they are after the changes, new lists of the dead written; those without life are left out."""
        return [self._bury(shard, alive) for shard, alive in zip(self._shards, self._alive, strict=True) if alive.any()]

    @staticmethod
    def _bury(shard: Shard, alive: Array) -> ShardRecord:
        dead = np.flatnonzero(~alive)
        return shard.record if len(dead) == shard.record.n_dead else bury(shard.folder, shard.record, dead)
