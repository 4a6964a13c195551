"""Strings are found by wildcards and by spelling."""

from fnmatch import fnmatchcase
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.retrieval.query.string_matching import match_fuzzy, match_wildcard
from tests.retrieval.query.test_matching import edit_distance


def pack(texts) -> Strings:
    return Strings.of(sorted(texts, key=str.encode))


@cache
def distance_with_swaps(one: str, two: str) -> int:
    """Optimal string alignment, by its definition."""
    if not one or not two:
        return len(one) + len(two)
    ways = [
        distance_with_swaps(one[1:], two) + 1,
        distance_with_swaps(one, two[1:]) + 1,
        distance_with_swaps(one[1:], two[1:]) + (one[0] != two[0]),
    ]
    if len(one) > 1 and len(two) > 1 and one[:2] == two[1::-1]:
        ways.append(distance_with_swaps(one[2:], two[2:]) + 1)
    return min(ways)


LETTERS = "abcé日[.\n"
strings = st.sets(st.text(LETTERS, max_size=6), max_size=30)
prefixes = st.sampled_from(["", "mesh\0", "a*?b\0"])


@given(strings, st.text(LETTERS + "**??", min_size=1, max_size=7), prefixes)
def test_strings_that_match_a_wildcard_are_found(texts, pattern, behind):
    packed = pack({behind + text for text in texts} | {"m", "mesh\1"})
    first, last = packed.first_from(behind), packed.first_from(behind[:-1] + "\1") if behind else len(packed)
    found = match_wildcard(packed, range(first, last), pattern, behind=behind)
    expected = {text for text in texts if fnmatchcase(text, pattern.replace("[", "[[]"))}
    if not behind:
        expected |= {text for text in ("m", "mesh\1") if fnmatchcase(text, pattern.replace("[", "[[]"))}
    assert [packed[int(number)][len(behind) :] for number in found] == sorted(expected, key=str.encode)


@given(
    strings,
    st.text(LETTERS, min_size=1, max_size=6),
    st.integers(0, 2),
    st.integers(0, 3),
    st.booleans(),
    prefixes,
)
def test_strings_that_are_spelt_alike_are_found_with_their_distances(texts, text, max_edits, same_start, swaps, behind):
    packed = pack({behind + other for other in texts})
    numbers, distances = match_fuzzy(
        packed, range(len(packed)), text, max_edits, same_start=same_start, swaps=swaps, behind=behind
    )
    distance = distance_with_swaps if swaps else edit_distance
    found = dict(zip((packed[int(n)][len(behind) :] for n in numbers), distances.tolist(), strict=True))
    near = {other: distance(text, other) for other in texts if other.startswith(text[:same_start])}
    assert found == {other: edits for other, edits in near.items() if edits <= max_edits}


@given(st.sets(st.text("ab", max_size=5), max_size=30), st.text("ab", min_size=1, max_size=5), st.booleans())
def test_the_exchange_of_two_neighbours_is_one_edit(texts, text, swaps):
    packed = pack(texts)
    numbers, distances = match_fuzzy(packed, range(len(packed)), text, 2, swaps=swaps)
    distance = distance_with_swaps if swaps else edit_distance
    found = dict(zip((packed[int(number)] for number in numbers), distances.tolist(), strict=True))
    assert found == {other: edits for other in texts if (edits := distance(text, other)) <= 2}


def test_a_pattern_of_many_stars_takes_no_time():
    packed = pack(["a" * 255, "b" * 255])
    assert match_wildcard(packed, range(2), "*a" * 60 + "*b").tolist() == []
    assert match_wildcard(packed, range(2), "*a" * 60).tolist() == [0]


def test_no_strings_match_nothing():
    numbers, distances = match_fuzzy(pack([]), range(0), "word", 2)
    assert (len(numbers), len(distances)) == (0, 0)
    assert len(match_wildcard(pack([]), range(0), "w*d")) == 0
    assert np.issubdtype(numbers.dtype, np.integer)


def test_strings_that_are_not_utf8_are_damage():
    damaged = Strings(Column(np.frombuffer(b"a\xc3(", np.uint8)), Column(np.array([0, 1, 3])))
    with pytest.raises(IndexCorrupt, match="strings that are not UTF-8"):
        match_fuzzy(damaged, range(2), "ab", max_edits=1, same_start=0)
