"""Autocomplete: the most frequent words of an index with a given prefix."""

from __future__ import annotations

import numpy as np

from searchlab.indexing.snapshot import Snapshot

MAX_COMPLETIONS = 20
# In byte order, a prefix followed by this comes after every word with the prefix.
_LAST = "\U0010ffff"


def complete_word(snapshot: Snapshot, prefix: str) -> list[str]:
    """The most frequent words of the index with a prefix without accents, most frequent first, without stop words."""
    with snapshot.report_damage():
        terms: dict[str, str] = {}
        for shard in snapshot.shards:
            columns, table = shard.columns, snapshot.word_table(shard)
            first, after = table.strings.first_from(prefix), table.strings.first_from(prefix + _LAST)
            words = table.numbers_of(np.arange(first, after))
            numbers = np.asarray(columns.word_terms[words], np.int64)
            offsets = columns.streams["both"].offsets
            # Stop words have no term, and come last.
            frequencies = np.where(numbers < 0, -1, offsets[numbers + 1] - offsets[numbers])
            for row in np.argsort(-frequencies, kind="stable")[:MAX_COMPLETIONS].tolist():
                if numbers[row] >= 0:
                    terms[columns.words[int(words[row])]] = columns.terms[int(numbers[row])]
        frequency = {word: snapshot.count_term("both", term).doc_freq for word, term in terms.items()}
        best = sorted(frequency, key=lambda word: (-frequency[word], word))
        return [word for word in best if frequency[word]][:MAX_COMPLETIONS]
