import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.block_checksums import BLOCK_BYTES, FOOTER_BYTES, BlockWriter, VerifiedBlocks


def written(*pieces: bytes) -> bytearray:
    file = io.BytesIO()
    writer = BlockWriter(file)
    for piece in pieces:
        writer.write(piece)
    writer.finish()
    return bytearray(file.getvalue())


def opened(content, path) -> VerifiedBlocks:
    return VerifiedBlocks(path, memoryview(bytes(content)))


def test_two_short_pieces_are_one_block_with_their_checksum(tmp_path):
    content = written(b"abc", b"de")
    assert content[:5] == b"abcde"
    assert content[5:9] == zlib.crc32(b"abcde").to_bytes(4, "little")
    assert content[9:17] == (1).to_bytes(8, "little")
    blocks = opened(content, tmp_path)
    assert (bytes(blocks.data), blocks.n_blocks, blocks.is_verified) == (b"abcde", 1, False)
    blocks.verify_all()
    assert blocks.is_verified


def test_only_the_blocks_that_are_read_are_verified(tmp_path):
    content = written(bytes(3 * BLOCK_BYTES + 7))
    content[2 * BLOCK_BYTES + 100] ^= 1
    blocks = opened(content, tmp_path / "columns")
    blocks.verify(0, 2 * BLOCK_BYTES)
    blocks.verify(3 * BLOCK_BYTES, 3 * BLOCK_BYTES + 7)
    for start, stop in ((2 * BLOCK_BYTES, 2 * BLOCK_BYTES + 1), (BLOCK_BYTES, 3 * BLOCK_BYTES), (0, len(blocks.data))):
        with pytest.raises(IndexCorrupt, match=r"columns: damaged \(the checksum of block 2 does not match\)"):
            blocks.verify(start, stop)


def test_a_block_is_verified_once(tmp_path, monkeypatch):
    blocks = opened(written(bytes(BLOCK_BYTES)), tmp_path)
    blocks.verify(10, 20)
    monkeypatch.setattr(zlib, "crc32", None)
    blocks.verify(0, BLOCK_BYTES)


@given(st.data())
def test_any_flipped_bit_is_found_or_refused(tmp_path_factory, data):
    content = written(*data.draw(st.lists(st.binary(max_size=BLOCK_BYTES), max_size=3)))
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises((IndexCorrupt, ValueError)):
        opened(content, "x").verify_all()


@pytest.mark.parametrize("n_bytes", [0, 1, FOOTER_BYTES - 1, FOOTER_BYTES])
def test_a_file_without_checksums_is_refused(n_bytes):
    with pytest.raises(ValueError, match="checksums"):
        opened(bytes(n_bytes), "x")


def test_a_number_of_blocks_beyond_the_file_is_refused():
    content = written(b"abc")
    content[-16:-8] = (2**62).to_bytes(8, "little")
    with pytest.raises(ValueError, match="a wrong number of checksums"):
        opened(content, "x")
