"""How does a trained model answer a query?

Candidates are found as in training, their features are computed and prepared as in training, and the model orders them.
Documents that the first search found beyond the candidates follow in its order, so that a long ranking loses nothing;
their scores only continue the list.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from searchlab.errors import SettingError
from searchlab.features.candidates import Chosen
from searchlab.features.extraction import Space, TopicSpace, extract_query
from searchlab.features.feature_table import FeatureTable
from searchlab.features.sets import FeatureSet, make_set
from searchlab.indexing.storage.columns import STREAMS
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.explanation import Account
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.syntax_tree import Range, positive_leaves
from searchlab.retrieval.results import Hits, Query
from searchlab.types import Floats


@dataclass(frozen=True, eq=False)
class Reranker:
    """A model at work on an index; made only if they fit."""

    engine: SearchEngine
    bundle: Bundle

    def __post_init__(self) -> None:
        self.bundle.check_index(self.engine)
        _ = self._space, self._topics

    @cached_property
    def _set(self) -> FeatureSet:
        return make_set(self.bundle.features)

    @cached_property
    def _space(self) -> Space | None:
        if all(feature.needs != "semantic" for feature in self._set.features):
            return None
        from searchlab.features.latent_semantics.semantic_space import SemanticSpace

        return SemanticSpace.open(self.engine.snapshot)

    @cached_property
    def _topics(self) -> TopicSpace | None:
        if all(feature.needs != "topics" for feature in self._set.features):
            return None
        from searchlab.topic_models.topic_model_store import open_topics

        return open_topics(self.engine.snapshot)

    @property
    def first_stage(self) -> FirstStage:
        """How candidates are found."""
        return self.bundle.first_stage or FirstStage()

    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first search understands it."""
        if isinstance(query, Query):
            return query
        return self.engine.parse(query, self.first_stage.make_scorer(), syntax=syntax)

    def search(
        self,
        query: str | Query,
        *,
        k: int | None = 10,
        syntax: str = "plain",
        filters: Sequence[Filter | str] = (),
    ) -> Hits:
        """The k best documents; all that match if k is None."""
        began = time.perf_counter()
        if k is not None and k < 1:
            raise SettingError(f"k is {k}, expected 1 or more")
        parsed = self.parse(query, syntax)
        chosen = self.first_stage.of(self.engine, parsed, filters)
        scores = self.bundle.scores(self._table(parsed, chosen)) if len(chosen) else np.zeros(0)
        order = best_first(scores, chosen.docnos)
        shards, docs, scores = chosen.shards[order], chosen.docs[order], scores[order]
        if k is None or k > len(chosen):
            shards, docs, scores = self._with_tail(parsed, k, filters, shards, docs, scores)
        seconds = time.perf_counter() - began
        compiled = self.engine.compiled
        return Hits(self.engine.snapshot, parsed, shards[:k], docs[:k], scores[:k], seconds, compiled=compiled)

    def _with_tail(
        self, query: Query, k: int | None, filters: Sequence[Filter | str], shards: Floats, docs: Floats, scores: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """What the first search found beyond the candidates, below them."""
        first = self.engine.search(query, k=k, scorer=self.first_stage.make_scorer(), filters=filters)
        known = set(zip(shards.tolist(), docs.tolist(), strict=True))
        places = zip(first.shards.tolist(), first.docs.tolist(), strict=True)
        rest = np.array([place not in known for place in places], dtype=bool)
        more = tail_scores(scores, int(np.count_nonzero(rest)))
        return (
            np.concatenate([shards, first.shards[rest]]),
            np.concatenate([docs, first.docs[rest]]),
            np.concatenate([scores, more]),
        )

    def rank_topics(
        self,
        topics: Iterable[Topic],
        *,
        k: int | None = 1000,
        syntax: str = "plain",
        filters: Sequence[Filter | str] = (),
    ) -> Iterator[Ranking]:
        """The ranking of each topic, in their order; topics are plain words unless `syntax` is full."""
        for topic in topics:
            hits = self.search(topic.text, k=k, syntax=syntax, filters=filters)
            yield Ranking(topic.qid, hits.docnos, hits.scores.tolist())

    def explain(
        self,
        query: str | Query,
        docnos: Sequence[str],
        *,
        syntax: str = "plain",
        filters: Sequence[Filter | str] = (),
    ) -> list[Account]:
        """Why documents have their scores; only those that are re-ranked for this query can be explained."""
        parsed = self.parse(query, syntax)
        chosen = self.first_stage.of(self.engine, parsed, filters)
        for docno in docnos:
            self.engine.snapshot.locate(docno)
            if docno not in chosen.docnos:
                raise SettingError(
                    f"{docno} is not among the {len(chosen)} documents that are re-ranked for this query: "
                    f"{self.first_stage.label}"
                )
        table = self._table(parsed, chosen) if len(chosen) else None
        places = {docno: place for place, docno in enumerate(chosen.docnos)}
        return [] if table is None else [self.bundle.account(table, places[docno]) for docno in docnos]

    def _table(self, query: Query, chosen: Chosen) -> FeatureTable:
        values = extract_query(self.engine, _words(query), chosen, self._set.features, self._space, self._topics)
        return FeatureTable(self._set.names, ["q"] * len(chosen), chosen.docnos, values)


def _words(query: Query) -> str:
    """What features see of a query: of one with operators or fields, the words that speak for a text."""
    if query.node is None:
        return query.text
    found = [leaf for leaf, _ in positive_leaves(query.node) if leaf.field is None or leaf.field in STREAMS]
    return " ".join(leaf.text for leaf in found if not isinstance(leaf, Range))


def tail_scores(scores: Floats, n: int) -> Floats:
    """Scores for n documents below those that have scores, given best first: they only continue the list."""
    lowest = float(scores[-1]) if len(scores) else 0.0
    return np.asarray(lowest - 1.0 - np.arange(n))


def best_first(scores: Floats, docnos: Sequence[str]) -> Floats:
    """The order by score; equal scores by docno, descending in byte order, as everywhere."""
    names = np.array([docno.encode() for docno in docnos], dtype=object)
    by_name = np.argsort(names, kind="stable")[::-1] if len(names) else np.zeros(0, np.int64)
    return np.asarray(by_name[np.argsort(-scores[by_name], kind="stable")])
