"""Array files: what is written is read again, and whatever a hostile directory claims is refused in one line."""

import json

import numpy as np
import pytest

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.array_file import MAGIC, ArrayFile, write_arrays
from searchlab.indexing.storage.arrays.block_checksums import BlockWriter


def write_claims(path, head: bytes, data: bytes = bytes(256), length: int | None = None) -> None:
    """Write a file with a directory of any content, and right checksums."""
    with path.open("wb") as file:
        writer = BlockWriter(file)
        writer.write(MAGIC + (len(head) if length is None else length).to_bytes(8, "little") + head + data)
        writer.finish()


@pytest.mark.parametrize("type_name", ["?", "u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8", ">i4"])
@pytest.mark.parametrize("shape", [(0,), (3,), (0, 4), (2, 5)])
def test_arrays_come_back_equal(tmp_path, type_name, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(type_name)
    write_arrays(tmp_path / "file", {"other": np.arange(9.0), "numbers": array})
    column = ArrayFile(tmp_path / "file")["numbers"]
    assert (column.shape, column.dtype) == (shape, array.dtype.newbyteorder("<"))
    assert np.array_equal(column.whole, array)


@pytest.mark.parametrize(
    "claims",
    [
        {"a": ["<i8", [2**60], 0]},
        {"a": ["<i8", [2**70], 0]},
        {"a": ["<i8", [-1], 0]},
        {"a": ["<i8", [1], -64]},
        {"a": ["<i8", [1], 3]},
        {"a": ["<i8", [1], 2**64]},
        {"a": ["<i8", [1.5], 0]},
        {"a": ["<i8", [True], 0]},
        {"a": ["<i8", [1, 1, 1], 0]},
        {"a": ["<i8", [], 0]},
        {"a": ["<i8", 1, 0]},
        {"a": ["|O", [1], 0]},
        {"a": ["<U4", [1], 0]},
        {"a": [["<i8"], [1], 0]},
        {"a": ["<i8", [1]]},
        {"a": None},
        ["a"],
        7,
    ],
)
def test_a_directory_that_claims_the_impossible_is_refused(tmp_path, claims):
    write_claims(tmp_path / "file", json.dumps(claims).encode())
    with pytest.raises(IndexCorrupt, match="file: not a readable file of columns"):
        ArrayFile(tmp_path / "file")


@pytest.mark.parametrize("head", [b"", b"{", b"\xff", b"[" * 100_000, b'{"a": NaN}'])
def test_a_directory_that_is_none_is_refused(tmp_path, head):
    write_claims(tmp_path / "file", head)
    with pytest.raises(IndexCorrupt, match="file: not a readable file of columns"):
        ArrayFile(tmp_path / "file")


def test_a_directory_longer_than_the_file_is_refused(tmp_path):
    write_claims(tmp_path / "file", b"{}", length=2**63)
    with pytest.raises(IndexCorrupt, match="wrong beginning"):
        ArrayFile(tmp_path / "file")


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(IndexCorrupt, match="file: not a readable file of columns"):
        ArrayFile(tmp_path / "file")
