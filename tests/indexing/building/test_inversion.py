"""Do the quick ways, by NumPy and compiled, give what the slow and obvious one gives?"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from searchlab.indexing.building import inversion
from searchlab.indexing.building.inversion import TokenStream, arrange, invert

N_TERMS = 6
texts = st.lists(st.lists(st.integers(0, N_TERMS - 1), max_size=8), max_size=7)


def stream(texts):
    tokens = np.array([token for text in texts for token in text], np.int32)
    return TokenStream(tokens, np.cumsum([0, *map(len, texts)]))


def invert_slowly(texts):
    offsets, docs, tfs, positions = [0], [], [], []
    for term in range(N_TERMS):
        for doc, text in enumerate(texts):
            own = [position for position, token in enumerate(text) if token == term]
            if own:
                docs.append(doc)
                tfs.append(len(own))
                positions += own
        offsets.append(len(docs))
    return [offsets, docs, tfs, positions]


@given(texts)
def test_tokens_are_inverted_by_either_way(texts):
    expected = invert_slowly(texts)
    for worth_compiling in (10**9, 0):
        saved, inversion.WORTH_COMPILING = inversion.WORTH_COMPILING, worth_compiling
        try:
            inverted = invert(stream(texts), N_TERMS)
        finally:
            inversion.WORTH_COMPILING = saved
        assert [column.tolist() for column in inverted] == expected
        assert [column.dtype for column in inverted] == [np.int64, np.uint32, np.uint32, np.uint32]


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 5), max_size=4)), max_size=6),
    st.randoms(),
)
def test_streams_are_arranged_document_by_document(pairs, random):
    order = list(range(len(pairs)))
    random.shuffle(order)
    firsts, seconds = stream([first for first, _ in pairs]), stream([second for _, second in pairs])
    arranged = arrange([firsts, seconds], np.array(order, np.int64))
    expected = [pairs[number][0] + pairs[number][1] for number in order]
    assert arranged.tokens.tolist() == [token for text in expected for token in text]
    assert arranged.starts.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
