"""The doctor finds the same on a cluster as on one machine."""

import shutil

import pytest

import searchlab
from searchlab.cluster.worker_files import describe_files
from searchlab.errors import ClusterError


@pytest.fixture
def copied(folder, tmp_path):
    """A copy of the index to be damaged."""
    return shutil.copytree(folder, tmp_path / "copy")


def shards_of(folder):
    return sorted(folder.glob("shard-*"))


def damage_nothing(folder):
    pass


def damage_columns(folder):
    path = shards_of(folder)[1] / "columns"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)


def damage_documents(folder):
    path = shards_of(folder)[2] / "documents"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)


def remove_files(folder):
    for shard in shards_of(folder)[:2]:
        next(path for path in sorted(shard.rglob("*")) if path.is_file() and path.name != "in-use").unlink()


def leave_shard(folder):
    (folder / "shard-left").mkdir()


@pytest.mark.parametrize(
    ("damage", "healthy"),
    [
        (damage_nothing, True),
        (damage_columns, False),
        (damage_documents, False),
        (remove_files, False),
        (leave_shard, True),
    ],
)
def test_the_diagnosis_is_that_of_one_machine(copied, cluster, damage, healthy):
    damage(copied)
    expected = searchlab.examine(copied)
    assert expected.healthy == healthy
    assert bool(expected.findings) == (damage is not damage_nothing)
    assert searchlab.examine(copied, cluster=cluster) == expected


def test_an_index_that_a_worker_does_not_see_is_not_damaged(copied, cluster, monkeypatch):
    ask_all = cluster._ask_all

    def answer(function, *arguments):
        answers = dict(ask_all(function, *arguments))
        if function is describe_files:
            answers[min(answers)] = dict.fromkeys(arguments[0], "unreadable (No such file or directory)")
        return answers

    monkeypatch.setattr(cluster, "_ask_all", answer)
    with pytest.raises(ClusterError, match=r"finds .*copy to be unreadable .* storage that all workers see"):
        searchlab.examine(copied, cluster=cluster)
