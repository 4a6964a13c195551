import pytest

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer, make_analyzer
from searchlab.analysis.mixed_analyzer import LANGUAGE_FIELD, MixedAnalyzer, language_of
from searchlab.errors import SettingError
from searchlab.records import Document

AUTO = AnalysisSettings.from_names(language="auto")


def forms(analyzer, text):
    return [(text[start:end], terms) for start, end, terms in analyzer.word_classes(text)]


def test_a_word_of_a_query_has_the_terms_of_all_languages():
    analyzer = MixedAnalyzer(AUTO, ["english", "german"])
    # "die" is a German stop word; German has no plural in -as.
    assert forms(analyzer, "die lymphomas") == [("die", ("die",)), ("lymphomas", ("lymphoma", "lymphomas"))]
    assert analyzer.terms("die lymphomas") == ["die", "lymphoma"]
    assert analyzer.locate_terms("die lymphomas") == ([0, 4], [3, 13], ["die", "lymphoma"])


def test_an_elision_of_one_language_is_a_word_of_the_others():
    analyzer = MixedAnalyzer(AUTO, ["english", "french"])
    assert forms(analyzer, "l’hôpital") == [("hôpital", ("l'hopit", "hopital"))]


def test_a_stop_word_of_all_languages_is_left_out():
    assert forms(MixedAnalyzer(AUTO, ["english", "german"]), "in a die") == [("a", ("a",)), ("die", ("die",))]
    assert forms(MixedAnalyzer(AUTO, ["english", "dutch"]), "in") == []


def test_a_phrase_has_the_terms_of_each_language_once():
    analyzer = MixedAnalyzer(AUTO, ["english", "german", "none"])
    assert analyzer.phrases("die Kinder") == [["die", "kinder"], ["kind"]]
    assert analyzer.phrases("?") == []


def test_each_document_has_the_analyzer_of_its_language():
    analyzer = make_analyzer(AUTO)
    german, other = Document("1", fields={LANGUAGE_FIELD: "german"}), Document("2", fields={LANGUAGE_FIELD: "klingon"})
    assert analyzer.for_document(german).terms("Die Häuser") == ["haus"]
    assert analyzer.for_document(other).terms("Die Häuser") == ["die", "hauser"]
    assert [language_of(document) for document in (german, other, Document("3"))] == ["german", "none", "none"]
    english = Analyzer(AnalysisSettings())
    assert english.for_document(german) is english


def test_documents_in_english_have_the_terms_of_an_english_index():
    document = Document("1", fields={LANGUAGE_FIELD: "english"})
    assert make_analyzer(AUTO).for_document(document).settings == AnalysisSettings()


def test_the_likely_languages_have_most_words_of_a_query():
    known = {"english": {"die": "die", "cells": "cell"}, "german": {"kinder": "kind", "cells": "cell", "die": None}}
    analyzer = MixedAnalyzer(AUTO, ["english", "german"], lambda name: known[name].__getitem__)
    assert analyzer.likely_languages("kinder cells x") == {"german"}
    assert analyzer.likely_languages("die cells") == {"english"}
    assert analyzer.likely_languages("cells") == {"english", "german"}
    assert analyzer.likely_languages("x") == frozenset()
    assert MixedAnalyzer(AUTO, ["english"]).likely_languages("cells") == frozenset()


@pytest.mark.parametrize("language", ["auto", "english,german"])
@pytest.mark.parametrize("stemmer", [None, "none"])
def test_settings_of_several_languages_survive_json(language, stemmer):
    settings = AnalysisSettings.from_names(stemmer, language=language)
    assert AnalysisSettings.from_json(settings.to_json()) == settings
    assert settings.is_mixed
    assert settings.of_language("german").stemmer == (stemmer or "german")
    assert settings.fingerprint != AnalysisSettings().fingerprint


def test_languages_are_named_in_any_order():
    assert AnalysisSettings.from_names(language="german, english") == AnalysisSettings.from_names(
        language="english,german"
    )
    assert AnalysisSettings.from_names(language="german,german").language == "german"


def test_stemmers_and_stop_lists_of_one_language_do_not_fit_several():
    with pytest.raises(SettingError, match=r"stemmers of their own, found stemmer porter, expected none"):
        AnalysisSettings.from_names("porter", language="auto")
    with pytest.raises(SettingError, match=r"stop lists of their own, found mine.txt, expected none"):
        AnalysisSettings.from_names(stop_list="mine.txt", language="auto")
    with pytest.raises(SettingError, match=r"unknown language 'klingon'"):
        AnalysisSettings.from_names(language="english,klingon")
    with pytest.raises(SettingError, match="language is english,none, expected languages to detect, without none"):
        AnalysisSettings.from_names(language="english,none")
    with pytest.raises(SettingError, match="language is 3, expected the name of a language, such as german"):
        AnalysisSettings.from_names(language=3)
