import pytest

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.analysis.stemmers import STEMMERS
from searchlab.analysis.tokenizer import split_words
from searchlab.errors import SettingError


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
    assert len(found) == len(split_words(" ".join(odd)))
    assert all(found)


def test_an_unknown_stemmer_is_refused_with_a_list_of_those_there_are():
    with pytest.raises(SettingError, match=r"'portre' \(did you mean porter\?\).*none, porter, snowball"):
        AnalysisSettings.from_names("portre")
