"""What do documents score by a mixture of more than their unigrams?

With B and X of each word (see `mixing`), a score is again background + bias + gain, the gain of the logarithmic shape:

    ln(B + X) = ln B + ln(1 + X/B)

so the kernels search with X/B in the place of frequencies. Documents with weights of their own have their own B: the
difference of the logarithms is their bias. Only topics give something to documents that lack a word: with them every
document is scored, also one that has no word of the query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.scorers.base import ScorableQuery, TermContribution
from searchlab.scorers.execution.index_reader import DocNumbers, Numbers, Plan, Postings
from searchlab.scorers.execution.mixture_components import Mixer, Word, full_weights
from searchlab.scorers.execution.posting_scoring import FEW, meet
from searchlab.scorers.gains import LOGARITHM, exact_gain, gain
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import COMPONENTS, TOPICS, TrainedMixture
from searchlab.types import Array, Floats

_BOTH = "both"
_TOPICS = COMPONENTS.index(TOPICS)


def uses_bigrams(scorer: Mixture) -> bool:
    """Whether it matters which word stands before another."""
    own = scorer.own if isinstance(scorer, TrainedMixture) else None
    names = ("document_bigram", "corpus_bigram")
    in_own = own is not None and bool((own.weights[:, [COMPONENTS.index(name) for name in names]] > 0).any())
    return in_own or any(getattr(scorer, name) > 0 for name in names)


@dataclass(frozen=True, eq=False)
class Blend:
    """A query of plain words, ready to be scored by a mixture."""

    snapshot: Snapshot
    numbers: Numbers
    mixer: Mixer
    scorer: Mixture
    query: ScorableQuery

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the query in descending order of what they can give a document."""
        words = self.mixer.words(self.query, bigrams=uses_bigrams(self.scorer))
        return tuple(sorted(words, key=lambda word: -word.count * self._bound(word)))

    def _bound(self, word: Word) -> float:
        odds = [self.mixer.odds(self.scorer, word.term, word.before, place).highest for place in self._places]
        return float(gain(LOGARITHM, max(odds), 1.0, 1.0, 1.0, 0.0))

    @property
    def _places(self) -> range:
        return range(len(self.snapshot.shards))

    @property
    def uses_topics(self) -> bool:
        """Whether documents get something for words that they lack."""
        return isinstance(self.scorer, TrainedMixture) and self.scorer.uses_topics

    @cached_property
    def plan(self) -> Plan:
        """What the kernel needs of the words."""
        shared = full_weights(self.scorer)
        counts = np.array([word.count for word in self.words])
        return Plan(
            [],
            counts,
            np.ones(len(counts)),
            counts * [self._bound(word) for word in self.words],
            float(sum(word.count * np.log(self.mixer.background(word, shared)) for word in self.words)),
            float(counts.sum()),
        )

    def postings(self, place: int) -> Postings:
        """What the kernel needs of the words in a shard."""
        found = [self.mixer.odds(self.scorer, word.term, word.before, place) for word in self.words]
        bounds = np.cumsum([0, *(len(own.docs) for own in found)])
        column = self.numbers.column(place, _BOTH)
        return Postings(
            np.concatenate([own.docs for own in found]),
            np.concatenate([own.odds for own in found]),
            bounds[:-1],
            bounds[1:],
            np.full(len(found), -1),
            column.bits,
            column.ranks,
        )

    def doc_numbers(self) -> list[DocNumbers]:
        """Norms, with which dead documents gain nothing, and the biases of documents with their own weights."""
        made = []
        for place, plain in enumerate(self.mixer.doc_numbers):
            biases = self._biases(place)
            if biases is not None:
                plain = replace(
                    plain, biases=biases, lowest_bias=float(np.min(biases)), highest_bias=float(np.max(biases))
                )
            made.append(plain)
        return made

    def _biases(self, place: int) -> Floats | None:
        """What documents get for each word, whatever they have."""
        if not isinstance(self.scorer, TrainedMixture) or self.scorer.own is None:
            return None
        biases = np.zeros(self.snapshot.shards[place].columns.n_docs)
        own = self.numbers.own_rows(self.scorer)[place]
        if own is not None:
            shared = full_weights(self.scorer)
            for word in self.words:
                ratio = self.mixer.background(word, own.weights) / self.mixer.background(word, shared)
                biases[own.docs] += word.count * np.log(ratio)
            biases /= self.plan.n_words
        return biases

    def score(self, place: int, found: Array, n_docs: int) -> Floats:
        """The scores of some documents of a shard of `n_docs`, given in ascending order."""
        if not len(found):
            return np.zeros(0)
        if self.uses_topics:
            return self._score_with_topics(place, found, n_docs)
        few = len(found) * FEW < n_docs
        sums = np.zeros(len(found) if few else n_docs)
        for word in self.words:
            docs, odds, _ = self.mixer.odds(self.scorer, word.term, word.before, place)
            slots = docs
            if few:
                slots, at = meet(found.astype(docs.dtype), docs)
                odds = odds[at]
            sums[slots] += exact_gain(LOGARITHM, odds, word.count, 1.0, 1.0, 0.0)
        scores = (sums if few else sums[found]) + self.plan.background
        biases = self._biases(place)
        return scores if biases is None else scores + self.plan.n_words * biases[found]

    def _score_with_topics(self, place: int, found: Array, n_docs: int) -> Floats:
        model = self.scorer.topic_model if isinstance(self.scorer, TrainedMixture) else None
        assert model is not None  # a mixture that weighs topics has a model
        own, shared = self.numbers.own_rows(self.scorer)[place], full_weights(self.scorer)
        weights = shared if own is None else own.of(found, shared)
        said = model.term_given_topic([word.term for word in self.words])
        shares = self.mixer.topic_shares(model, place, found)
        # Row by row alike, wherever a document stands: equal documents have equal scores.
        topics = np.einsum("dk,wk->wd", shares, said)
        scores = np.zeros(len(found))
        for word, own_topics in zip(self.words, topics, strict=True):
            background = self.mixer.background(word, weights)
            totals = background + weights[..., _TOPICS] * own_topics
            slots, odds, _ = self.mixer.odds(self.scorer, word.term, word.before, place)
            if len(found) < n_docs:
                slots, at = meet(found.astype(slots.dtype), slots)
                odds = odds[at]
            totals[slots] += odds * (background if background.ndim == 0 else background[slots])
            scores += word.count * np.log(totals)
        return scores

    def explain(self, place: int, doc: int) -> tuple[TermContribution, ...]:
        """What each word adds to the score of a document."""
        shards, docs = np.array([place]), np.array([doc])
        model = self.scorer.topic_model if isinstance(self.scorer, TrainedMixture) else None
        said = self.mixer.probabilities(self.words, shards, docs, model if self.uses_topics else None)[0]
        own = self.numbers.own_rows(self.scorer)[place]
        weights = full_weights(self.scorer)
        if own is not None:
            weights = own.of(docs, weights)[0]
        column = self.numbers.column(place, _BOTH)
        return tuple(
            TermContribution(
                word.term if word.before is None else f"{word.term} (after {word.before})",
                word.count,
                round(float(row[0]) * int(column.lengths[doc])),
                word.count * float(np.log(row @ weights)),
            )
            for word, row in zip(self.words, said, strict=True)
        )
