"""How do the texts of an index become topics?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.snapshot import Snapshot, live_docs
from searchlab.indexing.vocabulary import Vocabulary, blocks_of, digests_of
from searchlab.topic_models.plsa import learn_topics
from searchlab.topic_models.word_topics import count_neighbours
from searchlab.types import Array, Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt, as it is written, and how perplexing the words trained on are in the end."""

    arrays: dict[str, Array]
    temperature: float
    perplexity: float


def learn(snapshot: Snapshot, method: str, n_topics: int, seed: int, progress: Progress) -> Learnt:
    """The topics of all live documents of an index."""
    vocabulary, _ = Vocabulary.of_index(snapshot)
    counts, digests = count_documents(snapshot, vocabulary, progress)
    learn_from = counts
    if method == "wtm":
        learn_from = count_neighbours(_texts(snapshot, vocabulary), len(vocabulary))
    topics = learn_topics(learn_from, n_topics, seed=seed, progress=progress)
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
        # A word without any neighbour says nothing of topics.
        topics.of_docs[np.diff(learn_from.indptr) == 0] = 0
        arrays["of_words"] = topics.of_docs.astype(np.float32)
    else:
        arrays["of_docs"] = topics.of_docs[order].astype(np.float32)
    return Learnt(arrays, topics.temperature, topics.perplexities[-1])


def count_documents(snapshot: Snapshot, vocabulary: Vocabulary, progress: Progress) -> tuple[csr_array, Array]:
    """The counts of all live documents, a row each, in the order of their docnos, and their digests."""
    from scipy.sparse import csr_array, vstack

    rows = [csr_array((0, len(vocabulary)), dtype=np.float32)]
    digests, standings = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    done = 0
    for place, shard in enumerate(snapshot.shards):
        numbers = vocabulary.numbers(shard)
        for docs in blocks_of(shard, live_docs(shard)):
            rows.append(vocabulary.counts(shard, docs, numbers))
            digests.append(digests_of(shard, docs))
            standings.append(snapshot.docno_ranks(np.full(len(docs), place), docs))
            progress("counting", done := done + len(docs), snapshot.n_docs)
    # In an order that does not depend on shards, sums are the same to the last bit.
    order = np.argsort(np.concatenate(standings))
    return vstack(rows, format="csr")[order], np.concatenate(digests)[order]


def _texts(snapshot: Snapshot, vocabulary: Vocabulary) -> Iterator[tuple[Array, Array]]:
    for shard in snapshot.shards:
        numbers = vocabulary.numbers(shard)
        for docs in blocks_of(shard, live_docs(shard)):
            yield vocabulary.tokens(shard, docs, numbers)
