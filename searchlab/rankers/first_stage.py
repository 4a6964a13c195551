"""The first stage: how the documents that a model re-ranks are found.

They are the best by a scorer, and the best of the same query expanded by RM3, which adds documents that use other
words. A model keeps the first stage that it was trained with: what it re-ranks later is found in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from searchlab.errors import SettingError
from searchlab.extensions import Origin, origin_of, require_origin
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline, RerankingModel
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import SCORER, make_scorer


@dataclass(frozen=True)
class FirstStage:
    """The `k` best by a scorer, and, if `expanded`, the `k` best of the query expanded by RM3.

    `origin` is where the scorer of a stored first stage came from, None if it is built in.
    """

    k: int = 200
    scorer: str = "bm25"
    settings: Mapping[str, Any] = field(default_factory=dict)
    expanded: bool = True
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise SettingError(f"k is {self.k!r}, expected a whole number of candidates from 1")
        if self.origin is None:
            _ = self.make_scorer()

    def make_scorer(self) -> Scorer:
        """The scorer with its settings; refused if it comes from an extension that is not loaded, or has changed."""
        if self.origin is not None:
            require_origin(SCORER, self.scorer, self.origin, "this model")
        return make_scorer(self.scorer, dict(self.settings))

    def pipeline(self, engine: SearchEngine, model: RerankingModel | None = None) -> Pipeline:
        """The pipeline of this first stage, with a model that re-ranks if one is given."""
        return Pipeline(engine, self.make_scorer(), expansion=RM3() if self.expanded else None, model=model)

    @property
    def label(self) -> str:
        """The first stage in a few words."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        scorer = f"{self.scorer}({settings})" if settings else self.scorer
        return f"the {self.k} best by {scorer}" + (f" and the {self.k} best by RM3" if self.expanded else "")

    def to_json(self) -> dict[str, Any]:
        """The first stage as plain JSON."""
        record = {"k": self.k, "scorer": self.scorer, "settings": dict(self.settings), "expanded": self.expanded}
        origin = self.origin or origin_of(SCORER, self.scorer)
        return record if origin is None else record | {"origin": origin.to_json()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The first stage that `to_json` wrote."""
        settings, expanded = record["settings"], record["expanded"]
        if not isinstance(settings, Mapping) or not isinstance(expanded, bool):
            raise SettingError(
                "a first stage is malformed, expected settings by their names, and expanded true or false"
            )
        origin = Origin.from_json(record["origin"]) if "origin" in record else None
        return cls(record["k"], record["scorer"], dict(settings), expanded, origin)
