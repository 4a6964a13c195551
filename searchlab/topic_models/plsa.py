"""Probabilistic latent semantic analysis (PLSA): latent topics of documents by tempered EM.

In PLSA (Hofmann, SIGIR 1999) each word of a document comes from one of K latent topics, drawn from the document's
distribution over them,

    P(w|D) = Σ_k P(w|T_k)·P(T_k|D)

and expectation–maximisation (EM) raises the likelihood of all counts, Σ n(D,w)·ln P(w|D):

    E   P(T_k|D,w) ∝ [P(w|T_k)·P(T_k|D)]^τ
    M   P(w|T_k) ∝ Σ_D n(D,w)·P(T_k|D,w),    P(T_k|D) ∝ Σ_w n(D,w)·P(T_k|D,w)

With τ = 1 the likelihood never falls, but EM soon overfits: perplexity falls on the training words and rises on unseen
ones. So a part of the words is held out. When their perplexity stops falling, the inverse temperature τ is lowered
(tempered EM, ibid. §3.3), until lower temperatures do not help either. The best sequence of temperatures is then
repeated with all words.

Deviations: P(T|D) is raised to τ too, as the asymmetric form of the model requires; the held-out words are taken from
the training documents, not from other documents. Latent topics start as the model of the collection with noise, and
documents start with equal shares, so that neither the order of documents nor their distribution over shards matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.types import Floats, Progress, no_progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


DEFAULT_N_TOPICS = 20
MAX_TOPICS = 1000
DEFAULT_SEED = 1999
MAX_ITERATIONS = 150
# The share of the words that is held out; with fewer held-out words their perplexity is chance.
HELD_OUT_SHARE = 0.1
MIN_HELD_OUT_WORDS = 500
# If the perplexity of held-out words falls by a smaller share than this, τ is multiplied by the cooling factor.
MIN_HELD_OUT_GAIN = 2e-3
COOLING_FACTOR = 0.9
# Without held-out words, training ends when perplexity falls by a smaller share than this.
MIN_TRAINING_GAIN = 1e-5
# Training ends after more successive values of τ that do not help.
MAX_FAILURES = 2
# Initial latent topics are P(w|C) times a random factor from 1 to 1 plus this.
INITIAL_NOISE = 0.5
# Folding in a document ends when no share changes by more.
FOLDING_TOLERANCE = 1e-5
MAX_FOLDING_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class LatentTopics:
    """Learnt latent topics: `of_terms` is P(w|T), a row per word; `of_docs` P(T|D), a row per document; `shares` P(T).

    `temperature` is the last τ. `perplexities` are those of the training words, before and after training, and after
    each iteration if no words were held out; `held_out` are those of the held-out words, in the training that chose the
    temperatures.
    """

    of_terms: Floats
    of_docs: Floats
    shares: Floats
    temperature: float
    perplexities: tuple[float, ...]
    held_out: tuple[float, ...] = ()


def learn_latent_topics(
    counts: csr_array,
    n_topics: int = DEFAULT_N_TOPICS,
    *,
    seed: int = DEFAULT_SEED,
    iterations: int = MAX_ITERATIONS,
    held_out: float = HELD_OUT_SHARE,
    progress: Progress = no_progress,
) -> LatentTopics:
    """The latent topics of a matrix of counts, a row per document and a column per word.

    `held_out` is the share of the words that decides when τ is lowered and when training ends. If it is 0, or the
    matrix is too small for it, τ stays 1 and training ends when perplexity stops falling. Where no latent topics lower
    the perplexity of held-out words, all of them stay close to the collection. A document without words gets the shares
    of the collection. There may be more latent topics than documents; some are then alike.
    """
    if not 1 <= n_topics <= MAX_TOPICS:
        raise SettingError(f"n_topics is {n_topics}, expected 1 to {MAX_TOPICS}")
    if not 0 <= held_out < 1:
        raise SettingError(f"held_out is {held_out}, expected 0 to less than 1")
    if iterations < 1:
        raise SettingError(f"iterations is {iterations}, expected 1 or more")
    all_counts = _Counts.of(counts)
    rng = np.random.default_rng(seed)
    noise = 1 + INITIAL_NOISE * rng.random((counts.shape[1], n_topics))
    held, remaining = all_counts.split(held_out, rng)
    temperatures: tuple[float, ...] | None = None
    held_out_perplexities: tuple[float, ...] = ()
    if n_topics > 1 and held.n_words >= MIN_HELD_OUT_WORDS:
        temperatures, held_out_perplexities = _choose_temperatures(remaining, held, noise, iterations, progress)
    del remaining
    training = _Training(all_counts, noise)
    perplexities = [training.perplexity(all_counts)]
    path = [1.0] * iterations if temperatures is None else temperatures
    for number, temperature in enumerate(path, start=1):
        training.step(temperature)
        progress("training", number, len(path))
        if temperatures is None or number == len(path):
            perplexities.append(training.perplexity(all_counts))
        if temperatures is None and perplexities[-1] > perplexities[-2] * (1 - MIN_TRAINING_GAIN):
            break
    shares = training.shares()
    of_docs = training.of_docs
    of_docs[np.diff(all_counts.starts) == 0] = shares
    last = path[-1] if path else 1.0
    return LatentTopics(training.of_terms, of_docs, shares, last, tuple(perplexities), held_out_perplexities)


def fold_in(counts: csr_array, of_terms: Floats, shares: Floats, temperature: float = 1.0) -> Floats:
    """P(T|D) of documents that were not trained on, by EM with fixed P(w|T): a row per document.

    A document without a known word gets the shares of the collection, `shares`.
    """
    from searchlab.topic_models import plsa_kernels

    nonzero = _Counts.of(counts)
    n_docs, n_topics = counts.shape[0], of_terms.shape[1]
    raised = np.ascontiguousarray(of_terms, np.float64) ** temperature
    of_docs = np.full((n_docs, n_topics), 1 / n_topics)
    plsa_kernels.fold_in_documents(
        *nonzero.arrays, of_docs, raised, temperature, MAX_FOLDING_ITERATIONS, FOLDING_TOLERANCE
    )
    has_known_word = np.zeros(n_docs, bool)
    has_known_word[nonzero.doc_of_count[raised[nonzero.terms].any(axis=1)]] = True
    of_docs[~has_known_word] = shares
    return of_docs


@dataclass(frozen=True, eq=False)
class _Counts:
    """The nonzero counts, document by document."""

    starts: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]
    n_terms: int

    @classmethod
    def of(cls, matrix: csr_array) -> _Counts:
        starts, terms = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        return cls(starts, terms, matrix.data.astype(np.float32, copy=False), matrix.shape[1])

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        return self.starts, self.terms, self.counts

    @property
    def n_words(self) -> float:
        return float(self.counts.sum(dtype=np.float64))

    @property
    def doc_of_count(self) -> npt.NDArray[np.int64]:
        """The document of each count."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def split(self, share: float, rng: np.random.Generator) -> tuple[_Counts, _Counts]:
        """About this share of the words, each drawn independently, and all others."""
        counts = np.rint(self.counts).astype(np.int64)
        drawn = rng.binomial(counts, share)
        return self._with_counts(drawn), self._with_counts(counts - drawn)

    def _with_counts(self, counts: npt.NDArray[np.int64]) -> _Counts:
        nonzero = counts > 0
        starts = np.concatenate([[0], np.cumsum(nonzero)])[self.starts]
        return _Counts(starts, self.terms[nonzero], counts[nonzero].astype(np.float32), self.n_terms)


class _Training:
    """P(w|T) and P(T|D) during training."""

    def __init__(self, counts: _Counts, noise: Floats) -> None:
        self._counts = counts
        background = np.bincount(counts.terms, counts.counts, counts.n_terms) / max(counts.n_words, 1)
        self.of_terms = _normalise_columns(background[:, None] * noise, background)
        self.of_docs: Floats = np.full((len(counts.starts) - 1, noise.shape[1]), 1 / noise.shape[1])
        self._background = background

    def step(self, temperature: float) -> None:
        """One iteration of EM."""
        from searchlab.topic_models import plsa_kernels

        sums = np.zeros_like(self.of_terms)
        of_terms = self.of_terms
        if temperature != 1:
            of_terms, self.of_docs = of_terms**temperature, self.of_docs**temperature
        plsa_kernels.expect_and_maximise(*self._counts.arrays, self.of_docs, of_terms, sums)
        self.of_terms = _normalise_columns(sums, self._background)

    def perplexity(self, counts: _Counts) -> float:
        """exp(-Σ n·ln P(w|D) / Σ n)."""
        from searchlab.topic_models import plsa_kernels

        likelihood, n_words = plsa_kernels.log_likelihood(*counts.arrays, self.of_docs, self.of_terms)
        return float(np.exp(-likelihood / max(n_words, 1)))

    def shares(self) -> Floats:
        """P(T): the share of all words that each latent topic explains."""
        lengths = np.bincount(self._counts.doc_of_count, self._counts.counts, len(self.of_docs))
        if not lengths.any():
            return np.full(self.of_docs.shape[1], 1 / self.of_docs.shape[1])
        shares: Floats = lengths @ self.of_docs / lengths.sum()
        return shares


def _normalise_columns(sums: Floats, background: Floats) -> Floats:
    """Columns that sum to 1; an empty one, a latent topic without words, becomes the model of the collection."""
    totals = sums.sum(axis=0)
    models: Floats = np.where(totals > 0, sums / np.where(totals > 0, totals, 1), background[:, None])
    return models


def _choose_temperatures(
    counts: _Counts, held: _Counts, noise: Floats, iterations: int, progress: Progress
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The τ of each iteration up to the lowest perplexity of the held-out words, and all their perplexities.

    When perplexity stops falling, training returns to its lowest point and continues with a lower τ.
    """
    training = _Training(counts, noise)
    temperature, failures = 1.0, 0
    path: list[float] = []
    perplexities = [training.perplexity(held)]
    best, best_path, best_state = perplexities[0], path, (training.of_terms, training.of_docs)
    for number in range(iterations):
        # EM changes P(T|D) in place, and the best state so far must be kept.
        training.of_docs = training.of_docs.copy()
        training.step(temperature)
        path = [*path, temperature]
        now = training.perplexity(held)
        perplexities.append(now)
        progress("tempering", number + 1, iterations)
        # At the start the latent topics are still alike: perplexity hardly changes before it falls.
        is_start = min(perplexities) > perplexities[0] * (1 - 10 * MIN_HELD_OUT_GAIN)
        improves = now < best * (1 - MIN_HELD_OUT_GAIN)
        if now < best:
            best, best_path, best_state = now, path, (training.of_terms, training.of_docs)
        if improves or is_start:
            failures = 0
            continue
        failures += 1
        if failures > MAX_FAILURES:
            break
        temperature *= COOLING_FACTOR
        path, (training.of_terms, training.of_docs) = best_path, best_state
    return tuple(best_path), tuple(perplexities)
