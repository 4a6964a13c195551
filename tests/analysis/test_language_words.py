import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.analysis.language_words import LanguageWords
from searchlab.analysis.tokenizer import MAX_WORD_LENGTH, split_words

FRENCH = LanguageWords(["l", "d", "qu", "jusqu"])


def pieces(words, text):
    return [text[start:end] for start, end in zip(*words.locate(text)[:2], strict=True)]


def test_elided_words_are_removed_and_the_rest_is_located():
    text = "L’hospitalisation d'une Élève, jusqu'ici aujourd'hui"
    assert FRENCH.split(text) == ["hospitalisation", "une", "élève", "ici", "aujourd'hui"]
    assert pieces(FRENCH, text) == ["hospitalisation", "une", "Élève", "ici", "aujourd'hui"]


def test_an_elision_needs_a_word_behind_it_and_a_list_of_elisions():
    assert FRENCH.split("l' d'") == ["l", "d"]
    assert LanguageWords().split("l'eau") == ["l'eau"]


def test_accents_stay_however_they_are_written():
    composed = "Émilie, Œuvre, Straße, ﬁn, ½, Å"
    expected = ["émilie", "œuvre", "strasse", "fin", "1", "2", "å"]
    for form in ("NFC", "NFD", "NFKD"):
        text = unicodedata.normalize(form, composed)
        assert FRENCH.split(text) == expected
        assert FRENCH.locate(text).words == expected
    text = unicodedata.normalize("NFD", "déjà vu")
    assert pieces(FRENCH, text) == text.split()


def test_signs_of_indic_scripts_belong_to_words_and_dandas_end_them():
    assert LanguageWords().split("हिन्दी में खोज।") == ["हिन्दी", "में", "खोज"]
    # The standard tokenizer, whose rules are those of old indexes, breaks the word at each sign.
    assert split_words("हिन्दी") != ["हिन्दी"]


def test_arabic_is_freed_of_vowel_points_and_tatweel():
    assert LanguageWords(letters={"أ": "ا"}).split("كَتَبَ كـــتاب أحمد") == ["كتب", "كتاب", "احمد"]
    assert pieces(LanguageWords(), "كَتَبَ كـــتاب") == ["كَتَبَ", "كـــتاب"]


def test_scripts_without_spaces_become_pairs():
    words = LanguageWords()
    assert words.split("信息检索 DNA") == ["信息", "息检", "检索", "dna"]
    assert words.split("ค้นหา") == ["ค้", "้น", "นห", "หา"]
    assert pieces(words, "信息检索") == ["信息", "息检", "检索"]
    assert words.split("が") == words.split(unicodedata.normalize("NFD", "が")) == ["が"]


@pytest.mark.parametrize(
    ("kept", "stem", "term"),
    [
        ("", "año", "ano"),
        ("ñ", "año", "año"),
        ("ñ", "días", "dias"),
        ("", "чай", "чай"),
        ("", "ήλιος", "ηλιος"),
        ("", "हिन्दी", "हिन्दी"),
        ("", "が", "が"),
        ("", "한국", "한국"),
    ],
)
def test_a_term_has_no_accents_but_letters_of_the_alphabet_stay(kept, stem, term):
    assert LanguageWords(kept=kept).plain(stem) == term


LETTERS = st.sampled_from([*"aZ_.'’- 2é\u0301\u0308ßﬁ½İΐŒأةـَ\u00ad\u200bкйが\u3099\u304b한\u1112\u1161\u11abहि्。ค้𝔸"])


@given(st.text(LETTERS, max_size=12) | st.text(max_size=30))
def test_words_are_the_same_with_and_without_positions(text):
    spans = FRENCH.locate(text)
    assert spans.words == FRENCH.split(text)
    assert all(0 <= start < end <= len(text) for start, end in zip(spans.starts, spans.ends, strict=True))
    assert all(word and len(word) <= MAX_WORD_LENGTH for word in spans.words)


@given(st.text("abcXYZ 0123.,;-_", max_size=40))
def test_ascii_without_apostrophes_has_the_words_of_the_standard_tokenizer(text):
    assert FRENCH.split(text) == split_words(text)
