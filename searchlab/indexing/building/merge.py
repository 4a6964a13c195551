"""Merging shards in tiers.

Every run that writes adds a shard, and each shard costs every search a little. So shards are sorted into tiers by the
words of their live documents: tier 0 has fewer than 512,000, and each further tier eight times as many. When a tier has
eight shards, they are merged into one; a shard with more deleted than live documents is written again. A document is
thus written about once a tier, and an index has at most seven small shards a tier. Shards of at least half the
full size are left alone.

A merge is a separate commit after that of the run that made it necessary, so that a failed merge cannot lose documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.building import workers
from searchlab.indexing.building.workers import write_shards
from searchlab.indexing.snapshot import live_docs
from searchlab.indexing.storage.digest import digest
from searchlab.indexing.storage.manifest import Manifest, commit_manifest, new_shard_prefix
from searchlab.indexing.storage.shard import Shard, ShardRecord, largest_shard_lookup
from searchlab.records import Document
from searchlab.types import Progress

SHARDS_PER_TIER = 8
# Documents between two progress reports.
PROGRESS_STEP = 200
SMALLEST_TIER_WORDS = 64_000


def shard_tier(shard: ShardRecord) -> int:
    """The tier of a shard, from 0."""
    number, words = 0, shard.n_live_words // (SMALLEST_TIER_WORDS * SHARDS_PER_TIER)
    while words:
        number, words = number + 1, words // SHARDS_PER_TIER
    return number


def select_shards_to_merge(shards: Sequence[ShardRecord]) -> list[ShardRecord]:
    """The shards to merge next: those of the lowest full tier, or one shard with mostly deleted documents."""
    small = [shard for shard in shards if shard.n_live_words < workers.MAX_WORDS_PER_SHARD // 2]
    for number in sorted({shard_tier(shard) for shard in small}):
        same = [shard for shard in small if shard_tier(shard) == number]
        if len(same) >= SHARDS_PER_TIER:
            return same
    return next(([shard] for shard in shards if shard.n_deleted > shard.n_live), [])


def _verified(shard: Shard, number: int) -> Document:
    """A stored document; one that differs from what was indexed is an error, lest a merge makes damage look sound."""
    document = shard.document(number)
    if digest(document) != shard.columns.digests[number].tobytes():
        raise IndexCorrupt(f"{shard.folder}: document {number} is not what was indexed; {REBUILD}")
    return document


@dataclass(frozen=True)
class Merged:
    """A committed merge: the new manifest, and warnings of what failed after the commit."""

    manifest: Manifest
    warnings: list[str]


def merge_small_shards(folder: Path, manifest: Manifest, progress: Progress) -> list[str]:
    """Merge until no tier is full and no shard has mostly deleted documents; returns warnings."""
    warnings = []
    while chosen := select_shards_to_merge(manifest.shards):
        merged = merge_shards(folder, manifest, chosen, progress)
        manifest = merged.manifest
        warnings += merged.warnings
    return warnings


def merge_shards(
    folder: Path, manifest: Manifest, chosen: Sequence[ShardRecord], progress: Progress, jobs: int = 1
) -> Merged:
    """Write the live documents of the chosen shards as few new shards, and commit."""
    n_read = 0

    def count_documents(documents: Iterator[Document]) -> Iterator[Document]:
        nonlocal n_read
        for document in documents:
            n_read += 1
            if n_read % PROGRESS_STEP == 0:
                progress("merging", n_read, 0)
            yield document

    with new_shard_prefix(folder) as prefix:
        with ExitStack() as stack:
            shards = [Shard(folder / record.name, record) for record in chosen]
            for shard in shards:
                stack.callback(shard.close)
            documents = (_verified(shard, number) for shard in shards for number in live_docs(shard).tolist())
            written = write_shards(
                count_documents(documents),
                folder,
                prefix,
                manifest.settings,
                jobs,
                lambda: progress("writing", n_read, 0),
                largest_shard_lookup(shards),
            )
        replaced = {record.name for record in chosen}
        merged = manifest.next([*(shard for shard in manifest.shards if shard.name not in replaced), *written])
        return Merged(merged, commit_manifest(folder, merged))
