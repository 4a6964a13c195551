"""Which word could have been meant by one that no document has?

The nearest of the words that the documents have: by the number of edits (a letter inserted, deleted or replaced, or
two neighbours exchanged), then those with the same first letter, then by the number of documents, then by the
alphabet. Short words are near to everything, so they get fewer edits, or none.
"""

from __future__ import annotations

from collections import defaultdict

from searchlab.analysis.tokenizer import split_words
from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.suggest.string_matching import spelt_like

SHORTEST = 3
# Words of up to this many letters are compared with those that one edit makes of them, longer ones with two.
SHORT = 4
# Of fields other than these, words are kept only as stems, which nobody should read.
WRITTEN = ("", "title", "body")


def suggest(snapshot: Snapshot, unknown: str) -> str | None:
    """The known word that is nearest to an unknown one; both may stand behind a field, `title:`."""
    field, colon, written = unknown.rpartition(":")
    word = "".join(split_words(written))
    if field not in WRITTEN or len(word) < SHORTEST or not any(map(str.isalpha, word)):
        return None
    groups = _near(snapshot, word)
    for place in sorted(groups):
        # Of words that are equally near, the one that most documents have.
        frequency = {near: snapshot.count_term("both", term).doc_freq for near, term in groups[place].items()}
        best = min(frequency, key=lambda near: (-frequency[near], near))
        if frequency[best]:
            return None if best == word else f"{field}{colon}{best}"
    return None


def _near(snapshot: Snapshot, word: str) -> dict[tuple[int, bool], dict[str, str]]:
    """The words near to a word with their terms, by distance and by whether they begin otherwise."""
    groups: dict[tuple[int, bool], dict[str, str]] = defaultdict(dict)
    for shard in snapshot.shards:
        columns = shard.columns
        most = 1 if len(word) <= SHORT else 2
        numbers, distances = spelt_like(columns.words, range(len(columns.words)), word, most, swaps=True)
        for number, distance in zip(numbers.tolist(), distances.tolist(), strict=True):
            term = int(columns.word_terms[number])
            if term >= 0:
                near = columns.words[number]
                groups[distance, near[0] != word[0]][near] = columns.terms[term]
    return groups
