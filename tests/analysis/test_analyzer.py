import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.analysis import analyzer
from searchlab.analysis.analyzer import AnalysisSettings, Analyzer, NgramAnalyzer
from searchlab.analysis.stemmers import STEMMERS
from searchlab.analysis.tokenizer import locate_words


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


def test_the_stemmer_is_not_loaded_for_words_that_are_looked_up(monkeypatch):
    monkeypatch.setitem(STEMMERS, "porter", lambda: pytest.fail("loaded"))
    known = {"cells": "cell", "thing": None}
    analyzer = Analyzer(AnalysisSettings(), lookup=known.__getitem__)
    assert analyzer.terms("Cells thing the") == ["cell"]


@pytest.mark.parametrize("stop_list", ["default", "none"])
@pytest.mark.parametrize("stemmer", sorted(STEMMERS))
def test_settings_survive_json(stemmer, stop_list):
    settings = AnalysisSettings.from_names(stemmer, stop_list)
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
    monkeypatch.setattr(analyzer, "WORD_RULES_VERSION", analyzer.WORD_RULES_VERSION + 1)  # type: ignore[attr-defined]
    assert AnalysisSettings().fingerprint != before


def test_ngrams_are_recorded_and_leave_the_fingerprint_of_words():
    settings = AnalysisSettings(ngrams=3)
    assert AnalysisSettings.from_json(settings.to_json()) == settings
    assert settings.fingerprint == AnalysisSettings().fingerprint


def test_an_ngram_analyzer_locates_what_it_splits():
    ngrams = NgramAnalyzer(2)
    assert ngrams.terms("Naïve 猫") == ["na", "ai", "iv", "ve", "猫"]
    assert list(ngrams.spans("Naïve")) == [(0, 2, "na"), (1, 3, "ai"), (2, 4, "iv"), (3, 5, "ve")]


def test_the_fingerprint_does_not_change_with_the_name_of_the_stop_list():
    one = AnalysisSettings("porter", "one.txt", frozenset({"the", "of"}))
    two = AnalysisSettings("porter", "two.txt", frozenset({"of", "the"}))
    assert one.fingerprint == two.fingerprint


def test_spans_point_into_the_text_as_it_was_written():
    text = "Naïve T\u00ad-cells ﬁnd Crohn’s"
    spans = list(Analyzer(AnalysisSettings()).spans(text))
    assert [text[span.start : span.end] for span in spans] == ["Naïve", "T", "cells", "ﬁnd", "Crohn’s"]
    assert [span.term for span in spans] == ["naiv", "t", "cell", "find", "crohn"]


@given(st.text(max_size=40))
def test_without_stemmer_and_stop_words_terms_are_the_words_of_the_tokenizer(text):
    plain = Analyzer(AnalysisSettings("none", "none", frozenset()))
    assert plain.locate_terms(text) == locate_words(text)  # type: ignore[comparison-overlap]
    assert list(plain.spans(text)) == list(zip(*locate_words(text), strict=True))


def test_strange_words_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(analyzer, "MAX_CACHED_WORDS", 50)
    porter = Analyzer(AnalysisSettings("porter", "mine", frozenset({"the"})))
    for number in range(200):
        assert porter.terms(f"the w{number}s cells") == [f"w{number}", "cell"]
        assert porter.locate_terms(f"the w{number}s cells").terms == [None, f"w{number}", "cell"]
    assert len(porter._cache) <= 50
