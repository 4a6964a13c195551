"""Docnos of a large run are compared as strings would be."""

import pickle
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from searchlab.array_ranges import offsets_of
from searchlab.corpus.trec import docno_matching
from searchlab.corpus.trec.packed_docnos import PackedDocnos, gather_groups, order_documents
from searchlab.dataframes import objects
from searchlab.row_groups import find_duplicate

DOCNOS = st.sampled_from(["a", "b", "ab", "é", "a\ud800", "zz"])
GROUPS = st.lists(st.lists(st.tuples(DOCNOS, st.sampled_from([0.0, -0.0, 1.0, 2.5])), max_size=9), max_size=4)


def packed(groups):
    rows = [row for group in groups for row in group]
    docnos = [docno for docno, _ in rows]
    found = PackedDocnos.pack(docnos)
    assert found is not None
    return found, np.array([score for _, score in rows], float), offsets_of([len(group) for group in groups]), docnos


@given(groups=GROUPS)
def test_rows_are_ordered_as_strings_are(groups):
    docnos, scores, offsets, strings = packed(groups)
    order = order_documents(docnos, scores, offsets)
    expected = order_documents(objects(strings), scores, offsets)
    orders = [np.arange(len(strings)) if each is None else each for each in (order, expected)]
    assert [strings[row] for row in orders[0]] == [strings[row] for row in orders[1]]
    assert scores[orders[0]].tolist() == scores[orders[1]].tolist()


def test_many_rows_in_the_wrong_order_are_merged():
    chance = np.random.default_rng(5)
    groups = [
        [
            (str(docno), float(score))
            for docno, score in zip(chance.permutation(n), chance.integers(0, 9, n), strict=True)
        ]
        for n in (300, 1, 0, 513)
    ]
    docnos, scores, offsets, strings = packed(groups)
    order = order_documents(docnos, scores, offsets)
    expected = [
        row
        for begin, end in pairwise(offsets.tolist())
        for row in sorted(range(begin, end), key=lambda row: (scores[row], strings[row]), reverse=True)
    ]
    assert order.tolist() == expected


def test_docnos_in_any_order_are_lines_and_stay_the_same_when_they_are_pickled():
    found = PackedDocnos.of_lines(np.frombuffer("a\nüb\n\nzz\n".encode(), np.uint8))
    for rows, expected in (
        ([0, 1, 2, 3], ["a", "üb", "", "zz"]),
        ([1, 2], ["üb", ""]),
        ([3, 0], ["zz", "a"]),
        ([], []),
    ):
        part = found[np.array(rows, int)]
        assert (part.strings(), pickle.loads(pickle.dumps(part)).strings()) == (expected, expected)
        assert part.lines().tobytes().decode() == "".join(f"{docno}\n" for docno in expected)
    # What follows a docno in a text is not always a line end.
    assert PackedDocnos(np.frombuffer(b"a 0\n", np.uint8), np.array([0]), np.array([1])).strings() == ["a"]


def test_parts_with_texts_of_their_own_are_concatenated():
    first, second = PackedDocnos.pack(["b", "aa"]), PackedDocnos.pack(["ccc", "d"])
    assert first is not None and second is not None
    assert PackedDocnos.concatenate([first, second[1:], first[np.array([1, 0])]]).strings() == [
        "b",
        "aa",
        "d",
        "aa",
        "b",
    ]
    assert PackedDocnos.concatenate([]).strings() == []


@given(groups=GROUPS)
def test_strings_and_duplicates_are_found(groups):
    docnos, _, offsets, strings = packed(groups)
    assert docnos.strings() == strings
    assert docnos.has_duplicate(offsets) == (find_duplicate(objects(strings), offsets) is not None)


@given(groups=GROUPS, judged=st.lists(st.lists(DOCNOS, unique=True, max_size=6), min_size=4, max_size=4))
def test_docnos_are_looked_up_in_the_group_of_the_same_number(groups, judged):
    docnos, _, offsets, _ = packed(groups)
    others, other_offsets = (
        PackedDocnos.pack([each for group in judged for each in group]),
        offsets_of([*map(len, judged)]),
    )
    rows = docnos.look_up(offsets, others, other_offsets)
    expected = [
        judged[n].index(docno) + other_offsets[n] if docno in judged[n] else -1
        for n, group in enumerate(groups)
        for docno, _ in group
    ]
    assert rows.tolist() == expected


def colliding(n):
    """Different docnos of which at least n have their hash in the first slots of a table of this many rows."""
    mask = np.uint64(docno_matching.table_size(n) - 1)
    found = []
    for number in range(10**6):
        text = np.frombuffer(str(number).encode(), np.uint8)
        if docno_matching.hash_docno(text, 0, len(text)) & mask < 2:
            found.append(str(number))
        if len(found) == n:
            return found
    raise AssertionError("too few")


def test_docnos_that_are_slow_to_compare_are_refused():
    docnos, offsets = PackedDocnos.pack(colliding(300)), np.array([0, 300])
    assert docnos.has_duplicate(offsets)
    assert docnos.look_up(offsets, docnos, offsets) is None


def test_a_docno_with_a_line_end_is_not_packed():
    assert PackedDocnos.pack(["a\nb"]) is None


def test_rows_of_groups_are_gathered():
    rows, offsets = gather_groups(np.array([0, 2, 2, 5]), np.array([2, 0, 1]))
    assert (rows.tolist(), offsets.tolist()) == ([2, 3, 4, 0, 1], [0, 3, 5, 5])
