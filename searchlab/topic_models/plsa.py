"""What are documents about, if nobody has said so?

Probabilistic latent semantic analysis (Hofmann, SIGIR 1999): each word of a document is said by one of K topics, drawn
by the document's own shares of these,

    P(w|D) = Σ_k P(w|T_k)·P(T_k|D)

and the likelihood of all counts, Σ n(D,w)·ln P(w|D), is raised by expectation and maximisation:

    E   P(T_k|D,w) ∝ [P(w|T_k)·P(T_k|D)]^τ
    M   P(w|T_k) ∝ Σ_D n(D,w)·P(T_k|D,w),    P(T_k|D) ∝ Σ_w n(D,w)·P(T_k|D,w)

With τ = 1 it never falls, but soon documents are learnt by heart: topics explain what they have seen better and better,
and what they have not seen worse and worse. So a part of the words is held out; where their perplexity falls no more,
the inverse temperature τ is lowered (tempered EM, ibid. §3.3), until that does not help any more either. What was found
best so is then done again with all words.

Deviations: P(T|D) is raised to τ too, which our asymmetric form of the model asks for; the words held out are those of
documents that are trained on, not of others. Topics begin as the model of the collection with some noise, and documents
with equal shares of them: so neither the order of documents nor their parting into shards matters.
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
# The part of the words that is held out; with fewer words than these, what they say is chance.
HELD_OUT_SHARE = 0.1
MIN_HELD_OUT_WORDS = 500
# Perplexity falls no more if it falls by less than this part of it; then τ becomes so many times what it was.
MIN_HELD_OUT_GAIN = 2e-3
COOLING_FACTOR = 0.9
# Without words held out, training ends when perplexity falls by less than this part of it.
MIN_TRAINING_GAIN = 1e-5
# So many times in a row a lower τ may not help, before training ends.
MAX_FAILURES = 2
# How much topics differ when they begin.
INITIAL_NOISE = 0.5
# A document that is folded in is done when no share of it moves by more.
FOLDING_TOLERANCE = 1e-5
MAX_FOLDING_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class LatentTopics:
    """P(w|T), a row a word and a column a topic; P(T|D), a row a document; P(T), their shares of all words.

    `temperature` is the τ with which training ended. `perplexities` are those of the words trained on, before training
    and after it, and if no words were held out after each iteration; `held_out` are those of the words held out, in the
    training that chose the temperatures.
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
    """The topics of a matrix of counts, a row a document and a column a word.

    `held_out` is the part of the words that decides when τ is lowered and when training ends; if it is 0, or so small a
    matrix that this is chance, τ stays 1, and training ends when perplexity stands still. Where no topics make words
    held out less perplexing, all stay nearly the collection. A document without words has the topics of the collection.
    There may be more topics than documents; some are then alike.
    """
    if not 1 <= n_topics <= MAX_TOPICS:
        raise SettingError(f"topics is {n_topics}, expected 1 to {MAX_TOPICS}")
    if not 0 <= held_out < 1:
        raise SettingError(f"held_out is {held_out}, expected 0 to less than 1")
    if iterations < 1:
        raise SettingError(f"iterations is {iterations}, expected 1 or more")
    whole = _Counts.of(counts)
    rng = np.random.default_rng(seed)
    noise = 1 + INITIAL_NOISE * rng.random((counts.shape[1], n_topics))
    held, left = whole.split(held_out, rng)
    temperatures: tuple[float, ...] | None = None
    tried: tuple[float, ...] = ()
    if n_topics > 1 and held.n_words >= MIN_HELD_OUT_WORDS:
        temperatures, tried = _choose_temperatures(left, held, noise, iterations, progress)
    del left
    training = _Training(whole, noise)
    perplexities = [training.perplexity(whole)]
    path = [1.0] * iterations if temperatures is None else temperatures
    for number, temperature in enumerate(path, start=1):
        training.step(temperature)
        progress("training", number, len(path))
        if temperatures is None or number == len(path):
            perplexities.append(training.perplexity(whole))
        if temperatures is None and perplexities[-1] > perplexities[-2] * (1 - MIN_TRAINING_GAIN):
            break
    shares = training.shares()
    of_docs = training.of_docs
    of_docs[np.diff(whole.starts) == 0] = shares
    last = path[-1] if path else 1.0
    return LatentTopics(training.of_terms, of_docs, shares, last, tuple(perplexities), tried)


def fold_in(counts: csr_array, of_terms: Floats, shares: Floats, temperature: float = 1.0) -> Floats:
    """P(T|D) of documents that were not trained on, by EM with P(w|T) as it is: a row each.

    A document without any word that the topics know has the topics of the collection, `shares`.
    """
    from searchlab.topic_models import plsa_kernels

    own = _Counts.of(counts)
    n_docs, n_topics = counts.shape[0], of_terms.shape[1]
    raised = np.ascontiguousarray(of_terms, np.float64) ** temperature
    of_docs = np.full((n_docs, n_topics), 1 / n_topics)
    plsa_kernels.fold_in_documents(*own.arrays, of_docs, raised, temperature, MAX_FOLDING_ITERATIONS, FOLDING_TOLERANCE)
    known = np.zeros(n_docs, bool)
    known[own.owners[raised[own.terms].any(axis=1)]] = True
    of_docs[~known] = shares
    return of_docs


@dataclass(frozen=True, eq=False)
class _Counts:
    """The counts that are not 0, document by document."""

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
    def owners(self) -> npt.NDArray[np.int64]:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def split(self, part: float, rng: np.random.Generator) -> tuple[_Counts, _Counts]:
        """About a part of the words, drawn one by one, and all others."""
        counts = np.rint(self.counts).astype(np.int64)
        drawn = rng.binomial(counts, part)
        return self._keep(drawn), self._keep(counts - drawn)

    def _keep(self, counts: npt.NDArray[np.int64]) -> _Counts:
        kept = counts > 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return _Counts(starts, self.terms[kept], counts[kept].astype(np.float32), self.n_terms)


class _Training:
    """P(w|T) and P(T|D) on their way."""

    def __init__(self, counts: _Counts, noise: Floats) -> None:
        self._counts = counts
        background = np.bincount(counts.terms, counts.counts, counts.n_terms) / max(counts.n_words, 1)
        self.of_terms = _as_models(background[:, None] * noise, background)
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
        self.of_terms = _as_models(sums, self._background)

    def perplexity(self, counts: _Counts) -> float:
        """exp(-Σ n·ln P(w|D) / Σ n): as many words a topic model hesitates between, on the average."""
        from searchlab.topic_models import plsa_kernels

        likelihood, n_words = plsa_kernels.log_likelihood(*counts.arrays, self.of_docs, self.of_terms)
        return float(np.exp(-likelihood / max(n_words, 1)))

    def shares(self) -> Floats:
        """P(T): the part of all words that each topic says."""
        lengths = np.bincount(self._counts.owners, self._counts.counts, len(self.of_docs))
        if not lengths.any():
            return np.full(self.of_docs.shape[1], 1 / self.of_docs.shape[1])
        shares: Floats = lengths @ self.of_docs / lengths.sum()
        return shares


def _as_models(sums: Floats, background: Floats) -> Floats:
    """Columns that add up to 1; a topic that says nothing any more is the collection."""
    totals = sums.sum(axis=0)
    models: Floats = np.where(totals > 0, sums / np.where(totals > 0, totals, 1), background[:, None])
    return models


def _choose_temperatures(
    counts: _Counts, held: _Counts, noise: Floats, iterations: int, progress: Progress
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The τ of each iteration on the way to where words held out are least perplexing, and all perplexities met.

    Where they stand still, training goes back to where they were least, and on with a lower τ.
    """
    training = _Training(counts, noise)
    temperature, failures = 1.0, 0
    path: list[float] = []
    found = [training.perplexity(held)]
    best, best_path, kept = found[0], path, (training.of_terms, training.of_docs)
    for number in range(iterations):
        # EM replaces documents in place, and what is best so far must stay.
        training.of_docs = training.of_docs.copy()
        training.step(temperature)
        path = [*path, temperature]
        found.append(training.perplexity(held))
        progress("tempering", number + 1, iterations)
        # Topics that have just begun are still alike: perplexity stands still before it falls.
        moves = found[-1] < best * (1 - MIN_HELD_OUT_GAIN) or min(found) > found[0] * (1 - 10 * MIN_HELD_OUT_GAIN)
        if found[-1] < best:
            best, best_path, kept = found[-1], path, (training.of_terms, training.of_docs)
        if moves:
            failures = 0
            continue
        failures += 1
        if failures > MAX_FAILURES:
            break
        temperature *= COOLING_FACTOR
        path, (training.of_terms, training.of_docs) = best_path, kept
    return tuple(best_path), tuple(found)
