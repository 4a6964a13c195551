import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchlab.analysis.tokenizer import (
    MAX_WORD_LENGTH,
    fold_text,
    locate_ngrams,
    locate_words,
    split_ngrams,
    split_words,
)


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
        ("信息检索", ["信息", "息检", "检索"]),
        ("北京2008年", ["北京", "2008", "年"]),
        ("iPhone手机，3.5亿 Crohn's", ["iphone", "手机", "3.5", "亿", "crohn"]),
        ("がっこう ｶﾞｯｺｳ か\u3099", ["がっ", "っこ", "こう", "ガッ", "ッコ", "コウ", "が"]),  # voiced kana stay voiced
        ("한국어 가수", ["한국", "국어", "가수"]),
        (unicodedata.normalize("NFD", "한국어"), ["한국", "국어"]),
        ("สุข ใจ", ["สุ", "ุข", "ใจ"]),  # Thai vowels are kept
        ("㈱ 豈", ["株", "豈"]),  # compatibility forms
        ("𠀀𠀁 𠀂", ["𠀀𠀁", "𠀂"]),  # beyond the first plane
        ("コーヒー・カップ", ["コー", "ーヒ", "ヒー", "カッ", "ップ"]),
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
        st.sampled_from("信息检索豈㈱㍿がか\u3099ｶﾞ㌀한ㅏ\u1112\u1161\u11abที่ำ、。𠀀\u200b"),
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
    # Two characters of a script without spaces are a word of their own only if no neighbour overlaps them.
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
    """The words and their positions by the rules as documented: character by character, then word by word.

    For texts of scripts that separate words.
    """
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


UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U000323af]"
)
spaced_texts = st.one_of(texts, ascii_texts).map(lambda text: UNSPACED.sub(" ", text))


@given(spaced_texts)
@example("1.5.x 2.a a1.5 .5. 1.2.3a'b's's 0.05 5'4 'a' a''b a's's")
@example("x" * 300 + "'s é" + "1" * 300 + ".5")
def test_all_words_at_once_are_those_found_one_by_one(text):
    assert list(zip(*locate_words(text), strict=True)) == spans_one_by_one(text)


def test_a_span_covers_the_accent_that_ends_a_decomposed_word():
    text = "cafe\u0301 noir"
    spans = locate_words(text)
    assert text[spans.starts[0] : spans.ends[0]] == "cafe\u0301"


unspaced_texts = st.text(st.sampled_from("信息检索系统がか한국กขab 、。\u200b"), max_size=30)


@given(unspaced_texts)
def test_a_run_without_spaces_is_every_two_adjacent_characters(text):
    expected = []
    for run in re.findall("[信息检索系统がか한국กข]+|[ab]+", text.replace("\u200b", "")):
        is_pair = len(run) > 1 and run[0] not in "ab"
        expected += [run[i : i + 2] for i in range(len(run) - 1)] if is_pair else [run]
    assert split_words(text) == expected


def ngrams_by_brute_force(text, n):
    """All windows of n characters of the folded text that hold only letters and digits, and short runs whole."""
    runs, run = [], ""
    # Thai, whose vowels may be marks, and Han beyond the first plane, of which Python may not know all.
    ranges = ("\u0e01", "\u0e3a"), ("\u0e40", "\u0e4e"), ("\U00020000", "\U000323af")
    for character in fold_text(text) + " ":
        if character.isalnum() or any(low <= character <= high for low, high in ranges):
            run += character
        elif run:
            runs.append(run)
            run = ""
    return [run[i : i + n] for run in runs for i in range(max(len(run) - n, 0) + 1)]


@given(texts, st.integers(1, 5))
@example("don't snake_case 信息检索 ½ naïve", 2)
def test_ngrams_are_those_of_brute_force(text, n):
    assert split_ngrams(text, n) == ngrams_by_brute_force(text, n)


@given(texts, st.integers(1, 5))
def test_the_ngrams_of_a_text_are_those_of_its_spans(text, n):
    starts, ends, ngrams = locate_ngrams(text, n)
    assert ngrams == split_ngrams(text, n)
    assert starts == sorted(starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))


@pytest.mark.parametrize(
    ("text", "n", "expected"),
    [
        ("信息检索", 1, ["信", "息", "检", "索"]),
        ("信息检索", 3, ["信息检", "息检索"]),
        ("cells", 4, ["cell", "ells"]),
        ("T-cell", 2, ["t", "ce", "el", "ll"]),  # within words; a short word whole
        ("Naïve", 4, ["naiv", "aive"]),
        ("", 2, []),
    ],
)
def test_a_text_has_these_ngrams(text, n, expected):
    assert split_ngrams(text, n) == expected


def test_a_span_covers_marks_and_parts_of_a_letter():
    text = unicodedata.normalize("NFD", "한국") + " ｶﾞﾝ"
    spans = locate_words(text)
    assert [text[start:end] for start, end in zip(spans.starts, spans.ends, strict=True)] == text.split()
