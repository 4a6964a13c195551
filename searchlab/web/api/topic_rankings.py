"""Which documents does a ranker find for a topic?

Topics are plain words: no word of theirs is an operator. Pools and measures ask for the same rankings again and again
while judgments change; so they are remembered, as numbers of documents, not as names.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from searchlab.rankers.systems import MODEL, System
from searchlab.records import Ranking, Topic
from searchlab.retrieval.results import Hits, Query
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import Failure
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened
from searchlab.web.state.result_cache import Memory

# What is taken if no ranker is named, before the models of the index.
USUAL = ("bm25", "bm25+rm3")
MOST_RANKERS = 8
# How deep whole rankings go, and how many topics are searched for one answer at most.
DEPTH, MOST_TOPICS = 1000, 500
# Which part of the time that a request has goes into searching.
SHARE_OF_TIME = 0.8
# So many bytes of rankings are remembered: 4,500 of a thousand documents.
ROOM = 64 * 2**20

# How shards, documents and scores are kept, and what a ranking takes beside them.
KINDS = (np.uint16, np.uint32, np.float64)
OVERHEAD = 500

RANKERS = Parameter(
    "rankers",
    "texts",
    "scorers and models by their names; by default bm25, bm25+rm3 and the models of the index",
    default=(),
    long=200,
    many=MOST_RANKERS,
)

_REMEMBERED = Memory(ROOM)


def chosen_rankers(opened: Opened, names: Sequence[str]) -> list[System]:
    """The rankers of these names, each once; without any, the usual ones and the models that fit the index."""
    fitting = [f"{MODEL}{name}" for name in opened.models if name not in opened.misfits]
    wanted = list(dict.fromkeys(names)) or [*USUAL, *fitting][:MOST_RANKERS]
    if len(wanted) > MOST_RANKERS:
        raise Failure(400, f"rankers: {len(wanted)} are named, expected at most {MOST_RANKERS}")
    return [opened.system(name) for name in wanted]


def rank_topic(opened: Opened, ranker: str, topic: Topic, depth: int) -> Ranking:
    """What a ranker finds for the words of a topic, so many documents at most."""
    system = opened.system(ranker)

    def search() -> tuple[bytes, ...]:
        hits = system.search(topic.text, k=depth, syntax="plain")
        columns = (hits.shards, hits.docs, hits.scores)
        return tuple(own.astype(kind).tobytes() for own, kind in zip(columns, KINDS, strict=True))

    key = (system.name, topic.text, depth)
    found = _REMEMBERED.get(opened, key, search, lambda made: OVERHEAD + sum(map(len, made)))
    shards, docs, scores = (np.frombuffer(own, kind) for own, kind in zip(found, KINDS, strict=True))
    hits = Hits(opened.engine.snapshot, Query(topic.text, (), ()), shards, docs, scores, 0.0)
    return Ranking(topic.qid, hits.docnos, scores.tolist())


def rank_all(
    desk: Desk, opened: Opened, systems: Sequence[System], topics: Sequence[Topic], depth: int
) -> dict[str, list[Ranking]]:
    """The rankings of all topics, by ranker; what takes too long is given up, but what was found is remembered."""
    until = time.monotonic() + SHARE_OF_TIME * desk.limits.seconds_slow
    found: dict[str, list[Ranking]] = {system.name: [] for system in systems}
    for system in systems:
        for topic in topics:
            if time.monotonic() > until:
                done = f"{sum(map(len, found.values())):,} of {len(systems) * len(topics):,} rankings"
                raise Failure(503, f"there is more to search than fits into one request: {done} are done, ask again")
            found[system.name].append(rank_topic(opened, system.name, topic, depth))
    return found
