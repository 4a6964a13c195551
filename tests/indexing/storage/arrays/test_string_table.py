import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=4), unique=True), st.text(max_size=4))
def test_strings_find_the_number_of_each_string_and_no_other(texts, other):
    ordered = sorted(texts)
    strings = Strings.of(ordered)
    assert list(strings) == strings[:] == ordered
    assert [strings.find(text) for text in ordered] == list(range(len(ordered)))
    assert strings.find(other) == (ordered.index(other) if other in ordered else -1)


def test_strings_count_from_the_end_and_stop_at_their_ends():
    strings = Strings.of(["a", "bc"])
    assert strings[-1] == "bc"
    with pytest.raises(IndexError):
        strings[2]


def test_strings_are_taken_in_any_order():
    strings = Strings.of(["a", "bé", "ç", "zz"])
    assert strings.take(np.array([3, 1, 0, 3])) == ["zz", "bé", "a", "zz"]
    assert strings.take(np.array([3, 0])) == ["zz", "a"]
    assert strings.take(np.zeros(0, np.int64)) == []


@pytest.mark.parametrize("read", [lambda strings: strings[1], lambda strings: strings.take(np.array([0, 1]))])
def test_strings_that_are_not_utf8_are_damage(read):
    strings = Strings(Column(np.frombuffer(b"a\xff", np.uint8)), Column(np.array([0, 1, 2])))
    assert strings[0] == "a"
    with pytest.raises(IndexCorrupt, match="strings that are not UTF-8"):
        read(strings)
