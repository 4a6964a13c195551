"""Synonyms: words and phrases that stand for each other in queries.

A file has one rule a line; `#` starts a comment:

    heart attack, myocardial infarction, MI      each of these stands for all of them
    aspirin => acetylsalicylic acid, ASA         aspirin also stands for the others, but not the other way round

Rules are applied to queries, not to documents, so that they can be changed at any time. They are compared after
analysis: "Lymphomas" is found in a rule for "lymphoma". A word and its synonyms count as one word, with the statistics
of all of them together; a synonym of several words occurs where these stand one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from searchlab.analysis.analyzer import TextAnalyzer, WordClass
from searchlab.corpus.text_cleaning import excerpt
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SettingError, SourceError

ARROW = "=>"

# The terms of a word or a phrase.
Terms = tuple[str, ...]


@dataclass(frozen=True)
class Synonyms:
    """Rules: each of the first texts stands for itself and for all of the second texts."""

    rules: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]

    @classmethod
    def read(cls, path: str | Path) -> Synonyms:
        """The rules of a file."""
        try:
            text = read_text_file(str(path))
        except (FileNotFoundError, SourceError, UnicodeDecodeError) as error:
            reason = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({error})"
            raise SourceError(path, f"{reason}, expected a file of synonyms") from None
        lines = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), start=1))
        return cls(tuple(_parse_rule(f"{path}:{number}", line) for number, line in lines if line))

    @classmethod
    def given(cls, value: Any) -> Synonyms | None:
        """Synonyms as users give them: a file, groups of words, or a dict of words with their synonyms."""
        if value is None or isinstance(value, Synonyms):
            return value
        if isinstance(value, str | Path):
            return cls.read(value)
        if isinstance(value, Mapping):
            return cls(tuple((_texts([word]), _texts(others)) for word, others in value.items()))
        if isinstance(value, Iterable):
            groups = [_texts(group) for group in value]
            return cls(tuple((group, group) for group in groups))
        raise SettingError(f"synonyms is {value!r}, expected a file, groups of words, or a dict of words")


def _parse_rule(location: str, line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    left, arrow, right = line.partition(ARROW)
    first, second = _split(left), _split(right)
    if arrow and first and second and ARROW not in right:
        return first, second
    if not arrow and len(first) > 1:
        return first, first
    raise SettingError(f"{location}: found {excerpt(line)}, expected `a, b, c` or `a {ARROW} b, c`")


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _texts(group: Any) -> tuple[str, ...]:
    texts = (group,) if isinstance(group, str) else tuple(group) if isinstance(group, Iterable) else ()
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise SettingError(f"synonyms of {group!r}, expected words")
    return texts


class Match(NamedTuple):
    """Several words of a query that have synonyms: the text between them, and the terms of all that they stand for."""

    start: int
    end: int
    terms: tuple[Terms, ...]


class SynonymTable:
    """Rules as the terms of an analyzer."""

    def __init__(self, synonyms: Synonyms, analyzer: TextAnalyzer) -> None:
        self._table: dict[Terms, dict[Terms, None]] = {}
        for left, right in synonyms.rules:
            targets = [tuple(terms) for text in right for terms in analyzer.phrases(text)]
            for source in (tuple(terms) for text in left for terms in analyzer.phrases(text)):
                known = self._table.setdefault(source, {source: None})
                known.update(dict.fromkeys(targets))
        self._longest = max(map(len, self._table), default=0)

    def of_terms(self, terms: Terms) -> tuple[Terms, ...]:
        """What a word or phrase stands for, itself first; only itself if no rule has it."""
        return tuple(self._table.get(terms, (terms,)))

    def of_forms(self, forms: Terms) -> tuple[Terms, ...]:
        """What a word stands for that has several forms."""
        return tuple(dict.fromkeys([*((form,) for form in forms), *(t for f in forms for t in self.of_terms((f,)))]))

    def find_phrases(self, words: list[WordClass]) -> Iterator[Match]:
        """The longest rules for several words of a query, from left to right; a word belongs to one at most."""
        begin = 0
        while begin < len(words):
            for end in range(min(begin + self._longest, len(words)), begin + 1, -1):
                found = self._find(words[begin:end])
                if found:
                    yield Match(words[begin].start, words[end - 1].end, found)
                    begin = end - 1
                    break
            begin += 1

    def _find(self, words: list[WordClass]) -> tuple[Terms, ...]:
        written = [terms for terms in product(*(word.forms for word in words)) if terms in self._table]
        return tuple(dict.fromkeys(target for terms in written for target in self._table[terms]))
