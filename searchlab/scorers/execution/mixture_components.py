"""What do the components of a mixture say of a word?

A word is looked at together with the one before it in the query. What the collection's models say of it, weighed and
added, is B, the same for every document that has no weights of its own; what the document's models say is X, and is 0
for documents that lack the word, but for topics. What was computed for a word is remembered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from searchlab.indexing.snapshot import Snapshot, live_docs
from searchlab.scorers.base import ScorableQuery
from searchlab.scorers.execution.bigrams import count_bigram
from searchlab.scorers.execution.index_reader import DocNumbers, Numbers
from searchlab.scorers.gains import LOGARITHM, gainless_norm
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import COMPONENTS, TOPICS, TopicModel
from searchlab.types import Array, Floats

# Words, and pairs of words, whose numbers are kept.
REMEMBERED_WORDS = 64
REMEMBERED_BIGRAMS = 256
# Topics of a shard's documents are kept if they are at most so many numbers; of larger shards they are read anew.
REMEMBERED_TOPICS = 1 << 23
_BOTH = "both"
_CORPUS = (COMPONENTS.index("corpus"), COMPONENTS.index("corpus_bigram"))
# What is 0 for documents that lack the word, in the order of the columns below.
SPARSE = ("document", "document_bigram", "title", "body")
_SPARSE = [COMPONENTS.index(name) for name in SPARSE]


@dataclass(frozen=True)
class Word:
    """A word of a query, the word before it if both are known, and how often the query has them so."""

    term: str
    before: str | None
    count: float


class Odds(NamedTuple):
    """A word in one shard: the documents that have it, X/B of each, and the largest of a live one."""

    docs: Array
    odds: Floats
    highest: float


class Mixer:
    """Mixtures over one snapshot."""

    def __init__(self, snapshot: Snapshot, numbers: Numbers) -> None:
        self._snapshot = snapshot
        self._numbers = numbers
        self.odds = lru_cache(REMEMBERED_WORDS)(self._make_odds)
        self.bigrams = lru_cache(REMEMBERED_BIGRAMS)(self._count_bigrams)
        self._shares: tuple[TopicModel | None, dict[int, Floats]] = (None, {})

    @cached_property
    def doc_numbers(self) -> list[DocNumbers]:
        """Of each shard, norms of 1, and for dead documents norms with which nothing is gained."""
        return [
            DocNumbers.make(np.ones(shard.columns.n_docs), None, shard.alive, gainless_norm(LOGARITHM))
            for shard in self._snapshot.shards
        ]

    def words(self, query: ScorableQuery, *, bigrams: bool = True) -> tuple[Word, ...]:
        """The words of a query that has no tree, each with the one before it.

        A term's weight is divided among its occurrences in the text; one that an expansion added has none before it.
        """
        if not bigrams:
            return tuple(Word(term.text, None, term.count) for term in query.terms)
        contexts: dict[str, Counter[str | None]] = {}
        before: str | None = None
        for term in self._snapshot.analyzer.terms(query.text):
            known = bool(self._numbers.stats(_BOTH, (term,)).doc_freq)
            if known:
                contexts.setdefault(term, Counter())[before] += 1
            before = term if known else None
        alone: Counter[str | None] = Counter({None: 1})
        return tuple(
            Word(term.text, context, term.count * n / found.total())
            for term in query.terms
            for found in [contexts.get(term.text, alone)]
            for context, n in found.items()
        )

    def background(self, word: Word, weights: Floats) -> Floats:
        """B of a word, for each row of weights."""
        unigram, bigram = self.corpus_models(word)
        return np.asarray(weights[..., _CORPUS[0]] * unigram + weights[..., _CORPUS[1]] * bigram)

    def corpus_models(self, word: Word) -> tuple[float, float]:
        """P(t|C), and P(t|C) after the word before it."""
        stats = self._numbers.stats(_BOTH, (word.term,))
        unigram = stats.term_count / stats.n_tokens
        if word.before is None:
            return unigram, unigram
        n_together = 0
        for place, shard in enumerate(self._snapshot.shards):
            docs, counts = self.bigrams(place, word.before, word.term)
            n_together += int((counts if shard.alive is None else counts[shard.alive[docs]]).sum())
        return unigram, n_together / self._numbers.stats(_BOTH, (word.before,)).term_count

    def columns(self, place: int, word: Word, wanted: Sequence[bool]) -> tuple[Array, Floats]:
        """The documents of a shard that have a word, and what each of the `SPARSE` models says of it there.

        Models that are not `wanted` are left at 0.
        """
        docs, tfs = self._numbers.occurrences(place, _BOTH, (word.term,))
        found = np.zeros((len(SPARSE), len(docs)))
        if not len(docs):
            return docs, found.T
        if wanted[0] or (wanted[1] and word.before is None):
            found[0] = tfs / self._numbers.column(place, _BOTH).lengths[docs]
        if wanted[1]:
            found[1] = found[0] if word.before is None else self._after(place, word.before, word.term, docs)
        for row, stream in ((2, "title"), (3, "body")):
            if wanted[row]:
                own, own_tfs = self._numbers.occurrences(place, stream, (word.term,))
                lengths = self._numbers.column(place, stream).lengths
                found[row, np.searchsorted(docs, own)] = own_tfs / lengths[own]
        return docs, found.T

    def _after(self, place: int, before: str, term: str, docs: Array) -> Floats:
        """How often a term follows another in each document, as a share of the occurrences of that other."""
        shares = np.zeros(len(docs))
        together, counts = self.bigrams(place, before, term)
        if len(together):
            firsts, tfs = self._numbers.occurrences(place, _BOTH, (before,))
            shares[np.searchsorted(docs, together)] = counts / tfs[np.searchsorted(firsts, together)]
        return shares

    def _count_bigrams(self, place: int, before: str, term: str) -> tuple[Array, Array]:
        numbers = [self._numbers.extents(_BOTH, text)[place].number for text in (before, term)]
        if min(numbers) < 0:
            return np.zeros(0, np.uint32), np.zeros(0, np.int64)
        docs, _ = self._numbers.occurrences(place, _BOTH, (before,))
        others, _ = self._numbers.occurrences(place, _BOTH, (term,))
        return count_bigram(self._snapshot.shards[place].columns, numbers[0], numbers[1], docs, others)

    def _make_odds(self, scorer: Mixture, term: str, before: str | None, place: int) -> Odds:
        word, shared = Word(term, before, 1.0), full_weights(scorer)
        own = self._numbers.own_rows(scorer)[place]
        if own is None:
            docs, said = self.columns(place, word, (shared[_SPARSE] > 0).tolist())
            odds = said @ shared[_SPARSE] / self.background(word, shared)
        else:
            docs, said = self.columns(place, word, [True] * len(SPARSE))
            weights = own.of(docs, shared)
            odds = np.einsum("dk,dk->d", said, weights[:, _SPARSE]) / self.background(word, weights)
        alive = self._snapshot.shards[place].alive
        live = odds if alive is None else odds[alive[docs]]
        return Odds(docs, odds, float(np.max(live)) if len(live) else 0.0)

    def topic_shares(self, model: TopicModel, place: int, docs: Array) -> Floats:
        """P(T_k|d) of live documents of a shard, a row for each."""
        shard = self._snapshot.shards[place]
        n_docs = shard.columns.n_docs
        if n_docs * model.n_topics > REMEMBERED_TOPICS:
            return model.topics_given_document(np.full(len(docs), place), docs)
        known, kept = self._shares
        if known is not model:
            kept = {}
            self._shares = (model, kept)
        if place not in kept:
            living = live_docs(shard)
            shares = np.zeros((n_docs, model.n_topics))
            shares[living] = model.topics_given_document(np.full(len(living), place), living)
            kept[place] = shares  # not before they are complete: other threads take them from here
        return kept[place] if len(docs) == n_docs else kept[place][docs]

    def probabilities(
        self, words: Sequence[Word], shards: Array, docs: Array, topic_model: TopicModel | None = None
    ) -> Floats:
        """P_k of each word in some documents: documents × words × `COMPONENTS`, topics 0 without a topic model."""
        found = np.zeros((len(docs), len(words), len(COMPONENTS)))
        for number, word in enumerate(words):
            found[:, number, _CORPUS] = self.corpus_models(word)
            for place in range(len(self._snapshot.shards)):
                rows = np.flatnonzero(shards == place)
                if not len(rows):
                    continue
                having, said = self.columns(place, word, [True] * len(SPARSE))
                if not len(having):
                    continue
                at = np.minimum(np.searchsorted(having, docs[rows].astype(having.dtype)), len(having) - 1)
                hit = np.flatnonzero(having[at] == docs[rows])
                found[rows[hit][:, None], number, _SPARSE] = said[at[hit]]
        if topic_model is not None and len(docs):
            said = topic_model.term_given_topic([word.term for word in words])
            found[:, :, COMPONENTS.index(TOPICS)] = topic_model.topics_given_document(shards, docs) @ said.T
        return found


def full_weights(scorer: Mixture) -> Floats:
    """The shared weights of a mixture in the order of `COMPONENTS`."""
    return np.array([getattr(scorer, name, 0.0) for name in COMPONENTS])
