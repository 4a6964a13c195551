"""Merging shards in tiers.

Every run that writes adds a shard, and each shard costs every search a little. So shards are sorted into tiers by the
words of their live documents: tier 0 has fewer than 512,000, and each further tier eight times as many. When a tier has
eight shards, they are merged into one; a shard with more deleted than live documents is written again. A document is
thus written about once a tier, and an index has at most seven small shards a tier. Shards of at least half the
full size are left alone.

A merge is a separate commit after that of the run that made it necessary, so that a failed merge cannot lose documents.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.errors import SettingError, StoreError
from searchlab.indexing.building import workers
from searchlab.indexing.building.build_summary import BuildSummary, summarise
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.index_names import existing_index
from searchlab.indexing.merging.column_merge import merge_columns
from searchlab.indexing.storage.commit import describe
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.manifest import (
    Manifest,
    commit_manifest,
    new_shard_prefix,
    read_index_manifest,
    remove_unreferenced,
)
from searchlab.indexing.storage.shard import Shard, ShardRecord
from searchlab.indexing.storage.write_lease import WriteLease, require_shards
from searchlab.types import Progress, no_progress

SHARDS_PER_TIER = 8
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


@dataclass(frozen=True)
class Merged:
    """A committed merge: the new manifest, and warnings of what failed after the commit."""

    manifest: Manifest
    warnings: list[str]


def merge(
    name: str | Path, *, jobs: int = 1, cluster: Cluster | str | None = None, progress: Progress = no_progress
) -> BuildSummary:
    """Write all live documents again as a few large shards.

    `jobs` are written at the same time; or, with a `cluster` or its address, one or more by each of its workers.
    """
    if jobs < 1:
        raise SettingError(f"jobs is {jobs}, expected 1 or more")
    started = time.perf_counter()
    folder = existing_index(name)
    with nullcontext() if cluster is None else as_cluster(cluster) as connected, writer_lock(folder):
        manifest = read_index_manifest(folder)
        warnings = remove_unreferenced(folder, manifest)
        if len(manifest.shards) > 1 or any(shard.n_deleted for shard in manifest.shards):
            warnings += merge_shards(folder, manifest, manifest.shards, progress, jobs, connected).warnings
        return summarise(folder, IndexChanges(None), 0, time.perf_counter() - started, warnings)


def merge_after_commit(folder: Path, manifest: Manifest, progress: Progress) -> list[str]:
    """Merge small shards; returns warnings. A merge that fails leaves the committed index as it is."""
    try:
        return merge_small_shards(folder, manifest, progress)
    except (StoreError, OSError, MemoryError) as error:
        problem = f"small shards were not merged ({describe(error)})"
        return [f"{folder}: {problem}; the documents are complete, and the next run or `searchlab merge` tries again"]


def merge_small_shards(folder: Path, manifest: Manifest, progress: Progress) -> list[str]:
    """Merge until no tier is full and no shard has mostly deleted documents; returns warnings."""
    warnings = []
    while chosen := select_shards_to_merge(manifest.shards):
        merged = merge_shards(folder, manifest, chosen, progress)
        manifest = merged.manifest
        warnings += merged.warnings
    return warnings


def merge_shards(
    folder: Path,
    manifest: Manifest,
    chosen: Sequence[ShardRecord],
    progress: Progress,
    jobs: int = 1,
    cluster: Cluster | None = None,
) -> Merged:
    """Write the live documents of the chosen shards as few new shards, and commit.

    `jobs` are written at a time, or as many as the `cluster` has workers.
    """
    groups = group_shards(chosen, jobs if cluster is None else len(cluster.workers))
    n_docs, done = sum(record.n_live for group in groups for record in group), 0

    def count(record: ShardRecord) -> None:
        nonlocal done
        done += record.n_docs
        progress("merging", done, n_docs)

    with new_shard_prefix(folder) as prefix:
        progress("merging", 0, n_docs)
        if cluster is not None:
            cluster.check_folder(folder)
            with WriteLease(folder.absolute(), prefix).hold() as lease:
                written = cluster.run(
                    merge_on_worker,
                    [(lease, group, number, manifest.settings) for number, group in enumerate(groups)],
                    on_done=lambda _, record: count(record),
                )
                require_shards(folder, written)
        else:
            calls = [(folder, group, f"{prefix}-{number}", manifest.settings) for number, group in enumerate(groups)]
            written = _merge_here(calls, jobs, count)
        replaced = {record.name for record in chosen}
        merged = manifest.next([*(shard for shard in manifest.shards if shard.name not in replaced), *written])
        return Merged(merged, commit_manifest(folder, merged))


def _merge_here(
    calls: Sequence[tuple[Path, Sequence[ShardRecord], str, AnalysisSettings]],
    jobs: int,
    on_written: Callable[[ShardRecord], None],
) -> list[ShardRecord]:
    written: list[ShardRecord] = []
    with ExitStack() as stack:
        run = map if jobs == 1 else stack.enter_context(ThreadPoolExecutor(jobs)).map
        for record in run(lambda call: _merge_group(*call), calls):
            written.append(record)
            on_written(record)
    return written


def merge_on_worker(
    lease: WriteLease, group: Sequence[ShardRecord], number: int, settings: AnalysisSettings
) -> ShardRecord:
    """Write some shards as one, under a name that no repetition of this task has."""
    name = f"{lease.prefix}-{number}-{secrets.token_hex(3)}"
    with lease.write(name):
        return _merge_group(lease.folder, group, name, settings)


def group_shards(chosen: Sequence[ShardRecord], n_groups: int) -> list[list[ShardRecord]]:
    """The shards that become one, none of more than the full size if it can be helped; at least `n_groups` if possible.

    Each goes where the fewest words are, the largest first.
    """
    total = sum(record.n_live_words for record in chosen)
    n_groups = min(max(n_groups, -(-total // workers.MAX_WORDS_PER_SHARD)), len(chosen))
    while True:
        groups: list[list[ShardRecord]] = [[] for _ in range(n_groups)]
        sizes = [0] * n_groups
        for record in sorted(chosen, key=lambda record: -record.n_live_words):
            smallest = sizes.index(min(sizes))
            groups[smallest].append(record)
            sizes[smallest] += record.n_live_words
        if max(sizes) <= workers.MAX_WORDS_PER_SHARD or n_groups == len(chosen):
            return groups
        n_groups += 1


def _merge_group(folder: Path, group: Sequence[ShardRecord], name: str, settings: AnalysisSettings) -> ShardRecord:
    """Write the live documents of some shards as one."""
    with ExitStack() as stack:
        shards = [Shard(folder / record.name, record) for record in group]
        for shard in shards:
            stack.callback(shard.close)
        return merge_columns(shards, settings).write(folder / name, settings)
