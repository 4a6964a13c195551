"""Spelling correction: the known word nearest to an unknown one.

Words of the index are ordered by the number of edits (a letter inserted, deleted or replaced, or two neighbours
exchanged), then by whether the first letter is the same, then by document frequency, then by the alphabet. Short words
are near to everything, so fewer edits are allowed for them, or none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from searchlab.analysis.tokenizer import fold_text, split_words
from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.query.string_matching import match_fuzzy

MIN_WORD_LENGTH = 3
# For words of up to this many letters one edit is allowed, for longer ones two.
MAX_SHORT_LENGTH = 4
# Of other fields the index has only stems, which are not for display.
CORRECTED_FIELDS = ("", "title", "body")


def correct_spelling(snapshot: Snapshot, unknown: str, languages: Collection[str] = ()) -> str | None:
    """The known word nearest to an unknown one, None if none is near; both may follow a field, `title:`.

    If languages are given, it is a word of one of these.
    """
    field, colon, written = unknown.rpartition(":")
    split = split_words if snapshot.analyzer.has_folded_words else snapshot.analyzer.split
    word = fold_text("".join(split(written)))
    if field not in CORRECTED_FIELDS or len(word) < MIN_WORD_LENGTH or not any(map(str.isalpha, word)):
        return None
    with snapshot.report_damage():
        groups = _similar_words(snapshot, word, languages)
        for distance in sorted(groups):
            # Of equally near words, the one with the largest document frequency.
            frequency = {
                near: max(snapshot.count_term("both", term).doc_freq for term in terms)
                for near, terms in groups[distance].items()
            }
            best = min(frequency, key=lambda near: (-frequency[near], near))
            if frequency[best]:
                return None if fold_text(best) == word else f"{field}{colon}{best}"
        return None


def _similar_words(
    snapshot: Snapshot, word: str, languages: Collection[str]
) -> dict[tuple[int, bool], dict[str, set[str]]]:
    """The words near to a word with their terms, by distance and by whether the first letter differs."""
    groups: dict[tuple[int, bool], dict[str, set[str]]] = defaultdict(dict)
    for shard in snapshot.shards:
        columns, table = shard.columns, snapshot.word_table(shard)
        max_edits = 1 if len(word) <= MAX_SHORT_LENGTH else 2
        rows, distances = match_fuzzy(table.strings, range(len(table.strings)), word, max_edits, swaps=True)
        for number, distance in zip(table.numbers_of(rows).tolist(), distances.tolist(), strict=True):
            term = int(columns.word_terms[number])
            if term >= 0 and (not languages or columns.language_of_word(number) in languages):
                near = columns.words[number]
                groups[distance, fold_text(near[0]) != word[0]].setdefault(near, set()).add(columns.terms[term])
    return groups
