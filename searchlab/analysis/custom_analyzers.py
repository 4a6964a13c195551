"""Analyzers that a user writes in Python.

    @searchlab.analyzer("codes")
    def split_codes(text):
        return re.findall(r"[a-z0-9_]+", text.lower())

A function takes a text and returns its terms. A class has positions as well, `words(text)` with triples of start, end
and word, or stems, `stem(word)`, or both; a word without a stem (None) is not indexed. The class is made once, without
arguments, when it is first needed. The analyzer is then known by its name; an index that is made with it records the
module that defines it (see `searchlab.extensions`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from searchlab.analysis.tokenizer import MAX_WORD_LENGTH, WordSpans, locate_words, split_words
from searchlab.analysis.word_rules import ANALYZER, WORD_RULES, WordRules
from searchlab.errors import SettingError
from searchlab.extensions import failure, register

_BETWEEN_BLANKS = re.compile(r"\S+")
# Characters of a wrong result in a message.
MAX_SHOWN = 40
A = TypeVar("A", bound=Callable[..., Any])


def analyzer(name: str) -> Callable[[A], A]:
    """Register an analyzer: a function of a text that returns its terms, or a class with `words`, `stem` or both.

    Without positions, a piece of text between blanks is marked if the function, given this piece alone, finds a term of
    the query in it.
    """

    def add(definition: A) -> A:
        if inspect.isfunction(definition):
            rules = _rules_of_function(name, definition)
        elif isinstance(definition, type) and (hasattr(definition, "words") or hasattr(definition, "stem")):
            rules = _rules_of_class(name, definition)
        else:
            found = definition.__name__ if isinstance(definition, type) else type(definition).__name__
            raise SettingError(f"analyzer {name} is {found}, expected a function, or a class with words or stem")
        register(WORD_RULES, ANALYZER, name, rules, definition)
        return definition

    return add


def _rules_of_function(name: str, function: Callable[[str], Any]) -> WordRules:
    def split(text: str) -> list[str]:
        return _call(name, function, lambda: [_check_word(name, word) for word in _check_terms(name, function(text))])

    def locate(text: str) -> WordSpans:
        starts: list[int] = []
        ends: list[int] = []
        words: list[str] = []
        for piece in _BETWEEN_BLANKS.finditer(text):
            of_piece = split(piece.group())
            words += of_piece
            starts += [piece.start()] * len(of_piece)
            ends += [piece.end()] * len(of_piece)
        return WordSpans(starts, ends, words)

    return WordRules(split, locate)


def _rules_of_class(name: str, kind: type) -> WordRules:
    @cache
    def made() -> Any:
        return _call(name, kind, kind)

    def locate(text: str) -> WordSpans:
        def found() -> WordSpans:
            spans = [_check_span(name, span, len(text)) for span in made().words(text)]
            return WordSpans(*map(list, zip(*spans, strict=True))) if spans else WordSpans([], [], [])

        return _call(name, kind, found)

    def stem(word: str) -> str | None:
        found = _call(name, kind, lambda: made().stem(word))
        return None if found is None or found == "" else _check_word(name, found)

    own_words, own_stem = hasattr(kind, "words"), hasattr(kind, "stem")
    return WordRules(
        (lambda text: locate(text).words) if own_words else split_words,
        locate if own_words else locate_words,
        stem if own_stem else None,
    )


T = TypeVar("T")


def _call(name: str, definition: Any, work: Callable[[], T]) -> T:
    """The result of a user's code; an exception there is reported with the name of the analyzer."""
    try:
        return work()
    except SettingError:
        raise
    except Exception as error:
        raise failure(f"analyzer {name} failed", definition, error) from error


def _check_terms(name: str, terms: Any) -> Any:
    if isinstance(terms, str):
        raise SettingError(f"analyzer {name} returned the text {terms[:MAX_SHOWN]!r}, expected a list of terms")
    return terms


def _check_word(name: str, word: Any) -> str:
    if not isinstance(word, str) or not word or not word.isprintable():
        raise SettingError(f"analyzer {name} returned {word!r} as a word, expected a text of printable characters")
    return word[:MAX_WORD_LENGTH]


def _check_span(name: str, span: Any, length: int) -> tuple[int, int, str]:
    if not isinstance(span, tuple | list) or len(span) != 3:
        raise SettingError(f"analyzer {name} returned {span!r}, expected start, end and word")
    start, end, word = span
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end <= length:
        expected = f"expected positions within the {length} characters of the text"
        raise SettingError(f"analyzer {name} returned {span!r}, {expected}")
    return start, end, _check_word(name, word)
