"""Learning a topic model from the documents of an index, by PLSA or as a word topic model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.snapshot import Snapshot, live_docs
from searchlab.indexing.vocabulary import Vocabulary, blocks_of, digests_of
from searchlab.topic_models.plsa import learn_latent_topics
from searchlab.topic_models.word_topics import count_neighbours
from searchlab.types import Array, Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


@dataclass(frozen=True, eq=False)
class LearntTopicModel:
    """The arrays of a topic model's file, the last τ, and the final perplexity of the training words."""

    arrays: dict[str, Array]
    temperature: float
    perplexity: float


def learn_topic_model(
    snapshot: Snapshot, method: str, n_topics: int, seed: int, progress: Progress
) -> LearntTopicModel:
    """Learn the latent topics of all live documents of an index."""
    vocabulary, _ = Vocabulary.of_index(snapshot)
    counts, digests = count_document_terms(snapshot, vocabulary, progress)
    training_counts = counts
    if method == "wtm":
        training_counts = count_neighbours(_texts(snapshot, vocabulary), len(vocabulary))
    topics = learn_latent_topics(training_counts, n_topics, seed=seed, progress=progress)
    term_counts = np.asarray(counts.sum(axis=0), np.float64)
    blob, offsets = vocabulary.terms.arrays
    arrays: dict[str, Array] = {
        "terms": blob,
        "terms.offsets": offsets,
        "background": term_counts / max(term_counts.sum(), 1),
        "of_terms": topics.of_terms.astype(np.float32),
        "shares": topics.shares,
    }
    order = np.argsort(digests)
    arrays["digests"] = digests[order]
    if method == "wtm":
        # A word without neighbours has no latent topics.
        topics.of_docs[np.diff(training_counts.indptr) == 0] = 0
        arrays["of_words"] = topics.of_docs.astype(np.float32)
    else:
        arrays["of_docs"] = topics.of_docs[order].astype(np.float32)
    return LearntTopicModel(arrays, topics.temperature, topics.perplexities[-1])


def count_document_terms(snapshot: Snapshot, vocabulary: Vocabulary, progress: Progress) -> tuple[csr_array, Array]:
    """The term counts of all live documents, a row per document in the order of docnos, and the documents' digests."""
    from scipy.sparse import csr_array, vstack

    rows = [csr_array((0, len(vocabulary)), dtype=np.float32)]
    digests, positions = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    done = 0
    for shard_index, shard in enumerate(snapshot.shards):
        numbers = vocabulary.numbers(shard)
        for docs in blocks_of(shard, live_docs(shard)):
            rows.append(vocabulary.counts(shard, docs, numbers))
            digests.append(digests_of(shard, docs))
            positions.append(snapshot.docno_ranks(np.full(len(docs), shard_index), docs))
            progress("counting", done := done + len(docs), snapshot.n_docs)
    # In an order that does not depend on the shards, sums are the same to the last bit.
    order = np.argsort(np.concatenate(positions))
    return vstack(rows, format="csr")[order], np.concatenate(digests)[order]


def _texts(snapshot: Snapshot, vocabulary: Vocabulary) -> Iterator[tuple[Array, Array]]:
    for shard in snapshot.shards:
        numbers = vocabulary.numbers(shard)
        for docs in blocks_of(shard, live_docs(shard)):
            yield vocabulary.tokens(shard, docs, numbers)
