"""Long bodies are cut between words, and any part of them is read from its blocks alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.analysis.languages import LANGUAGES
from searchlab.analysis.tokenizer import split_ngrams, split_words
from searchlab.indexing.storage.documents import long_body
from searchlab.indexing.storage.documents.long_body import (
    BLOCK_LENGTH,
    MAX_WHOLE_LENGTH,
    BlockMeasures,
    LongBody,
    cut_body,
)

# Words of several scripts with accents and marks of their own, punctuation and white space.
TEXTS = st.text(
    st.sampled_from("aZß3é\u0301.'’-_ \n\t\f\u3000İﬁ½がカ\u3099信息检索。、ทดสอบ한국어الكِتَابʼ\u200b\u00ad,l"),
    max_size=200,
)


@pytest.fixture
def small(monkeypatch):
    """Bodies of more than eight characters are long, and blocks have at least four."""
    monkeypatch.setattr(long_body, "MAX_WHOLE_LENGTH", 8)
    monkeypatch.setattr(long_body, "BLOCK_LENGTH", 4)


def body_of(blocks, n_terms=(), read=None):
    numbers = [] if read is None else read

    def read_block(number):
        numbers.append(number)
        return blocks[number]

    return LongBody(BlockMeasures.of(blocks, n_terms), read_block)


def test_a_body_is_cut_after_the_first_white_space_beyond_the_length_of_a_block():
    word = "x" * 1000
    body = f"{word} " * 70
    blocks = cut_body(body)
    assert len(body) > MAX_WHOLE_LENGTH
    assert "".join(blocks) == body
    assert {len(block) for block in blocks[:-1]} == {17 * 1001}
    assert 16 * 1001 < BLOCK_LENGTH < 17 * 1001


@pytest.mark.parametrize("body", ["", "a", "x " * (MAX_WHOLE_LENGTH // 2)])
def test_a_body_that_is_not_long_is_one_block(body):
    assert cut_body(body) == [body]


def test_a_text_without_any_place_to_cut_is_one_block():
    assert cut_body("x" * 10**6) == ["x" * 10**6]


@given(TEXTS)
def test_the_words_of_the_blocks_are_those_of_the_text(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_body, "MAX_WHOLE_LENGTH", 8)
        patch.setattr(long_body, "BLOCK_LENGTH", 4)
        blocks = cut_body(text)
    assert "".join(blocks) == text
    splits = [split_words, lambda piece: split_ngrams(piece, 3), *(each.rules.split for each in LANGUAGES.values())]
    for split in splits:
        assert [word for block in blocks for word in split(block)] == split(text)


@pytest.mark.usefixtures("small")
def test_every_part_equals_that_of_the_text_and_reads_no_further_block():
    text = "one two three four\ffive six"
    blocks = cut_body(text)
    assert blocks == ["one ", "two ", "three ", "four\f", "five ", "six"]
    for start in range(len(text) + 2):
        for stop in range(len(text) + 2):
            read: list[int] = []
            body = body_of(blocks, read=read)
            assert body.read(start, stop) == text[start:stop]
            needed = {n for n in range(6) if body.begins[n] < min(stop, len(text)) and body.begins[n + 1] > start}
            assert set(read) == (needed if start < stop else set())


def test_a_term_is_located_by_the_numbers_of_terms():
    body = body_of(["aa ", "bbbb ", "c "], [2, 0, 3])
    assert [body.locate_term(position, 5) for position in range(5)] == [0, 0, 2, 2, 2]


def test_a_term_of_unknown_place_is_estimated_by_characters():
    # Ten terms over ten characters: three belong to the first block, five to the second, two to the third.
    body = body_of(["aa ", "bbbb ", "c "])
    assert [body.locate_term(position, 10) for position in range(10)] == [0] * 3 + [1] * 5 + [2] * 2
    assert not body.knows_terms(10)


def test_pages_are_counted_up_to_a_block():
    body = body_of(["a \f", "b ", "c \f\f", "d"])
    assert [body.first_page(number) for number in range(4)] == [1, 2, 2, 4]
    assert body_of(["a ", "b"]).first_page(1) is None


def test_measures_as_lists_are_the_inverse_of_their_arrays():
    measures = BlockMeasures.of(["a\f", "bcd"], [1, 7])
    assert measures.lists() == [[2, 3], [1, 0], [1, 7]]
    again = BlockMeasures(*np.array(measures.lists()))
    assert again.lists() == measures.lists()
