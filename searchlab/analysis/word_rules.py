"""Word rules: the registry of what turns a text into words, and perhaps a word into its stem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from searchlab.analysis.tokenizer import WordSpans, locate_words, split_words

# The kind of thing in the registry of extensions.
ANALYZER = "analyzer"
STANDARD = "standard"
# The language whose texts the standard rules are for.
ENGLISH = "english"
# Stands for the language of each document, which is detected.
AUTO = "auto"
# The stemmer of an index in several languages: that of each language.
BY_LANGUAGE = "by-language"


@dataclass(frozen=True)
class WordRules:
    """The words of a text, without and with their positions; `stem` is None if a stemmer is chosen by its name.

    A word whose stem is None is left out, as a stop word is. `finish` makes terms of the stems of a stemmer that is
    chosen by its name, if they are not the terms.
    """

    split: Callable[[str], list[str]]
    locate: Callable[[str], WordSpans]
    stem: Callable[[str], str | None] | None = None
    finish: Callable[[str], str] | None = None


# By the name of the analyzer.
WORD_RULES: dict[str, WordRules] = {STANDARD: WordRules(split_words, locate_words)}
