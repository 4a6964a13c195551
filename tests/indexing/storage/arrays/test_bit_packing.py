import errno
import mmap
import os
from itertools import pairwise

import numpy as np
import pytest

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays import bit_packing, packed_columns
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.arrays.bit_packing import PADDING, pack_postings, unpack_postings
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.packed_columns import open_postings

N_DOCS = 5000


@pytest.fixture(params=["numpy", "compiled"])
def kernels(request, monkeypatch):
    """The same code without and with compiled loops."""
    if request.param == "numpy":
        monkeypatch.setattr(bit_packing, "_kernels", lambda n: None)
    else:
        monkeypatch.setattr(bit_packing, "MIN_COMPILED_POSTINGS", 0)
    return request.param


@pytest.fixture(scope="module")
def postings():
    """Terms without postings, with one, with full and broken blocks, with rare and very frequent documents."""
    rng = np.random.default_rng(3)
    lists = [
        np.sort(rng.choice(N_DOCS, n, replace=False)) for n in [0, 1, 127, 128, 129, 0, 2, 700, 256, N_DOCS, 0, 3, 0]
    ]
    docs = np.concatenate(lists).astype(np.uint32)
    tfs = np.where(rng.random(len(docs)) < 0.8, 1, rng.integers(1, 1 << 16, len(docs))).astype(np.uint32)
    return np.cumsum([0, *map(len, lists)]).astype(np.int64), docs, tfs


def test_packed_postings_worked_by_hand(kernels):
    # Documents 2, 3, 9: gaps less 1 are 2, 0, 5, of three bits. Frequencies 1, 2, 1: less 1, one bit each.
    packed = pack_postings(np.array([0, 3]), np.array([2, 3, 9], np.uint32), np.array([1, 2, 1], np.uint32))
    bits = 2 | 0 << 3 | 5 << 6
    assert packed.blob.tolist() == [3, 1, bits & 255, bits >> 8, 0b010, *[0] * PADDING]
    assert packed.starts.tolist() == [0, 5]


def test_documents_that_follow_each_other_once_each_take_two_bytes_a_block(kernels):
    packed = pack_postings(np.array([0, 300]), np.arange(300, dtype=np.uint32), np.ones(300, np.uint32))
    assert packed.blob.tolist() == [0] * (6 + PADDING)


def test_unpacked_postings_are_those_that_were_packed(kernels, postings):
    offsets, docs, tfs = postings
    packed = pack_postings(offsets, docs, tfs)
    for start, stop in [(0, len(offsets) - 1), (1, 2), (3, 8), (9, 10), (0, 1)]:
        rows = slice(offsets[start], offsets[stop])
        found = np.zeros((2, rows.stop - rows.start), np.uint32)
        unpack_postings(packed.blob, packed.starts[start : stop + 1], np.diff(offsets)[start:stop], *found)
        assert np.array_equal(found, [docs[rows], tfs[rows]])


@pytest.mark.parametrize("width", range(1, 33))
def test_numbers_of_every_width_in_blocks_of_every_kind(kernels, width):
    # Whole blocks, blocks that end within eight numbers, and beside them blocks of a bit and of all widths.
    rng = np.random.default_rng(width)
    lengths = [1, 8, 13, 128, 130, 136, 300]
    widths = np.repeat([width, 1, width], [1, 3, 3])
    docs = np.concatenate([np.arange(n) for n in lengths]).astype(np.uint32)
    tfs = np.concatenate(
        [rng.integers(1, 1 << bits, n) for n, bits in zip(lengths, widths.tolist(), strict=True)]
    ).astype(np.uint32)
    packed = pack_postings(np.cumsum([0, *lengths]), docs, tfs)
    for first in range(len(lengths)):
        found = np.zeros((2, sum(lengths[first:])), np.uint32)
        unpack_postings(packed.blob, packed.starts[first:], np.array(lengths[first:]), *found)
        assert np.array_equal(found, [docs[-found.shape[1] :], tfs[-found.shape[1] :]])


def test_compiled_and_plain_code_pack_the_same_bytes(monkeypatch, postings):
    monkeypatch.setattr(bit_packing, "MIN_COMPILED_POSTINGS", 0)
    compiled = pack_postings(*postings)
    monkeypatch.setattr(bit_packing, "_kernels", lambda n: None)
    plain = pack_postings(*postings)
    for one, other in zip(compiled, plain, strict=True):
        assert np.array_equal(one, other)


def test_any_bytes_are_unpacked_or_refused_without_reading_others(kernels, postings):
    rng = np.random.default_rng(8)
    offsets, docs, tfs = postings
    packed = pack_postings(offsets, docs, tfs)
    n_postings = np.diff(offsets)
    refused = 0
    for _ in range(300):
        blob, starts, lengths = packed.blob.copy(), packed.starts.copy(), n_postings.copy()
        target = (blob, starts, lengths)[rng.integers(3)]
        at = rng.integers(len(target))
        target[at] = (
            rng.integers(0, 256) if target is blob else target[at] + rng.choice([-1, 1, 128, 1 << 40, -(1 << 40)])
        )
        found = np.zeros((2, len(docs)), np.uint32)
        try:
            unpack_postings(blob, starts, lengths, *found)
        except (ValueError, IndexError, MemoryError):
            refused += 1
    assert refused > 150


def write(path, postings):
    offsets, docs, tfs = postings
    packed = pack_postings(offsets, docs, tfs)
    write_arrays(path, {"offsets": offsets, "packed": packed.blob, "starts": packed.starts})
    file = ArrayFile(path)
    return open_postings(file["packed"], file["starts"], file["offsets"], np.uint32)


def test_a_packed_column_reads_like_the_numbers(tmp_path, postings, monkeypatch):
    monkeypatch.setattr(packed_columns, "MAX_POSTINGS_AT_ONCE", 300)
    offsets, docs, tfs = postings
    rng = np.random.default_rng(5)
    rows = rng.integers(0, len(docs), 50)
    wanted = [
        slice(offsets[9], offsets[10]),
        slice(5, 300),
        slice(None),
        slice(0, 0),
        slice(None, None, -7),
        -1,
        int(offsets[3]),
        rows,
        rows[:0],
        docs % 2 == 0,
    ]
    for key in wanted:
        for column, numbers in zip(write(tmp_path / "columns", postings), (docs, tfs), strict=True):
            assert np.array_equal(column[key], numbers[key])
            assert np.array_equal(column[key], numbers[key])  # now from memory
            assert np.array_equal(column.whole, numbers)
            assert len(column) == len(numbers)


def test_only_what_is_read_is_unpacked(tmp_path, postings):
    offsets, docs, _ = postings
    column, tfs = write(tmp_path / "columns", postings)
    unpacked = column.verify(int(offsets[3]), int(offsets[4]))
    assert np.array_equal(unpacked[offsets[3] : offsets[4]], docs[offsets[3] : offsets[4]])
    unpacked = tfs.verify(int(offsets[3]), int(offsets[4]))
    assert unpacked[offsets[3] : offsets[4]].all()
    assert not unpacked[: offsets[3]].any()
    assert not unpacked[offsets[4] :].any()


def test_a_slice_of_one_term_is_unpacked_once_into_arrays_of_its_size(tmp_path, postings, monkeypatch):
    offsets, docs, tfs = postings
    columns = write(tmp_path / "columns", postings)
    rows = slice(int(offsets[7]), int(offsets[8]))
    reads = []

    def unpack_and_note(*arguments):
        reads.append(1)
        unpack_postings(*arguments)

    monkeypatch.setattr(packed_columns, "unpack_postings", unpack_and_note)
    for column, numbers in zip(columns, (docs, tfs), strict=True):
        for key in (rows, slice(np.int64(rows.start), np.int64(rows.stop))):
            assert np.array_equal(column[key], numbers[rows])
        assert column[rows].base is None
    assert len(reads) == 1
    assert not columns[0].verify(0, 0).any()  # nothing in the array of all rows
    assert np.array_equal(columns[0].verify(rows.start, rows.stop)[rows], docs[rows])


def test_rows_that_are_read_with_others_are_not_kept(tmp_path, postings, monkeypatch):
    monkeypatch.setattr(packed_columns, "_MEMORY", packed_columns._Memory())
    offsets, docs, tfs = postings
    column, other = write(tmp_path / "columns", postings)
    plain = Column(docs), Column(tfs)
    for start, stop in [*pairwise(offsets.tolist()), (5, 300), (0, 0), (len(docs), len(docs))]:
        for one, its in ((column, other), plain):
            found = one.read_with(its, start, stop)
            assert np.array_equal(found[0], docs[start:stop])
            assert np.array_equal(found[1], tfs[start:stop])
    assert packed_columns._MEMORY._n_unpacked == 0
    assert not column.verify(0, 0).any()
    rows = slice(int(offsets[7]), int(offsets[8]))
    kept = column[rows]
    assert column.read_with(other, rows.start, rows.stop)[0] is kept  # what is kept is not unpacked again


def test_slices_of_terms_count_for_the_bound(tmp_path, postings, monkeypatch):
    monkeypatch.setattr(packed_columns, "MAX_UNPACKED_POSTINGS", 1000)
    monkeypatch.setattr(packed_columns, "_MEMORY", packed_columns._Memory())
    offsets, docs, _ = postings
    column, _ = write(tmp_path / "columns", postings)
    first = slice(int(offsets[7]), int(offsets[8]))  # 700 postings and 64
    kept = column[first]
    assert column[first] is kept
    assert len(column[int(offsets[2]) : int(offsets[3])]) == 127
    assert column[first] is kept
    assert len(column[int(offsets[1]) : int(offsets[2])]) == 1  # with its 65 they are 1,020
    again = column[first]
    assert again is not kept
    assert np.array_equal(again, docs[first])
    assert np.array_equal(kept, docs[first])


def test_the_terms_kept_first_go_when_others_come(tmp_path, postings, monkeypatch):
    monkeypatch.setattr(packed_columns, "MIN_KEPT_POSTINGS", 0)
    monkeypatch.setattr(packed_columns, "KEPT_SHARE", 1200 / 6346)
    monkeypatch.setattr(packed_columns, "_MEMORY", packed_columns._Memory())
    offsets, docs, _ = postings
    column, _ = write(tmp_path / "columns", postings)
    long, short, longest = (slice(int(offsets[term]), int(offsets[term + 1])) for term in (7, 8, 9))
    first, second = column[long], column[short]  # 700 and 256 postings, each with 64 more
    assert column[long] is first and column[short] is second
    third = column[int(offsets[3]) : int(offsets[4])]  # 128 and 64: the first goes
    assert column[short] is second and column[int(offsets[3]) : int(offsets[4])] is third
    assert packed_columns._MEMORY._n_unpacked == 256 + 128 + 2 * 64
    assert column[long] is not first
    assert np.array_equal(column[long], docs[long])
    alone = column[longest]  # a term that is longer than the bound is kept alone
    assert column[longest] is alone
    assert packed_columns._MEMORY._n_unpacked == 5000 + 64
    assert column[short] is not second
    assert np.array_equal(column[short], docs[short])


def test_columns_begin_again_when_too_much_is_unpacked(tmp_path, postings, monkeypatch):
    monkeypatch.setattr(packed_columns, "MAX_UNPACKED_POSTINGS", 1000)
    monkeypatch.setattr(packed_columns, "_MEMORY", packed_columns._Memory())
    offsets, docs, _ = postings
    column, _ = write(tmp_path / "columns", postings)
    other, _ = write(tmp_path / "others", postings)
    kept = column.verify(int(offsets[7]), int(offsets[8]))  # 700 postings
    assert other.verify(0, 1)[0] == docs[0]
    assert column.verify(0, 0) is kept
    other.verify(int(offsets[8]), int(offsets[9]))
    assert column.verify(0, 0) is kept
    other.verify(int(offsets[4]), int(offsets[5]))  # with these they are 1,086
    begun = column.verify(0, 0)
    assert begun is not kept
    assert not begun.any()
    assert not other.verify(0, 0).any()
    rows = slice(int(offsets[7]), int(offsets[8]))
    assert np.array_equal(kept[rows], docs[rows])  # for those who still read it
    assert np.array_equal(column[rows], docs[rows])
    assert np.array_equal(column[rows.start - 20 : rows.stop + 20], docs[rows.start - 20 : rows.stop + 20])


def test_offsets_that_go_back_are_refused_for_rows_and_before_they_overflow(kernels, tmp_path, postings):
    offsets, docs, tfs = postings
    packed = pack_postings(offsets, docs, tfs)
    for place, values in ((10, [0]), (3, [(1 << 63) - 1, -(1 << 63), -1])):
        wrong = offsets.copy()
        wrong[place : place + len(values)] = values
        write_arrays(tmp_path / "columns", {"offsets": wrong, "packed": packed.blob, "starts": packed.starts})
        file = ArrayFile(tmp_path / "columns")
        column, _ = open_postings(file["packed"], file["starts"], file["offsets"], np.uint32)
        with pytest.raises(IndexCorrupt, match="wrong offsets"):
            _ = column[np.array([0, 1])]
        with pytest.raises(IndexCorrupt, match="wrong offsets"):
            _ = column.whole


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [("offsets", 5, 1 << 40), ("offsets", 4, 0), ("starts", 4, -1), ("starts", 4, 1 << 40), ("packed", 1, 33)],
)
def test_columns_with_sound_checksums_that_do_not_fit_are_refused(tmp_path, postings, name, index, value):
    offsets, docs, tfs = postings
    packed = pack_postings(offsets, docs, tfs)
    arrays = {"offsets": offsets.copy(), "packed": packed.blob, "starts": packed.starts}
    arrays[name][index] = value
    write_arrays(tmp_path / "columns", arrays)
    file = ArrayFile(tmp_path / "columns")
    columns = open_postings(file["packed"], file["starts"], file["offsets"], np.uint32)
    for column in columns:
        with pytest.raises(IndexCorrupt, match="damaged"):
            _ = column.whole
        with pytest.raises(IndexCorrupt, match="damaged"):
            column.verify()


def test_more_postings_than_bytes_can_hold_are_refused_before_memory_is_reserved(tmp_path, postings):
    offsets, docs, tfs = postings
    packed = pack_postings(offsets, docs, tfs)
    offsets = offsets.copy()
    offsets[-1] = 1 << 60
    write_arrays(tmp_path / "columns", {"offsets": offsets, "packed": packed.blob, "starts": packed.starts})
    file = ArrayFile(tmp_path / "columns")
    with pytest.raises(IndexCorrupt, match="fit"):
        open_postings(file["packed"], file["starts"], file["offsets"], np.uint32)


def test_damaged_bytes_of_a_term_are_found_when_it_is_read(tmp_path, postings):
    offsets, _, _ = postings
    path = tmp_path / "columns"
    column, _ = write(path, postings)
    content = bytearray(path.read_bytes())
    at = content.index(column.blocks.data[-40:-20].tobytes())
    content[at] ^= 1
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(IndexCorrupt, match="checksum"):
        file = ArrayFile(path)
        open_postings(file["packed"], file["starts"], file["offsets"], np.uint32)[0].verify(0, int(offsets[-1]))


def test_memory_that_the_system_refuses_is_reported_as_lacking(monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(MemoryError, match=r"no memory for [0-9,]+ postings \(Cannot allocate memory\)"):
        packed_columns._reserve(1000, np.dtype(np.uint32))
