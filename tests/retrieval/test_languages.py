"""Indexes of one language: words, patterns, spelling and completion, marks, updates and merges."""

import pytest

import searchlab
from searchlab.analysis.word_rules import STANDARD, WORD_RULES
from searchlab.errors import SettingError
from searchlab.retrieval.suggest.autocomplete import complete_word
from searchlab.retrieval.suggest.spelling import correct_spelling

GERMAN = [
    {"docno": "1", "title": "Die Krankenhäuser", "body": "Die Ärzte der Häuser behandeln Lymphome."},
    {"docno": "2", "title": "Straßen", "body": "Der Arzt geht über die Straße nach Hause."},
    {"docno": "3", "title": "Wetter", "body": "Es regnet in München."},
]
FRENCH = [
    {"docno": "1", "title": "L’hospitalisation", "body": "Les essais cliniques de l'hôpital."},
    {"docno": "2", "title": "Hôtels", "body": "Les hôtels sont pleins aujourd'hui."},
]


@pytest.fixture
def german(tmp_path):
    searchlab.index(GERMAN, tmp_path / "german", language="german")
    with searchlab.open(tmp_path / "german") as engine:
        yield engine


@pytest.fixture
def french(tmp_path):
    searchlab.index(FRENCH, tmp_path / "french", language="french")
    with searchlab.open(tmp_path / "french") as engine:
        yield engine


@pytest.mark.parametrize("query", ["Ärztin Arzt", "aerzte", "der ärzte", "ARZT", "arzte"])
def test_forms_of_a_word_find_each_other(german, query):
    assert sorted(german.search(query).docnos) == ["1", "2"]


def test_function_words_are_not_searched(german):
    assert german.search("die der es in nach").docnos == []
    assert german.parse("die der").unknown == ()


def test_matched_words_are_marked_as_they_are_written(german, french):
    hit = german.search("Haus")[0]
    assert hit.document.docno in {"1", "2"}
    marked = {hit.docno: hit.snippet.marked("[", "]") for hit in german.search("haus")}
    assert marked == {
        "1": "Die Ärzte der [Häuser] behandeln Lymphome.",
        "2": "Der Arzt geht über die Straße nach [Hause].",
    }
    assert french.search("hospitalisations")[0].marked_title.marked("[", "]") == "L’[hospitalisation]"
    assert french.search("hopital")[0].snippet.marked("[", "]") == "Les essais cliniques de l'[hôpital]."


@pytest.mark.parametrize("query", ["hauser*", "Häu*", "HAEUSER", "strasse~", "haüser~"])
def test_patterns_ignore_accents(german, query):
    assert german.search(query, syntax="full").docnos


def test_phrases_are_those_of_the_language(french):
    assert french.search('"essais clinique de hôpital"', syntax="full").docnos == ["1"]
    assert french.search('"clinique essai"', syntax="full").docnos == []


def test_suggestions_have_their_accents(french):
    assert correct_spelling(french.snapshot, "hopitol") == "hôpital"
    assert correct_spelling(french.snapshot, "l'hopitol") == "hôpital"
    assert complete_word(french.snapshot, "ho") == ["hospitalisation", "hôpital", "hôtels"]


def test_an_update_and_a_merge_keep_the_language(tmp_path):
    folder = tmp_path / "german"
    searchlab.index(GERMAN, folder, language="german")
    searchlab.index([{"docno": "4", "title": "Weitere Krankenhäuser"}], folder)
    searchlab.merge(folder)
    with searchlab.open(folder) as engine:
        assert engine.snapshot.manifest.settings.language == "german"
        assert sorted(engine.search("Krankenhaus").docnos) == ["1", "4"]
    assert searchlab.examine(folder).findings == ()
    with pytest.raises(SettingError, match=r"built with language german, .*found language french, .*--rebuild"):
        searchlab.index(FRENCH, folder, language="french")
    searchlab.index(FRENCH, folder, language="french", rebuild=True)
    with searchlab.open(folder) as engine:
        assert engine.search("essais").docnos == ["1"]


def test_other_fields_are_analysed_in_the_language(tmp_path):
    searchlab.index([{"docno": "1", "title": "x", "schlagwort": "Häuser"}], tmp_path / "x", language="german")
    with searchlab.open(tmp_path / "x") as engine:
        assert engine.search("schlagwort:haus", syntax="full").docnos == ["1"]


def test_an_own_analyzer_has_no_language(tmp_path, monkeypatch):
    monkeypatch.setitem(WORD_RULES, "mine", WORD_RULES[STANDARD])
    expected = "analyzer mine has words of its own, found language german, expected no language"
    with pytest.raises(SettingError, match=expected):
        searchlab.index(GERMAN, tmp_path / "x", language="german", analyzer="mine")


def test_worker_processes_know_the_language(tmp_path, monkeypatch):
    monkeypatch.setattr("searchlab.indexing.building.workers.MIN_PARALLEL_DOCS", 2)
    searchlab.index(GERMAN, tmp_path / "x", language="german", jobs=2)
    with searchlab.open(tmp_path / "x") as engine:
        assert sorted(engine.search("ärztin arzt").docnos) == ["1", "2"]
