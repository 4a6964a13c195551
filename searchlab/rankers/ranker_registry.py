"""Which rankers are there, by their names on the command line?

Each name stands for a class and settings that make it what it is; further settings are given as text, `C=0.01`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from searchlab.errors import SettingError, unknown_name

if TYPE_CHECKING:
    from searchlab.rankers.estimators.base_ranker import Ranker


@dataclass(frozen=True)
class Kind:
    """Where a ranker is found, and which settings its name implies; it is loaded when it is needed."""

    module: str
    class_name: str
    what: str
    implied: Mapping[str, Any] = field(default_factory=dict)


RANKERS: dict[str, Kind] = {
    "rsvm": Kind("ranksvm", "RankingSVM", "Ranking SVM"),
    "rsvm-ir": Kind("ranksvm", "RankingSVMIR", "RSVM-IR: pairs weighed by grades (τ) and by query (μ)"),
    "rsvm-ir-rank": Kind("ranksvm", "RankingSVMIRRank", "RSVM-IR, pairs weighed by grades alone; cost-sensitive SVM"),
    "rsvm-ir-query": Kind("ranksvm", "RankingSVMIRQuery", "RSVM-IR, pairs weighed by query alone"),
    "mhr": Kind("ordrank", "MultipleHyperplanes", "a hyperplane for each two grades, Borda count"),
    "mhr-weighted": Kind("ordrank", "MultipleHyperplanes", "MHR with votes weighed by margins", {"votes": "score"}),
    "ordrank": Kind("ordrank", "OrdRank", "OrdRank: a hyperplane for each two adjacent grades, mean vote"),
    "ordrank-weighted": Kind("ordrank", "OrdRank", "OrdRank with votes weighed by margins", {"votes": "score"}),
    "rankboost": Kind("rankboost", "RankBoost", "RankBoost: threshold rules on pairs"),
    "rankboost-qd": Kind("query_dependent", "QueryDependentRankBoost", "RankBoost with a query-dependent loss"),
    "exponential": Kind(
        "query_dependent", "QueryDependentRankBoost", "the same with one loss for all queries", {"categories": False}
    ),
    "svm": Kind("classifiers", "SVMClassifier", "a classifier, relevant or not: support vector machine"),
    "maxent": Kind("classifiers", "MaxEnt", "a classifier, relevant or not: maximum entropy"),
    "linear": Kind("baselines", "Linear", "fixed weights, given by hand"),
    "single": Kind("baselines", "Single", "one feature as it is"),
}


def make_ranker(name: str, settings: Mapping[str, Any] | None = None) -> Ranker:
    """The ranker of this name; settings that are texts are read as JSON where that is possible."""
    if name not in RANKERS:
        raise unknown_name("ranker", name, RANKERS)
    kind = RANKERS[name]
    made: type[Ranker] = getattr(import_module(f"searchlab.rankers.estimators.{kind.module}"), kind.class_name)
    known = inspect.signature(made).parameters
    chosen = dict(kind.implied)
    for key, value in (settings or {}).items():
        if key not in known:
            raise unknown_name(f"setting of {name}", key, known)
        chosen[key] = _read(value) if isinstance(value, str) else value
    ranker = made(**chosen)
    try:
        ranker._check_settings()
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from None
    return ranker


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
