"""Learning a topic model from the documents of an index, by PLSA or as a word topic model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.blockwise.document_blocks import BlockReader, DocumentBlock, divide_documents
from searchlab.indexing.blockwise.row_blocks import RowBlock, StoredBlock
from searchlab.indexing.blockwise.workspace import ArrayStore, Workspace
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.vocabulary import Vocabulary, digests_of
from searchlab.topic_models.plsa import learn_in_blocks, learn_latent_topics
from searchlab.topic_models.word_topics import count_following, join_neighbours
from searchlab.types import Array, Floats, Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


@dataclass(frozen=True, eq=False)
class LearntTopicModel:
    """The arrays of a topic model's file, the last τ, and the final perplexity of the training words."""

    arrays: dict[str, Array]
    temperature: float
    perplexity: float


def learn_topic_model(
    workspace: Workspace, snapshot: Snapshot, method: str, n_topics: int, seed: int, progress: Progress
) -> LearntTopicModel:
    """Learn the latent topics of all live documents of an index."""
    vocabulary, _ = Vocabulary.of_index(snapshot)
    n_terms = len(vocabulary)
    documents = divide_documents(snapshot)
    reader = BlockReader.prepare(workspace, snapshot, vocabulary)
    blocks, term_counts = count_documents(workspace, reader, documents, n_terms, progress)
    if method == "wtm":
        neighbours = join_neighbours(
            workspace.map(count_block_neighbours, [(reader, block, n_terms) for block in documents]), n_terms
        )
        topics = learn_latent_topics(neighbours, n_topics, seed=seed, workspace=workspace, progress=progress)
        # A word without neighbours has no latent topics.
        topics.of_docs[np.diff(neighbours.indptr) == 0] = 0
    else:
        topics = learn_in_blocks(workspace, blocks, n_terms, n_topics, seed=seed, progress=progress)
    blob, offsets = vocabulary.terms.arrays
    digests = np.concatenate([_digests(snapshot, block) for block in documents])
    order = np.argsort(digests)
    arrays: dict[str, Array] = {
        "terms": blob,
        "terms.offsets": offsets,
        "background": term_counts / max(term_counts.sum(), 1),
        "of_terms": topics.of_terms.astype(np.float32),
        "shares": topics.shares,
        "digests": digests[order],
    }
    if method == "wtm":
        arrays["of_words"] = topics.of_docs.astype(np.float32)
    else:
        arrays["of_docs"] = topics.of_docs[order].astype(np.float32)
    return LearntTopicModel(arrays, topics.temperature, topics.perplexities[-1])


def count_documents(
    workspace: Workspace, reader: BlockReader, documents: Sequence[DocumentBlock], n_terms: int, progress: Progress
) -> tuple[list[StoredBlock], Floats]:
    """The term counts of blocks of documents, and how often each term occurs in all of them."""
    blocks: list[StoredBlock] = []
    totals = np.zeros(n_terms)
    done, n_docs = 0, sum(map(len, documents))
    counted = workspace.map(count_block, [(workspace.store, reader, block) for block in documents])
    for block, (stored, of_block) in zip(documents, counted, strict=True):
        blocks.append(stored)
        totals[stored.columns] += of_block
        progress("counting", done := done + len(block), n_docs)
    return blocks, totals


def count_block(store: ArrayStore, reader: BlockReader, block: DocumentBlock) -> tuple[StoredBlock, Floats]:
    """The term counts of a block's documents, and the sum for each of its terms."""
    counted = RowBlock.of(reader.counts(block))
    return counted.put(store), np.asarray(counted.rows.sum(axis=0), np.float64)


def count_block_neighbours(reader: BlockReader, block: DocumentBlock, n_terms: int) -> csr_array:
    """How often each two words of a block's documents follow each other."""
    return count_following(reader.tokens(block), n_terms)


def _digests(snapshot: Snapshot, block: DocumentBlock) -> Array:
    """The digests of a block's documents."""
    digests = np.zeros(len(block), np.uint64)
    for shard_index in np.unique(block.shards).tolist():
        here = np.flatnonzero(block.shards == shard_index)
        digests[here] = digests_of(snapshot.shards[shard_index], block.docs[here])
    return digests
