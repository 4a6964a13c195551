"""A second synthetic collection, of another shape than `collection.py`, so that nothing is tuned to one of them.

Words are inflected (-s, -ed, -ing), so that searching needs their stems. Titles are empty, lengths are log-normal with
a long tail, frequencies fall more steeply, and docnos are in no order. Everything is seeded.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from collection import count_lines, draw_queries

SEED = 2029
VOCABULARY_SIZE = 80_000
BLOCK = 10_000  # documents that are drawn at once
MEDIAN_LENGTH, LENGTH_SPREAD, MAX_LENGTH = 62, 0.65, 2_000
N_QUERIES = 120
SYLLABLES = [consonant + vowel + end for consonant in "bcdghjmprtw" for vowel in "aiou" for end in "mnpt"]
SUFFIXES, SUFFIX_SHARES = np.array(["", "s", "ed", "ing"], dtype=object), (0.6, 0.2, 0.1, 0.1)


def write_collection(path: Path, n_docs: int) -> None:
    """Write documents as JSONL, unless they are there already."""
    if path.exists() and count_lines(path) == n_docs:
        return
    words = np.array(make_vocabulary(), dtype=object)
    cumulated = np.cumsum(1 / (np.arange(VOCABULARY_SIZE) + 12.0) ** 1.1)
    cumulated /= cumulated[-1]
    numbers = np.random.default_rng(SEED).permutation(n_docs).tolist()
    with path.open("w") as file:
        for block, start in enumerate(range(0, n_docs, BLOCK)):
            rng = np.random.default_rng((SEED, block))
            drawn = rng.lognormal(np.log(MEDIAN_LENGTH), LENGTH_SPREAD, BLOCK)
            lengths = np.clip(drawn, 3, MAX_LENGTH).astype(int)
            tokens = np.searchsorted(cumulated, rng.random(lengths.sum()))
            text = words[tokens] + rng.choice(SUFFIXES, len(tokens), p=SUFFIX_SHARES)
            bodies = np.split(text, np.cumsum(lengths)[:-1])[: n_docs - start]
            for number, body in zip(numbers[start : start + BLOCK], bodies, strict=True):
                file.write(json.dumps({"docno": f"S-{number:07}", "title": "", "body": " ".join(body)}) + "\n")


def make_vocabulary() -> list[str]:
    """Distinct words of two to four syllables, the most frequent first."""
    rng = np.random.default_rng(SEED)
    draws = rng.integers(len(SYLLABLES), size=(2 * VOCABULARY_SIZE, 4)).tolist()
    counts = rng.integers(2, 5, size=len(draws)).tolist()
    words = ("".join(SYLLABLES[s] for s in draw[:n]) for draw, n in zip(draws, counts, strict=True))
    return list(dict.fromkeys(words))[:VOCABULARY_SIZE]


def make_queries() -> list[str]:
    """Queries of 2 to 8 distinct words, frequent and rare."""
    return draw_queries(make_vocabulary(), np.random.default_rng((SEED, 0, N_QUERIES)), N_QUERIES, fewest_words=2)
