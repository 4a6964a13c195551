"""EM of PLSA by blocks of documents: the E-step of a block gives partial sums, which are added in the order of blocks.

P(T|D) of a block's documents is needed by no other block, and stays in the workspace. What a task is given are P(w|T)
and references to its block and to its documents' P(T|D); what it returns are the sums for the words of its block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from searchlab.indexing.blockwise.row_blocks import RowBlock, StoredBlock
from searchlab.indexing.blockwise.workspace import ArrayStore, StoredArrays, Workspace
from searchlab.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """The nonzero counts of a block, document by document."""

    starts: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]
    n_terms: int

    @classmethod
    def of(cls, matrix: csr_array) -> BlockCounts:
        """The counts of a matrix, a row per document."""
        starts, terms = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        return cls(starts, terms, matrix.data.astype(np.float32, copy=False), matrix.shape[1])

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """What the compiled loops take."""
        return self.starts, self.terms, self.counts

    @property
    def matrix(self) -> csr_array:
        """The counts as a matrix."""
        from scipy.sparse import csr_array

        return csr_array((self.counts, self.terms, self.starts), shape=(len(self.starts) - 1, self.n_terms))

    @property
    def n_words(self) -> float:
        """The sum of all counts."""
        return float(self.counts.sum(dtype=np.float64))

    @property
    def doc_of_count(self) -> npt.NDArray[np.int64]:
        """The document of each count."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def split(self, share: float, rng: np.random.Generator) -> tuple[BlockCounts, BlockCounts]:
        """About this share of the words, each drawn independently, and all others."""
        counts = np.rint(self.counts).astype(np.int64)
        drawn = rng.binomial(counts, share)
        return self._with_counts(drawn), self._with_counts(counts - drawn)

    def _with_counts(self, counts: npt.NDArray[np.int64]) -> BlockCounts:
        nonzero = counts > 0
        starts = np.concatenate([[0], np.cumsum(nonzero)])[self.starts]
        return BlockCounts(starts, self.terms[nonzero], counts[nonzero].astype(np.float32), self.n_terms)


def split_blocks(
    workspace: Workspace, blocks: Sequence[StoredBlock], share: float, rng: np.random.Generator
) -> tuple[list[StoredBlock], list[StoredBlock], float]:
    """About this share of the words of each block, all others, and the number of the former.

    Every block has its own random numbers, so that it does not matter in which order they are split.
    """
    generators = [rng, *rng.spawn(len(blocks) - 1)]
    calls = [
        (workspace.store, block.stored, share, generator) for block, generator in zip(blocks, generators, strict=True)
    ]
    drawn, remaining, n_words = zip(*workspace.map(split_block, calls), strict=True)
    held = [StoredBlock(stored, block.columns) for stored, block in zip(drawn, blocks, strict=True)]
    others = [StoredBlock(stored, block.columns) for stored, block in zip(remaining, blocks, strict=True)]
    return held, others, sum(n_words)


def split_block(
    store: ArrayStore, stored: StoredArrays, share: float, rng: np.random.Generator
) -> tuple[StoredArrays, StoredArrays, float]:
    """About this share of the words of a block, all others, and the number of the former."""
    block = RowBlock.load(stored)
    held, remaining = BlockCounts.of(block.rows).split(share, rng)
    kept = [RowBlock(block.columns, counts.matrix).put(store).stored for counts in (held, remaining)]
    return kept[0], kept[1], held.n_words


@dataclass(frozen=True, eq=False)
class TrainingState:
    """P(w|T), and a reference to P(T|D) of each block; None before the first iteration, when all shares are equal."""

    of_terms: Floats
    of_docs: tuple[StoredArrays | None, ...]


class BlockTraining:
    """P(w|T) and P(T|D) during training."""

    def __init__(self, workspace: Workspace, blocks: Sequence[StoredBlock], n_terms: int, noise: Floats) -> None:
        self._workspace = workspace
        self._blocks = blocks
        totals, n_words = np.zeros(n_terms), 0.0
        counted = workspace.map(count_words, [(block.stored,) for block in blocks])
        for block, (of_block, n_of_block) in zip(blocks, counted, strict=True):
            totals[block.columns] += of_block
            n_words += n_of_block
        self._background = totals / max(n_words, 1)
        of_terms = normalise_columns(self._background[:, None] * noise, self._background)
        self.state = TrainingState(of_terms, (None,) * len(blocks))

    def step(self, temperature: float) -> None:
        """One iteration of EM; the state before it is kept until it is released."""
        of_terms = self.state.of_terms if temperature == 1 else self.state.of_terms**temperature
        sums = np.zeros_like(of_terms)
        sent = self._workspace.store.put({"of_terms": of_terms})
        calls = [
            (self._workspace.store, block.stored, of_docs, sent, temperature)
            for block, of_docs in zip(self._blocks, self.state.of_docs, strict=True)
        ]
        states = []
        for block, (state, of_block) in zip(self._blocks, self._workspace.map(expect_block, calls), strict=True):
            states.append(state)
            sums[block.columns] += of_block
        sent.remove()
        self.state = TrainingState(normalise_columns(sums, self._background), tuple(states))

    def release(self, state: TrainingState) -> None:
        """Give up P(T|D) of a state that is needed no more."""
        for of_docs in state.of_docs:
            if of_docs is not None:
                of_docs.remove()

    def perplexity(self, blocks: Sequence[StoredBlock]) -> float:
        """exp(-Σ n·ln P(w|D) / Σ n) of counts in blocks of the same documents."""
        sent = self._workspace.store.put({"of_terms": self.state.of_terms})
        calls = [(block.stored, of_docs, sent) for block, of_docs in zip(blocks, self.state.of_docs, strict=True)]
        measured = list(self._workspace.map(measure_block, calls))
        sent.remove()
        likelihood, n_words = (sum(numbers) for numbers in zip(*measured, strict=True))
        return float(np.exp(-likelihood / max(n_words, 1)))

    def shares(self) -> Floats:
        """P(T): the share of all words that each latent topic explains."""
        n_topics = self.state.of_terms.shape[1]
        calls = [
            (block.stored, of_docs, n_topics) for block, of_docs in zip(self._blocks, self.state.of_docs, strict=True)
        ]
        explained, n_words = np.zeros(n_topics), 0.0
        for of_block, n_of_block in self._workspace.map(weigh_topics, calls):
            explained += of_block
            n_words += n_of_block
        return explained / n_words if n_words else np.full(n_topics, 1 / n_topics)

    def gather_documents(self, shares: Floats) -> Floats:
        """P(T|D) of all documents; a document without words has these shares."""
        found = []
        for block, of_docs in zip(self._blocks, self.state.of_docs, strict=True):
            rows = RowBlock.load(block.stored).rows
            topics = _load_documents(of_docs, rows.shape[0], len(shares))
            topics[np.diff(rows.indptr) == 0] = shares
            found.append(topics)
        return np.concatenate(found)


def count_words(stored: StoredArrays) -> tuple[Floats, float]:
    """How often each word of a block occurs, and all words together."""
    block = RowBlock.load(stored)
    counts = BlockCounts.of(block.rows)
    totals: Floats = np.bincount(counts.terms, counts.counts, counts.n_terms).astype(np.float64)
    return totals, counts.n_words


def expect_block(
    store: ArrayStore, stored: StoredArrays, of_docs: StoredArrays | None, sent: StoredArrays, temperature: float
) -> tuple[StoredArrays, Floats]:
    """One iteration for a block: P(T|D) of its documents, and Σ n·P(T|D,w) for each of its words."""
    from searchlab.topic_models import plsa_kernels

    block = RowBlock.load(stored)
    of_terms = sent.load()["of_terms"][block.columns]
    topics = _load_documents(of_docs, block.rows.shape[0], of_terms.shape[1])
    if temperature != 1:
        topics **= temperature
    sums = np.zeros_like(of_terms)
    plsa_kernels.expect_and_maximise(*BlockCounts.of(block.rows).arrays, topics, of_terms, sums)
    return store.put({"of_docs": topics}), sums


def measure_block(stored: StoredArrays, of_docs: StoredArrays | None, sent: StoredArrays) -> tuple[float, float]:
    """The log-likelihood of a block's words, and their number."""
    from searchlab.topic_models import plsa_kernels

    block = RowBlock.load(stored)
    of_terms = sent.load()["of_terms"][block.columns]
    topics = _load_documents(of_docs, block.rows.shape[0], of_terms.shape[1])
    likelihood, n_words = plsa_kernels.log_likelihood(*BlockCounts.of(block.rows).arrays, topics, of_terms)
    return likelihood, n_words


def weigh_topics(stored: StoredArrays, of_docs: StoredArrays | None, n_topics: int) -> tuple[Floats, float]:
    """The words of a block that each latent topic explains, and all its words."""
    counts = BlockCounts.of(RowBlock.load(stored).rows)
    n_docs = len(counts.starts) - 1
    lengths = np.bincount(counts.doc_of_count, counts.counts, n_docs)
    return lengths @ _load_documents(of_docs, n_docs, n_topics), float(lengths.sum())


def _load_documents(of_docs: StoredArrays | None, n_docs: int, n_topics: int) -> Floats:
    """P(T|D) of a block's documents, in an array of its own."""
    if of_docs is None:
        return np.full((n_docs, n_topics), 1 / n_topics)
    topics: Floats = of_docs.load()["of_docs"].copy()
    return topics


def normalise_columns(sums: Floats, background: Floats) -> Floats:
    """Columns that sum to 1; an empty one, a latent topic without words, becomes the model of the collection."""
    totals = sums.sum(axis=0)
    models: Floats = np.where(totals > 0, sums / np.where(totals > 0, totals, 1), background[:, None])
    return models
