"""Vocabulary of a shard that is being written: the words of texts, and the numbers of their terms.

Python splits the first texts. After one or two megabytes numba is worth loading, and a compiled loop splits many texts
at a time and looks up their words (`word_kernel.py`): Python then only sees words that are new, and texts that are not
ASCII, whose words it finds itself.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from searchlab.analysis.analyzer import Analyzer
from searchlab.indexing.storage.columns import STOP_WORD
from searchlab.types import Array

# Python splits about this many characters, and stems their words, in the time that numba takes to load.
MIN_COMPILED_CHARACTERS = 1_500_000
FIRST_SLOTS = 1 << 17
# Of each slot of the table (see `word_kernel`).
SLOT_NUMBERS = 3
FIRST_BYTES = 1 << 20


def is_loaded() -> bool:
    """Whether numba is loaded, so that compiled loops cost nothing more."""
    return "numba" in sys.modules


class ShardVocabulary:
    """The words of one language in a shard, each with the number of its term, -1 for a stop word.

    `terms` are the numbers of the terms, which several vocabularies may share. A new word is analysed once.
    """

    def __init__(self, analyzer: Analyzer, terms: dict[str, int]) -> None:
        self._terms = terms
        self._analyzer = analyzer
        self._words = _Words(self)
        self._table: _WordTable | None = None
        # By the number of the word, if there is a table.
        self._word_terms = array("i")
        self._n_characters = 0

    def number_term(self, word: str) -> int:
        """The number of the term of a word."""
        return self._number(self._analyzer.term(word))

    def _number(self, term: str | None) -> int:
        return STOP_WORD if term is None else self._terms.setdefault(term, len(self._terms))

    def number_texts(self, texts: Sequence[str]) -> tuple[Array, Array]:
        """The terms of the words of texts, stop words included, one text after the other; and the words of each."""
        if self._table is None:
            self._n_characters += sum(map(len, texts))
            if not self._analyzer.has_standard_words or not (
                is_loaded() or self._n_characters >= MIN_COMPILED_CHARACTERS
            ):
                numbers = [[*map(self._words.__getitem__, self._analyzer.split(text))] for text in texts]
                lengths = np.array([len(of_text) for of_text in numbers], np.int64)
                return np.array([number for of_text in numbers for number in of_text], np.int32), lengths
            self._table = _WordTable()
            self._table.number([*self._words], np.ones(len(self._words), bool))
            self._word_terms.extend(self._words.values())
            self._words.clear()
        are_words = np.array([not is_ascii for is_ascii in map(str.isascii, texts)], bool)
        if are_words.any():
            texts = [
                self._join_words(text) if is_words else text
                for text, is_words in zip(texts, are_words.tolist(), strict=True)
            ]
        words, lengths = self._table.number(texts, are_words)
        new_words = self._table.words(len(self._word_terms))
        self._word_terms.extend(map(self._number, self._analyzer.terms_of_words(new_words)))
        return np.frombuffer(self._word_terms, np.int32)[words] if len(words) else words, lengths

    def _join_words(self, text: str) -> str:
        return "\n".join(self._analyzer.split(text))

    def ranked(self, ranks: Array) -> dict[str, int]:
        """The words with the ranks of their terms."""
        by_number = [*ranks.tolist(), STOP_WORD]
        known = self._words if self._table is None else dict(zip(self._table.words(0), self._word_terms, strict=True))
        return {word: by_number[number] for word, number in known.items()}


class _Words(dict[str, int]):
    """The number of each word's term."""

    def __init__(self, vocabulary: ShardVocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        number = self[word] = self._vocabulary.number_term(word)
        return number


class _WordTable:
    """Words by their numbers, in the order in which they were first seen."""

    def __init__(self) -> None:
        self._n_words = 0
        self._slots = np.zeros((FIRST_SLOTS, SLOT_NUMBERS), np.uint64)
        self._blob = np.zeros(FIRST_BYTES, np.uint8)
        self._bounds = np.zeros(FIRST_SLOTS // 2 + 1, np.int64)

    def number(self, texts: Sequence[str], are_words: Array) -> tuple[Array, Array]:
        """The numbers of the words of ASCII texts, and how many words each has; some texts are words, in lines."""
        from searchlab.indexing.inversion.word_kernel import number_words

        if are_words.any():
            encoded = [
                (text + "\n" if text else "").encode("utf-8", "surrogatepass") if is_words else text.encode()
                for text, is_words in zip(texts, are_words.tolist(), strict=True)
            ]
            text, sizes = np.frombuffer(b"".join(encoded), np.uint8), np.array([*map(len, encoded)], np.int64)
        else:
            text, sizes = np.frombuffer("".join(texts).encode(), np.uint8), np.array([*map(len, texts)], np.int64)
        ends, lengths = np.cumsum(sizes), np.zeros(len(texts), np.int64)
        found: list[Array] = []
        next_text = 0
        while next_text < len(texts):
            numbers = np.empty(len(text) // 2 + len(texts), np.int32)
            next_text, n, self._n_words = number_words(
                text, ends, are_words, next_text, self._slots, self._blob, self._bounds, self._n_words, numbers, lengths
            )
            found.append(numbers[:n])
            if next_text < len(texts):
                self._grow(int(sizes[next_text]))
        return np.concatenate([np.zeros(0, np.int32), *found]), lengths

    def _grow(self, size: int) -> None:
        """Make room for a text of this size."""
        from searchlab.indexing.inversion.word_kernel import hash_words

        n_slots = len(self._slots)
        while n_slots < 4 * (self._n_words + size // 2 + 1):
            n_slots *= 2
        used = int(self._bounds[self._n_words])
        blob = np.zeros(max(len(self._blob), 2 * (used + size)), np.uint8)
        blob[:used] = self._blob[:used]
        bounds = np.zeros(n_slots // 2 + 1, np.int64)
        bounds[: self._n_words + 1] = self._bounds[: self._n_words + 1]
        self._slots, self._blob, self._bounds = np.zeros((n_slots, SLOT_NUMBERS), np.uint64), blob, bounds
        hash_words(self._slots, self._blob, self._bounds, self._n_words)

    def words(self, start: int) -> list[str]:
        """The words from this number on."""
        bounds = self._bounds[start : self._n_words + 1].tolist()
        content = self._blob[bounds[0] : bounds[-1]].tobytes()
        first = bounds[0]
        return [
            content[begin - first : end - first].decode("utf-8", "surrogatepass") for begin, end in pairwise(bounds)
        ]
