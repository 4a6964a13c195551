"""By which words is a topic told to people?

Topics are made of terms, which are stems more often than words: "studi", "airwai". Each is shown as the shortest word
of the index that has it, the first by the alphabet of several.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from searchlab.indexing.snapshot import Snapshot


def shortest_words(snapshot: Snapshot, terms: Iterable[str]) -> dict[str, str]:
    """A word for each term; the term itself where no word of the index has it."""
    wanted = set(terms)
    words: dict[str, str] = {}
    for shard in snapshot.shards:
        columns = shard.columns
        numbers = {number: term for term in wanted if (number := columns.terms.find(term)) >= 0}
        places = np.flatnonzero(np.isin(columns.word_terms, list(numbers)))
        owners = columns.word_terms[places].tolist()
        for word, number in zip(columns.words.take(places), owners, strict=True):
            term = numbers[number]
            words[term] = min(words.get(term, word), word, key=lambda text: (len(text), text))
    return {term: words.get(term, term) for term in wanted}
