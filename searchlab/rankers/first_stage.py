"""Which documents does a model get to re-rank?

Those that a first search finds: the best by a scorer, and the best of the same query as RM3 expands it, which brings in
documents that use other words. A model is trained on such candidates, and keeps the recipe: what it re-ranks later was
found in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from searchlab.errors import SettingError
from searchlab.features.candidates import Candidates, Chosen, union
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.results import Hits, Query
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import make_scorer


@dataclass(frozen=True)
class FirstStage:
    """The `k` best by a scorer, and, if `expanded`, the `k` best of the query that RM3 makes of it."""

    k: int = 200
    scorer: str = "bm25"
    settings: Mapping[str, Any] = field(default_factory=dict)
    expanded: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise SettingError(f"k is {self.k!r}, expected a whole number of candidates from 1")
        _ = self.make_scorer()

    def make_scorer(self) -> Scorer:
        """The scorer with its settings."""
        return make_scorer(self.scorer, dict(self.settings))

    @property
    def label(self) -> str:
        """The recipe in a few words."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        own = f"{self.scorer}({settings})" if settings else self.scorer
        return f"the {self.k} best by {own}" + (f" and the {self.k} best by RM3" if self.expanded else "")

    def candidates(self, engine: SearchEngine, topics: Sequence[Topic]) -> Candidates:
        """The documents of each topic."""
        return Candidates(
            {topic.qid: self.of(engine, engine.parse(topic.text, self.make_scorer())) for topic in topics}
        )

    def of(self, engine: SearchEngine, query: Query, filters: Sequence[Filter | str] = ()) -> Chosen:
        """The documents for one query, those of the first search before those that only RM3 finds.

        A query that asks for more than words (phrases, operators, fields) is not expanded: documents that do not match
        it are not wanted.
        """
        scorer = self.make_scorer()
        first = engine.search(query, k=self.k, scorer=scorer, filters=filters)
        found = _chosen(first)
        if not self.expanded or query.node is not None:
            return found
        wider = engine.search(self.expand(engine, query, filters), k=self.k, scorer=scorer, filters=filters)
        return union(Candidates({"": found}), Candidates({"": _chosen(wider)})).of("")

    def expand(self, engine: SearchEngine, query: Query, filters: Sequence[Filter | str] = ()) -> Query:
        """The query that RM3 makes of a query."""
        expansion = RM3()
        best = engine.search(query, k=expansion.documents, scorer=self.make_scorer(), filters=filters)
        return expansion.learn(engine, best)

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain JSON."""
        return {"k": self.k, "scorer": self.scorer, "settings": dict(self.settings), "expanded": self.expanded}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """The recipe that `to_json` wrote."""
        settings, expanded = kept["settings"], kept["expanded"]
        if not isinstance(settings, Mapping) or not isinstance(expanded, bool):
            raise SettingError(
                "a first stage is malformed, expected settings by their names, and expanded true or false"
            )
        return cls(kept["k"], kept["scorer"], dict(settings), expanded)


def _chosen(hits: Hits) -> Chosen:
    return Chosen(tuple(hits.docnos), hits.shards, hits.docs)
