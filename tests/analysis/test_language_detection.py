import sys

import pytest

from searchlab.analysis.language_detection import LanguageDetector
from searchlab.analysis.languages import LANGUAGES
from searchlab.analysis.mixed_analyzer import LANGUAGE_FIELD
from searchlab.errors import SettingError
from searchlab.records import Document


@pytest.fixture(scope="module")
def detector():
    return LanguageDetector(tuple(LANGUAGES))


# Titles as short as those of articles.
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("treatment of diabetes in children", "english"),
        ("Aspirin in acute myocardial infarction", "english"),
        ("Die Behandlung von Kindern mit Diabetes", "german"),
        ("Les essais cliniques de l'hôpital", "french"),
        ("El tratamiento del cáncer", "spanish"),
        ("O tratamento do câncer", "portuguese"),
        ("Il trattamento del cancro nei bambini", "italian"),
        ("De behandeling van kanker bij kinderen", "dutch"),
        ("Behandling af kræft hos børn", "danish"),
        ("Behandling av cancer hos små barn och vuxna", "swedish"),
        ("Syövän hoito lapsilla", "finnish"),
        ("A gyermekek rákos megbetegedéseinek kezelése", "hungarian"),
        ("Лечение рака у детей", "russian"),
        ("الطب الحديث", "arabic"),
        ("信息检索", "chinese"),
        ("情報検索の基礎", "japanese"),
        ("정보 검색", "korean"),
        ("การค้นหาข้อมูล", "thai"),
        ("Leczenie raka płuc", "polish"),
    ],
)
def test_titles_are_recognised(detector, text, language):
    assert detector.detect(text) == detector.detect(text) == language


@pytest.mark.parametrize("text", ["", "123 456", "Lymphoma", "?!", "x"])
def test_what_cannot_be_told_has_no_language(detector, text):
    assert detector.detect(text) == "none"


def test_only_the_given_languages_are_found():
    assert LanguageDetector(["english", "german"]).detect("De behandeling van kanker bij kinderen") in {
        "english",
        "german",
        "none",
    }


def test_documents_get_their_language_as_a_field_unless_they_have_it(detector):
    documents = [
        Document("1", "Behandlung", "Die Behandlung von Kindern", {"year": 1988}),
        Document("2", "Die Behandlung von Kindern", "", {LANGUAGE_FIELD: "dutch"}),
    ]
    first, second = detector.add_languages(documents)
    assert first.fields == {"year": 1988, LANGUAGE_FIELD: "german"}
    assert second == documents[1]


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    with pytest.raises(SettingError, match=r"needs py3langid: pip install 'searchlab\[languages\]'"):
        LanguageDetector(["english"])
