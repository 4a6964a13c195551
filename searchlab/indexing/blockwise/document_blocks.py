"""The documents of an index in blocks, in the order of their docnos.

Which documents share a block depends on the documents alone, not on the shards that they are in, nor on who reads them.
So sums over the blocks are the same, to the last bit, for every index of the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.blockwise.workspace import ArrayStore, StoredArrays, Workspace
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vocabulary import BLOCK_WORDS, Vocabulary
from searchlab.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

# Of a large index blocks are larger: each adds a partial sum for every term that it has.
MAX_BLOCKS = 64


@dataclass(frozen=True, eq=False)
class DocumentBlock:
    """Documents, given by shard index and number, in the order of their docnos."""

    shards: Array
    docs: Array

    def __len__(self) -> int:
        return len(self.docs)


def divide_documents(snapshot: Snapshot) -> list[DocumentBlock]:
    """All live documents in blocks of about the same number of words; an empty index has one empty block."""
    live = [shard.live_docs for shard in snapshot.shards]
    shards = np.repeat(np.arange(len(live), dtype=np.int32), [len(docs) for docs in live])
    docs = np.concatenate([np.zeros(0, np.int64), *live])
    n_words = np.concatenate([np.zeros(0, np.int64), *map(_count_words, snapshot.shards, live)])
    order = np.argsort(snapshot.docno_ranks(shards, docs))
    return [DocumentBlock(shards[rows], docs[rows]) for rows in np.split(order, block_ends(n_words[order]))]


def block_ends(n_words: Array) -> Array:
    """Where blocks end, except the last, of rows with so many words each."""
    ends = np.cumsum(n_words)
    size = max(BLOCK_WORDS, -(-int(ends[-1]) // MAX_BLOCKS)) if len(ends) else BLOCK_WORDS
    return np.flatnonzero(np.diff(ends // size)) + 1


def _count_words(shard: Shard, docs: Array) -> Array:
    offsets = shard.columns.token_offsets
    n_words: Array = offsets[docs + 1] - offsets[docs]
    return n_words.astype(np.int64)


@dataclass(frozen=True, eq=False)
class BlockReader:
    """What reads the documents of blocks: a snapshot, a vocabulary, and each shard's term numbers in it."""

    snapshot: Snapshot
    terms: StoredArrays
    numbers: tuple[StoredArrays, ...]

    @classmethod
    def prepare(cls, workspace: Workspace, snapshot: Snapshot, vocabulary: Vocabulary) -> BlockReader:
        """Number the terms of all shards."""
        blob, offsets = vocabulary.terms.arrays
        terms = workspace.store.put({"terms": blob, "offsets": offsets})
        if workspace.cluster is None:  # the vocabulary has its dictionary of terms here
            numbers = [workspace.store.put({"numbers": vocabulary.numbers(shard)}) for shard in snapshot.shards]
        else:
            calls = [(workspace.store, snapshot, number, terms) for number in range(len(snapshot.shards))]
            numbers = list(workspace.map(number_terms, calls))
        return cls(snapshot, terms, tuple(numbers))

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        return _load_vocabulary(self.terms)

    def stack(self, block: DocumentBlock, make_rows: Callable[[Shard, Array, Array], csr_array]) -> csr_array:
        """The rows of a block's documents, in their order.

        `make_rows` makes those of documents of one shard; it is given the shard, the documents, and its term numbers.
        """
        from scipy.sparse import csr_array, vstack

        if not len(block):
            return csr_array((0, len(self.vocabulary)), dtype=np.float32)
        pieces, places = [], []
        for index, here in _by_shard(block):
            numbers = self.numbers[index].load()["numbers"]
            pieces.append(make_rows(self.snapshot.shards[index], block.docs[here], numbers))
            places.append(here)
        if len(pieces) == 1:
            return pieces[0]
        return vstack(pieces, format="csr")[np.argsort(np.concatenate(places))]

    def counts(self, block: DocumentBlock) -> csr_array:
        """The term counts of a block's documents: a row a document, a column a term."""
        return self.stack(block, self.vocabulary.counts)

    def tokens(self, block: DocumentBlock) -> Iterator[tuple[Array, Array]]:
        """The terms of documents, one after the other, and where each begins: for the documents of each shard."""
        for index, here in _by_shard(block):
            numbers = self.numbers[index].load()["numbers"]
            yield self.vocabulary.tokens(self.snapshot.shards[index], block.docs[here], numbers)


def number_terms(store: ArrayStore, snapshot: Snapshot, shard_index: int, terms: StoredArrays) -> StoredArrays:
    """The numbers of a shard's terms in a vocabulary, in a worker."""
    return store.put({"numbers": _load_vocabulary(terms).numbers(snapshot.shards[shard_index])})


def _load_vocabulary(terms: StoredArrays) -> Vocabulary:
    arrays = terms.load()
    return Vocabulary(Strings(Column(arrays["terms"]), Column(arrays["offsets"])))


def _by_shard(block: DocumentBlock) -> Iterator[tuple[int, Array]]:
    """The shards of a block's documents, each with the places of its documents in the block."""
    for index in np.unique(block.shards).tolist():
        yield index, np.flatnonzero(block.shards == index)
