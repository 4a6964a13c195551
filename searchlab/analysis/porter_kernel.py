"""Porter's stemmer, compiled, for many words at a time: the stems are those of `analysis/stemmers.py`.

The algorithm is Porter's ("An algorithm for suffix stripping", 1980) with his later changes: words of one or two
letters stay, -bli becomes -ble, and -logi becomes -log, as in nltk's variant `MARTIN_EXTENSIONS`. In each step the
first rule counts whose suffix the word has. A rule applies if the measure of what is left, the number of times that a
consonant follows a vowel there, is at least that of the rule; if it does not, the word stays as it is.
"""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from searchlab.types import Array

NEWLINE = ord("\n")
A, B, D, E, G, I, L, N, O, S, T, U, W, X, Y, Z = (ord(letter) for letter in "abdegilnostuwxyz")  # noqa: E741
MAX_SUFFIX = 8


class _Rules(NamedTuple):
    """Suffixes and what replaces them, a row each, and their lengths."""

    suffixes: Array
    suffix_lengths: Array
    replacements: Array
    replacement_lengths: Array

    @classmethod
    def of(cls, rules: str) -> _Rules:
        """The rules of a text such as "ies:i s:"."""
        pairs = [rule.split(":") for rule in rules.split()]
        columns = [[pair[side].encode() for pair in pairs] for side in (0, 1)]
        tables = [np.array([list(text.ljust(MAX_SUFFIX, b"\0")) for text in column], np.uint8) for column in columns]
        lengths = [np.array([len(text) for text in column]) for column in columns]
        return cls(tables[0], lengths[0], tables[1], lengths[1])


STEP_2 = _Rules.of(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize "
    "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log"
)
STEP_3 = _Rules.of("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
STEP_4 = _Rules.of("al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:")


@njit(cache=True)
def _is_vowel(letter):
    return letter in (A, E, I, O, U)


@njit(cache=True)
def _is_consonant(word, start, at):
    """Whether a letter is a consonant; y is one at the beginning and after a vowel."""
    if word[at] != Y:
        return not _is_vowel(word[at])
    is_same = True
    while at > start and word[at] == Y:
        at -= 1
        is_same = not is_same
    return _is_vowel(word[at]) != is_same


@njit(cache=True)
def _measure(word, start, end):
    n = 0
    after_vowel = False
    for at in range(start, end):
        is_vowel = at > start and not after_vowel if word[at] == Y else _is_vowel(word[at])
        n += after_vowel and not is_vowel
        after_vowel = is_vowel
    return n


@njit(cache=True)
def _has_vowel(word, start, end):
    at = start
    # The first letter after others that are consonants: y is a vowel there.
    while at < end and not _is_vowel(word[at]) and (word[at] != Y or at == start):
        at += 1
    return at < end


@njit(cache=True)
def _ends_cvc(word, start, end):
    """Whether the last letters are consonant, vowel and a consonant other than w, x and y."""
    return (
        end - start >= 3
        and _is_consonant(word, start, end - 3)
        and not _is_consonant(word, start, end - 2)
        and _is_consonant(word, start, end - 1)
        and word[end - 1] not in (W, X, Y)
    )


@njit(cache=True)
def _apply(word, start, end, rules, min_measure):
    """Apply the first rule whose suffix the word has; returns where the word then ends."""
    suffixes, suffix_lengths, replacements, replacement_lengths = rules
    for rule in range(len(suffixes)):
        n = suffix_lengths[rule]
        stem_end = end - n
        if stem_end < start or word[end - 1] != suffixes[rule, n - 1]:
            continue
        i = 0
        while i < n and word[stem_end + i] == suffixes[rule, i]:
            i += 1
        if i < n:
            continue
        if _measure(word, start, stem_end) < min_measure:
            return end
        # -ion is removed after s and t only.
        if n == 3 and suffixes[rule, 0] == I and suffixes[rule, 1] == O and word[stem_end - 1] not in (S, T):
            return end
        for i in range(replacement_lengths[rule]):
            word[stem_end + i] = replacements[rule, i]
        return stem_end + replacement_lengths[rule]
    return end


@njit(cache=True)
def _remove_plural(word, start, end):
    if word[end - 1] != S:
        return end
    if end - start >= 3 and word[end - 2] == E and word[end - 3] == I:
        return end - 2
    if end - start >= 4 and word[end - 2] == E and word[end - 3] == S and word[end - 4] == S:
        return end - 2
    return end if end - start >= 2 and word[end - 2] == S else end - 1


@njit(cache=True)
def _remove_participle(word, start, end):
    """Remove -ed and -ing, and mend what is left."""
    n = end - start
    if n >= 3 and word[end - 1] == D and word[end - 2] == E and word[end - 3] == E:
        return end - 1 if _measure(word, start, end - 3) > 0 else end
    if n >= 2 and word[end - 1] == D and word[end - 2] == E and _has_vowel(word, start, end - 2):
        end -= 2
    elif (
        n >= 3 and word[end - 1] == G and word[end - 2] == N and word[end - 3] == I and _has_vowel(word, start, end - 3)
    ):
        end -= 3
    else:
        return end
    last = word[end - 1]
    before = word[end - 2] if end - start >= 2 else NEWLINE
    if (before == A and last == T) or (before == B and last == L) or (before == I and last == Z):
        word[end] = E
        return end + 1
    if before == last and _is_consonant(word, start, end - 1):
        return end if last in (L, S, Z) else end - 1
    if _measure(word, start, end) == 1 and _ends_cvc(word, start, end):
        word[end] = E
        return end + 1
    return end


@njit(cache=True)
def _stem(word, start, end):
    """Stem a word where it is; returns where it then ends."""
    if end - start <= 2:
        return end
    end = _remove_plural(word, start, end)
    end = _remove_participle(word, start, end)
    if end > start and word[end - 1] == Y and _has_vowel(word, start, end - 1):
        word[end - 1] = I
    end = _apply(word, start, end, STEP_2, 1)
    end = _apply(word, start, end, STEP_3, 1)
    end = _apply(word, start, end, STEP_4, 2)
    if end > start and word[end - 1] == E:
        measure = _measure(word, start, end - 1)
        if measure > 1 or (measure == 1 and not _ends_cvc(word, start, end - 1)):
            end -= 1
    if end - start >= 2 and word[end - 1] == L and word[end - 2] == L and _measure(word, start, end - 1) > 1:
        end -= 1
    return end


@njit(cache=True, nogil=True)
def _stem_lines(text, stems):
    """Write the stem of each word, which a line feed follows; returns where the last one ends."""
    at, end = 0, 0
    for byte in text:
        if byte != NEWLINE:
            stems[end] = byte
            end += 1
            continue
        end = _stem(stems, at, end)
        stems[end] = NEWLINE
        end += 1
        at = end
    return end


def stem_words(words: Sequence[str]) -> list[str]:
    """The stems of folded words in ASCII."""
    text = np.frombuffer("".join([f"{word}\n" for word in words]).encode(), np.uint8)
    stems = np.empty(len(text) + 1, np.uint8)
    return stems[: _stem_lines(text, stems)].tobytes().decode().split("\n")[:-1]
