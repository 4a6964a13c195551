"""Analyzer of an index with documents in several languages.

Each document is analysed by its own language, which its field `text_language` names. A word of a query is analysed by
every language of the index, or by the one that the user names: its terms are one class, and a document that has any of
them has the word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer, TermLookup, TermSpan, TermSpans, WordClass
from searchlab.analysis.languages import LANGUAGES, NO_LANGUAGE
from searchlab.records import Document

# The field that names the language of a document's text.
LANGUAGE_FIELD = "text_language"


def language_of(document: Document) -> str:
    """The language by which a document of a mixed index is analysed."""
    name = document.fields.get(LANGUAGE_FIELD)
    return name if isinstance(name, str) and name in LANGUAGES else NO_LANGUAGE


class MixedAnalyzer:
    """Turns texts into terms, each by its own language; queries by all `languages`, the most frequent first.

    `lookup` gives the term lookup of a language, such as the word list of an index.
    """

    has_standard_words = False
    has_folded_words = False

    def __init__(
        self,
        settings: AnalysisSettings,
        languages: Sequence[str] = (),
        lookup: Callable[[str], TermLookup] | None = None,
    ) -> None:
        self.settings = settings
        self.languages = tuple(languages) or (NO_LANGUAGE,)
        self._lookup = lookup
        self._analyzers: dict[str, Analyzer] = {}

    def of_language(self, name: str) -> Analyzer:
        """The analyzer of one language."""
        if name not in self._analyzers:
            lookup = None if self._lookup is None else self._lookup(name)
            self._analyzers[name] = Analyzer(self.settings.of_language(name), lookup)
        return self._analyzers[name]

    def for_document(self, document: Document) -> Analyzer:
        """The analyzer of a document's language."""
        return self.of_language(language_of(document))

    def word_classes(self, text: str) -> list[WordClass]:
        """The words of a query with their terms in all languages, without words that are stop words in all of them.

        Languages find the same words but for elisions, which change where a word begins: words are the same if they end
        at the same place.
        """
        begins: dict[int, int] = {}
        forms: dict[int, dict[str, None]] = {}
        for name in self.languages:
            for start, end, term in self.of_language(name).spans(text):
                begins[end] = max(start, begins.get(end, start))
                if term is not None:
                    forms.setdefault(end, {})[term] = None
        return [WordClass(begins[end], end, tuple(forms[end])) for end in sorted(forms)]

    def phrases(self, text: str) -> list[list[str]]:
        """The terms of a phrase in each language; equal ones once, and none without terms."""
        found = dict.fromkeys(tuple(self.of_language(name).terms(text)) for name in self.languages)
        return [list(terms) for terms in found if terms]

    def likely_languages(self, text: str) -> frozenset[str]:
        """The languages in which documents have the most words of a query; empty if they have none of them."""
        counts = {name: sum(map(self._is_known(name), self.of_language(name).split(text))) for name in self.languages}
        most = max(counts.values())
        return frozenset(name for name, count in counts.items() if count == most > 0)

    def _is_known(self, language: str) -> Callable[[str], bool]:
        """Whether documents in a language have a word."""
        lookup = None if self._lookup is None else self._lookup(language)

        def is_known(word: str) -> bool:
            try:
                return lookup is not None and lookup(word) is not None
            except KeyError:
                return False

        return is_known

    def split(self, text: str) -> list[str]:
        """The words of a query in the most frequent language."""
        return self.of_language(self.languages[0]).split(text)

    def terms(self, text: str) -> list[str]:
        """For each word of a query the first term of its class."""
        return [word.forms[0] for word in self.word_classes(text)]

    def spans(self, text: str) -> Iterator[TermSpan]:
        """The words of a query with the first term of each."""
        return (TermSpan(word.start, word.end, word.forms[0]) for word in self.word_classes(text))

    def locate_terms(self, text: str) -> TermSpans:
        """The same as `spans`, as three lists."""
        spans = list(self.spans(text))
        return TermSpans([span.start for span in spans], [span.end for span in spans], [span.term for span in spans])
