"""The weights of terms in documents: the matrix A that a semantic space is made of, see `semantic_space`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.features.latent_semantics.block_matrix import BlockMatrix
from searchlab.features.latent_semantics.word_vectors import MIN_DENSE_DOCUMENTS, WordVectors
from searchlab.indexing.blockwise.document_blocks import BlockReader, DocumentBlock, divide_documents
from searchlab.indexing.blockwise.row_blocks import RowBlock, StoredBlock
from searchlab.indexing.blockwise.workspace import ArrayStore, StoredArrays, Workspace
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vocabulary import Vocabulary
from searchlab.scorers.bm25 import BM25
from searchlab.types import Array, Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

# Terms of fewer documents are left out.
MIN_DOC_FREQ = 2


@dataclass(frozen=True, eq=False)
class TermWeights:
    """Term weights: idf, and the mean length of documents."""

    vocabulary: Vocabulary
    idf: Array
    mean_length: float
    # Zeros, two for each word, that no thread uses: there are never more than threads that made vectors at once.
    _idle_places: list[Array] = field(default_factory=list, init=False, repr=False)

    @property
    def terms(self) -> Strings:
        """The terms of the vocabulary."""
        return self.vocabulary.terms

    @classmethod
    def count(cls, snapshot: Snapshot) -> TermWeights:
        """The weights of the terms that occur in several live documents."""
        vocabulary, df = Vocabulary.of_index(snapshot, MIN_DOC_FREQ)
        idf = np.log1p((snapshot.n_docs - df + 0.5) / (df + 0.5))
        mean_length = snapshot.n_tokens["both"] / max(snapshot.n_docs, 1) or 1.0
        return cls(vocabulary, idf.astype(np.float32), mean_length)

    def rows(self, shard: Shard, docs: Array, numbers: Array) -> csr_array:
        """The BM25 weights of documents of a shard, a row each, of length 1 unless no term is in the vocabulary."""
        rows = self.vocabulary.counts(shard, docs, numbers)
        row_numbers = np.repeat(np.arange(len(docs)), np.diff(rows.indptr))
        rows.data = self._weigh(shard, docs, rows.indices, row_numbers, rows.data)
        return rows

    def entries(self, shard: Shard, docs: Array, numbers: Array) -> tuple[Array, Array, Array]:
        """The same rows as a list of their terms, the rows that have them, and their weights, ordered by term."""
        tokens, bounds = self.vocabulary.tokens(shard, docs, numbers)
        keys = tokens.astype(np.int64) * len(docs) + np.repeat(np.arange(len(docs)), np.diff(bounds))
        distinct, counts = np.unique(keys, return_counts=True)
        terms, rows = np.divmod(distinct, len(docs))
        return terms, rows, self._weigh(shard, docs, terms, rows, counts.astype(np.float32))

    def word_vectors(self, texts: Sequence[tuple[Shard, Array, Array, Array]], n_rows: int) -> WordVectors:
        """The vectors of `n_rows` documents by the same weights, in one pass over their texts, by compiled loops.

        `texts` has for each shard its documents, their rows, and the numbers of its terms.
        """
        from searchlab.features.latent_semantics.neighbour_kernels import weigh_words
        from searchlab.features.token_kernels import list_words

        ranges = [shard.columns.document_tokens("both").bounds(docs)[::2] for shard, docs, _, _ in texts]
        memories = [text[0].columns.tokens.verify_within(*range_) for text, range_ in zip(texts, ranges, strict=True)]
        n_tokens = sum(int((ends - starts).sum()) for starts, ends in ranges)
        # Reused: filling memory of the size of the vocabulary with zeros would take longer than all else.
        try:
            places = self._idle_places.pop()
        except IndexError:
            places = np.zeros((len(self.idf), 2), np.int32)
        entries, distinct = np.empty((n_tokens, 3), np.int32), np.empty(n_tokens, np.int32)
        norms = np.zeros(n_rows)
        n = n_distinct = 0
        for (shard, docs, rows, numbers), (starts, ends), memory in zip(texts, ranges, memories, strict=True):
            listed = places, entries, n, distinct, n_distinct
            n, n_distinct = list_words(memory, shard.columns.tokens.mask, starts, ends, rows, numbers, *listed)
            if n < 0:
                raise IndexCorrupt(f"{shard.folder}: tokens are damaged; {REBUILD}")
            norms[rows] = self._norms(shard, docs)
        words = np.sort(distinct[:n_distinct])
        parts = weigh_words(entries[:n], words, places, self.idf, norms, MIN_DENSE_DOCUMENTS)
        self._idle_places.append(places)
        return replace(WordVectors(*parts), compiled=True)

    def _norms(self, shard: Shard, docs: Array) -> Array:
        return BM25().doc_norm(shard.columns.streams["both"].lengths[docs], np.zeros(0), self.mean_length)

    def _weigh(self, shard: Shard, docs: Array, terms: Array, rows: Array, counts: Array) -> Array:
        """The weights of terms that occur so often in rows, each row scaled to length 1."""
        norms = self._norms(shard, docs)
        weights = self.idf[terms] * counts / (counts + norms[rows])
        squares = np.bincount(rows, weights * weights, len(docs))
        scaled: Array = (weights / np.sqrt(squares)[rows]).astype(np.float32)
        return scaled


def weigh_documents(workspace: Workspace, snapshot: Snapshot, weights: TermWeights, progress: Progress) -> BlockMatrix:
    """The matrix A: the weights of all live documents, in blocks."""
    reader = BlockReader.prepare(workspace, snapshot, weights.vocabulary)
    idf = workspace.store.put({"idf": weights.idf})
    blocks = divide_documents(snapshot)
    calls = [(workspace.store, reader, block, idf, weights.mean_length) for block in blocks]
    stored = []
    done = 0
    for block, weighed in zip(blocks, workspace.map(weigh_block, calls), strict=True):
        stored.append(weighed)
        progress("weighing", done := done + len(block), snapshot.n_docs)
    return BlockMatrix(workspace, stored, snapshot.n_docs, len(weights.terms))


def weigh_block(
    store: ArrayStore, reader: BlockReader, block: DocumentBlock, idf: StoredArrays, mean_length: float
) -> StoredBlock:
    """The rows of a block's documents."""
    weights = TermWeights(reader.vocabulary, idf.load()["idf"], mean_length)
    return RowBlock.of(reader.stack(block, weights.rows)).put(store)
