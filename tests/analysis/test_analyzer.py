import json
import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchlab.analysis import analyzer
from searchlab.analysis.analyzer import MAX_WORD_LENGTH, STEMMERS, AnalysisSettings, Analyzer, fold, words
from searchlab.errors import SettingError, SourceError

PLAIN = AnalysisSettings("none", "none", frozenset())


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
def test_a_text_is_cut_into_these_words(text, expected):
    assert words(text) == expected


def test_a_very_long_word_is_cut():
    assert words("x" * 1000 + " y") == ["x" * MAX_WORD_LENGTH, "y"]
    assert words("é" * 1000) == ["e" * MAX_WORD_LENGTH]


def test_a_lone_surrogate_separates_words():
    assert words("a\ud800b") == ["a", "b"]


def test_stop_words_go_but_the_letter_of_t_cell_stays():
    analyzer = Analyzer(AnalysisSettings())
    assert analyzer.terms("The T-cell and I don't have a vitamin C") == ["t", "cell", "vitamin", "c"]
    assert analyzer.terms("DON’T") == []


@pytest.mark.parametrize(
    ("stemmer", "text", "expected"),
    [
        ("porter", "lymphomas relational ponies", ["lymphoma", "relat", "poni"]),
        ("snowball", "lymphomas generously ponies", ["lymphoma", "generous", "poni"]),
        ("none", "lymphomas ponies", ["lymphomas", "ponies"]),
    ],
)
def test_each_stemmer_stems_in_its_way(stemmer, text, expected):
    assert Analyzer(AnalysisSettings(stemmer)).terms(text) == expected


def test_the_examples_cover_every_stemmer():
    assert set(STEMMERS) == {"porter", "snowball", "none"}


@pytest.mark.parametrize("stemmer", sorted(STEMMERS))
def test_no_stemmer_fails_on_odd_words_or_leaves_nothing_of_them(stemmer):
    odd = ["s", "es", "ed", "ing", "sses", "ies", "y", "yy", "oed", "eed", "2", "0.05", "o'", "n't's", "日本", "ß"]
    found = Analyzer(AnalysisSettings(stemmer, "none", frozenset())).terms(" ".join(odd))
    assert len(found) == len(words(" ".join(odd)))
    assert all(found)


def test_a_word_is_stemmed_once_however_often_it_occurs(monkeypatch):
    calls = Counter()

    def stem(word):
        calls[word] += 1
        return word

    monkeypatch.setitem(STEMMERS, "porter", lambda: stem)
    analyzer = Analyzer(AnalysisSettings())
    for _ in range(3):
        analyzer.terms("cell cells CELL the cell")
        list(analyzer.spans("cells cell"))
    assert calls == {"cell": 1, "cells": 1}


def test_the_stemmer_is_not_loaded_for_words_that_are_recalled(monkeypatch):
    monkeypatch.setitem(STEMMERS, "porter", lambda: pytest.fail("loaded"))
    memory = {"cells": "cell", "thing": None}
    analyzer = Analyzer(AnalysisSettings(), recall=memory.__getitem__)
    assert analyzer.terms("Cells thing the") == ["cell"]


@pytest.mark.parametrize("stop_list", ["default", "none"])
@pytest.mark.parametrize("stemmer", sorted(STEMMERS))
def test_settings_survive_json(stemmer, stop_list):
    settings = AnalysisSettings.choose(stemmer, stop_list)
    copy = AnalysisSettings.from_json(json.loads(json.dumps(settings.to_json())))
    assert copy == settings
    assert copy.fingerprint == settings.fingerprint


def test_the_fingerprint_changes_with_whatever_changes_a_term():
    settings = [
        AnalysisSettings(),
        AnalysisSettings("snowball"),
        AnalysisSettings("none"),
        AnalysisSettings("porter", "none", frozenset()),
        AnalysisSettings("porter", "mine", frozenset({"the"})),
    ]
    assert len({each.fingerprint for each in settings}) == len(settings)


def test_the_fingerprint_changes_with_the_word_rules(monkeypatch):
    before = AnalysisSettings().fingerprint
    monkeypatch.setattr(analyzer, "WORD_RULES", analyzer.WORD_RULES + 1)
    assert AnalysisSettings().fingerprint != before


def test_the_fingerprint_does_not_change_with_the_name_of_the_stop_list():
    one = AnalysisSettings("porter", "one.txt", frozenset({"the", "of"}))
    two = AnalysisSettings("porter", "two.txt", frozenset({"of", "the"}))
    assert one.fingerprint == two.fingerprint


def test_a_stop_list_comes_from_a_file_with_comments(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("# mine\nThe\nof  and # two of them\n\nnaïve\n", encoding="utf-8")
    settings = AnalysisSettings.choose("none", str(path))
    assert settings.stop_words == {"the", "of", "and", "naive"}
    assert settings.stop_list == "stop.txt"
    assert Analyzer(settings).terms("The naïve state of mine") == ["state", "mine"]


def test_an_unknown_stemmer_is_refused_with_a_list_of_those_there_are():
    with pytest.raises(SettingError, match=r"'portre' \(did you mean porter\?\).*none, porter, snowball"):
        AnalysisSettings.choose("portre")


def test_a_missing_stop_list_is_named():
    with pytest.raises(SettingError, match=r"unknown stop list 'nowhere.txt'; expected none, default or a file"):
        AnalysisSettings.choose("porter", "nowhere.txt")


def test_a_stop_list_that_is_no_text_is_named(tmp_path):
    (tmp_path / "stop").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="cannot be read as a stop list"):
        AnalysisSettings.choose("porter", str(tmp_path / "stop"))
    with pytest.raises(SourceError, match="cannot be read as a stop list"):
        AnalysisSettings.choose("porter", str(tmp_path))


def test_spans_point_into_the_text_as_it_was_written():
    text = "Naïve T\u00ad-cells ﬁnd Crohn’s"
    spans = list(Analyzer(AnalysisSettings()).spans(text))
    assert [text[span.start : span.end] for span in spans] == ["Naïve", "T", "cells", "ﬁnd", "Crohn’s"]
    assert [span.term for span in spans] == ["naiv", "t", "cell", "find", "crohn"]


def test_a_span_covers_the_accent_that_ends_a_decomposed_word():
    text = "cafe\u0301 noir"
    first = next(Analyzer(PLAIN).spans(text))
    assert text[first.start : first.end] == "cafe\u0301"


texts = st.text(
    st.one_of(
        st.sampled_from("abAZ019.''’-_ \u0301\u0308\u00ad\u200béÉﬁß½㎧⒈İŉ\ud800"),
        st.characters(),
    ),
    max_size=40,
)


@given(texts)
def test_the_words_of_a_text_are_those_of_its_spans(text):
    spans = list(Analyzer(PLAIN).spans(text))
    assert [span.term for span in spans] == words(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


@given(texts)
def test_what_a_span_covers_is_the_word_by_itself(text):
    spans = list(Analyzer(PLAIN).spans(text))
    # One character can hold several words ("½" is 1 and 2): their spans overlap.
    alone = [
        span
        for place, span in enumerate(spans)
        if (place == 0 or spans[place - 1].end <= span.start)
        and (place + 1 == len(spans) or span.end <= spans[place + 1].start)
    ]
    assert [words(text[span.start : span.end]) for span in alone] == [[span.term] for span in alone]


@given(texts)
@example("ŉ")  # which decomposes into an apostrophe and a letter
def test_folding_twice_is_folding_once(text):
    assert words(" ".join(words(text))) == words(text)


def spans_one_by_one(text):
    """The words and their places, from the rules as they are told: character by character, then word by word."""
    folded = [(fold(character), place) for place, character in enumerate(text)]
    origins = [place for piece, place in folded for _ in piece]
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
    analyzer = Analyzer(PLAIN)
    assert [tuple(span) for span in analyzer.spans(text)] == spans_one_by_one(text)
    starts, ends, terms = analyzer.locate(text)
    assert list(zip(starts, ends, terms, strict=True)) == spans_one_by_one(text)


def test_strange_words_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(analyzer, "REMEMBERED_WORDS", 50)
    own = Analyzer(AnalysisSettings("porter", "mine", frozenset({"the"})))
    for number in range(200):
        assert own.terms(f"the w{number}s cells") == [f"w{number}", "cell"]
        assert own.locate(f"the w{number}s cells").terms == [None, f"w{number}", "cell"]
    assert len(own._memo) <= 50
