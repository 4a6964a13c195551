"""Synthetic collection and queries of the benchmarks.

A synthetic collection of OHSUMED's size and shape: titles alone for a third of the documents, titles with
abstracts for the rest, over a Zipfian vocabulary. Words are pronounceable and end in "k", so that no stemmer
touches them and none is a stop word: every engine sees the same terms. Everything is seeded, and a smaller
collection is the beginning of a larger one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SEED = 87
VOCABULARY_SIZE = 126_000
BLOCK = 10_000  # documents that are drawn at once
TITLE_LENGTH = 9
N_QUERIES = 106
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aeiou"]


def write_collection(path: Path, n_docs: int) -> None:
    """Write documents as JSONL, unless they are there already."""
    if path.exists() and count_lines(path) == n_docs:
        return
    words = np.array(make_vocabulary(), dtype=object)
    with path.open("w") as file:
        for number, tokens in enumerate(draw_documents(n_docs), start=1):
            text = words[tokens].tolist()
            title, body = " ".join(text[:TITLE_LENGTH]), " ".join(text[TITLE_LENGTH:])
            file.write(json.dumps({"docno": str(number), "title": title, "body": body}) + "\n")


def count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def make_vocabulary() -> list[str]:
    """Distinct words of two to five syllables, the most frequent first."""
    rng = np.random.default_rng(SEED)
    draws = rng.integers(len(SYLLABLES), size=(2 * VOCABULARY_SIZE, 5)).tolist()
    counts = rng.integers(2, 6, size=len(draws)).tolist()
    words = ("".join(SYLLABLES[s] for s in draw[:n]) + "k" for draw, n in zip(draws, counts, strict=True))
    return list(dict.fromkeys(words))[:VOCABULARY_SIZE]


def draw_documents(n_docs: int) -> Iterator[np.ndarray]:
    """The tokens of each document, as ranks in the vocabulary."""
    cumulated = np.cumsum(1 / (np.arange(VOCABULARY_SIZE) + 2.7))
    cumulated /= cumulated[-1]
    for block, start in enumerate(range(0, n_docs, BLOCK)):
        rng = np.random.default_rng((SEED, block))
        short, long = rng.poisson(TITLE_LENGTH, BLOCK), rng.normal(111, 35, BLOCK)
        lengths = np.where(rng.random(BLOCK) < 1 / 3, np.maximum(short, 1), np.maximum(long, 20)).astype(int)
        tokens = np.searchsorted(cumulated, rng.random(lengths.sum()))
        yield from np.split(tokens, np.cumsum(lengths)[:-1])[: n_docs - start]


def make_queries() -> list[str]:
    """Queries of 3 to 8 distinct words, frequent and rare."""
    return draw_queries(make_vocabulary(), np.random.default_rng((SEED, 0, N_QUERIES)), N_QUERIES, fewest_words=3)


def draw_queries(words: list[str], rng: np.random.Generator, n_queries: int, fewest_words: int) -> list[str]:
    """Queries of up to 8 distinct words, whose ranks are log-uniform from 10 to 20,000."""
    queries = []
    for n_words in rng.integers(fewest_words, 9, n_queries):
        ranks = np.exp(rng.uniform(np.log(10), np.log(20_000), size=50)).astype(int).tolist()
        queries.append(" ".join(words[rank] for rank in list(dict.fromkeys(ranks))[:n_words]))
    return queries
