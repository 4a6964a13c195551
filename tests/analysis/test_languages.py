import pytest

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.analysis.function_words import FUNCTION_WORDS
from searchlab.analysis.languages import LANGUAGES, language_named
from searchlab.analysis.stemmers import SNOWBALL_LANGUAGES
from searchlab.errors import IndexOutdated, SettingError


def terms(language, text):
    return Analyzer(AnalysisSettings.from_names(language=language)).terms(text)


# Each row: a text, and words of it in other forms or other spellings. By hand: function words go, and the rest is
# the same terms.
@pytest.mark.parametrize(
    ("language", "text", "other", "expected"),
    [
        ("arabic", "في المكتبات", "المكتبة إلى", ["مكتب"]),
        ("arabic", "الأطباء", "الاطباء", ["اطباء"]),
        ("danish", "undersøgelserne og børn", "undersøgelse af børnene", ["undersøg", "børn"]),
        ("dutch", "de ziekenhuizen van kinderen", "ziekenhuizen, kinderen", ["ziekenhuiz", "kinder"]),
        ("english", "The lymphomas", "lymphoma", ["lymphoma"]),
        ("finnish", "taloissa ja", "talo", ["talo"]),
        ("french", "L'hospitalisation à l’hôpital", "des hospitalisations hopital", ["hospitalis", "hopital"]),
        ("german", "die Häuser der Ärzte", "Haeuser, Aerzte", ["haus", "arzt"]),
        ("german", "Straßen", "STRASSE", ["strass"]),
        ("hungarian", "a könyvek", "könyv", ["könyv"]),
        ("italian", "l'ospedale e gli ospedali", "dell'ospedale, ospedale", ["ospedal", "ospedal"]),
        ("norwegian", "havnedistriktene", "havnedistrikter", ["havnedistrikt"]),
        ("portuguese", "as investigações", "investigação", ["investig"]),
        ("romanian", "și naționale", "şi naţională", ["national"]),
        ("russian", "ёлки и книгой", "елка книга", ["елк", "книг"]),
        ("spanish", "las investigaciones", "investigación", ["investig"]),
        ("swedish", "flickorna och målen", "flickor mål", ["flick", "mål"]),
        ("chinese", "信息检索", "信息 息检 检索", ["信息", "息检", "检索"]),
        ("thai", "ค้น", "ค้ ้น", ["ค้", "้น"]),
        ("polish", "żółć", "zołc", ["zołc"]),
        ("none", "L'été naïve", "l'ete naive", ["l'ete", "naive"]),
    ],
)
def test_forms_and_spellings_of_a_word_have_one_term(language, text, other, expected):
    assert terms(language, text) == terms(language, other) == expected


def test_every_language_with_a_stemmer_is_in_the_examples():
    assert {name for name, language in LANGUAGES.items() if language.stemmer != "none"} == {
        "english",
        *SNOWBALL_LANGUAGES,
    }
    assert set(FUNCTION_WORDS) == set(SNOWBALL_LANGUAGES)


def test_letters_of_an_alphabet_are_not_taken_for_accented_ones():
    assert terms("spanish", "año") != terms("spanish", "ano")
    assert terms("swedish", "får") != terms("swedish", "far")
    assert terms("russian", "мой брат чай") == ["брат", "ча"]


@pytest.mark.parametrize("word", ["Poesie", "Bauer", "quellen", "neue", "aktuell", "Israel", "Ue", "e"])
def test_german_words_with_ae_oe_ue_keep_a_term(word):
    (term,) = terms("german", f"{word}")
    assert term


def test_no_e_is_removed_behind_another_vowel():
    assert terms("german", "Frauen Quellen") == ["frau", "quell"]


@pytest.mark.parametrize("name", sorted(FUNCTION_WORDS))
def test_stop_lists_are_words_in_lower_case_and_leave_content_words(name):
    words = FUNCTION_WORDS[name]
    assert len(words) > 60
    assert all(word == word.lower() and word.isalpha() for word in words)
    assert terms(name, " ".join(words)) == []
    assert not words & {"essai", "valeur", "état", "leben", "trabajo", "vida", "жизнь", "человек", "vita", "liv"}


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_settings_of_a_language_survive_json_and_have_a_fingerprint(name):
    settings = AnalysisSettings.from_names(language=name)
    assert AnalysisSettings.from_json(settings.to_json()) == settings
    assert settings.language == name
    if name != "english":
        assert settings.fingerprint != AnalysisSettings().fingerprint
        assert settings.label.startswith(f"language {name}, stemmer ")


def test_the_record_and_the_fingerprint_of_english_are_what_they_were():
    # Written by searchlab before it knew other languages.
    settings = AnalysisSettings.from_names(language="english")
    assert settings == AnalysisSettings()
    assert set(settings.to_json()) == {"word_rules", "stemmer", "stop_list", "stop_words", "ngrams"}
    assert settings.fingerprint == "8443ea1de19dbf6b"


def test_codes_are_distinct_and_names_are_lower_case():
    assert len({language.code for language in LANGUAGES.values()}) == len(LANGUAGES)
    assert all(name == name.lower() == language.name for name, language in LANGUAGES.items())


def test_an_unknown_language_is_refused_with_a_list():
    with pytest.raises(SettingError, match=r"unknown language 'germna' \(did you mean german\?\); there is: arabic, "):
        language_named("germna")


def test_a_stemmer_and_a_stop_list_can_be_chosen_beside_the_language(tmp_path):
    (tmp_path / "stop.txt").write_text("Größe\n", encoding="utf-8")
    settings = AnalysisSettings.from_names("none", str(tmp_path / "stop.txt"), language="german")
    assert Analyzer(settings).terms("die Größe der Häuser") == ["die", "der", "hauser"]


def test_other_rules_of_languages_are_refused_but_not_for_english():
    record = AnalysisSettings.from_names(language="german").to_json() | {"language_rules": 99}
    with pytest.raises(IndexOutdated, match="language rules 99, but this searchlab has language rules 1"):
        AnalysisSettings.from_json(record)
    with pytest.raises(ValueError, match="unknown language 'klingon'"):
        AnalysisSettings.from_json(record | {"language_rules": 1, "language": "klingon"})
