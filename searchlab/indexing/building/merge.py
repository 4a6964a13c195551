"""When are small shards made into larger ones?

Every run that writes leaves a shard, and each shard costs every search a little. So shards are sorted into tiers
by the words of their live documents: tier 0 has fewer than 512,000, and each further tier eight times as many.
Whenever a tier has eight shards, they become one; a shard with more dead documents than live ones is
written again. A document is written once a tier, which is seldom, and an index never has more
than seven small shards a tier. Shards of at least half the full size are left alone.

Merging is a commit of its own, after that of the run that made it necessary: whatever happens to it, the run's
documents are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from searchlab.indexing.building import workers
from searchlab.indexing.building.workers import write_shards
from searchlab.indexing.snapshot import live_docs
from searchlab.indexing.storage.manifest import Manifest, commit, new_shards
from searchlab.indexing.storage.shard import Shard, ShardRecord, recall_largest
from searchlab.records import Document
from searchlab.types import Progress

SHARDS_A_TIER = 8
SMALLEST_TIER = 64_000


def tier(shard: ShardRecord) -> int:
    """The tier of a shard, from 0."""
    number, words = 0, shard.n_live_words // (SMALLEST_TIER * SHARDS_A_TIER)
    while words:
        number, words = number + 1, words // SHARDS_A_TIER
    return number


def worth_merging(shards: Sequence[ShardRecord]) -> list[ShardRecord]:
    """The shards that should become one now: those of the lowest full tier, or one that is mostly dead."""
    small = [shard for shard in shards if shard.n_live_words < workers.WORDS_PER_SHARD // 2]
    for number in sorted({tier(shard) for shard in small}):
        same = [shard for shard in small if tier(shard) == number]
        if len(same) >= SHARDS_A_TIER:
            return same
    return next(([shard] for shard in shards if shard.n_dead > shard.n_live), [])


def merge_where_worth(folder: Path, manifest: Manifest, progress: Progress) -> Manifest:
    """Merge, as long as there is something worth merging; the manifest that is true in the end."""
    while chosen := worth_merging(manifest.shards):
        manifest = merge_shards(folder, manifest, chosen, progress)
    return manifest


def merge_shards(
    folder: Path, manifest: Manifest, chosen: Sequence[ShardRecord], progress: Progress, jobs: int = 1
) -> Manifest:
    """Write the live documents of the chosen shards anew, as few shards, and commit."""
    n_read = 0

    def counted(documents: Iterator[Document]) -> Iterator[Document]:
        nonlocal n_read
        for document in documents:
            n_read += 1
            if n_read % 200 == 0:
                progress("merging", n_read, 0)
            yield document

    with new_shards(folder) as name:
        with ExitStack() as stack:
            shards = [Shard(folder / record.name, record) for record in chosen]
            for shard in shards:
                stack.callback(shard.close)
            documents = (shard.document(number) for shard in shards for number in live_docs(shard).tolist())
            written = write_shards(
                counted(documents),
                folder,
                name,
                manifest.settings,
                jobs,
                lambda: progress("writing", n_read, 0),
                recall_largest(shards),
            )
        gone = {record.name for record in chosen}
        merged = manifest.next([*(shard for shard in manifest.shards if shard.name not in gone), *written])
        commit(folder, merged)
    return merged
