import numpy as np
import pytest

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.narrow_column import NarrowColumn, bytes_needed, narrow


def test_the_bytes_that_numbers_need():
    counts = (0, 1, 256, 257, 1 << 16, (1 << 16) + 1, 1 << 24, (1 << 24) + 1, 1 << 32)
    assert [bytes_needed(n) for n in counts] == [1, 1, 1, 2, 2, 3, 3, 4, 4]


def test_three_bytes_worked_by_hand():
    assert narrow(np.array([1, 0x123456, 70_000]), 1 << 20).tolist() == [1, 0, 0, 0x56, 0x34, 0x12, 0x70, 0x11, 1, 0]


@pytest.mark.parametrize("n_values", [200, 60_000, 126_000, 1 << 30])
def test_a_narrow_column_reads_like_the_numbers(tmp_path, n_values):
    rng = np.random.default_rng(n_values)
    numbers = rng.integers(0, n_values, 20_000)
    write_arrays(tmp_path / "columns", {"before": np.zeros(3), "tokens": narrow(numbers, n_values)})
    rows = rng.integers(0, len(numbers), 500)
    for key in (slice(None), slice(17, 9000), slice(None, None, -3), rows, rows[:0], -1, 0, numbers % 2 == 0):
        column = NarrowColumn(ArrayFile(tmp_path / "columns")["tokens"], len(numbers), n_values)
        assert np.array_equal(column[key], numbers[key])
    assert np.array_equal(column.gather(rows, rows + 1), numbers[rows])
    assert np.array_equal(column.whole, numbers)
    assert np.array_equal(np.asarray(column), numbers)
    assert len(column) == len(numbers)


def test_no_number():
    column = NarrowColumn(Column(narrow(np.zeros(0, np.uint32), 5)), 0, 5)
    assert column.whole.tolist() == column[:].tolist() == []


@pytest.mark.parametrize(("n", "n_values"), [(9, 300), (11, 300), (10, 70_000), (-1, 300), (1 << 60, 300)])
def test_other_numbers_than_the_bytes_hold_are_refused(n, n_values):
    packed = Column(narrow(np.zeros(10, np.uint32), 300))
    with pytest.raises(IndexCorrupt, match="do not fit"):
        NarrowColumn(packed, n, n_values)


def test_damage_is_found_in_the_rows_that_are_read(tmp_path):
    path = tmp_path / "columns"
    numbers = np.arange(40_000)
    write_arrays(path, {"tokens": narrow(numbers, 126_000)})
    content = bytearray(path.read_bytes())
    content[100_000] ^= 1
    path.write_bytes(content)
    column = NarrowColumn(ArrayFile(path)["tokens"], len(numbers), 126_000)
    assert column[:20_000].tolist() == list(range(20_000))
    for key in (slice(30_000, 35_000), np.arange(32_000, 33_500)):
        with pytest.raises(IndexCorrupt, match="checksum"):
            column[key]
