"""Which worker gets which shards: evenly, the same again, and few move when a worker goes."""

import itertools
from types import SimpleNamespace

import pytest

from searchlab.errors import SettingError
from searchlab.retrieval.distributed.shard_division import ShardGroup, choose_division, divide_shards

WORKERS = [f"tcp://10.0.0.{number}:4000" for number in range(1, 9)]
SIZES = {f"shard-{number:03}": 100 + number % 7 for number in range(64)}


def owners(groups: tuple[ShardGroup, ...]) -> dict[int, str]:
    return {shard: group.worker for group in groups for shard in group.shards}


@pytest.mark.parametrize("n_workers", [1, 2, 3, 8])
def test_every_shard_has_one_worker_and_loads_are_even(n_workers):
    groups = divide_shards(SIZES, WORKERS[:n_workers])
    shards = [shard for group in groups for shard in group.shards]
    assert sorted(shards) == list(range(len(SIZES)))
    sizes = list(SIZES.values())
    loads = [sum(sizes[shard] for shard in group.shards) for group in groups]
    assert len(loads) == n_workers
    assert max(loads) <= 1.1 * sum(sizes) / n_workers + max(sizes)


def test_the_order_of_workers_does_not_matter():
    assert divide_shards(SIZES, WORKERS) == divide_shards(SIZES, WORKERS[::-1])


def test_few_shards_of_others_move_when_a_worker_goes():
    before, after = owners(divide_shards(SIZES, WORKERS)), owners(divide_shards(SIZES, WORKERS[1:]))
    stayed = [shard for shard, worker in before.items() if worker != WORKERS[0] and after[shard] == worker]
    n_others = sum(worker != WORKERS[0] for worker in before.values())
    assert len(stayed) >= 0.7 * n_others


def test_workers_beyond_the_shards_get_none():
    groups = divide_shards({"a": 10, "b": 10}, WORKERS)
    assert sorted(len(group.shards) for group in groups) == [1, 1]


def test_shards_too_large_for_an_equal_share_go_to_the_workers_with_the_least():
    # By hand: the room is 1.1 · 110/2 = 60.5, so that b and c, which fit beside each other, go together.
    groups = divide_shards({"a": 90, "b": 10, "c": 10}, WORKERS[:2])
    assert sorted(group.shards for group in groups) == [(0,), (1, 2)]


def make_snapshot(n_bytes: int) -> SimpleNamespace:
    record = SimpleNamespace(name="shard-1", files={"columns": (n_bytes, 0)})
    return SimpleNamespace(manifest=SimpleNamespace(shards=[record]))


@pytest.mark.parametrize(
    ("memory", "n_bytes", "expected"), [(None, 10**12, "topics"), (100, 50, "topics"), (100, 51, "shards")]
)
def test_shards_are_divided_if_the_columns_take_more_than_half_of_a_workers_memory(memory, n_bytes, expected):
    cluster, snapshot = SimpleNamespace(smallest_memory=memory), make_snapshot(n_bytes)
    assert choose_division("auto", cluster, snapshot) == expected
    for chosen, divided in itertools.product(("topics", "shards"), (cluster,)):
        assert choose_division(chosen, divided, snapshot) == chosen


def test_other_divisions_are_refused():
    with pytest.raises(SettingError, match="auto, shards, topics"):
        choose_division("documents", SimpleNamespace(), make_snapshot(1))
