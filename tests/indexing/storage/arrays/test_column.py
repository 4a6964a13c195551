import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.arrays.block_checksums import BLOCK_BYTES
from searchlab.indexing.storage.arrays.column import Column

ROWS_PER_BLOCK = BLOCK_BYTES // 8
NUMBERS = np.arange(5 * ROWS_PER_BLOCK, dtype=np.int64)


@pytest.fixture
def damaged(tmp_path):
    """A column of numbers in a file in which one bit of number 2 * ROWS_PER_BLOCK + 500 is wrong."""
    path = tmp_path / "columns"
    write_arrays(path, {"numbers": NUMBERS})
    content = bytearray(path.read_bytes())
    position = content.index(NUMBERS[2 * ROWS_PER_BLOCK + 500 :][:4].tobytes())
    content[position] ^= 1
    path.write_bytes(content)
    return ArrayFile(path)["numbers"]


def test_what_is_read_apart_from_the_damage_is_right(damaged):
    assert damaged[3] == 3
    assert damaged[-1] == NUMBERS[-1]
    assert damaged[:1000].tolist() == list(range(1000))
    assert damaged[np.array([7, 4 * ROWS_PER_BLOCK, -1])].tolist() == [7, 4 * ROWS_PER_BLOCK, NUMBERS[-1]]
    assert len(damaged) == len(NUMBERS)


@pytest.mark.parametrize(
    "read",
    [
        lambda column: column[2 * ROWS_PER_BLOCK + 500],
        lambda column: column[2 * ROWS_PER_BLOCK + 400 : 2 * ROWS_PER_BLOCK + 600],
        lambda column: column[::-1],
        lambda column: column.gather(np.array([0, 2 * ROWS_PER_BLOCK]), np.array([5, 3 * ROWS_PER_BLOCK])),
        lambda column: column.gather(np.array([ROWS_PER_BLOCK]), np.array([5 * ROWS_PER_BLOCK])),
        lambda column: column[np.array([1, 2 * ROWS_PER_BLOCK + 500])],
        lambda column: column[np.ones(len(column), bool)],
        lambda column: column.whole,
        lambda column: column.tolist(),
        lambda column: np.diff(column),
        lambda column: np.asarray(column, np.float64),
        lambda column: column.verify(0, 3 * ROWS_PER_BLOCK),
    ],
)
def test_damaged_numbers_are_an_error_however_they_are_read(damaged, read):
    with pytest.raises(IndexCorrupt, match=r"columns: damaged \(the checksum of block \d"):
        read(damaged)


@given(
    st.one_of(
        st.integers(-40, 39),
        st.slices(40),
        st.lists(st.integers(-40, 39)).map(lambda rows: np.array(rows, np.int64)),
        st.lists(st.booleans(), min_size=40, max_size=40).map(np.array),
    )
)
def test_a_column_in_a_file_is_read_like_its_array(tmp_path_factory, key):
    folder = tmp_path_factory.mktemp("column")
    array = np.arange(80, dtype=np.uint32).reshape(40, 2)
    write_arrays(folder / "columns", {"first": np.zeros(3), "numbers": array})
    for column in (ArrayFile(folder / "columns")["numbers"], Column(array)):
        assert np.array_equal(column[key], array[key])


def test_rows_outside_are_refused_as_by_an_array(tmp_path):
    write_arrays(tmp_path / "columns", {"numbers": NUMBERS})
    column = ArrayFile(tmp_path / "columns")["numbers"]
    for key in (len(NUMBERS), -len(NUMBERS) - 1, np.array([0, len(NUMBERS)])):
        with pytest.raises(IndexError):
            column[key]


def test_ranges_of_rows_are_gathered(damaged):
    starts, stops = np.array([4 * ROWS_PER_BLOCK, 3, 7, 0]), np.array([4 * ROWS_PER_BLOCK + 2, 5, 7, 1])
    assert damaged.gather(starts, stops).tolist() == [4 * ROWS_PER_BLOCK, 4 * ROWS_PER_BLOCK + 1, 3, 4, 0]
    with pytest.raises(IndexError):
        damaged.gather(np.array([0]), np.array([len(NUMBERS) + 1]))


def test_rows_that_were_released_are_read_again(damaged):
    first = damaged[:ROWS_PER_BLOCK].tolist()
    damaged.release(0, len(NUMBERS))
    Column(NUMBERS).release(0, 5)  # not in a file: nothing to do
    assert damaged[:ROWS_PER_BLOCK].tolist() == first
