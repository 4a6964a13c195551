"""Brute-force reference rankings: every document scored, one by one.

BM25 as its formula says, summed over the texts themselves, without an index and without a line of searchlab:

    score(d, q) = Σ ln(1 + (N - df + ½)/(df + ½)) · tf·(k1 + 1) / (tf + k1·(1 - b + b·|d|/avgdl))

over the words of the query, with k1 = 1.2, b = 0.75, and title and body as one text. Equal scores are ordered by
docno, descending.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

K1, B = 1.2, 0.75


@dataclass(frozen=True)
class Texts:
    """What the formula needs: `tf[word][d]` is the word's count in the d-th document, if it occurs there."""

    docnos: list[str]
    lengths: np.ndarray
    tf: dict[str, dict[int, int]]


def read_texts(collection: Path, words: set[str]) -> Texts:
    """Count some words in all documents of a JSONL file."""
    docnos, lengths = [], []
    tf: dict[str, dict[int, int]] = {word: {} for word in words}
    with collection.open() as file:
        for d, line in enumerate(file):
            document = json.loads(line)
            text = f"{document['title']} {document['body']}".split()
            docnos.append(document["docno"])
            lengths.append(len(text))
            for word, count in Counter(word for word in text if word in words).items():
                tf[word][d] = count
    return Texts(docnos, np.array(lengths), tf)


def rank(texts: Texts, query: str, k: int) -> list[tuple[str, float]]:
    """The k best documents and their scores."""
    n_docs = len(texts.docnos)
    norms = K1 * (1 - B + B * texts.lengths / texts.lengths.mean())
    scores = np.zeros(n_docs)
    for word in query.split():
        docs, tf = (np.fromiter(part, int) for part in (texts.tf[word].keys(), texts.tf[word].values()))
        idf = math.log(1 + (n_docs - len(docs) + 0.5) / (len(docs) + 0.5))
        scores[docs] += idf * tf * (K1 + 1) / (tf + norms[docs])
    found = [(scores[d], texts.docnos[d]) for d in np.flatnonzero(scores)]
    return [(docno, float(score)) for score, docno in sorted(found, reverse=True)[:k]]
