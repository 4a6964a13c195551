"""Registry of rankers by their names on the command line.

An entry is a class and the settings that its name implies. Further settings are given as text, such as `C=0.01`.
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
class RankerEntry:
    """The class of a ranker, in a module of `rankers.estimators` that is imported on demand, and implied settings."""

    module: str
    class_name: str
    description: str
    settings: Mapping[str, Any] = field(default_factory=dict)


# RSVM-IR-GD stops earlier than the exact solver: near the optimum its steps gain little.
GRADIENT_DESCENT = {"solver": "gd", "tolerance": 1e-3}

RANKERS: dict[str, RankerEntry] = {
    "rsvm": RankerEntry("ranksvm", "RankSVM", "Ranking SVM"),
    "rsvm-ir": RankerEntry("ranksvm", "RankSVMIR", "RSVM-IR: pairs weighed by grades (τ) and by query (μ)"),
    "rsvm-ir-gd": RankerEntry(
        "ranksvm", "RankSVMIR", "RSVM-IR by gradient descent instead of the exact solver", GRADIENT_DESCENT
    ),
    "rsvm-ir-rank": RankerEntry(
        "ranksvm", "RankSVMIR", "RSVM-IR, pairs weighed by grades alone; cost-sensitive SVM", {"mu": False}
    ),
    "rsvm-ir-query": RankerEntry("ranksvm", "RankSVMIR", "RSVM-IR, pairs weighed by query alone", {"tau": False}),
    "rsvm-knn": RankerEntry(
        "knn_ranksvm", "KNNRankSVM", "Ranking SVM on the training queries nearest to the query (Geng et al.)"
    ),
    "mhr": RankerEntry("ordrank", "MHR", "a hyperplane for each two grades, Borda count"),
    "mhr-weighted": RankerEntry("ordrank", "MHR", "MHR with votes weighed by margins", {"votes": "score"}),
    "ordrank": RankerEntry("ordrank", "OrdRank", "OrdRank: a hyperplane for each two adjacent grades, mean vote"),
    "ordrank-weighted": RankerEntry("ordrank", "OrdRank", "OrdRank with votes weighed by margins", {"votes": "score"}),
    "rankboost": RankerEntry("rankboost", "RankBoost", "RankBoost: threshold rules on pairs"),
    "rankboost-qd": RankerEntry(
        "query_dependent_rankboost", "QueryDependentRankBoost", "RankBoost with a query-dependent loss"
    ),
    "exponential": RankerEntry(
        "query_dependent_rankboost",
        "QueryDependentRankBoost",
        "the same with one loss for all queries",
        {"categories": False},
    ),
    "lambdamart": RankerEntry("lambdamart", "LambdaMART", "LambdaMART: boosted trees on the gradients of NDCG (LightGBM)"),
    "svm": RankerEntry("classifiers", "SVMClassifier", "a classifier, relevant or not: support vector machine"),
    "maxent": RankerEntry("classifiers", "MaxEntClassifier", "a classifier, relevant or not: maximum entropy"),
    "linear": RankerEntry("baselines", "LinearRanker", "fixed weights, given by hand"),
    "single": RankerEntry("baselines", "SingleFeatureRanker", "one feature as it is"),
}


def make_ranker(name: str, settings: Mapping[str, Any] | None = None) -> Ranker:
    """The ranker of this name; settings given as text are parsed as JSON where possible."""
    if name not in RANKERS:
        raise unknown_name("ranker", name, RANKERS)
    entry = RANKERS[name]
    ranker_class: type[Ranker] = getattr(
        import_module(f"searchlab.rankers.estimators.{entry.module}"), entry.class_name
    )
    known = inspect.signature(ranker_class).parameters
    chosen = dict(entry.settings)
    for key, value in (settings or {}).items():
        if key not in known:
            raise unknown_name(f"setting of {name}", key, known)
        chosen[key] = _parse_setting(value) if isinstance(value, str) else value
    ranker = ranker_class(**chosen)
    try:
        ranker._check_settings()
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from None
    return ranker


def _parse_setting(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
