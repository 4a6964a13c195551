"""Which words of an index begin so? The most frequent ones, for whoever is typing."""

from __future__ import annotations

import numpy as np

from searchlab.indexing.snapshot import Snapshot

MOST_WORDS = 20
# In byte order, no word that begins alike comes after a beginning with this behind it.
_LAST = "\U0010ffff"


def frequent_words(snapshot: Snapshot, beginning: str) -> list[str]:
    """The most frequent words of the index that begin so, stop words left out."""
    terms: dict[str, str] = {}
    for shard in snapshot.shards:
        columns = shard.columns
        first, after = columns.words.first_from(beginning), columns.words.first_from(beginning + _LAST)
        numbers = np.asarray(columns.word_terms[first:after], np.int64)
        offsets = columns.streams["both"].offsets
        # Stop words have no term, and come last.
        frequencies = np.where(numbers < 0, -1, offsets[numbers + 1] - offsets[numbers])
        for place in np.argsort(-frequencies, kind="stable")[:MOST_WORDS].tolist():
            if numbers[place] >= 0:
                terms[columns.words[first + place]] = columns.terms[int(numbers[place])]
    frequency = {word: snapshot.count_term("both", term).doc_freq for word, term in terms.items()}
    best = sorted(frequency, key=lambda word: (-frequency[word], word))
    return [word for word in best if frequency[word]][:MOST_WORDS]
