"""Which documents are features computed for?

For each topic its candidates: the documents that were judged, those of a run, those that a first search finds, or
several of these together. They are looked up in the index at once; what it does not hold is left out, and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from searchlab.errors import SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.records import Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.base import Scorer
from searchlab.types import Array

# So many missing documents are named in a message.
NAMED = 5
# From so many on, documents are looked up by a compiled loop, which has to be loaded first.
MANY = 2000


@dataclass(frozen=True, eq=False)
class Chosen:
    """Documents of an index, each once: their names, and where they stand (shard, and number there)."""

    docnos: tuple[str, ...]
    shards: Array
    docs: Array

    def __len__(self) -> int:
        return len(self.docnos)

    def take(self, rows: Sequence[int]) -> Chosen:
        """Some of them, by their places."""
        return Chosen(tuple(self.docnos[row] for row in rows), self.shards[list(rows)], self.docs[list(rows)])


NONE = Chosen((), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class Candidates:
    """For each qid its documents, and the docnos that were asked for but are not in the index."""

    chosen: Mapping[str, Chosen]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, qid: str) -> Chosen:
        """The documents of a topic, perhaps none."""
        return self.chosen.get(qid, NONE)

    def only(self, topics: Iterable[Topic]) -> Candidates:
        """Those of some topics."""
        qids = [topic.qid for topic in topics]
        return Candidates(
            {qid: self.chosen[qid] for qid in qids if qid in self.chosen},
            {qid: self.missing[qid] for qid in qids if qid in self.missing},
        )

    @property
    def n_missing(self) -> int:
        """The pairs of topic and document that the index does not hold."""
        return sum(map(len, self.missing.values()))

    def describe_missing(self) -> str:
        """One line about what the index does not hold; empty if it holds all."""
        pairs = [f"{docno} (topic {qid})" for qid, docnos in self.missing.items() for docno in docnos]
        if not pairs:
            return ""
        named = ", ".join(pairs[:NAMED]) + (", …" if len(pairs) > NAMED else "")
        n_asked = len(pairs) + sum(map(len, self.chosen.values()))
        return f"{len(pairs)} of {n_asked} candidates are not in the index: {named}"

    def without_any(self, topics: Iterable[Topic]) -> list[str]:
        """The qids of topics for which there are no documents."""
        return [topic.qid for topic in topics if not len(self.of(topic.qid))]


def judged(engine: SearchEngine, qrels: Mapping[str, Mapping[str, float]]) -> Candidates:
    """The documents that have a grade, in the order of the judgments."""
    return _find(engine.snapshot, qrels)


def ranked(engine: SearchEngine, rankings: Iterable[Ranking], *, k: int | None = None) -> Candidates:
    """The documents of a run, in its order; only the first k of each topic, if k is given."""
    _require(k)
    return _find(engine.snapshot, {ranking.qid: ranking.docnos[:k] for ranking in rankings})


def searched(
    engine: SearchEngine,
    topics: Iterable[Topic],
    *,
    k: int = 100,
    scorer: Scorer | None = None,
    expansion: RM3 | None = None,
) -> Candidates:
    """The k best of a search, best first."""
    _require(k)
    found = {}
    for topic in topics:
        query = engine.parse(topic.text, scorer)
        if expansion is not None:
            query = expansion.expand(engine, query, scorer=scorer)
        hits = engine.search(query, k=k, scorer=scorer)
        found[topic.qid] = Chosen(tuple(hits.docnos), hits.shards, hits.docs)
    return Candidates(found)


def union(first: Candidates, *others: Candidates) -> Candidates:
    """The candidates of all, each document once, in the order of first appearance."""
    chosen, missing = dict(first.chosen), dict(first.missing)
    for other in others:
        for qid, more in other.chosen.items():
            old = chosen.get(qid, NONE)
            known = set(old.docnos)
            new = more.take([row for row, docno in enumerate(more.docnos) if docno not in known])
            chosen[qid] = Chosen(
                old.docnos + new.docnos,
                np.concatenate([old.shards, new.shards]),
                np.concatenate([old.docs, new.docs]),
            )
        for qid, docnos in other.missing.items():
            missing[qid] = tuple(dict.fromkeys([*missing.get(qid, ()), *docnos]))
    return Candidates(chosen, missing)


def _require(k: int | None) -> None:
    if k is not None and k < 1:
        raise SettingError(f"k is {k}, expected 1 or more")


def _find(snapshot: Snapshot, asked: Mapping[str, Iterable[str]]) -> Candidates:
    """Where documents stand; a docno that is asked for twice in a topic is taken once."""
    wanted = {qid: list(dict.fromkeys(docnos)) for qid, docnos in asked.items()}
    places = _locate(snapshot, list(dict.fromkeys(docno for docnos in wanted.values() for docno in docnos)))
    chosen, missing = {}, {}
    for qid, docnos in wanted.items():
        found = [docno for docno in docnos if docno in places]
        numbers = np.array([places[docno] for docno in found], np.int64).reshape(-1, 2)
        chosen[qid] = Chosen(tuple(found), numbers[:, 0], numbers[:, 1])
        if len(found) < len(docnos):
            missing[qid] = tuple(docno for docno in docnos if docno not in places)
    return Candidates(chosen, missing)


def _locate(snapshot: Snapshot, docnos: list[str]) -> dict[str, tuple[int, int]]:
    """Shard and number of each live document; those that are not there are left out."""
    if len(docnos) < MANY:
        places = {}
        for docno in docnos:
            with suppress(SettingError):
                places[docno] = snapshot.locate(docno)
        return places
    from searchlab.indexing.storage.docnos import find_docnos

    places = {}
    for place, shard in enumerate(snapshot.shards):
        numbers = find_docnos(shard.columns.docnos, docnos)
        here = numbers >= 0
        if shard.alive is not None:
            here &= shard.alive[numbers]
        rows = np.flatnonzero(here)
        places |= {docnos[row]: (place, number) for row, number in zip(rows, numbers[rows].tolist(), strict=True)}
    return places
