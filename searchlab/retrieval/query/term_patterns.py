"""Term patterns: the terms of an index that a wildcard or a fuzzy word matches.

In title and body, patterns are compared with the words of the index as they were written, but for accents, and match
the terms of those: `lymphomas*` finds documents although their term is the stem. Of other fields only the terms are
kept, so they are compared with these.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from searchlab.analysis.tokenizer import fold_text
from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.storage.streams import Text
from searchlab.retrieval.query.string_matching import match_fuzzy, match_wildcard
from searchlab.retrieval.query.syntax_tree import Fuzzy, Wildcard
from searchlab.scorers.execution.collection_statistics import Variants
from searchlab.types import Array

MAX_VARIANTS = 1024
MAX_CACHED_PATTERNS = 256


class MatchingTerms(NamedTuple):
    """The terms that a pattern matches, in alphabetical order: the most frequent of the `n_matching` that match."""

    terms: Variants
    n_matching: int


class TermPatterns:
    """Expands patterns over one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.expand = lru_cache(MAX_CACHED_PATTERNS)(self._expand)

    def _expand(self, leaf: Wildcard | Fuzzy, stream: str) -> MatchingTerms:
        doc_freqs: Counter[str] = Counter()
        for shard in self._snapshot.shards:
            text = shard.columns.text(stream)
            if text is not None:
                positions = _matching_terms(self._snapshot, shard, text, stream, leaf)
                terms = [term[len(text.prefix) :] for term in text.terms.take(positions + text.numbers.start)]
                doc_freqs.update(dict(zip(terms, _doc_freqs(shard, text, positions).tolist(), strict=True)))
        matching = [term for term, doc_freq in doc_freqs.items() if doc_freq]
        most_frequent = sorted(matching, key=lambda term: (-doc_freqs[term], term))[:MAX_VARIANTS]
        return MatchingTerms(tuple(sorted(most_frequent)), len(matching))


def match_strings(strings: Strings, numbers: range, leaf: Wildcard | Fuzzy, text: str, behind: str = "") -> Array:
    """The numbers of the strings that a leaf matches; `text` is the leaf's text, perhaps folded."""
    if isinstance(leaf, Wildcard):
        return match_wildcard(strings, numbers, text, behind=behind)
    return match_fuzzy(strings, numbers, text, leaf.distance, same_start=leaf.prefix, behind=behind)[0]


def _matching_terms(snapshot: Snapshot, shard: Shard, text: Text, stream: str, leaf: Wildcard | Fuzzy) -> Array:
    """The positions, in the text's stream, of the terms that a leaf matches in a shard."""
    wanted = fold_text(leaf.text)
    if stream not in STREAMS:
        return match_strings(text.terms, text.numbers, leaf, wanted, text.prefix) - text.numbers.start
    table = snapshot.word_table(shard)
    words = table.numbers_of(match_strings(table.strings, range(len(table.strings)), leaf, wanted))
    numbers = np.unique(shard.columns.word_terms[words]).astype(np.int64)
    return numbers[numbers >= 0]


def _doc_freqs(shard: Shard, text: Text, positions: Array) -> Array:
    """In how many live documents of a shard each term occurs."""
    offsets = text.stream.offsets
    starts, ends = offsets[positions], offsets[positions + 1]
    if shard.live is None:
        return np.asarray(ends - starts)
    docs = text.stream.docs[concatenate_ranges(starts, ends, len(text.stream.docs))]
    n_live_before = np.concatenate([[0], np.cumsum(shard.live[docs])])
    return np.asarray(np.diff(n_live_before[np.concatenate([[0], np.cumsum(ends - starts)])]))
