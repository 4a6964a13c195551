"""Words of a language other than English: the tokenizer for languages whose stemmers need accents.

The standard tokenizer removes accents, and with them what stemmers go by ("hospitalisé", "книгой"). Here a text is only
freed of case and compatibility forms; accents stay in the words, and are removed from terms after stemming (`plain`).
The rules of what a word is are those of the standard tokenizer, with these differences:

- An elided article or pronoun is removed: "l'hôpital" is hôpital, "dell'acqua" is acqua.
- The vowel signs of Indic scripts belong to words. Points of Hebrew and Arabic, which are mostly not written, are
  removed, and so is the Arabic tatweel.
- A language may have letters that are written in two ways, such as ё and е: `letters` has one for the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from searchlab.analysis.tokenizer import (
    APOSTROPHES_AND_INVISIBLES,
    COMPOSED_LETTER,
    MAX_CACHED_CHARACTERS,
    UNSPACED_CHARACTERS,
    WordSpans,
    ngrams_of_run,
    trim_word,
    word_pattern,
)

# Letters and digits of any script, in a text without underscores; Indic, Lao, Burmese and Khmer signs among them, which
# Python does not count as parts of words. Dandas, the full stops of Indic scripts, are not.
_SIGN = r"[\w\u0900-\u0963\u0966-\u096f\u0971-\u0df3\u0e80-\u0eff\u1000-\u1049\u1780-\u17d3]"
_UNSPACED = re.compile(f"[{UNSPACED_CHARACTERS}]")
_WORD = re.compile(word_pattern(r"\d", _SIGN))
_WORD_OR_RUN = re.compile(
    f"[{UNSPACED_CHARACTERS}]++|" + word_pattern(r"\d", f"(?:(?![{UNSPACED_CHARACTERS}]){_SIGN})")
)
# Accents that are characters of their own and can be composed with the letter before them.
_ACCENTS = "\u0300-\u036f\u0653-\u0655"
_SPLIT_AT_LETTER = re.compile(
    f"({COMPOSED_LETTER}|[A-Za-z\\u00aa-\\uffff][{_ACCENTS}]++|[^\\x00-\\x7f][{_ACCENTS}]*+)"
).split
_TATWEEL = "\u0640"
_REMOVED = {**APOSTROPHES_AND_INVISIBLES, ord(_TATWEEL): None}
# What folding may remove, or compose with what is before it.
_CHANGES_LENGTH = re.compile(
    f"[{_ACCENTS}{_TATWEEL}\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u00ad\u200b-\u200d\u2060\ufeff]"
)
# Letters of Cyrillic alphabets that Unicode decomposes as if they were accented.
_CYRILLIC_LETTERS = "йї"


class LanguageWords:
    """Splits texts of one language into words, and frees stems of accents."""

    def __init__(self, elisions: Iterable[str] = (), letters: Mapping[str, str] | None = None, kept: str = "") -> None:
        """`kept` are letters with marks that are letters of their own, such as ñ: they stay as they are in terms."""
        longest_first = sorted(elisions, key=len, reverse=True)
        self._elision = re.compile(f"(?:{'|'.join(longest_first)})'(?=.)") if longest_first else None
        self._letters = str.maketrans(dict(letters or {}))
        self._kept = frozenset(kept + _CYRILLIC_LETTERS)

    def split(self, text: str) -> list[str]:
        """The words of a text."""
        folded = self._fold(text)
        if not folded.isascii() and _UNSPACED.search(folded):
            return [word for run in _WORD_OR_RUN.findall(folded) for word in self._words_of_run(run)]
        words = _WORD.findall(folded)
        return (
            [trim_word(word[self._n_elided(word) :]) for word in words] if "'" in folded else [*map(trim_word, words)]
        )

    def locate(self, text: str) -> WordSpans:
        """The words of a text with their positions in it."""
        folded, begins, ends = self._fold_with_positions(text)
        spans = WordSpans([], [], [])
        for match in _WORD_OR_RUN.finditer(folded):
            run = match.group()
            words = self._words_of_run(run)
            skipped = 0 if len(words) > 1 else self._n_elided(run)
            width = len(run) - skipped - len(words) + 1
            for start, word in enumerate(words, match.start() + skipped):
                spans.starts.append(begins[start])
                spans.ends.append(ends[start + width - 1])
                spans.words.append(word)
        return spans

    def plain(self, stem: str) -> str:
        """A stem without accents."""
        if stem.isascii():
            return stem
        return "".join(letter if letter in self._kept else _without_accents(letter) for letter in stem)

    def _words_of_run(self, run: str) -> list[str]:
        return ngrams_of_run(run, 2) if _UNSPACED.match(run) else [trim_word(run[self._n_elided(run) :])]

    def _n_elided(self, word: str) -> int:
        """The number of characters at the beginning that are an elided word."""
        elided = self._elision.match(word) if self._elision is not None else None
        return elided.end() if elided else 0

    def _fold(self, text: str) -> str:
        if text.isascii():
            return text.lower().replace("_", " ")
        if _keeps_positions(text):
            folded = text.casefold().translate(_REMOVED)
        else:
            folded = "".join(run.lower() if run.isascii() else _fold_letter(run) for run in _SPLIT_AT_LETTER(text))
        return folded.replace("_", " ").translate(self._letters)

    def _fold_with_positions(self, text: str) -> tuple[str, range | list[int], range | list[int]]:
        """The folded text, and where in the text the letter of each of its characters begins and ends."""
        if text.isascii() or _keeps_positions(text):
            return self._fold(text), range(len(text)), range(1, len(text) + 1)
        begins: list[int] = []
        ends: list[int] = []
        position = 0
        for piece in _SPLIT_AT_LETTER(text):
            end = position + len(piece)
            if piece.isascii():
                begins += range(position, end)
                ends += range(position + 1, end + 1)
            else:
                n = len(_fold_letter(piece))
                begins += [position] * n
                ends += [end] * n
                if not n and ends and unicodedata.combining(piece[0]):
                    ends[-1] = end  # a point belongs to the letter before it
            position = end
        return self._fold(text), begins, ends


def _keeps_positions(text: str) -> bool:
    """Whether folding changes each character into one character."""
    return (
        unicodedata.is_normalized("NFKC", text)
        and len(text.casefold()) == len(text)
        and _CHANGES_LENGTH.search(text) is None
    )


@lru_cache(MAX_CACHED_CHARACTERS)
def _fold_letter(letter: str) -> str:
    """A letter outside ASCII, or with accents outside ASCII, without case and compatibility forms."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", letter).casefold()).translate(_REMOVED)
    return "".join(character for character in folded if not _is_accent(character))


@lru_cache(MAX_CACHED_CHARACTERS)
def _without_accents(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", letter)
    return unicodedata.normalize("NFC", "".join(character for character in plain if not _is_accent(character)))


def _is_accent(character: str) -> bool:
    """Whether a character is an accent, or a point of Hebrew or Arabic; signs of other scripts belong to their letters.

    Unicode's combining classes: 10 to 36 are points of Hebrew, Arabic and Syriac, from 200 on accents by position.
    """
    combining = unicodedata.combining(character)
    return combining >= 200 or 10 <= combining <= 36
