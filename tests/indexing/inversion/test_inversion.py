"""Inversion by NumPy and by the compiled kernel gives what a naive implementation gives."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.indexing.inversion import inversion
from searchlab.indexing.inversion.inversion import TokenStream, combine_streams, invert, unite

N_TERMS = 6
texts = st.lists(st.lists(st.integers(0, N_TERMS - 1), max_size=8), max_size=7)


def stream(texts):
    tokens = np.array([token for text in texts for token in text], np.int32)
    return TokenStream(tokens, np.cumsum([0, *map(len, texts)]))


def invert_naively(texts):
    offsets, docs, tfs, positions = [0], [], [], []
    for term in range(N_TERMS):
        for doc, text in enumerate(texts):
            occurrences = [position for position, token in enumerate(text) if token == term]
            if occurrences:
                docs.append(doc)
                tfs.append(len(occurrences))
                positions += occurrences
        offsets.append(len(docs))
    return [offsets, docs, tfs, positions]


@given(texts)
def test_both_ways_of_inversion_agree_with_the_naive_one(texts):
    expected = invert_naively(texts)
    for min_compiled in (10**9, 0):
        saved, inversion.MIN_COMPILED_TOKENS = inversion.MIN_COMPILED_TOKENS, min_compiled
        try:
            inverted = invert(stream(texts), N_TERMS)
        finally:
            inversion.MIN_COMPILED_TOKENS = saved
        assert [column.tolist() for column in inverted] == expected
        assert [column.dtype for column in inverted] == [np.int64, np.uint32, np.uint32, np.uint32]


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 5), max_size=4)), max_size=6),
    st.randoms(),
)
def test_streams_are_combined_document_by_document(pairs, random):
    order = list(range(len(pairs)))
    random.shuffle(order)
    firsts, seconds = stream([first for first, _ in pairs]), stream([second for _, second in pairs])
    combined = combine_streams([firsts, seconds], np.array(order, np.int64))
    expected = [pairs[number][0] + pairs[number][1] for number in order]
    assert combined.tokens.tolist() == [token for text in expected for token in text]
    assert combined.starts.tolist() == np.cumsum([0, *map(len, expected)]).tolist()


@pytest.mark.parametrize("is_compiled", [False, True])
@given(
    pairs=st.lists(
        st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 5), max_size=4)), max_size=6
    )
)
def test_united_postings_are_those_of_the_combined_texts(is_compiled, pairs):
    import numba  # noqa: F401

    first, second = (invert(stream([pair[side] for pair in pairs]), N_TERMS) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.delitem(sys.modules, "numba")
        united = unite(first, second)
    assert [column.tolist() for column in united] == [*invert_naively([a + b for a, b in pairs])[:3], []]
    assert [column.dtype for column in united] == [np.int64, np.uint32, np.uint32, np.uint32]
