import subprocess
import sys

import pytest

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.analysis.stemmers import SNOWBALL_LANGUAGES, STEMMERS, load_stemmer
from searchlab.analysis.tokenizer import split_words
from searchlab.errors import SettingError


@pytest.mark.parametrize(
    ("stemmer", "text", "expected"),
    [
        ("porter", "lymphomas relational ponies", ["lymphoma", "relat", "poni"]),
        ("snowball", "lymphomas generously ponies", ["lymphoma", "generous", "poni"]),
        ("none", "lymphomas ponies", ["lymphomas", "ponies"]),
        # The examples of Snowball's own pages, which are written without accents here.
        ("danish", "undersøgelserne", ["undersøg"]),
        ("dutch", "lichamelijkheden", ["licham"]),
        ("finnish", "edeltaneissa", ["edeltan"]),
        ("french", "continuellement", ["continuel"]),
        ("german", "aufeinanderfolgenden", ["aufeinanderfolg"]),
        ("hungarian", "babakocsijaikkal", ["babakocsi"]),
        ("italian", "abbandonarono", ["abbandon"]),
        ("norwegian", "havnedistriktene", ["havnedistrikt"]),
        ("portuguese", "quilometros", ["quilometr"]),
        ("romanian", "absolventilor", ["absolvent"]),
        ("russian", "книгами", ["книг"]),
        ("spanish", "torneados", ["torn"]),
        ("swedish", "klosterstadgan", ["klosterstadgan"]),
        ("arabic", "المكتبات", ["مكتب"]),
    ],
)
def test_each_stemmer_stems_in_its_way(stemmer, text, expected):
    assert Analyzer(AnalysisSettings(stemmer)).terms(text) == expected


def test_the_examples_cover_every_stemmer():
    assert set(STEMMERS) == {"porter", "snowball", "none", *SNOWBALL_LANGUAGES}


@pytest.mark.parametrize("stemmer", sorted(STEMMERS))
def test_a_stem_does_not_depend_on_the_words_before(stemmer):
    words = split_words("المكتبات يكتبون والطب cells hospitalisations Haus книгами 2")
    stem = load_stemmer(stemmer)
    assert [stem(word) for word in words] == [load_stemmer(stemmer)(word) for word in words]
    assert [stem(word) for word in reversed(words)] == [stem(word) for word in words][::-1]


def test_stemmers_are_loaded_without_the_rest_of_nltk():
    program = """
import sys
from searchlab.analysis.stemmers import load_stemmer
assert load_stemmer("german")("häuser") == "haus"
assert not [name for name in sys.modules if name.startswith("nltk")], "nltk stays out of the way"
import nltk.corpus
assert nltk.corpus.stopwords is not None
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize("stemmer", sorted(STEMMERS))
def test_no_stemmer_fails_on_odd_words_or_leaves_nothing_of_them(stemmer):
    odd = ["s", "es", "ed", "ing", "sses", "ies", "y", "yy", "oed", "eed", "2", "0.05", "o'", "n't's", "日本", "ß"]
    found = Analyzer(AnalysisSettings(stemmer, "none", frozenset())).terms(" ".join(odd))
    assert len(found) == len(split_words(" ".join(odd)))
    assert all(found)


def test_an_unknown_stemmer_is_refused_with_a_list_of_those_there_are():
    with pytest.raises(SettingError, match=r"'portre' \(did you mean porter\?\).*none,.* porter,.* snowball"):
        AnalysisSettings.from_names("portre")
