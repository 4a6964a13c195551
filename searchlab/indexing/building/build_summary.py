"""Summary of a run that changed an index: counts of documents, the size of the index, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.snapshot import Snapshot


@dataclass(frozen=True)
class BuildSummary:
    """What a run changed (documents added, updated, unchanged, removed), and the size of the index after it.

    `warnings` tells what failed without harm to the index: leftovers that could not be removed, a merge after the
    commit, a commit that a power failure could still undo. It also tells if no document has a term. `languages` are
    those of the index with the number of documents in each, the most frequent first.
    """

    folder: Path
    n_docs: int
    n_added: int
    n_updated: int
    n_unchanged: int
    n_removed: int
    n_duplicates: int
    n_tokens: int
    n_shards: int
    n_deleted: int
    n_bytes: int
    seconds: float
    warnings: tuple[str, ...] = ()
    languages: Mapping[str, int] = field(default_factory=dict)


def summarise(
    folder: Path, changes: IndexChanges, n_duplicates: int, seconds: float, warnings: Iterable[str]
) -> BuildSummary:
    """The summary of a run that made these changes and has committed them."""
    with closing(Snapshot(folder)) as snapshot:
        return BuildSummary(
            folder,
            snapshot.n_docs,
            changes.n_added,
            changes.n_updated,
            changes.n_unchanged,
            changes.n_removed,
            n_duplicates,
            snapshot.n_tokens["both"],
            len(snapshot.shards),
            sum(shard.n_deleted for shard in snapshot.manifest.shards),
            snapshot.manifest.n_bytes,
            seconds,
            tuple(dict.fromkeys(warnings)),
            snapshot.languages,
        )
