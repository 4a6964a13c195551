"""Rankings of topics by systems.

Topics are plain words: none of them is an operator. Pools and measures need the same rankings again and again while
judgments change; so rankings are cached, as numbers of documents, without docnos.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from searchlab.rankers.systems import System
from searchlab.records import Ranking, Topic
from searchlab.retrieval.results import Hits, Query
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# The default systems, before the models of the index.
DEFAULT_SYSTEMS = ("bm25", "bm25+rm3")
MAX_SYSTEMS = 8
# Depth of whole rankings.
RANKING_DEPTH = 1000
MAX_TOPICS = 500
# The fraction of the time limit of a request that searching may use.
SEARCH_FRACTION = 0.8

# How shards, documents and scores are stored in the cache, and what a ranking takes besides.
COLUMN_TYPES = (np.uint16, np.uint32, np.float64)
OVERHEAD_BYTES = 500

SYSTEMS = Parameter(
    "systems",
    "strings",
    "names of scorers and models; by default bm25, bm25+rm3 and the models of the index",
    default=(),
    max_length=200,
    max_items=MAX_SYSTEMS,
)


def choose_systems(index: OpenIndex, names: Sequence[str]) -> list[System]:
    """The systems with these names, each once; by default the default scorers and the models that fit the index."""
    wanted = list(dict.fromkeys(names)) or [*DEFAULT_SYSTEMS, *index.usable_models][:MAX_SYSTEMS]
    if len(wanted) > MAX_SYSTEMS:
        raise HttpError(400, f"systems: {len(wanted)} names, expected at most {MAX_SYSTEMS}")
    return [index.system(name) for name in wanted]


def rank_topic(state: RequestState, system: str, topic: Topic, depth: int) -> Ranking:
    """The first `depth` documents of a system for a topic."""
    index = state.index
    chosen = index.system(system)

    def search() -> tuple[bytes, ...]:
        hits = chosen.search(topic.text, k=depth, syntax="plain")
        columns = (hits.shards, hits.docs, hits.scores)
        return tuple(column.astype(kind).tobytes() for column, kind in zip(columns, COLUMN_TYPES, strict=True))

    key = (chosen.name, topic.text, depth)
    stored = state.rankings.get(index, key, search, lambda columns: OVERHEAD_BYTES + sum(map(len, columns)))
    shards, docs, scores = (np.frombuffer(column, kind) for column, kind in zip(stored, COLUMN_TYPES, strict=True))
    hits = Hits(index.engine.snapshot, Query(topic.text, (), ()), shards, docs, scores, 0.0)
    return Ranking(topic.qid, hits.docnos, scores.tolist())


def rank_topics(
    state: RequestState, systems: Sequence[System], topics: Sequence[Topic], depth: int
) -> dict[str, list[Ranking]]:
    """The rankings of all topics, by system; HTTP error 503 if that takes too long, with the rankings so far cached."""
    deadline = time.monotonic() + SEARCH_FRACTION * state.limits.slow_seconds
    rankings: dict[str, list[Ranking]] = {system.name: [] for system in systems}
    for system in systems:
        for topic in topics:
            if time.monotonic() > deadline:
                done = f"{sum(map(len, rankings.values())):,} of {len(systems) * len(topics):,} rankings"
                raise HttpError(503, f"too many searches for one request: {done} are done, send the request again")
            rankings[system.name].append(rank_topic(state, system.name, topic, depth))
    return rankings
