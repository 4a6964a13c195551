"""The components of mixtures: their names, and the probability that each gives a word or an n-gram in a document.

A word is taken together with the one before it in the query. The collection's models, weighted and added, give B, the
same for every document that has no weights of its own; the document's models give X, which is 0 for documents that
lack the word, except for the topic model's part. What was computed for a word is cached.

Words and character n-grams are two levels of a query (see `Mixture`). A unit of a level is given probabilities by the
components of that level alone, weighted by their shares of the level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from searchlab.blas_threads import one_thread
from searchlab.indexing.storage.columns import NGRAMS
from searchlab.scorers.execution.bigrams import count_bigram
from searchlab.scorers.execution.bound_scorer import ScorableQuery
from searchlab.scorers.execution.collection_statistics import CollectionNumber, QueryStatistics, Variants
from searchlab.scorers.execution.index_reader import MAX_BOUND_SCORERS, IndexReader
from searchlab.scorers.execution.scoring_plan import DocumentNorms
from searchlab.types import Array, Floats

if TYPE_CHECKING:
    from searchlab.scorers.mixture import Mixture
    from searchlab.scorers.trained_mixture import ShardDocumentWeights

UNIGRAMS = ("document", "corpus")
TOPICS = "topics"
# All components, in the order of their weights.
NGRAM_COMPONENTS = ("ngram_document", "ngram_corpus")
COMPONENTS = (*UNIGRAMS, "document_bigram", "corpus_bigram", "title", "body", TOPICS, *NGRAM_COMPONENTS)
# Components that are 0 for documents that lack the word or n-gram.
SPARSE_COMPONENTS = ("document", "document_bigram", "title", "body", "ngram_document")

MAX_CACHED_WORDS = 64
MAX_CACHED_BIGRAMS = 256
# The topic probabilities of a shard's documents are cached if they are at most this many numbers.
MAX_CACHED_PROBABILITIES = 1 << 23

_BOTH = "both"
_CORPUS = (COMPONENTS.index("corpus"), COMPONENTS.index("corpus_bigram"))
_SPARSE = [COMPONENTS.index(name) for name in SPARSE_COMPONENTS]
_NGRAM_DOCUMENT, _NGRAM_CORPUS = (COMPONENTS.index(name) for name in NGRAM_COMPONENTS)


class TopicProbabilities(Protocol):
    """What mixtures need of a topic model."""

    @property
    def n_topics(self) -> int:
        """K."""

    def term_given_topic(self, terms: Sequence[str]) -> Floats:
        """P(t|T_k): a row for each term, 0 for unknown ones."""

    def topics_given_document(self, shards: Array, docs: Array) -> Floats:
        """P(T_k|d): a row for each document, given by its shard in the whole index and its number there."""


@dataclass(frozen=True)
class WordInContext:
    """A word of a query, the word before it if both are known, and how often the query has them so.

    `stream` is ngrams for an n-gram, which has none before it.
    """

    term: str
    previous: str | None
    count: float
    stream: str = _BOTH

    @property
    def is_ngram(self) -> bool:
        """Whether it is a unit of the level of n-grams."""
        return self.stream == NGRAMS

    @property
    def document_component(self) -> int:
        """The number of the component that is tf/|d|."""
        return _NGRAM_DOCUMENT if self.is_ngram else COMPONENTS.index("document")

    def level_share(self, weights: Floats) -> Floats:
        """The weight of all components of its level, for each row of weights."""
        share = weights[..., _NGRAM_DOCUMENT] + weights[..., _NGRAM_CORPUS]
        return np.asarray(share if self.is_ngram else 1.0 - share)


@dataclass(frozen=True)
class BigramCount(CollectionNumber):
    """How often a term follows another one in the collection."""

    previous: str
    term: str

    def measure(self, reader: IndexReader) -> int:
        """The number of times in the reader's shards."""
        components = reader.shared(MixtureComponents)
        n_together = 0
        for shard_index, shard in enumerate(reader.snapshot.shards):
            docs, counts = components.bigrams(shard_index, self.previous, self.term)
            n_together += int((counts if shard.live is None else counts[shard.live[docs]]).sum())
        return n_together

    def merge(self, parts: Sequence[float]) -> float:
        """The sum."""
        return sum(parts)


@dataclass(frozen=True)
class HighestOdds(CollectionNumber):
    """The largest X/B that a mixture gives a word in a live document; it does not depend on the word's count."""

    scorer: Mixture
    word: WordInContext

    def needs(self, reader: IndexReader) -> QueryStatistics:
        """What B depends on."""
        return reader.shared(MixtureComponents).statistics([self.word])

    def measure(self, reader: IndexReader) -> float:
        """The largest in the reader's shards."""
        components = reader.shared(MixtureComponents)
        return max(components.odds(self.scorer, self.word, number).highest for number in range(reader.n_shards))

    def merge(self, parts: Sequence[float]) -> float:
        """The largest."""
        return max(parts)


class WordOdds(NamedTuple):
    """A word in one shard: the documents that have it, X/B in each, and the largest one in a live document."""

    docs: Array
    odds: Floats
    highest: float


class MixtureComponents:
    """The components of mixtures over one index."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._snapshot = reader.snapshot
        self.odds = lru_cache(MAX_CACHED_WORDS)(self._make_odds)
        self.bigrams = lru_cache(MAX_CACHED_BIGRAMS)(self._count_bigrams)
        self.document_weights = lru_cache(MAX_BOUND_SCORERS)(self._find_document_weights)
        # The topic model that was used last, and by shard P(T|d) of its documents.
        self._document_topics: tuple[TopicProbabilities | None, dict[int, Floats]] = (None, {})

    @cached_property
    def norms(self) -> DocumentNorms:
        """Norms of 1."""
        return DocumentNorms.make(np.ones(int(self._reader.shard_starts[-1])), None, None)

    def _find_document_weights(self, scorer: Mixture) -> list[ShardDocumentWeights | None]:
        return scorer.document_weights_by_shard(self._snapshot)

    def words(self, query: ScorableQuery, *, bigrams: bool = True) -> tuple[WordInContext, ...]:
        """The words of a query of plain words, each with the one before it.

        A term's weight is divided among its occurrences in the text; one that an expansion added has none before it.
        """
        if not bigrams:
            return tuple(WordInContext(term.text, None, term.count) for term in query.terms)
        contexts: dict[str, Counter[str | None]] = {}
        previous: str | None = None
        for term in self._snapshot.analyzer.terms(query.text):
            known = bool(self._reader.term_stats(_BOTH, (term,)).doc_freq)
            if known:
                contexts.setdefault(term, Counter())[previous] += 1
            previous = term if known else None
        alone: Counter[str | None] = Counter({None: 1})
        return tuple(
            WordInContext(term.text, context, term.count * n / in_contexts.total())
            for term in query.terms
            for in_contexts in [contexts.get(term.text, alone)]
            for context, n in in_contexts.items()
        )

    def written_units(self, query: ScorableQuery, *, ngrams: bool) -> list[tuple[str, Variants]]:
        """The stream and the term of each word in a query's text, known or not, and of its n-grams if they score."""
        streams = (_BOTH, NGRAMS) if ngrams else (_BOTH,)
        return [
            (stream, (term,)) for stream in streams for term in self._snapshot.analyzer_of(stream).terms(query.text)
        ]

    def ngrams(self, query: ScorableQuery) -> tuple[WordInContext, ...]:
        """The known n-grams of a query's text.

        None if no term of the query is a word of its text: it was made from a document, and the text is only a name.
        """
        words = set(self._snapshot.analyzer.terms(query.text))
        if query.terms and words.isdisjoint(term.text for term in query.terms):
            return ()
        counts = Counter(self._snapshot.analyzer_of(NGRAMS).terms(query.text))
        return tuple(
            WordInContext(ngram, None, float(count), NGRAMS)
            for ngram, count in counts.items()
            if self._reader.term_stats(NGRAMS, (ngram,)).doc_freq
        )

    def statistics(self, words: Sequence[WordInContext]) -> QueryStatistics:
        """What the probabilities of words need of the whole collection."""
        statistics = self._reader.statistics
        terms = [(word.stream, word.term) for word in words]
        bigrams = [BigramCount(word.previous, word.term) for word in words if word.previous is not None]
        terms += [(_BOTH, bigram.previous) for bigram in bigrams]
        counted = statistics.of_terms((stream, (term,)) for stream, term in terms)
        return counted._replace(numbers={bigram: statistics.number(bigram) for bigram in bigrams})

    def background(self, word: WordInContext, weights: Floats) -> Floats:
        """B of a word, for each row of weights."""
        unigram, bigram = self.corpus_probabilities(word)
        if word.is_ngram:
            total = weights[..., _NGRAM_CORPUS] * unigram
        else:
            total = weights[..., _CORPUS[0]] * unigram + weights[..., _CORPUS[1]] * bigram
        return np.asarray(total / word.level_share(weights))

    def corpus_probabilities(self, word: WordInContext) -> tuple[float, float]:
        """P(t|C), and P(t|C) after the word before it."""
        stats = self._reader.term_stats(word.stream, (word.term,))
        unigram = stats.term_count / stats.n_tokens
        if word.previous is None:
            return unigram, unigram
        n_together = self._reader.statistics.number(BigramCount(word.previous, word.term))
        return unigram, n_together / self._reader.term_stats(_BOTH, (word.previous,)).term_count

    def sparse_probabilities(
        self, shard_index: int, word: WordInContext, wanted: Sequence[bool]
    ) -> tuple[Array, Floats]:
        """The documents of a shard that have a word, and P(t|d) by each of the `SPARSE_COMPONENTS`, a column each.

        Components that are not `wanted` are left at 0.
        """
        docs, tfs = self._reader.occurrences(shard_index, word.stream, (word.term,))
        columns = np.zeros((len(SPARSE_COMPONENTS), len(docs)))
        if not len(docs):
            return docs, columns.T
        if word.is_ngram:
            columns[SPARSE_COMPONENTS.index("ngram_document")] = (
                tfs / self._reader.column(shard_index, NGRAMS).lengths[docs]
            )
            return docs, columns.T
        if wanted[0] or (wanted[1] and word.previous is None):
            columns[0] = tfs / self._reader.column(shard_index, _BOTH).lengths[docs]
        if wanted[1]:
            columns[1] = columns[0] if word.previous is None else self._follow(shard_index, word, docs)
        for row, stream in ((2, "title"), (3, "body")):
            if wanted[row]:
                having, having_tfs = self._reader.occurrences(shard_index, stream, (word.term,))
                lengths = self._reader.column(shard_index, stream).lengths
                columns[row, np.searchsorted(docs, having)] = having_tfs / lengths[having]
        return docs, columns.T

    def _follow(self, shard_index: int, word: WordInContext, docs: Array) -> Floats:
        """How often a word follows the one before it in each document, as a share of that one's occurrences."""
        assert word.previous is not None
        shares = np.zeros(len(docs))
        together, counts = self.bigrams(shard_index, word.previous, word.term)
        if len(together):
            firsts, tfs = self._reader.occurrences(shard_index, _BOTH, (word.previous,))
            shares[np.searchsorted(docs, together)] = counts / tfs[np.searchsorted(firsts, together)]
        return shares

    def _count_bigrams(self, shard_index: int, previous: str, term: str) -> tuple[Array, Array]:
        numbers = [self._reader.locate_term(_BOTH, text)[shard_index].number for text in (previous, term)]
        if min(numbers) < 0:
            return np.zeros(0, np.uint32), np.zeros(0, np.int64)
        docs, _ = self._reader.occurrences(shard_index, _BOTH, (previous,))
        others, _ = self._reader.occurrences(shard_index, _BOTH, (term,))
        return count_bigram(self._snapshot.shards[shard_index].columns, numbers[0], numbers[1], docs, others)

    def _make_odds(self, scorer: Mixture, word: WordInContext, shard_index: int) -> WordOdds:
        shared, own = scorer.weight_vector, self.document_weights(scorer)[shard_index]
        if own is None:
            docs, sparse = self.sparse_probabilities(shard_index, word, (shared[_SPARSE] > 0).tolist())
            with one_thread():  # the same on every machine
                weighted = sparse @ shared[_SPARSE]
            odds = weighted / word.level_share(shared) / self.background(word, shared)
        else:
            docs, sparse = self.sparse_probabilities(shard_index, word, [True] * len(SPARSE_COMPONENTS))
            weights = own.of(docs, shared)
            odds = np.einsum("dk,dk->d", sparse, weights[:, _SPARSE]) / self.background(word, weights)
        alive = self._snapshot.shards[shard_index].live
        live = odds if alive is None else odds[alive[docs]]
        # A copy of the documents: a part of a column's array would keep all of it in memory.
        return WordOdds(docs.copy(), odds, float(np.max(live)) if len(live) else 0.0)

    def topics_given_document(self, model: TopicProbabilities, shard_index: int, docs: Array) -> Floats:
        """P(T_k|d) of live documents of a shard, a row for each."""
        shard, number = self._snapshot.shards[shard_index], self._snapshot.shard_numbers[shard_index]
        n_docs = shard.columns.n_docs
        if n_docs * model.n_topics > MAX_CACHED_PROBABILITIES:
            return model.topics_given_document(np.full(len(docs), number), docs)
        cached_model, cached = self._document_topics
        if cached_model is not model:
            cached = {}
            self._document_topics = (model, cached)
        if shard_index not in cached:
            live = shard.live_docs
            probabilities = np.zeros((n_docs, model.n_topics))
            probabilities[live] = model.topics_given_document(np.full(len(live), number), live)
            cached[shard_index] = probabilities  # not before they are complete: other threads take them from here
        return cached[shard_index] if len(docs) == n_docs else cached[shard_index][docs]

    def probabilities(
        self,
        words: Sequence[WordInContext],
        shards: Array,
        docs: Array,
        topic_model: TopicProbabilities | None = None,
    ) -> Floats:
        """P_k of each word in some documents: documents × words × `COMPONENTS`, topics 0 without a topic model."""
        of_topics = None
        if topic_model is not None and len(docs):
            of_topics = topic_model.topics_given_document(self._snapshot.shard_numbers[shards], docs)
        of_documents = self.document_probabilities(words, shards, docs)
        return self.join_probabilities(words, of_documents, of_topics, topic_model)

    def join_probabilities(
        self,
        words: Sequence[WordInContext],
        of_documents: Floats,
        of_topics: Floats | None,
        topic_model: TopicProbabilities | None,
    ) -> Floats:
        """P_k of each word by all components, from `document_probabilities` and P(T_k|d), if there is a topic model."""
        p = np.zeros((*of_documents.shape[:2], len(COMPONENTS)))
        p[:, :, _SPARSE] = of_documents
        for number, word in enumerate(words):
            unigram, bigram = self.corpus_probabilities(word)
            if word.is_ngram:
                p[:, number, _NGRAM_CORPUS] = unigram
            else:
                p[:, number, _CORPUS] = unigram, bigram
        if topic_model is not None and of_topics is not None:
            p[:, :, COMPONENTS.index(TOPICS)] = of_topics @ words_given_topic(topic_model, words).T
        return p

    def document_probabilities(self, words: Sequence[WordInContext], shards: Array, docs: Array) -> Floats:
        """P_k of each word in some documents: documents × words × `SPARSE_COMPONENTS`."""
        p = np.zeros((len(docs), len(words), len(SPARSE_COMPONENTS)))
        for number, word in enumerate(words):
            for shard_index in range(len(self._snapshot.shards)):
                rows = np.flatnonzero(shards == shard_index)
                if not len(rows):
                    continue
                having, sparse = self.sparse_probabilities(shard_index, word, [True] * len(SPARSE_COMPONENTS))
                if not len(having):
                    continue
                at = np.minimum(np.searchsorted(having, docs[rows].astype(having.dtype)), len(having) - 1)
                hit = np.flatnonzero(having[at] == docs[rows])
                p[rows[hit], number] = sparse[at[hit]]
        return p


def words_given_topic(model: TopicProbabilities, words: Sequence[WordInContext]) -> Floats:
    """P(t|T_k): a row for each word; 0 for n-grams, which no topic model knows."""
    p = model.term_given_topic([word.term for word in words])
    p[np.array([word.is_ngram for word in words], bool)] = 0.0
    return p


def weigh_levels(
    words: Sequence[WordInContext], ngrams: Sequence[WordInContext], ngram_share: float
) -> tuple[WordInContext, ...]:
    """The units of both levels with counts by which the sum of count·ln P is the score of a mixture.

    n·((1 - s)·(mean ln P of the words) + s·(mean ln P of the n-grams)), with s the share of the n-grams, and n the
    number of words, or of n-grams if no word is known.
    """
    n_words, n_ngrams = sum(word.count for word in words), sum(ngram.count for ngram in ngrams)
    scale = ngram_share * (n_words or n_ngrams)
    return (
        *(replace(word, count=word.count * (1 - ngram_share)) for word in words),
        *(replace(ngram, count=ngram.count * scale / n_ngrams) for ngram in ngrams),
    )
