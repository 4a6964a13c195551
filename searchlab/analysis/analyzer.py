"""Analyzer: turns texts into terms.

Documents and queries pass through the same three steps:

1. **Words.** The tokenizer folds the text and splits it into words.
2. **Stop words** are removed. The default list keeps single letters other than "a" and "i", so that "t" in "T-cell"
   survives.
3. **Stems.** Each distinct word is stemmed once and cached.

Each language has its own words, stop words and stemmer (see `languages`). The first and the last step can be a user's
own (see `custom_analyzers`). An index stores its settings and their fingerprint, and a query is always analysed with
the settings of the index that it searches. An index with a stream of character n-grams has an `NgramAnalyzer` for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from searchlab.analysis.stemmers import PORTER, STEMMERS, load_stemmer
from searchlab.analysis.stopwords import ENGLISH_STOP_WORDS, read_stop_words
from searchlab.analysis.tokenizer import WORD_RULES_VERSION, locate_ngrams, split_ngrams, split_words
from searchlab.analysis.word_rules import ANALYZER, AUTO, BY_LANGUAGE, ENGLISH, STANDARD, WORD_RULES, WordRules
from searchlab.errors import REBUILD, IndexOutdated, SettingError, unknown_name
from searchlab.extensions import MAIN, Origin, origin_of, require_origin
from searchlab.json_records import one_line, text, texts, whole_number
from searchlab.records import Document

if TYPE_CHECKING:
    from searchlab.analysis.languages import Language
    from searchlab.analysis.mixed_analyzer import MixedAnalyzer

# When the cache of terms by word is full it is emptied, so that unusual queries do not fill the memory.
MAX_CACHED_WORDS = 1 << 18
MAX_NGRAM_SIZE = 8

# Returns a word's term, None for a stop word; raises KeyError for an unknown word.
TermLookup = Callable[[str], str | None]


class TermSpan(NamedTuple):
    """A word in a text: where it begins and ends, and its term (None for a stop word)."""

    start: int
    end: int
    term: str | None


class TermSpans(NamedTuple):
    """All words of a text in its order: where each begins and ends, and its term (None for a stop word)."""

    starts: list[int]
    ends: list[int]
    terms: list[str | None]


class WordClass(NamedTuple):
    """A word of a query: where it begins and ends, and the terms that it stands for."""

    start: int
    end: int
    forms: tuple[str, ...]


class TextAnalyzer(Protocol):
    """What turns the text of one stream into its terms."""

    def terms(self, text: str) -> list[str]:
        """The terms of a text in its order, with repetitions."""

    def spans(self, text: str) -> Iterator[TermSpan]:
        """Every term of a text with its position."""

    def locate_terms(self, text: str) -> TermSpans:
        """The same as `spans`, as three lists."""

    def for_document(self, document: Document) -> TextAnalyzer:
        """The analyzer of the texts of a document."""

    def word_classes(self, text: str) -> list[WordClass]:
        """The words of a query, each with the terms that it stands for; stop words are left out."""

    def phrases(self, text: str) -> list[list[str]]:
        """The terms of a phrase, in each way in which documents may have it; none without terms."""


class OneForm:
    """What an analyzer has in common whose words stand for one term each, in every document."""

    def for_document(self, document: Document) -> Self:
        """This analyzer."""
        return self

    def word_classes(self: TextAnalyzer, text: str) -> list[WordClass]:
        """The words of a query, each with its term; stop words are left out."""
        return [WordClass(start, end, (term,)) for start, end, term in self.spans(text) if term is not None]

    def phrases(self: TextAnalyzer, text: str) -> list[list[str]]:
        """The terms of a phrase; none without terms."""
        terms = self.terms(text)
        return [terms] if terms else []


@dataclass(frozen=True)
class AnalysisSettings:
    """How texts become terms; two indexes with equal fingerprints agree on every term made from words.

    `ngrams` is the number of characters of the n-grams that are indexed beside the words, 0 if none are. `analyzer` is
    the name of an analyzer of a user's own, which `origin` comes from, or standard. `language` is that of the texts:
    one, several with commas between them, or auto for the language of each text, which is detected.
    """

    stemmer: str = PORTER
    stop_list: str = "default"
    stop_words: frozenset[str] = ENGLISH_STOP_WORDS
    ngrams: int = 0
    analyzer: str = STANDARD
    origin: Origin | None = None
    language: str = ENGLISH

    def __post_init__(self) -> None:
        if self.stemmer not in STEMMERS and not (self.is_mixed and self.stemmer == BY_LANGUAGE):
            raise unknown_name("stemmer", self.stemmer, STEMMERS)
        if isinstance(self.ngrams, bool) or not isinstance(self.ngrams, int) or not 0 <= self.ngrams <= MAX_NGRAM_SIZE:
            raise SettingError(f"ngrams is {self.ngrams!r}, expected a number of characters from 0 to {MAX_NGRAM_SIZE}")

    @classmethod
    def from_names(
        cls,
        stemmer: str | None = None,
        stop_list: str = "default",
        ngrams: int = 0,
        analyzer: str = STANDARD,
        language: str = ENGLISH,
    ) -> AnalysisSettings:
        """The settings for names as users give them; without a name, the stemmer is that of the language.

        `stop_list` is none, default or a file of words.
        """
        if analyzer not in WORD_RULES:
            raise unknown_name("analyzer", analyzer, WORD_RULES)
        if analyzer != STANDARD and language != ENGLISH:
            raise SettingError(
                f"analyzer {analyzer} has words of its own, found language {language}, expected no language"
            )
        names = (language,) if language == ENGLISH else _languages_named(language)
        if len(names) > 1:
            return cls._of_languages(stemmer, stop_list, ngrams, language if language == AUTO else ",".join(names))
        (language,) = names
        if language == ENGLISH:
            rules, default_stemmer, default_stop_words = WORD_RULES[analyzer], PORTER, ENGLISH_STOP_WORDS
        else:
            known = _language_named(language)
            rules, default_stemmer, default_stop_words = known.rules, known.stemmer, known.stop_words
        chosen = stemmer or default_stemmer
        own = ngrams, analyzer, origin_of(ANALYZER, analyzer), language
        if rules.stem is not None and chosen != "none":
            raise SettingError(f"analyzer {analyzer} stems words itself, found stemmer {chosen}, expected none")
        split = split_words if language == ENGLISH else rules.split
        if stop_list == "default":
            return cls(chosen, "default", default_stop_words, *own)
        if stop_list == "none":
            return cls(chosen, "none", frozenset(), *own)
        return cls(chosen, Path(stop_list).name, read_stop_words(stop_list, split), *own)

    @classmethod
    def _of_languages(cls, stemmer: str | None, stop_list: str, ngrams: int, language: str) -> AnalysisSettings:
        """The settings of an index in several languages."""
        chosen = stemmer or BY_LANGUAGE
        if chosen not in (BY_LANGUAGE, "none"):
            raise SettingError(f"several languages have stemmers of their own, found stemmer {chosen}, expected none")
        if stop_list not in ("default", "none"):
            raise SettingError(f"several languages have stop lists of their own, found {stop_list}, expected none")
        return cls(chosen, stop_list, frozenset(), ngrams, language=language)

    @property
    def is_mixed(self) -> bool:
        """Whether documents may be in several languages."""
        return self.language == AUTO or "," in self.language

    def of_language(self, name: str) -> AnalysisSettings:
        """The settings for the documents in one language of an index in several."""
        stemmer = None if self.stemmer == BY_LANGUAGE else self.stemmer
        return AnalysisSettings.from_names(stemmer, self.stop_list, self.ngrams, language=name)

    @property
    def rules(self) -> WordRules:
        """How texts become words."""
        return WORD_RULES[self.analyzer] if self.language == ENGLISH else _language_named(self.language).rules

    def require_analyzer(self) -> None:
        """Raise SettingError unless the analyzer of a user's own is loaded, and is what it was."""
        if self.origin is not None:
            require_origin(ANALYZER, self.analyzer, self.origin, "this index")

    @property
    def needs_this_process(self) -> bool:
        """Whether other processes cannot load the analyzer, because a notebook or script defines it."""
        return self.origin is not None and self.origin.module == MAIN

    @property
    def label(self) -> str:
        """The settings in a few words, without n-grams."""
        own = "" if self.origin is None else f"analyzer {self.analyzer} ({self.origin.digest}), "
        language = "" if self.language == ENGLISH else f"language {self.language}, "
        return f"{own}{language}stemmer {self.stemmer}, stop list {self.stop_list}"

    def to_json(self) -> dict[str, Any]:
        """The settings as an index records them."""
        own: dict[str, Any] = {}
        if self.origin is not None:
            own = {"analyzer": self.analyzer, "origin": self.origin.to_json()}
        if self.language != ENGLISH:
            from searchlab.analysis.languages import LANGUAGE_RULES_VERSION

            own = {"language": self.language, "language_rules": LANGUAGE_RULES_VERSION}
        return own | {
            "word_rules": WORD_RULES_VERSION,
            "stemmer": self.stemmer,
            "stop_list": self.stop_list,
            "stop_words": sorted(self.stop_words),
            "ngrams": self.ngrams,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> AnalysisSettings:
        """The inverse of `to_json`; raises IndexOutdated for another version of the word rules."""
        word_rules = whole_number(record, "word_rules")
        if word_rules != WORD_RULES_VERSION:
            raise IndexOutdated(
                f"word rules {word_rules}, but this searchlab has word rules {WORD_RULES_VERSION}; {REBUILD}"
            )
        stop_words = frozenset(texts(record, "stop_words"))
        named = one_line(record, "stemmer"), text(record, "stop_list"), stop_words, record["ngrams"]
        if "language" in record:
            from searchlab.analysis.languages import recorded_language

            return cls(*named, language=recorded_language(record))
        if "analyzer" not in record:
            return cls(*named)
        try:
            return cls(*named, one_line(record, "analyzer"), Origin.from_json(record.get("origin")))
        except SettingError as error:
            raise ValueError(str(error)) from None

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with anything that could change a term made from words.

        What is learnt about words (models, topic models) is valid with and without n-grams beside them.
        """
        record = self.to_json()
        del record["stop_list"], record["ngrams"]
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]


def _language_named(name: str) -> Language:
    # English needs none of the other languages, which take some time to load.
    from searchlab.analysis.languages import language_named

    return language_named(name)


def _languages_named(names: str) -> tuple[str, ...]:
    from searchlab.analysis.languages import languages_named

    return languages_named(names)


class Analyzer(OneForm):
    """Turns texts into terms by one set of settings, and caches the term of each word.

    `lookup`, such as the word list of an index, is tried before the stemmer is loaded.
    """

    def __init__(self, settings: AnalysisSettings, lookup: TermLookup | None = None) -> None:
        settings.require_analyzer()
        self.settings = settings
        self._rules = settings.rules
        self._lookup = lookup
        self._stem: Callable[[str], str | None] | None = None
        self._cache: dict[str, str | None] = dict.fromkeys(settings.stop_words)

    def term(self, word: str) -> str | None:
        """The term of a folded word, None for a stop word."""
        try:
            return self._cache[word]
        except KeyError:
            term = self._find_term(word)
            if len(self._cache) >= MAX_CACHED_WORDS:
                self._cache = dict.fromkeys(self.settings.stop_words)
            self._cache[word] = term
            return term

    def terms_of_words(self, words: Sequence[str]) -> list[str | None]:
        """The terms of many folded words; for Porter's stemmer numba is loaded, and they are not cached."""
        if self.settings.stemmer != PORTER or self._rules.stem is not None or self._rules.finish is not None:
            return [*map(self.term, words)]
        from searchlab.analysis.porter_kernel import stem_words

        stop_words, stems = self.settings.stop_words, stem_words([word for word in words if word.isascii()])
        next_stem = iter(stems).__next__
        found = [next_stem() if word.isascii() else self.term(word) for word in words]
        return [None if word in stop_words else term for word, term in zip(words, found, strict=True)]

    def _find_term(self, word: str) -> str | None:
        if self._lookup is not None:
            try:
                return self._lookup(word)
            except KeyError:
                pass
        if self._stem is None:
            self._stem = self._rules.stem or self._load_stemmer()
        return self._stem(word)

    def _load_stemmer(self) -> Callable[[str], str]:
        stem, finish = load_stemmer(self.settings.stemmer), self._rules.finish
        return stem if finish is None else lambda word: finish(stem(word))

    @property
    def has_standard_words(self) -> bool:
        """Whether words are those of searchlab's tokenizer, for which there are compiled loops."""
        return self._rules.split is WORD_RULES[STANDARD].split

    @property
    def has_folded_words(self) -> bool:
        """Whether the words have no accents."""
        return self._rules.finish is None

    @property
    def split(self) -> Callable[[str], list[str]]:
        """The function that splits a text into words."""
        return self._rules.split

    def terms(self, text: str) -> list[str]:
        """The terms of a text in its order, with repetitions."""
        return [term for term in map(self.term, self._rules.split(text)) if term is not None]

    def spans(self, text: str) -> Iterator[TermSpan]:
        """Every word of a text with its position and term, so that highlighting marks exactly what matched."""
        return map(TermSpan, *self.locate_terms(text))

    def locate_terms(self, text: str) -> TermSpans:
        """The same as `spans`, as three lists; this is faster."""
        starts, ends, words = self._rules.locate(text)
        cache = self._cache
        try:
            terms = [cache[word] for word in words]
        except KeyError:
            terms = [self.term(word) for word in words]
        return TermSpans(starts, ends, terms)


class NgramAnalyzer(OneForm):
    """Turns texts into overlapping n-grams of `n` folded characters; there are no stop words and no stems.

    For scripts without spaces, and for texts with misspelt words: most n-grams of a misspelt word are right.
    """

    def __init__(self, n: int) -> None:
        self.n = n

    def terms(self, text: str) -> list[str]:
        """The n-grams of a text in its order, with repetitions."""
        return split_ngrams(text, self.n)

    def spans(self, text: str) -> Iterator[TermSpan]:
        """Every n-gram of a text with its position; they overlap."""
        return map(TermSpan, *self.locate_terms(text))

    def locate_terms(self, text: str) -> TermSpans:
        """The same as `spans`, as three lists."""
        starts, ends, ngrams = locate_ngrams(text, self.n)
        return TermSpans(starts, ends, [*ngrams])


def make_analyzer(settings: AnalysisSettings, lookup: TermLookup | None = None) -> Analyzer | MixedAnalyzer:
    """The analyzer of documents by these settings; `lookup` is of no use for several languages."""
    if not settings.is_mixed:
        return Analyzer(settings, lookup)
    from searchlab.analysis.mixed_analyzer import MixedAnalyzer

    return MixedAnalyzer(settings)
