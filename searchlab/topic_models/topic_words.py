"""Words to show for the terms of a latent topic.

Terms are often stems: "studi", "airwai". Each is shown as the shortest word of the index with this term, of several the
first in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from searchlab.indexing.snapshot import Snapshot


def shortest_words(snapshot: Snapshot, terms: Iterable[str]) -> dict[str, str]:
    """A word for each term; the term itself if no word of the index has it."""
    wanted = set(terms)
    words: dict[str, str] = {}
    for shard in snapshot.shards:
        columns = shard.columns
        numbers = {number: term for term in wanted if (number := columns.terms.find(term)) >= 0}
        matching = np.flatnonzero(np.isin(columns.word_terms, list(numbers)))
        term_numbers = columns.word_terms[matching].tolist()
        for word, number in zip(columns.words.take(matching), term_numbers, strict=True):
            term = numbers[number]
            words[term] = min(words.get(term, word), word, key=lambda text: (len(text), text))
    return {term: words.get(term, term) for term in wanted}
