"""Languages: the registry of how the texts of each language become terms.

A language has a tokenizer, a stemmer and a stop list. English has the standard tokenizer and Porter's stemmer; the
others have `LanguageWords`, whose words keep their accents until they are stemmed. Languages without a stemmer are
listed so that texts can be named by them; their terms are their words without accents, as those of `none` are.

Chinese, Japanese, Korean and Thai have neither stemmer nor stop list: their words are overlapping pairs of characters,
whatever the language of an index is (see `tokenizer`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from searchlab.analysis.function_words import FUNCTION_WORDS
from searchlab.analysis.language_words import LanguageWords
from searchlab.analysis.stemmers import SNOWBALL_LANGUAGES
from searchlab.analysis.stopwords import ENGLISH_STOP_WORDS
from searchlab.analysis.word_rules import AUTO, ENGLISH, STANDARD, WORD_RULES, WordRules
from searchlab.errors import REBUILD, IndexOutdated, SettingError, unknown_name
from searchlab.json_records import one_line, whole_number

# To be raised whenever the words, the terms or the stop list of a language other than English change.
LANGUAGE_RULES_VERSION = 1
NO_LANGUAGE = "none"

# Articles, prepositions and pronouns that lose their vowel before another, as Lucene's analyzers list them.
_FRENCH_ELISIONS = ("l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu")
_ITALIAN_ELISIONS = (
    "c", "l", "all", "dall", "dell", "nell", "sull", "coll", "pell", "gl", "agl", "dagl", "degl",
    "negl", "sugl", "un", "m", "t", "s", "v", "d", "quell", "quest", "sant", "bell",
)  # fmt: skip
_CATALAN_ELISIONS = ("d", "l", "m", "n", "s", "t")
# The forms of alef are not distinguished, as in Lucene's normalisation of Arabic.
_ARABIC_LETTERS = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا"}
_ARABIC_ENDINGS = str.maketrans({"ى": "ي", "ة": "ه"})
_GERMAN_UMLAUT = re.compile("([ao])e|(?<![aeiouqy])(u)e")


@dataclass(frozen=True)
class Language:
    """How the texts of a language become terms; `code` is that of ISO 639-1."""

    name: str
    code: str
    rules: WordRules = field(repr=False)
    stemmer: str = "none"
    stop_words: frozenset[str] = field(default=frozenset(), repr=False)


def _finish_arabic(stem: str) -> str:
    """A stem with the letters of its ending as they are often written."""
    return stem.translate(_ARABIC_ENDINGS)


def _finish_german(stem: str) -> str:
    """A stem in which ae, oe and ue, where they stand for an umlaut, are a, o and u, as umlauts are.

    As in Lucene's GermanNormalizationFilter: "Aerzte" is found by "Ärzte". No e is removed after au, eu and qu.
    """
    return _GERMAN_UMLAUT.sub(r"\1\2", stem) if "e" in stem else stem


def _language(
    name: str,
    code: str,
    elisions: Iterable[str] = (),
    letters: Mapping[str, str] | None = None,
    kept: str = "",
    finish: Callable[[str], str] | None = None,
) -> Language:
    """A language with `LanguageWords`; `finish` changes stems without accents."""
    words = LanguageWords(elisions, letters, kept)
    make_term = words.plain if finish is None else lambda stem: finish(words.plain(stem))
    stop_words = frozenset(word for listed in FUNCTION_WORDS.get(name, ()) for word in words.split(listed))
    stemmer = name if name in SNOWBALL_LANGUAGES else "none"
    return Language(name, code, WordRules(words.split, words.locate, finish=make_term), stemmer, stop_words)


LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (
        Language(ENGLISH, "en", WORD_RULES[STANDARD], "porter", ENGLISH_STOP_WORDS),
        _language("arabic", "ar", letters=_ARABIC_LETTERS, finish=_finish_arabic),
        _language("bulgarian", "bg"),
        _language("catalan", "ca", _CATALAN_ELISIONS),
        _language("chinese", "zh"),
        _language("croatian", "hr"),
        _language("czech", "cs"),
        _language("danish", "da", kept="å"),
        _language("dutch", "nl"),
        _language("estonian", "et"),
        _language("finnish", "fi", kept="åäö"),
        _language("french", "fr", _FRENCH_ELISIONS),
        _language("german", "de", finish=_finish_german),
        _language("greek", "el"),
        _language("hebrew", "he"),
        _language("hindi", "hi"),
        _language("hungarian", "hu", kept="áéíóöőúüű"),
        _language("indonesian", "id"),
        _language("italian", "it", _ITALIAN_ELISIONS),
        _language("japanese", "ja"),
        _language("korean", "ko"),
        _language("latvian", "lv"),
        _language("lithuanian", "lt"),
        _language("norwegian", "no", kept="å"),
        _language("persian", "fa"),
        _language("polish", "pl"),
        _language("portuguese", "pt"),
        _language("romanian", "ro", letters={"ș": "ş", "ț": "ţ"}),
        _language("russian", "ru", letters={"ё": "е"}),
        _language("serbian", "sr"),
        _language("slovak", "sk"),
        _language("slovenian", "sl"),
        _language("spanish", "es", kept="ñ"),
        _language("swedish", "sv", kept="åäö"),
        _language("thai", "th"),
        _language("turkish", "tr"),
        _language("ukrainian", "uk"),
        _language("vietnamese", "vi"),
        _language(NO_LANGUAGE, ""),
    )
}


def language_named(name: str) -> Language:
    """The language with this name; raises SettingError for an unknown one."""
    if name not in LANGUAGES:
        raise unknown_name("language", name, [AUTO, *LANGUAGES])
    return LANGUAGES[name]


def languages_named(names: str) -> tuple[str, ...]:
    """The languages that a user names: one, several with commas, or auto for all; sorted if there are several."""
    if not isinstance(names, str):
        raise SettingError(f"language is {names!r}, expected the name of a language, such as german")
    if names == AUTO:
        return tuple(LANGUAGES)
    found = sorted({language_named(name.strip()).name for name in names.split(",")})
    if len(found) > 1 and NO_LANGUAGE in found:
        raise SettingError(f"language is {names}, expected languages to detect, without {NO_LANGUAGE}")
    return tuple(found)


def recorded_language(record: Mapping[str, Any]) -> str:
    """The language that an index records; raises IndexOutdated for another version of its rules."""
    version = whole_number(record, "language_rules")
    if version != LANGUAGE_RULES_VERSION:
        ours = f"this searchlab has language rules {LANGUAGE_RULES_VERSION}"
        raise IndexOutdated(f"language rules {version}, but {ours}; {REBUILD}")
    language = one_line(record, "language")
    try:
        languages_named(language)
    except SettingError as error:
        raise ValueError(str(error)) from None
    return language
