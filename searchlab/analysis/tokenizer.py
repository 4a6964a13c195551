"""Tokenizer: folds a text and splits it into words.

Folding removes compatibility forms, accents and case: "Naïve" becomes "naive", "ﬁbrosis" becomes "fibrosis". A word is
a run of letters and digits; a decimal point between digits and an apostrophe between letters belong to it, everything
else separates words. So "T-cell" and "t cell" are the same two words t, cell; "IL-2" is il, 2; "10-mg" is 10, mg;
"0.05" is one word. A possessive ending is dropped ("Crohn's" is crohn).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

# To be raised whenever folding or the word pattern changes: the fingerprints of older indexes then differ.
WORD_RULES_VERSION = 1
MAX_WORD_LENGTH = 255
MAX_CACHED_CHARACTERS = 1 << 12


def _word_pattern(digit: str, sign: str) -> str:
    """The pattern of a word. Possessive quantifiers (`++`), since backtracking could not find another match."""
    return rf"{digit}++(?:\.{digit}++)++{sign}*+|{sign}++(?:'{sign}++)*+"


_WORD = re.compile(_word_pattern(r"\d", r"[^\W_]"))
_SPLIT_AT_WORD = re.compile(f"({_WORD.pattern})").split
# The same for folded ASCII, twice as fast.
_SPLIT_AT_ASCII_WORD = re.compile(f"({_word_pattern('[0-9]', '[a-z0-9]')})").split
# Runs of ASCII, and single characters outside ASCII.
_SPLIT_AT_NON_ASCII = re.compile(r"([^\x00-\x7f])").split
# Every combining character comes after this one.
_BEFORE_COMBINING = "\u02ff"
_APOSTROPHES_AND_INVISIBLES = {ord(c): "'" for c in "’ʼ＇"} | {
    ord(c): None for c in "\u00ad\u200b\u200c\u200d\u2060\ufeff"
}


class WordSpans(NamedTuple):
    """The folded words of a text in its order, and where each begins and ends in the original text."""

    starts: list[int]
    ends: list[int]
    words: list[str]


def split_words(text: str) -> list[str]:
    """The folded words of a text."""
    folded = fold_text(text)
    return _trim_words(_WORD.findall(folded), folded)


def locate_words(text: str) -> WordSpans:
    """The folded words of a text with their positions in it."""
    folded, origins = _fold_with_origins(text)
    # The pieces alternate between gaps, which may be empty, and words; the first and the last piece are gaps.
    pieces = _SPLIT_AT_ASCII_WORD(folded) if folded.isascii() else _SPLIT_AT_WORD(folded)
    bounds = list(accumulate(map(len, pieces)))
    starts, ends = bounds[:-1:2], bounds[1::2]
    if origins is not None:
        starts = [origins[start] for start in starts]
        ends = [_skip_combining(text, origins[end - 1] + 1) for end in ends]
    return WordSpans(starts, ends, _trim_words(pieces[1::2], folded))


def trim_word(word: str) -> str:
    """A folded word as it is looked up: without a final 's, and cut to MAX_WORD_LENGTH."""
    return word.removesuffix("'s")[:MAX_WORD_LENGTH]


def _trim_words(words: list[str], folded: str) -> list[str]:
    # Most texts have neither an apostrophe nor an overlong word.
    if "'" not in folded and max(map(len, words), default=0) <= MAX_WORD_LENGTH:
        return words
    return [trim_word(word) for word in words]


def fold_text(text: str) -> str:
    """The text without case, accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).translate(_APOSTROPHES_AND_INVISIBLES).casefold()
    if plain.isascii():
        return plain
    return "".join(c for c in plain if not unicodedata.combining(c))


_fold_character = lru_cache(MAX_CACHED_CHARACTERS)(fold_text)


def _fold_with_origins(text: str) -> tuple[str, list[int] | None]:
    """The folded text, and the position that each of its characters came from; None if no position has changed."""
    if text.isascii():
        return text.lower(), None
    pieces: list[str] = []
    origins: list[int] = []
    position = 0
    for run in _SPLIT_AT_NON_ASCII(text):
        if run.isascii():
            pieces.append(run.lower())
            origins += range(position, position + len(run))
        else:
            pieces.append(_fold_character(run))
            origins += [position] * len(pieces[-1])
        position += len(run)
    return "".join(pieces), origins


def _skip_combining(text: str, end: int) -> int:
    """The end of a letter: accents that are separate characters belong to the letter before them."""
    while end < len(text) and text[end] > _BEFORE_COMBINING and unicodedata.combining(text[end]):
        end += 1
    return end
