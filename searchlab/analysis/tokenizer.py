"""Tokenizer: folds a text and splits it into words.

Folding removes compatibility forms, accents and case: "Naïve" becomes "naive", "ﬁbrosis" becomes "fibrosis". A word is
a run of letters and digits; a decimal point between digits and an apostrophe between letters belong to it, everything
else separates words. So "T-cell" and "t cell" are the same two words t, cell; "IL-2" is il, 2; "10-mg" is 10, mg;
"0.05" is one word. A possessive ending is dropped ("Crohn's" is crohn).

Chinese, Japanese, Korean and Thai texts do not show where words begin. There every two adjacent characters are a word,
as in Lucene's CJKAnalyzer: "信息检索" is 信息, 息检, 检索; a character that stands alone is a word by itself. Their
marks are part of their letters and are kept (Japanese が is not か).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

# To be raised whenever folding or the word pattern changes: the fingerprints of older indexes then differ.
WORD_RULES_VERSION = 2
MAX_WORD_LENGTH = 255
MAX_CACHED_CHARACTERS = 1 << 14


def word_pattern(digit: str, sign: str) -> str:
    """The pattern of a word. Possessive quantifiers (`++`), since backtracking could not find another match."""
    return rf"{digit}++(?:\.{digit}++)++{sign}*+|{sign}++(?:'{sign}++)*+"


# Characters of scripts without spaces: Thai; Korean letters; Han, kana and bopomofo with their marks; Korean syllables.
UNSPACED_CHARACTERS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"
    "\u1100-\u11ff"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\ufa0e-\ufa29"
    "\U00020000-\U000323af"
)
_UNSPACED = re.compile(f"[{UNSPACED_CHARACTERS}]")
# The same before folding: compatibility forms as well.
_UNSPACED_BEFORE_FOLDING = re.compile(
    f"[{UNSPACED_CHARACTERS}\u2e80-\u2fdf\u3131-\u318e\u3200-\u33ff\uf900-\ufaff\uff66-\uffdc\U0002f800-\U0002fa1f]"
)
_THAI = re.compile("[\u0e01-\u0e4e]")

_WORD = re.compile(word_pattern(r"\d", r"[^\W_]"))
# A word, or a run of characters of scripts without spaces.
_WORD_OR_RUN = re.compile(f"[{UNSPACED_CHARACTERS}]++|" + word_pattern(r"\d", rf"[^\W_{UNSPACED_CHARACTERS}]"))
# A run of letters and digits of any script, in a text without underscores.
_LETTERS_AND_DIGITS = re.compile(rf"[\w{UNSPACED_CHARACTERS}]++")
_SPLIT_AT_WORD = re.compile(f"({_WORD.pattern})").split
# The same for folded ASCII, twice as fast.
_SPLIT_AT_ASCII_WORD = re.compile(f"({word_pattern('[0-9]', '[a-z0-9]')})").split
# Kana with a voicing mark, and a Korean syllable that is written in parts, are one letter.
COMPOSED_LETTER = (
    "[\u3041-\u30ff\uff66-\uff9d][\u3099\u309a\uff9e\uff9f]"
    "|[\u1100-\u1112\u3131-\u314e\uffa1-\uffbe][\u1161-\u1175\u314f-\u3163\uffc2-\uffdc][\u11a8-\u11c2]?"
    "|[\uac00-\ud7a3][\u11a8-\u11c2]"
)
_LETTER = re.compile(f"{COMPOSED_LETTER}|[^\\x00-\\x7f]")
# Runs of ASCII, and single letters outside ASCII.
_SPLIT_AT_NON_ASCII = re.compile(f"({_LETTER.pattern})").split
# Letters of several characters come after this one.
_BEFORE_COMPOSED = "\u10ff"
# Every combining character comes after this one.
_BEFORE_COMBINING = "\u02ff"
APOSTROPHES_AND_INVISIBLES = {ord(c): "'" for c in "’ʼ＇"} | {
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
    if _has_unspaced(folded):
        return [word for run in _WORD_OR_RUN.findall(folded) for word in _words_of_run(run)]
    return _trim_words(_WORD.findall(folded), folded)


def locate_words(text: str) -> WordSpans:
    """The folded words of a text with their positions in it."""
    folded, origins = _fold_with_origins(text)
    if origins is not None and _has_unspaced(folded):
        return _locate_runs(text, _WORD_OR_RUN.finditer(folded), origins, _words_of_run)
    # The pieces alternate between gaps, which may be empty, and words; the first and the last piece are gaps.
    pieces = _SPLIT_AT_ASCII_WORD(folded) if folded.isascii() else _SPLIT_AT_WORD(folded)
    bounds = list(accumulate(map(len, pieces)))
    starts, ends = bounds[:-1:2], bounds[1::2]
    if origins is not None:
        starts = [origins[start] for start in starts]
        ends = [_end_of_letter(text, origins[end - 1]) for end in ends]
    return WordSpans(starts, ends, _trim_words(pieces[1::2], folded))


def split_ngrams(text: str, n: int) -> list[str]:
    """The overlapping n-grams of characters of a folded text.

    They are taken within runs of letters and digits; a run of fewer than n characters is taken whole.
    """
    runs = _LETTERS_AND_DIGITS.findall(fold_text(text).replace("_", " "))
    return [ngram for run in runs for ngram in ngrams_of_run(run, n)]


def locate_ngrams(text: str, n: int) -> WordSpans:
    """The n-grams of `split_ngrams` with their positions in the text."""
    folded, origins = _fold_with_origins(text)
    runs = _LETTERS_AND_DIGITS.finditer(folded.replace("_", " "))
    return _locate_runs(text, runs, origins, lambda run: ngrams_of_run(run, n))


def _has_unspaced(folded: str) -> bool:
    return not folded.isascii() and _UNSPACED.search(folded) is not None


def _words_of_run(run: str) -> list[str]:
    """The words of a match of `_WORD_OR_RUN`: one word, or two characters each."""
    return ngrams_of_run(run, 2) if _UNSPACED.match(run) else [trim_word(run)]


def ngrams_of_run(run: str, n: int) -> list[str]:
    """The overlapping n-grams of a run of characters; a run of fewer than n characters is taken whole."""
    return [run[i : i + n] for i in range(len(run) - n + 1)] if len(run) > n else [run]


def _locate_runs(
    text: str, runs: Iterator[re.Match[str]], origins: Sequence[int] | None, split: Callable[[str], list[str]]
) -> WordSpans:
    """The words that `split` makes of runs; several words of a run begin one character after the other."""
    starts: list[int] = []
    ends: list[int] = []
    words: list[str] = []
    for run in runs:
        of_run = split(run.group())
        width = run.end() - run.start() - len(of_run) + 1
        first = range(run.start(), run.start() + len(of_run))
        words += of_run
        if origins is None:
            starts += first
            ends += [start + width for start in first]
        else:
            starts += [origins[start] for start in first]
            ends += [_end_of_letter(text, origins[start + width - 1]) for start in first]
    return WordSpans(starts, ends, words)


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
    if _UNSPACED_BEFORE_FOLDING.search(text):
        return "".join(run.lower() if run.isascii() else _fold_letter(run) for run in _SPLIT_AT_NON_ASCII(text))
    return _remove_accents(_decompose(text))


def _decompose(text: str) -> str:
    return unicodedata.normalize("NFKD", text).translate(APOSTROPHES_AND_INVISIBLES).casefold()


def _remove_accents(plain: str) -> str:
    if plain.isascii():
        return plain
    return "".join(c for c in plain if not unicodedata.combining(c))


@lru_cache(MAX_CACHED_CHARACTERS)
def _fold_letter(letter: str) -> str:
    """A letter outside ASCII, folded; the marks of Thai stay, voiced kana and Korean syllables are put together again.

    Letters are composed one by one, so that a text folds alike as a whole and letter by letter.
    """
    plain = _decompose(letter)
    if _THAI.match(letter):
        return plain
    return _remove_accents(unicodedata.normalize("NFC", plain) if _UNSPACED_BEFORE_FOLDING.match(letter) else plain)


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
            pieces.append(_fold_letter(run))
            origins += [position] * len(pieces[-1])
        position += len(run)
    return "".join(pieces), origins


def _end_of_letter(text: str, start: int) -> int:
    """The end of a letter: accents that are separate characters belong to the letter before them."""
    end = start + 1
    if text[start] > _BEFORE_COMPOSED and (letter := _LETTER.match(text, start)):
        end = letter.end()
    while end < len(text) and text[end] > _BEFORE_COMBINING and unicodedata.combining(text[end]):
        end += 1
    return end
