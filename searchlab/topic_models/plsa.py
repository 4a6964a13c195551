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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import SettingError
from searchlab.indexing.blockwise.document_blocks import block_ends
from searchlab.indexing.blockwise.row_blocks import RowBlock, StoredBlock
from searchlab.indexing.blockwise.workspace import IN_MEMORY, Workspace
from searchlab.topic_models.plsa_blocks import BlockCounts, BlockTraining, split_blocks
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
    workspace: Workspace = IN_MEMORY,
    progress: Progress = no_progress,
) -> LatentTopics:
    """The latent topics of a matrix of counts, a row per document and a column per word; see `learn_in_blocks`."""
    bounds = [0, *block_ends(counts.sum(axis=1)).tolist(), counts.shape[0]]
    blocks = [RowBlock.of(counts[start:end]).put(workspace.store) for start, end in pairwise(bounds)]
    return learn_in_blocks(
        workspace,
        blocks,
        counts.shape[1],
        n_topics,
        seed=seed,
        iterations=iterations,
        held_out=held_out,
        progress=progress,
    )


def learn_in_blocks(
    workspace: Workspace,
    blocks: Sequence[StoredBlock],
    n_terms: int,
    n_topics: int = DEFAULT_N_TOPICS,
    *,
    seed: int = DEFAULT_SEED,
    iterations: int = MAX_ITERATIONS,
    held_out: float = HELD_OUT_SHARE,
    progress: Progress = no_progress,
) -> LatentTopics:
    """The latent topics of blocks of documents, which may be in a cluster's workspace.

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
    rng = np.random.default_rng(seed)
    noise = 1 + INITIAL_NOISE * rng.random((n_terms, n_topics))
    temperatures: tuple[float, ...] | None = None
    held_out_perplexities: tuple[float, ...] = ()
    if n_topics > 1:
        held, remaining, n_held = split_blocks(workspace, blocks, held_out, rng)
        if n_held >= MIN_HELD_OUT_WORDS:
            temperatures, held_out_perplexities = _choose_temperatures(
                BlockTraining(workspace, remaining, n_terms, noise), held, iterations, progress
            )
        for block in (*held, *remaining):
            block.stored.remove()
        del held, remaining
    training = BlockTraining(workspace, blocks, n_terms, noise)
    perplexities = [training.perplexity(blocks)]
    path = [1.0] * iterations if temperatures is None else temperatures
    for number, temperature in enumerate(path, start=1):
        earlier = training.state
        training.step(temperature)
        training.release(earlier)
        progress("training", number, len(path))
        if temperatures is None or number == len(path):
            perplexities.append(training.perplexity(blocks))
        if temperatures is None and perplexities[-1] > perplexities[-2] * (1 - MIN_TRAINING_GAIN):
            break
    shares = training.shares()
    of_docs = training.gather_documents(shares)
    last = path[-1] if path else 1.0
    return LatentTopics(training.state.of_terms, of_docs, shares, last, tuple(perplexities), held_out_perplexities)


def fold_in(counts: csr_array, of_terms: Floats, shares: Floats, temperature: float = 1.0) -> Floats:
    """P(T|D) of documents that were not trained on, by EM with fixed P(w|T): a row per document.

    A document without a known word gets the shares of the collection, `shares`.
    """
    from searchlab.topic_models import plsa_kernels

    nonzero = BlockCounts.of(counts)
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


def _choose_temperatures(
    training: BlockTraining, held: Sequence[StoredBlock], iterations: int, progress: Progress
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The τ of each iteration up to the lowest perplexity of the held-out words, and all their perplexities.

    When perplexity stops falling, training returns to its lowest point and continues with a lower τ.
    """
    temperature, failures = 1.0, 0
    path: list[float] = []
    perplexities = [training.perplexity(held)]
    best, best_path, best_state = perplexities[0], path, training.state
    for number in range(iterations):
        earlier = training.state
        training.step(temperature)
        if earlier is not best_state:
            training.release(earlier)
        path = [*path, temperature]
        now = training.perplexity(held)
        perplexities.append(now)
        progress("tempering", number + 1, iterations)
        # At the start the latent topics are still alike: perplexity hardly changes before it falls.
        is_start = min(perplexities) > perplexities[0] * (1 - 10 * MIN_HELD_OUT_GAIN)
        improves = now < best * (1 - MIN_HELD_OUT_GAIN)
        if now < best:
            training.release(best_state)
            best, best_path, best_state = now, path, training.state
        if improves or is_start:
            failures = 0
            continue
        failures += 1
        if failures > MAX_FAILURES:
            break
        temperature *= COOLING_FACTOR
        if training.state is not best_state:
            training.release(training.state)
        path, training.state = best_path, best_state
    for state in {training.state, best_state}:
        training.release(state)
    return tuple(best_path), tuple(perplexities)
