"""Which topics has a word, and which a document?

A document that was learnt from keeps its topics, whatever shard it comes to stand in, as long as it is not changed; the
topics of documents that came later are found by folding them in. That needs no training, but words that only they have
stay unknown, so topics grow stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import IndexCorrupt, IndexOutdated, SettingError
from searchlab.indexing.document_vectors import DocumentVectors
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.artefacts import open_artefact_file
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.storage.string_table import Strings
from searchlab.indexing.vocabulary import Vocabulary, digests_of, staleness
from searchlab.topic_models.plsa import fold_in
from searchlab.topic_models.topic_model_files import TopicRecord
from searchlab.topic_models.word_topics import mix_words
from searchlab.types import Array, Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

# Topics are stale if more than this share of the documents came after them.
STALE = 0.2
# P(w|T) is kept in four bytes: what it differs from P(w|C) by less than this is chance.
ROUNDING = 1e-6


class TopicModel:
    """The topics of one snapshot's documents and terms."""

    def __init__(self, snapshot: Snapshot, home: Path, record: TopicRecord, *, verify: bool = False) -> None:
        if record.analysis != snapshot.manifest.settings.fingerprint:
            raise IndexOutdated(f"{home}: made with another analyser than the index has; {record.remedy(home)}")
        self.snapshot = snapshot
        self.home = home
        self.record = record
        K = record.n_topics
        try:
            arrays = open_artefact_file(home, record, record.terms, verify=verify)
            self._vocabulary = Vocabulary(Strings(arrays["terms"], arrays["terms.offsets"]))
            self._of_terms, self._background = arrays["of_terms"], arrays["background"]
            self._digests, self.shares = arrays["digests"], arrays["shares"]
            # P(T|D) of the documents with these digests, where it was learnt; P(T|w), where words have topics.
            self._of_docs, self._of_words = arrays.get("of_docs"), arrays.get("of_words")
            fits = self._of_terms.shape == (record.n_terms, K) and self.shares.shape == (K,)
            fits &= len(self._vocabulary) == len(self._background) == record.n_terms
            fits &= self._of_docs is None or self._of_docs.shape == (len(self._digests), K)
            fits &= self._of_words is None or self._of_words.shape == (record.n_terms, K)
            fits &= record.method != "wtm" or self._of_words is not None
        except KeyError:
            fits = False
        if not fits:
            raise IndexCorrupt(f"{home}: the files do not fit together; {record.remedy(home)}")
        self._vectors = DocumentVectors(snapshot, home, record, self._vocabulary, self._make, K, verify=verify)
        if not self._vectors.stored and snapshot.n_docs and record.n_docs and self.staleness == 1:
            raise IndexOutdated(f"{home}: made from other documents than the index has; {record.remedy(home)}")

    def __repr__(self) -> str:
        return f"<TopicModel {self.home}: {self.n_topics} topics, made {self.record.made}>"

    @property
    def n_topics(self) -> int:
        """K."""
        return self.record.n_topics

    @property
    def method(self) -> str:
        """How the topics were learnt: plsa or wtm."""
        return self.record.method

    @property
    def fingerprint(self) -> str:
        """What tells these topics from all others."""
        return self.record.fingerprint

    @property
    def trained_weights(self) -> tuple[float, float] | None:
        """α and β, if they were trained with the topics."""
        return None if self.record.alpha < 0 else (self.record.alpha, self.record.beta)

    @property
    def n_unwritten(self) -> int:
        """The live documents whose topics are not on disk but found when asked for; `update_topics` writes them."""
        return self._vectors.n_unwritten

    @cached_property
    def staleness(self) -> float:
        """The share of live documents that were not there, or not as they are now, when the topics were learnt."""
        return staleness(self.snapshot, self._digests)

    @property
    def is_stale(self) -> bool:
        """Whether so many documents came later that the topics should be made anew."""
        return self.staleness > STALE

    def term_given_topic(self, terms: Sequence[str]) -> Array:
        """P(w|T): a row for each term, a column for each topic; 0 for terms that the topics do not know."""
        places = np.array([self._vocabulary.terms.find(term) for term in terms], np.int64)
        found: Array = np.zeros((len(places), self.n_topics))
        found[places >= 0] = self._of_terms[places[places >= 0]]
        return found

    def topics_given_document(self, shards: Array, docs: Array) -> Array:
        """P(T|D) of documents, given by shard and number as `Hits` are: a row for each, which adds up to 1."""
        found = self._vectors.rows(shards, docs).astype(np.float64)
        totals = found.sum(axis=1)
        if not (np.abs(totals - 1) < 1e-3).all():
            raise IndexCorrupt(f"{self.home}: topics of documents are damaged; {self.record.remedy(self.home)}")
        scaled: Array = found / totals[:, None]
        return scaled

    def topics_given_words(self, terms: Mapping[str, float]) -> Array:
        """P(T) of a query, or of any text, from its terms with their counts; that of all documents if none is known."""
        from scipy.sparse import csr_array

        places = {place: n for term, n in terms.items() if (place := self._vocabulary.terms.find(term)) >= 0 and n > 0}
        own = sorted(places)
        rows = csr_array(
            ([float(places[place]) for place in own], own, [0, len(own)]), shape=(1, len(self._vocabulary))
        )
        topics: Array = self._infer(rows)[0]
        return topics

    def with_documents(self, of_docs: Mapping[tuple[int, int], Array]) -> TopicModel:
        """The same, but for the P(T|D) of some documents, given by shard and number."""
        changed = copy(self)
        changed._vectors = self._vectors.changed(of_docs)
        return changed

    def telling_terms(self, topic: int, n: int = 10) -> list[tuple[str, float]]:
        """The terms that tell most of a topic, with P(w|T): those with the largest P(w|T)·ln(P(w|T)/P(w|C)).

        A term that the topic says no more often than all topics do tells nothing of it; if that is so of all terms,
        the most frequent ones are given.
        """
        if not 0 <= topic < self.n_topics:
            raise SettingError(f"{self.home}: has {self.n_topics} topics, topic {topic + 1} was asked for")
        p = self._of_terms[:, topic].astype(np.float64)
        telling = np.zeros(len(p))
        said = p > 0
        telling[said] = p[said] * np.log(p[said] / self._background[said])
        if not (telling > ROUNDING).any():
            telling = p
        best = np.argsort(-telling, kind="stable")[:n]
        best = best[telling[best] > ROUNDING]
        return list(zip(self._vocabulary.terms.take(best), p[best].tolist(), strict=True))

    def _infer(self, counts: csr_array) -> Array:
        """P(T|D) of documents from their counts."""
        if self._of_words is not None:
            return mix_words(counts, self._of_words, self.shares)
        return fold_in(counts, self._of_terms, self.shares, self.record.temperature)

    def _make(self, shard: Shard, docs: Array, numbers: Array) -> Array:
        """P(T|D) of documents of a shard: what was learnt, and for the others what is inferred."""
        made: Array = np.empty((len(docs), self.n_topics), np.float32)
        lacking = np.ones(len(docs), bool)
        if self._of_docs is not None and len(self._digests):
            own = digests_of(shard, docs)
            at = np.minimum(np.searchsorted(self._digests, own), len(self._digests) - 1)
            lacking = self._digests[at] != own
            made[~lacking] = self._of_docs[at[~lacking]]
        if lacking.any():
            made[lacking] = self._infer(self._vocabulary.counts(shard, docs[lacking], numbers))
        return made

    def write_vectors(self, progress: Progress) -> TopicRecord:
        """Write the topics of all shards that have none on disk; the record that names those, and no more."""
        return self._vectors.write("writing", progress)
