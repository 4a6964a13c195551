"""What do the words of a query stand for in this index?

Words and phrases are analysed as the documents were. Patterns and misspelt words are looked for among the words of
the index as they were written, and stand for the terms of those: `lymphomas*` finds documents although their term
is the stem. In other fields, of which only the terms are kept, they are compared with these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from searchlab.analysis.analyzer import fold
from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.storage.streams import Text
from searchlab.indexing.storage.string_table import Strings
from searchlab.records import QueryTerm, TermStats
from searchlab.retrieval.query.tree import (
    Fuzzy,
    Leaf,
    Node,
    Pattern,
    Phrase,
    Range,
    Word,
    describe,
    leaves,
    positive_leaves,
)
from searchlab.retrieval.suggest.string_matching import spelt_like, with_shape
from searchlab.scorers.execution.index_reader import Numbers, Variants
from searchlab.types import Array

DOCNO = "docno"
MOST_VARIANTS = 1024
REMEMBERED_LEAVES = 256


class Expansion(NamedTuple):
    """The terms that a pattern stands for, in alphabetical order, of the `n_found` that it matches."""

    terms: Variants
    n_found: int


class Lexicon:
    """The meaning of words over one snapshot."""

    def __init__(self, snapshot: Snapshot, numbers: Numbers) -> None:
        self._snapshot = snapshot
        self._numbers = numbers
        self.expand = lru_cache(REMEMBERED_LEAVES)(self._expand)

    def terms(self, text: str) -> list[str]:
        """The terms of a word or a phrase, in their order."""
        return self._snapshot.analyzer.terms(text)

    def _expand(self, leaf: Pattern | Fuzzy, stream: str) -> Expansion:
        doc_freqs: Counter[str] = Counter()
        for shard in self._snapshot.shards:
            text = shard.columns.text(stream)
            if text is not None:
                places = _matching_terms(shard, text, stream, leaf)
                terms = [term[len(text.prefix) :] for term in text.terms.take(places + text.numbers.start)]
                doc_freqs.update(dict(zip(terms, _doc_freqs(shard, text, places).tolist(), strict=True)))
        found = [term for term, doc_freq in doc_freqs.items() if doc_freq]
        kept = sorted(found, key=lambda term: (-doc_freqs[term], term))[:MOST_VARIANTS]
        return Expansion(tuple(sorted(kept)), len(found))

    def query_terms(self, node: Node, stream: str) -> tuple[tuple[QueryTerm, ...], tuple[str, ...]]:
        """The terms of a tree that score, in the order of their first occurrence, and its unknown words."""
        counts: dict[tuple[str, Variants], float] = {}
        names: dict[tuple[str, Variants], tuple[str, TermStats]] = {}
        unknown: dict[str, None] = {}
        for leaf, boost in positive_leaves(node):
            field = leaf.field or stream
            for written, name, variants in self._occurrences(leaf, field):
                key = field, variants
                stats = self._numbers.stats(field, variants) if variants else None
                if stats is None or not stats.doc_freq:
                    unknown[f"{leaf.field}:{written}" if leaf.field else written] = None
                    continue
                counts[key] = counts.get(key, 0.0) + boost
                names.setdefault(key, (name, stats))
        terms = (QueryTerm(names[key][0], count, names[key][1], *key) for key, count in counts.items())
        return tuple(terms), tuple(unknown)

    def _occurrences(self, leaf: Leaf, field: str) -> Iterator[tuple[str, str, Variants]]:
        """Each word of a leaf that scores: as written, its name, and the terms that it stands for."""
        if field == DOCNO or isinstance(leaf, Range):
            return
        if isinstance(leaf, Word | Phrase):
            for span in self._snapshot.analyzer.spans(leaf.text):
                if span.term is not None:
                    yield leaf.text[span.start : span.end], span.term, (span.term,)
            return
        name = describe(replace(leaf, field=None))
        yield name, name, self.expand(leaf, field).terms

    def remarks(self, node: Node, stream: str) -> tuple[str, ...]:
        """What a user should know of a tree's patterns."""
        told: dict[str, None] = {}
        for leaf in leaves(node):
            field = leaf.field or stream
            if isinstance(leaf, Pattern | Fuzzy) and field != DOCNO:
                n_found = self.expand(leaf, field).n_found
                if n_found > MOST_VARIANTS:
                    told[
                        f"{describe(leaf)} stands for {n_found:,} words: the {MOST_VARIANTS:,} most frequent count"
                    ] = None
        return tuple(told)


def matching_strings(strings: Strings, numbers: range, leaf: Pattern | Fuzzy, text: str, behind: str = "") -> Array:
    """The numbers of the strings that a leaf matches; `text` is its own, perhaps folded."""
    if isinstance(leaf, Pattern):
        return with_shape(strings, numbers, text, behind=behind)
    return spelt_like(strings, numbers, text, leaf.distance, same_start=leaf.prefix, behind=behind)[0]


def _matching_terms(shard: Shard, text: Text, stream: str, leaf: Pattern | Fuzzy) -> Array:
    """The places, in the text's stream, of the terms that a leaf stands for in a shard."""
    wanted = fold(leaf.text)
    if stream not in STREAMS:
        return matching_strings(text.terms, text.numbers, leaf, wanted, text.prefix) - text.numbers.start
    columns = shard.columns
    found = matching_strings(columns.words, range(len(columns.words)), leaf, wanted)
    numbers = np.unique(columns.word_terms[found]).astype(np.int64)
    return numbers[numbers >= 0]


def _doc_freqs(shard: Shard, text: Text, places: Array) -> Array:
    """In how many live documents of a shard each term occurs."""
    offsets = text.stream.offsets
    starts, ends = offsets[places], offsets[places + 1]
    if shard.alive is None:
        return np.asarray(ends - starts)
    lives = np.concatenate([[0], np.cumsum(shard.alive[text.stream.docs[concatenate_ranges(starts, ends)]])])
    return np.asarray(np.diff(lives[np.concatenate([[0], np.cumsum(ends - starts)])]))
