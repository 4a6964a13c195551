"""How are many topics searched, and written as a run?

A TREC run has a line for each document found: `qid Q0 docno rank score tag`. Scores are written so that
reading them gives the same numbers back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from searchlab.records import Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.query.filters import Filter
from searchlab.scorers.base import Scorer


def search_topics(
    engine: SearchEngine,
    topics: Iterable[Topic],
    *,
    k: int | None = 1000,
    scorer: Scorer | None = None,
    stream: str = "both",
    syntax: str = "plain",
    filters: Sequence[Filter | str] = (),
    expansion: RM3 | None = None,
) -> Iterator[Ranking]:
    """The ranking of each topic, in their order; topics are plain words unless `syntax` is full."""
    for topic in topics:
        query = engine.parse(topic.text, scorer, stream, syntax)
        if expansion is not None:
            first = engine.search(query, k=expansion.documents, scorer=scorer, stream=stream, filters=filters)
            query = expansion.learn(engine, first, stream=stream)
        hits = engine.search(query, k=k, scorer=scorer, stream=stream, filters=filters)
        yield Ranking(topic.qid, hits.docnos, hits.scores.tolist())
