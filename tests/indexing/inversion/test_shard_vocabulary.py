import random

import numpy as np
import pytest

from searchlab.analysis.analyzer import AnalysisSettings, make_analyzer
from searchlab.analysis.tokenizer import MAX_WORD_LENGTH, split_words
from searchlab.indexing.inversion import shard_vocabulary
from searchlab.indexing.inversion.shard_vocabulary import ShardVocabulary

PLAIN = AnalysisSettings("none", "none", frozenset())


@pytest.fixture(params=["python", "compiled"])
def limits(request, monkeypatch):
    """Texts are split by Python, or by the compiled loop, with a table that must grow."""
    monkeypatch.setattr(shard_vocabulary, "is_loaded", lambda: False)
    monkeypatch.setattr(shard_vocabulary, "MIN_COMPILED_CHARACTERS", 1000 if request.param == "compiled" else 1 << 60)
    monkeypatch.setattr(shard_vocabulary, "FIRST_SLOTS", 64)
    monkeypatch.setattr(shard_vocabulary, "FIRST_BYTES", 32)


def random_text(rng):
    """Letters, digits, points and apostrophes in every order; some texts are not ASCII."""
    signs = "aabsS''..01 9-_\n\0Z" + ("é漢’" if rng.random() < 0.3 else "")
    return "".join(rng.choices(signs, k=rng.choice([0, 1, 2, 5, 40, 700])))


def test_words_are_those_of_the_tokenizer(limits):
    rng = random.Random(4)
    for _ in range(12):
        terms: dict[str, int] = {}
        vocabulary = ShardVocabulary(make_analyzer(PLAIN), terms)
        seen: list[str] = []
        for _ in range(5):
            texts = [random_text(rng) for _ in range(30)]
            numbers, lengths = vocabulary.number_texts(texts)
            words = [split_words(text) for text in texts]
            assert lengths.tolist() == [len(of_text) for of_text in words]
            seen += [word for of_text in words for word in of_text]
            of_numbers = dict(zip(terms.values(), terms, strict=True))
            assert [of_numbers[number] for number in numbers.tolist()] == seen[len(seen) - len(numbers) :]
        assert vocabulary.ranked(np.arange(len(terms))) == terms
        assert [*terms] == [*dict.fromkeys(seen)]


@pytest.mark.parametrize(
    "text",
    [
        "1.5 1.5.2mg 1. .5 1..5 1a.5 3.14's x1.5",
        "Crohn's its' 's s's a's's o'clock's",
        "don't ''quoted'' rock'n'roll",
        "A" * 300 + " " + "b" * (MAX_WORD_LENGTH - 1) + "'s " + "c" * MAX_WORD_LENGTH + "'s",
        "under_score T-cell IL-2\t\x00nul\x7f",
    ],
)
def test_words_at_the_edges_of_the_rules(limits, text):
    vocabulary = ShardVocabulary(make_analyzer(PLAIN), terms := {})
    vocabulary.number_texts(["filler word " * 100])
    numbers, _ = vocabulary.number_texts([text])
    of_numbers = dict(zip(terms.values(), terms, strict=True))
    assert [of_numbers[number] for number in numbers.tolist()] == split_words(text)


def test_words_that_differ_in_one_byte_or_in_length_are_different(limits):
    # Keys of 8 and of 16 bytes, and hashes of longer words.
    words = ["a" * n for n in range(1, 40)]
    words += [("a" * at + "b").ljust(n, "a") for n in (8, 9, 15, 16, 17, 24, 33) for at in range(n)]
    vocabulary = ShardVocabulary(make_analyzer(PLAIN), terms := {})
    vocabulary.number_texts(["filler word " * 100])
    numbers, lengths = vocabulary.number_texts([" ".join(words), "\n".join(reversed(words)) + " é", words[16].upper()])
    distinct = [*dict.fromkeys(words)]
    assert [*terms] == ["filler", "word", *distinct, "e"]
    of_numbers = dict(zip(terms.values(), terms, strict=True))
    assert [of_numbers[number] for number in numbers.tolist()] == [*words, *reversed(words), "e", words[16]]
    assert lengths.tolist() == [len(words), len(words) + 1, 1]


def test_stop_words_and_stems(limits):
    vocabulary = ShardVocabulary(make_analyzer(AnalysisSettings()), terms := {})
    vocabulary.number_texts(["filler " * 200])
    numbers, lengths = vocabulary.number_texts(["The cells of the Cell", "", "naïve cells"])
    assert lengths.tolist() == [5, 0, 2]
    assert numbers.tolist() == [-1, 1, -1, -1, 1, 2, 1]
    assert [*terms] == ["filler", "cell", "naiv"]
    assert vocabulary.ranked(np.array([5, 6, 7])) == {
        "filler": 5, "the": -1, "of": -1, "cells": 6, "cell": 6, "naive": 7,
    }  # fmt: skip
