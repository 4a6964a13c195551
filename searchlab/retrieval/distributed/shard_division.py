"""How the work on an index is divided among workers: by topics, or by shards; and which worker gets which shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from searchlab.cluster.cluster import Cluster, rank_workers
from searchlab.errors import unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.layout import COLUMNS

TOPICS, SHARDS, AUTO = "topics", "shards", "auto"
DIVISIONS = (AUTO, TOPICS, SHARDS)
# The share of a worker's memory that the columns of the index may take if each worker is to search all of it.
MAX_MEMORY_SHARE = 0.5
# How much more than its equal share of the index a worker may get.
MAX_EXCESS = 0.1


class ShardGroup(NamedTuple):
    """A worker, by its address, and the numbers of the shards that it searches."""

    worker: str
    shards: tuple[int, ...]


def require_division(division: str) -> None:
    """Raise SettingError for what is no division of work."""
    if division not in DIVISIONS:
        raise unknown_name("division of work", division, DIVISIONS)


def choose_division(division: str, cluster: Cluster, snapshot: Snapshot) -> str:
    """`topics` or `shards`; `auto` divides the shards if a worker may not hold the columns of all of them.

    To divide the topics is faster, since each is searched once, by one worker. But then each worker reads the whole
    index, and Dask ends a worker whose memory, mapped files included, reaches its limit.
    """
    require_division(division)
    if division != AUTO:
        return division
    memory = cluster.smallest_memory
    n_bytes = sum(column_bytes(snapshot).values())
    return SHARDS if memory is not None and n_bytes > MAX_MEMORY_SHARE * memory else TOPICS


def column_bytes(snapshot: Snapshot) -> dict[str, int]:
    """The size of the columns of each shard, by its name."""
    return {record.name: record.files[COLUMNS][0] for record in snapshot.manifest.shards}


def divide_shards(sizes: Mapping[str, int], workers: Sequence[str]) -> tuple[ShardGroup, ...]:
    """The shards of each worker that gets some; `sizes` are those of all shards, by name, in the order of the index.

    Each shard goes to the worker that it prefers (`rank_workers`) among those with room: a worker has room for a
    tenth more than its equal share. So the same workers get the same shards again, and when one goes, its shards are
    divided among the others and few of theirs move. Mirrokni, Thorup and Zadimoghaddam, Consistent hashing with
    bounded loads, SODA 2018.
    """
    room = (1 + MAX_EXCESS) * sum(sizes.values()) / len(workers)
    loads = dict.fromkeys(workers, 0)
    owned: dict[str, list[int]] = {worker: [] for worker in workers}
    numbers = {name: number for number, name in enumerate(sizes)}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        ranked = rank_workers(name, workers)
        fitting = [worker for worker in ranked if loads[worker] + sizes[name] <= room]
        # None fits if the shards are few and large: then the one with the least.
        worker = fitting[0] if fitting else min(ranked, key=loads.__getitem__)
        loads[worker] += sizes[name]
        owned[worker].append(numbers[name])
    return tuple(ShardGroup(worker, tuple(sorted(shards))) for worker, shards in sorted(owned.items()) if shards)
