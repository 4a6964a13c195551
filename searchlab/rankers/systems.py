"""What can order documents for a query, and how is it called?

A system is a scorer, with or without expansion, or a trained model with the search that it re-ranks. All are asked in
the same way, and all say why a document has its score. Their names fit into a line and into an address:

    bm25    bm25:k1=0.9,b=0.4    dirichlet+rm3    model:NAME
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.explanation import Account, account_of_terms
from searchlab.rankers.reranking import Reranker
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.syntax_tree import DOCNO
from searchlab.retrieval.results import Hits, Query
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import make_scorer

MODEL = "model:"
EXPANDED = "+rm3"

Filters = Sequence[Filter | str]


class System(Protocol):
    """Whatever orders documents; `kind` is scorer or model."""

    @property
    def name(self) -> str:
        """As in an address."""

    @property
    def label(self) -> str:
        """As people say it."""

    @property
    def kind(self) -> str:
        """A scorer or a model."""

    def parse(self, query: str, syntax: str = "full") -> Query:
        """A query as this system understands it, to be searched and explained."""

    def search(self, query: str | Query, *, k: int | None = 10, syntax: str = "full", filters: Filters = ()) -> Hits:
        """The k best documents."""

    def accounts(
        self, query: str | Query, docnos: Sequence[str], *, syntax: str = "full", filters: Filters = ()
    ) -> list[Account]:
        """Why documents have their scores; whether they are found is told, too."""


@dataclass(frozen=True)
class ScorerSystem:
    """A scorer; with `expansion`, the query is searched twice."""

    engine: SearchEngine
    name: str
    scorer: Scorer
    expansion: RM3 | None = None
    kind: str = "scorer"

    @property
    def label(self) -> str:
        """The scorer's name, its settings and the expansion."""
        _, _, settings = self.name.removesuffix(EXPANDED).partition(":")
        told = f"{self.scorer.label} ({settings.replace(',', ', ')})" if settings else self.scorer.label
        return f"{told} + RM3" if self.expansion else told

    def parse(self, query: str, syntax: str = "full") -> Query:
        """The query's own words; it is expanded when it is searched."""
        return self.engine.parse(query, self.scorer, syntax=syntax)

    def search(self, query: str | Query, *, k: int | None = 10, syntax: str = "full", filters: Filters = ()) -> Hits:
        """The k best documents; what is told and marked are the query's own words."""
        own = query if isinstance(query, Query) else self.parse(query, syntax)
        hits = self.engine.search(self._expanded(own, filters), k=k, scorer=self.scorer, filters=filters)
        hits.query = own
        return hits

    def accounts(
        self, query: str | Query, docnos: Sequence[str], *, syntax: str = "full", filters: Filters = ()
    ) -> list[Account]:
        """A share for each term, those of the expansion too."""
        own = query if isinstance(query, Query) else self.parse(query, syntax)
        asked = self._expanded(own, filters)
        accounts = [account_of_terms(self.engine.explain(asked, docno, scorer=self.scorer)) for docno in docnos]
        found = {docno: finds(self.engine, asked, docno, scorer=self.scorer, filters=filters) for docno in docnos}
        return [replace(account, found=found[account.docno]) for account in accounts]

    def _expanded(self, query: Query, filters: Filters) -> Query:
        if self.expansion is None:
            return query
        best = self.engine.search(query, k=self.expansion.documents, scorer=self.scorer, filters=filters)
        return self.expansion.learn(self.engine, best)


@dataclass(frozen=True)
class ModelSystem:
    """A trained model on the candidates of its first search."""

    name: str
    reranker: Reranker
    kind: str = "model"

    @property
    def label(self) -> str:
        """The model's name, and what learnt it."""
        return f"{self.name.removeprefix(MODEL)} ({self.reranker.bundle.ranker})"

    def parse(self, query: str, syntax: str = "full") -> Query:
        """A query as the first search understands it."""
        return self.reranker.parse(query, syntax)

    def search(self, query: str | Query, *, k: int | None = 10, syntax: str = "full", filters: Filters = ()) -> Hits:
        """The k best documents."""
        return self.reranker.search(query, k=k, syntax=syntax, filters=filters)

    def accounts(
        self, query: str | Query, docnos: Sequence[str], *, syntax: str = "full", filters: Filters = ()
    ) -> list[Account]:
        """A share for each feature; documents beyond the candidates are refused."""
        return self.reranker.explain(query, docnos, syntax=syntax, filters=filters)


def finds(
    engine: SearchEngine,
    query: Query,
    docno: str,
    *,
    scorer: Scorer,
    stream: str = "both",
    filters: Filters = (),
) -> bool:
    """Whether a document is among all that a query finds; docnos that differ in case alone pass the same filter."""
    only = Filter(DOCNO, docno)
    return docno in engine.search(query, k=None, scorer=scorer, stream=stream, filters=[*filters, only]).docnos


def make_system(
    engine: SearchEngine, name: str, models: Mapping[str, Callable[[], Reranker]] | None = None
) -> ScorerSystem | ModelSystem:
    """A system by its name; `models` are those that can be named, opened when one is."""
    if name.startswith(MODEL):
        known = models or {}
        wanted = name.removeprefix(MODEL)
        if wanted not in known:
            raise unknown_name("model", wanted, known) if known else SettingError(f"there is no model {wanted!r}")
        return ModelSystem(name, known[wanted]())
    bare = name.removesuffix(EXPANDED)
    scorer, colon, text = bare.partition(":")
    settings = dict(_setting(part) for part in text.split(",")) if colon else {}
    return ScorerSystem(engine, name, make_scorer(scorer, settings), RM3() if bare != name else None)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise SettingError(f"setting is {text!r}, expected NAME=VALUE, such as bm25:k1=0.9")
    return key.strip(), value.strip()
