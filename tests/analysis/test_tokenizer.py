import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchlab.analysis.tokenizer import MAX_WORD_LENGTH, fold_text, locate_words, split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T-cell", ["t", "cell"]),
        ("t cell", ["t", "cell"]),
        ("t\u2010cell t\u2013cell", ["t", "cell", "t", "cell"]),  # hyphen, en dash
        ("naïve", ["naive"]),
        ("NAÏVE", ["naive"]),
        ("nai\u0308ve", ["naive"]),  # the accent as a character of its own
        ("10-mg", ["10", "mg"]),
        ("10mg", ["10mg"]),
        ("IL-2", ["il", "2"]),
        ("p<0.05", ["p", "0.05"]),
        ("1.2.3", ["1.2.3"]),
        ("0.5mg", ["0.5mg"]),
        ("3. Results", ["3", "results"]),
        ("e.g.", ["e", "g"]),
        ("Crohn's", ["crohn"]),
        ("Crohn\u2019s", ["crohn"]),
        ("patients' rights", ["patients", "rights"]),
        ("don't", ["don't"]),
        ("O'Brien's 'quoted'", ["o'brien", "quoted"]),
        ("ﬁbrosis", ["fibrosis"]),  # the ligature ﬁ
        ("hyphen\u00adation", ["hyphenation"]),  # a soft hyphen
        ("zero\u200bwidth", ["zerowidth"]),
        ("snake_case", ["snake", "case"]),
        ("Straße", ["strasse"]),
        ("Ångström µg", ["angstrom", "μg"]),
        ("x²", ["x2"]),
        ("日本 語", ["日本", "語"]),
        ("a\nb\tc\u00a0d", ["a", "b", "c", "d"]),
        ("", []),
        (" -_'.,! ", []),
    ],
)
def test_a_text_is_split_into_these_words(text, expected):
    assert split_words(text) == expected


def test_a_very_long_word_is_cut():
    assert split_words("x" * 1000 + " y") == ["x" * MAX_WORD_LENGTH, "y"]
    assert split_words("é" * 1000) == ["e" * MAX_WORD_LENGTH]


def test_a_lone_surrogate_separates_words():
    assert split_words("a\ud800b") == ["a", "b"]


texts = st.text(
    st.one_of(
        st.sampled_from("abAZ019.''’-_ \u0301\u0308\u00ad\u200béÉﬁß½㎧⒈İŉ\ud800"),
        st.characters(),
    ),
    max_size=40,
)


@given(texts)
def test_the_words_of_a_text_are_those_of_its_spans(text):
    starts, ends, words = locate_words(text)
    assert words == split_words(text)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))


@given(texts)
def test_what_a_span_covers_is_the_word_by_itself(text):
    spans = list(zip(*locate_words(text), strict=True))
    # One character can hold several words ("½" is 1 and 2): their spans overlap.
    alone = [
        (start, end, word)
        for i, (start, end, word) in enumerate(spans)
        if (i == 0 or spans[i - 1][1] <= start) and (i + 1 == len(spans) or end <= spans[i + 1][0])
    ]
    assert [split_words(text[start:end]) for start, end, _ in alone] == [[word] for _, _, word in alone]


@given(texts)
@example("ŉ")  # which decomposes into an apostrophe and a letter
def test_folding_twice_is_folding_once(text):
    assert split_words(" ".join(split_words(text))) == split_words(text)


def spans_one_by_one(text):
    """The words and their positions by the rules as documented: character by character, then word by word."""
    folded = [(fold_text(character), position) for position, character in enumerate(text)]
    origins = [position for piece, position in folded for _ in piece]
    word = re.compile(r"\d+(?:\.\d+)+[^\W_]*|[^\W_]+(?:'[^\W_]+)*")
    spans = []
    for match in word.finditer("".join(piece for piece, _ in folded)):
        end = origins[match.end() - 1] + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        spans.append((origins[match.start()], end, match.group().removesuffix("'s")[:MAX_WORD_LENGTH]))
    return spans


ascii_texts = st.text(st.sampled_from("abAZ019.'s-_ \n"), max_size=60)


@given(st.one_of(texts, ascii_texts))
@example("1.5.x 2.a a1.5 .5. 1.2.3a'b's's 0.05 5'4 'a' a''b a's's")
@example("x" * 300 + "'s é" + "1" * 300 + ".5")
def test_all_words_at_once_are_those_found_one_by_one(text):
    assert list(zip(*locate_words(text), strict=True)) == spans_one_by_one(text)


def test_a_span_covers_the_accent_that_ends_a_decomposed_word():
    text = "cafe\u0301 noir"
    spans = locate_words(text)
    assert text[spans.starts[0] : spans.ends[0]] == "cafe\u0301"
