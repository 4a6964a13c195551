"""Scoring by mixtures of more than unigrams.

With B and X of each word (see `mixture_components`), a score is again background + bias + gain, the gain of the
logarithmic shape:

    ln(B + X) = ln B + ln(1 + X/B)

so the kernel searches with X/B instead of frequencies. Documents with weights of their own have their own B: the
difference of the logarithms is their bias. Only a topic model gives something to documents that lack a word: with one,
every document is scored, even one that has no word of the query.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from searchlab.scorers.execution.bound_scorer import QueryScorer, ScorableQuery, TermContribution
from searchlab.scorers.execution.collection_statistics import QueryStatistics
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.mixture_components import (
    COMPONENTS,
    TOPICS,
    HighestOdds,
    MixtureComponents,
    TopicProbabilities,
    WordInContext,
    WordOdds,
    weigh_levels,
    words_given_topic,
)
from searchlab.scorers.execution.posting_cache import GainFormula, PostingCache
from searchlab.scorers.execution.posting_scoring import LOOKUP_RATIO, BoundPostingScorer, find_common
from searchlab.scorers.execution.scoring_plan import PlannedTerm, ScoringPlan, make_query_arrays
from searchlab.scorers.gains import LOGARITHM, exact_gain, gain
from searchlab.types import Array, Floats

if TYPE_CHECKING:
    from searchlab.scorers.mixture import Mixture

_TOPICS = COMPONENTS.index(TOPICS)


class BoundMixture(BoundPostingScorer):
    """A mixture over one index.

    A syntax tree, words that stand for several terms, and a mixture of unigrams are scored as by other language models.
    """

    def __init__(self, scorer: Mixture, reader: IndexReader, stream: str) -> None:
        super().__init__(scorer, reader, stream)
        self.scorer: Mixture = scorer
        self._is_unigram = scorer.is_unigram

    @cached_property
    def word_cache(self) -> PostingCache:
        """The postings of words in their contexts, with X/B instead of frequencies."""
        reader, components = self.reader, self.reader.shared(MixtureComponents)

        def read(word: WordInContext) -> tuple[Array, Array]:
            by_shard = (components.odds(self.scorer, word, shard) for shard in range(reader.n_shards))
            return reader.join_postings((odds.docs, odds.odds) for odds in by_shard)

        # A word can follow several others: its documents are there once for each.
        n_postings = 2 * reader.count_postings(self.stream)
        return PostingCache(read, n_postings, int(reader.shard_starts[-1]), np.dtype(np.float64))

    def prepare(self, query: ScorableQuery) -> QueryScorer:
        """The query, ready to be scored."""
        if self._is_unigram or query.node is not None or any(term.is_class for term in query.terms):
            return super().prepare(query)
        return self.prepare_mixture(query)

    def prepare_mixture(self, query: ScorableQuery) -> MixtureQueryScorer:
        """A query of plain words, ready to be scored by all components."""
        return MixtureQueryScorer(self, query)


class MixtureQueryScorer(QueryScorer):
    """A query of plain words for a mixture of more than unigrams."""

    def __init__(self, bound: BoundMixture, query: ScorableQuery) -> None:
        self._bound = bound
        self._reader = bound.reader
        self._scorer = bound.scorer
        self._components = bound.reader.shared(MixtureComponents)
        self._query = query

    @cached_property
    def _units(self) -> tuple[WordInContext, ...]:
        """The words and n-grams of the query."""
        words = self._components.words(self._query, bigrams=self._scorer.uses_bigrams)
        if not self._scorer.ngram_share:
            return words
        return weigh_levels(words, self._components.ngrams(self._query), self._scorer.ngram_share)

    @cached_property
    def words(self) -> tuple[WordInContext, ...]:
        """The words and n-grams of the query in descending order of what they can give a document."""
        return tuple(sorted(self._units, key=lambda word: -word.count * self._max_gain(word)))

    def statistics(self) -> QueryStatistics:
        """What the scores need of the whole collection: of its words and n-grams, also of those that are unknown."""
        statistics = self._reader.statistics
        known = self._components.statistics(self._units)
        written = statistics.of_terms(self._components.written_units(self._query, ngrams=self._scorer.ngram_share > 0))
        numbers = dict(known.numbers)
        numbers |= {each: statistics.number(each) for each in map(self._highest_odds, self._units)}
        return known._replace(terms={**written.terms, **known.terms}, numbers=numbers)

    def _odds(self, word: WordInContext, shard_index: int) -> WordOdds:
        # The odds do not depend on how often the query has a word.
        return self._components.odds(self._scorer, replace(word, count=1.0), shard_index)

    def _highest_odds(self, word: WordInContext) -> HighestOdds:
        return HighestOdds(self._scorer, replace(word, count=1.0))

    def _max_gain(self, word: WordInContext) -> float:
        odds = self._reader.statistics.number(self._highest_odds(word))
        return float(gain(LOGARITHM, odds, 1.0, 1.0, 1.0, 0.0))

    @cached_property
    def _background(self) -> float:
        """The sum of ln B by the shared weights."""
        shared = self._scorer.weight_vector
        return float(sum(word.count * np.log(self._components.background(word, shared)) for word in self.words))

    @cached_property
    def _n_words(self) -> float:
        return float(np.array([word.count for word in self.words]).sum())

    @property
    def has_further_units(self) -> bool:
        """Whether the query has known n-grams: they may be all that it has."""
        return any(word.is_ngram for word in self._units)

    def further_documents(self, shard_index: int) -> Array:
        """The documents that have an n-gram of the query."""
        docs = [self._odds(word, shard_index).docs for word in self._units if word.is_ngram]
        return np.concatenate([super().further_documents(shard_index), *docs])

    def plan(self, k: int) -> ScoringPlan | None:
        """What the top-k kernel needs; None if a matching word may gain nothing."""
        bound = self._bound
        if not bound.can_prune:
            return None
        # The odds do not depend on how often the query has a word.
        keys = [replace(word, count=1.0) for word in self.words]
        impacts = bound.word_cache.hold(keys).impacts_of(bound)
        norms = self._components.norms
        terms = []
        for word, key in zip(self.words, keys, strict=True):
            found = impacts.terms.get(key) or impacts.add(key, norms, GainFormula(LOGARITHM, 1.0, 1.0, 0.0))
            terms.append(PlannedTerm(word.count, 1.0, 1.0, found))
        biases = self._reader.join_biases(map(self._biases, range(self._reader.n_shards)))
        if biases is not None:
            norms = norms.with_biases(biases, self._reader.live)
        arrays = make_query_arrays(terms, k, self._background, self._n_words, LOGARITHM, 0.0)
        return ScoringPlan(impacts.arrays, norms, arrays)

    def _biases(self, shard_index: int) -> Floats | None:
        """What documents get for each word, whether they have it or not; None if all get 0."""
        own = self._components.document_weights(self._scorer)[shard_index]
        if own is None:
            return None
        biases = np.zeros(self._reader.snapshot.shards[shard_index].columns.n_docs)
        shared = self._scorer.weight_vector
        for word in self.words:
            ratio = self._components.background(word, own.weights) / self._components.background(word, shared)
            biases[own.docs] += word.count * np.log(ratio)
        biases /= self._n_words
        return biases

    def score(self, shard_index: int, docs: Array) -> Array:
        """The scores of documents of a shard, given in ascending order."""
        if not len(docs):
            return np.zeros(0)
        n_docs = self._reader.snapshot.shards[shard_index].columns.n_docs
        look_up = len(docs) * LOOKUP_RATIO < n_docs
        sums = np.zeros(len(docs) if look_up else n_docs)
        for word in self.words:
            slots, odds, _ = self._odds(word, shard_index)
            if look_up:
                slots, at = find_common(docs.astype(slots.dtype), slots)
                odds = odds[at]
            sums[slots] += exact_gain(LOGARITHM, odds, word.count, 1.0, 1.0, 0.0)
        scores = (sums if look_up else sums[docs]) + self._background
        biases = self._biases(shard_index)
        return scores if biases is None else scores + self._n_words * biases[docs]

    def explain(self, shard_index: int, doc: int) -> tuple[TermContribution, ...]:
        """What each word adds to the score of a document."""
        shards, docs = np.array([shard_index]), np.array([doc])
        probabilities = self._probabilities(shards, docs)[0]
        own, weights = self._components.document_weights(self._scorer)[shard_index], self._scorer.weight_vector
        if own is not None:
            weights = own.of(docs, weights)[0]
        return tuple(
            TermContribution(
                _describe(word),
                word.count,
                round(float(row[word.document_component]) * self._length(shard_index, doc, word.stream)),
                word.count * float(np.log(row @ weights / word.level_share(weights))),
            )
            for word, row in zip(self.words, probabilities, strict=True)
        )

    def _length(self, shard_index: int, doc: int, stream: str) -> int:
        return int(self._reader.column(shard_index, stream).lengths[doc])

    def _probabilities(self, shards: Array, docs: Array) -> Floats:
        """P_k of each word: documents × words × `COMPONENTS`."""
        return self._components.probabilities(self.words, shards, docs)


def _describe(word: WordInContext) -> str:
    """A unit of a query as explanations name it."""
    if word.is_ngram:
        return f"{word.term} (n-gram)"
    return word.term if word.previous is None else f"{word.term} (after {word.previous})"


class TopicMixtureQueryScorer(MixtureQueryScorer):
    """A query of plain words for a mixture with a topic model: every document is scored."""

    scores_every_document = True

    def __init__(self, bound: BoundMixture, query: ScorableQuery, model: TopicProbabilities) -> None:
        super().__init__(bound, query)
        self._model = model

    def plan(self, k: int) -> None:
        """None: documents get something for words that they lack, and no posting list leads to them."""
        return

    def score(self, shard_index: int, docs: Array) -> Array:
        """The scores of documents of a shard, given in ascending order."""
        if not len(docs):
            return np.zeros(0)
        own, shared = self._components.document_weights(self._scorer)[shard_index], self._scorer.weight_vector
        weights = shared if own is None else own.of(docs, shared)
        term_given_topic = words_given_topic(self._model, self.words)
        topics_given_document = self._components.topics_given_document(self._model, shard_index, docs)
        # Each row by the same operations, whatever its position: equal documents have equal scores.
        by_word = np.einsum("dk,wk->wd", topics_given_document, term_given_topic)
        n_docs = self._reader.snapshot.shards[shard_index].columns.n_docs
        scores = np.zeros(len(docs))
        for word, topical in zip(self.words, by_word, strict=True):
            background = self._components.background(word, weights)
            totals = background + weights[..., _TOPICS] / word.level_share(weights) * topical
            slots, odds, _ = self._odds(word, shard_index)
            if len(docs) < n_docs:
                slots, at = find_common(docs.astype(slots.dtype), slots)
                odds = odds[at]
            totals[slots] += odds * (background if background.ndim == 0 else background[slots])
            scores += word.count * np.log(totals)
        return scores

    def _probabilities(self, shards: Array, docs: Array) -> Floats:
        return self._components.probabilities(self.words, shards, docs, self._model)
