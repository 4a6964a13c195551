"""Candidates: the documents of each topic that features are computed for.

They are the judged documents of a topic, those of a run, those that a pipeline finds, or several of these together.
All are looked up in the index at once; documents that it does not hold are left out and listed as missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.corpus import Run
from searchlab.corpus.values.conversion import make_grades, make_rankings, make_topics
from searchlab.errors import SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline, PipelineHits
from searchlab.retrieval.composition.cluster_batch import run_on_parts
from searchlab.retrieval.composition.topic_batch import STAGE, search_numbered
from searchlab.retrieval.document_list import NO_DOCUMENTS, DocumentList
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import PipelineSearch
from searchlab.types import Progress, no_progress

# How many missing documents a message names.
MAX_NAMED = 5
# From this many documents on, a compiled loop looks them up; below, loading it would take longer than it saves.
MIN_COMPILED = 2000


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of each topic by qid, and the docnos asked for that are not in the index.

    `searches` are those that found the documents, if any did: features reuse what they have computed.
    """

    documents: Mapping[str, DocumentList]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    searches: Mapping[str, PipelineSearch] = field(default_factory=dict)

    def of(self, qid: str) -> DocumentList:
        """The documents of a topic, perhaps none."""
        return self.documents.get(qid, NO_DOCUMENTS)

    def only(self, topics: Iterable[Topic]) -> Candidates:
        """The candidates of these topics."""
        qids = {topic.qid: None for topic in topics}
        return Candidates(
            {qid: self.documents[qid] for qid in qids if qid in self.documents},
            {qid: self.missing[qid] for qid in qids if qid in self.missing},
            {qid: self.searches[qid] for qid in qids if qid in self.searches},
        )

    def union(self, other: Candidates) -> Candidates:
        """The candidates of both, each document once, in the order of first appearance."""
        documents, missing = dict(self.documents), dict(self.missing)
        for qid, more in other.documents.items():
            documents[qid] = documents.get(qid, NO_DOCUMENTS).union(more)
        for qid, docnos in other.missing.items():
            missing[qid] = tuple(dict.fromkeys([*missing.get(qid, ()), *docnos]))
        return Candidates(documents, missing, {**other.searches, **self.searches})

    @property
    def n_missing(self) -> int:
        """The number of pairs of topic and document that the index does not hold."""
        return sum(map(len, self.missing.values()))

    def describe_missing(self) -> str:
        """One line about the documents that the index does not hold; empty if it holds all."""
        pairs = [f"{docno} (topic {qid})" for qid, docnos in self.missing.items() for docno in docnos]
        if not pairs:
            return ""
        named = ", ".join(pairs[:MAX_NAMED]) + (", …" if len(pairs) > MAX_NAMED else "")
        n_wanted = len(pairs) + sum(map(len, self.documents.values()))
        return f"{len(pairs)} of {n_wanted} candidates are not in the index: {named}"

    def without_any(self, topics: Iterable[Topic]) -> list[str]:
        """The qids of topics that have no candidates."""
        return [topic.qid for topic in topics if not len(self.of(topic.qid))]


def judged(engine: SearchEngine, qrels: Any) -> Candidates:
    """The documents that have a grade, in the order of the judgments (see `make_qrels`)."""
    return _look_up(engine.snapshot, make_grades(qrels))


def ranked(engine: SearchEngine, rankings: Any, *, k: int | None = None) -> Candidates:
    """The documents of a run (see `make_run`), in its order; only the first k of each topic, if k is given."""
    if k is not None and k < 1:
        raise SettingError(f"k is {k}, expected 1 or more")
    return _look_up(engine.snapshot, {ranking.qid: ranking.docnos[:k] for ranking in make_rankings(rankings)})


def searched(
    pipeline: BasePipeline,
    topics: Any,
    *,
    k: int | None = 100,
    cluster: Cluster | None = None,
    progress: Progress = no_progress,
) -> Candidates:
    """The k best documents of a pipeline for topics (see `make_topics`), best first; all that it finds if k is None.

    With a connected `cluster` its workers search, each for some of the topics.
    """
    listed, engine = make_topics(topics), pipeline.engine
    if cluster is not None:
        parts = run_on_parts(cluster, find_documents, listed, lambda part: (pipeline, part, k), STAGE, progress)
        of_topics = [documents for part in parts for documents in part]
        return Candidates({topic.qid: each for topic, each in zip(listed, of_topics, strict=True)})

    def search(number: int) -> PipelineHits:
        return pipeline.search(listed[number].text, k=k)

    found = search_numbered(search, len(listed), jobs=engine.topics_at_a_time, stop=engine.interrupt)
    hits = {topic.qid: each for topic, each in zip(listed, found, strict=True)}
    return Candidates(
        {qid: DocumentList.of(each) for qid, each in hits.items()},
        searches={qid: each.search.retrieval for qid, each in hits.items()},
    )


def find_documents(pipeline: BasePipeline, topics: Sequence[Topic], k: int | None) -> list[DocumentList]:
    """The k best documents for each of some topics, in a worker."""
    return [DocumentList.of(pipeline.search(topic.text, k=k)) for topic in topics]


def make_candidates(
    engine: SearchEngine,
    topics: Sequence[Topic],
    candidates: Any,
    cluster: Cluster | None = None,
    progress: Progress = no_progress,
) -> Candidates:
    """Candidates from a pipeline, a Run, judgments, or a dict {qid: [docno]}; Candidates stay as they are.

    A pipeline searches for the topics, to its cut-off (`bm25 % 100`) or its depth without one, perhaps on a cluster.
    """
    if isinstance(candidates, Candidates):
        return candidates
    if isinstance(candidates, BasePipeline):
        if candidates.engine is not engine:
            raise SettingError(f"candidates is {candidates!r}, expected a pipeline of the engine that is given")
        return searched(candidates, topics, k=candidates.depth, cluster=cluster, progress=progress)
    if isinstance(candidates, Run):
        return ranked(engine, candidates)
    if isinstance(candidates, Mapping):
        return _look_up(engine.snapshot, {str(qid): _docnos(qid, listed) for qid, listed in candidates.items()})
    expected = "a pipeline, a Run, Qrels, a dict {qid: [docno]} or Candidates"
    raise SettingError(f"candidates is of type {type(candidates).__name__}, expected {expected}")


def _docnos(qid: object, listed: object) -> list[str]:
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise SettingError(f"candidates of topic {qid}: found {listed!r}, expected a list of docnos")
    docnos = [str(docno) if isinstance(docno, int) else docno for docno in listed]
    wrong = [docno for docno in docnos if not isinstance(docno, str)]
    if wrong:
        raise SettingError(f"candidates of topic {qid}: found {wrong[0]!r}, expected a docno")
    return docnos


def _look_up(snapshot: Snapshot, wanted: Mapping[str, Iterable[str]]) -> Candidates:
    """The documents of these docnos, by qid; a docno that a topic has twice is taken once."""
    distinct = {qid: list(dict.fromkeys(docnos)) for qid, docnos in wanted.items()}
    locations = _locate(snapshot, list(dict.fromkeys(docno for docnos in distinct.values() for docno in docnos)))
    documents, missing = {}, {}
    for qid, docnos in distinct.items():
        present = [docno for docno in docnos if docno in locations]
        numbers = np.array([locations[docno] for docno in present], np.int64).reshape(-1, 2)
        documents[qid] = DocumentList(tuple(present), numbers[:, 0], numbers[:, 1])
        if len(present) < len(docnos):
            missing[qid] = tuple(docno for docno in docnos if docno not in locations)
    return Candidates(documents, missing)


def _locate(snapshot: Snapshot, docnos: list[str]) -> dict[str, tuple[int, int]]:
    """Shard and number of each live document; docnos that the index does not hold are left out."""
    locations = {}
    if len(docnos) < MIN_COMPILED:
        for docno in docnos:
            with suppress(SettingError):
                locations[docno] = snapshot.locate(docno)
        return locations
    from searchlab.indexing.docno_kernels import find_docnos

    for shard_index, shard in enumerate(snapshot.shards):
        numbers = find_docnos(shard.columns.docnos, docnos)
        here = numbers >= 0
        if shard.live is not None:
            here &= shard.live[numbers]
        rows = np.flatnonzero(here)
        found = zip(rows, numbers[rows].tolist(), strict=True)
        locations |= {docnos[row]: (shard_index, number) for row, number in found}
    return locations
