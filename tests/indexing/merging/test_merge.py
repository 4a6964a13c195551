import pytest

from searchlab.indexing.building import workers
from searchlab.indexing.merging.merge import select_shards_to_merge, shard_tier
from searchlab.indexing.storage.shard import ShardRecord


def record(name, words, n_deleted=0, n_docs=100):
    return ShardRecord(name, n_docs, words, {}, "dead-1" if n_deleted else "", n_deleted)


@pytest.mark.parametrize(
    ("words", "number"), [(0, 0), (511_999, 0), (512_000, 1), (4_095_999, 1), (4_096_000, 2), (11_999_999, 2)]
)
def test_the_tier_of_a_shard(words, number):
    assert shard_tier(record("s", words)) == number
    assert shard_tier(record("s", 2 * words, n_deleted=50)) == number  # half of its documents are deleted


def test_eight_shards_of_a_tier_are_merged_and_seven_are_not():
    small = [record(f"s{number}", 1000) for number in range(8)]
    larger = [record(f"t{number}", 600_000) for number in range(7)]
    assert select_shards_to_merge([*small[:7], *larger]) == []
    assert select_shards_to_merge([*larger, *small]) == small
    assert select_shards_to_merge([*small[:7], *larger, record("t7", 700_000)]) == [*larger, record("t7", 700_000)]


def test_large_shards_are_left_alone_unless_most_documents_are_deleted():
    full = [record(f"s{number}", workers.MAX_WORDS_PER_SHARD) for number in range(20)]
    assert select_shards_to_merge(full) == []
    half_deleted = record("d", workers.MAX_WORDS_PER_SHARD, n_deleted=50)
    mostly_deleted = record("d", workers.MAX_WORDS_PER_SHARD, n_deleted=51)
    assert select_shards_to_merge([*full, half_deleted]) == []
    assert select_shards_to_merge([*full, mostly_deleted]) == [mostly_deleted]
