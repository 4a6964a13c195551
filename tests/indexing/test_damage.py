"""Damaged and hostile files: every answer is right or an error. `benchmarks/attack.py` has longer runs of the same."""

import shutil

import pytest

from benchmarks.attack import ask_everything, attack, differ, make_all
from searchlab.errors import IndexCorrupt
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.array_file import ArrayFile
from searchlab.indexing.storage.arrays.block_checksums import BLOCK_BYTES, VerifiedBlocks
from searchlab.indexing.storage.layout import COLUMNS, STORED_DOCUMENTS


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage") / "index"
    make_all(folder)
    return folder


@pytest.fixture
def index(sound, tmp_path):
    for path in sound.parent.glob("index.*"):
        shutil.copy(path, tmp_path)
    return shutil.copytree(sound, tmp_path / "index")


@pytest.mark.parametrize("sealed", [False, True])
def test_damage_is_an_error_or_changes_nothing(index, sealed):
    result = attack(index, 40, seed=1, sealed=sealed)
    assert result.failures == []
    assert result.outcomes.total() == 40
    assert result.outcomes["error on opening"] + result.outcomes["error"] >= 5


def test_without_verification_damage_gives_other_numbers(index, monkeypatch):
    """The test above can fail."""
    for method in ("verify", "verify_ranges"):
        monkeypatch.setattr(VerifiedBlocks, method, lambda *_: None)
    right = ask_everything(index)
    columns = max(index.glob(f"shard-*/{COLUMNS}"), key=lambda path: path.stat().st_size)
    content = columns.read_bytes()
    lengths = ArrayFile(columns)["both.lengths"].memory.tobytes()
    columns.write_bytes(content.replace(lengths, lengths[4:] + lengths[:4]))
    assert differ(ask_everything(index), right)


@pytest.mark.parametrize("name", [COLUMNS, STORED_DOCUMENTS])
def test_a_snapshot_is_verified_as_a_whole(index, name):
    pauses = []
    Snapshot(index).verify(lambda: pauses.append(1))
    assert len(pauses) == 2 * 4
    path = max(index.glob(f"shard-*/{name}"), key=lambda path: path.stat().st_size)
    content = bytearray(path.read_bytes())
    position = max(len(content) - BLOCK_BYTES, len(content) // 2)
    content[position] ^= 4
    path.write_bytes(content)
    with pytest.raises(IndexCorrupt, match=f"{name}: damaged"):
        Snapshot(index).verify()
