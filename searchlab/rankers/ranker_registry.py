"""Registry of rankers by their names on the command line.

An entry is a class and the settings that its name implies. Further settings are given as text, such as `C=0.01`. A
ranker of a user's own is registered by a decorator:

    @searchlab.ranker("forest")
    def forest(trees=100):
        return RandomForestRegressor(n_estimators=trees, random_state=0)
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from searchlab.errors import SearchlabError, SettingError, unknown_name
from searchlab.extensions import failure, register

if TYPE_CHECKING:
    from searchlab.rankers.estimators.base_ranker import Ranker


Factory = TypeVar("Factory", bound=Callable[..., Any])


class Entry(Protocol):
    """How a ranker is made."""

    @property
    def description(self) -> str:
        """The ranker in a few words."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that the name implies."""

    def load(self) -> Callable[..., Any]:
        """A class or function that makes the ranker of its settings."""


@dataclass(frozen=True)
class RankerEntry:
    """The class of a ranker, in a module of `rankers.estimators` that is imported on demand, and implied settings."""

    module: str
    class_name: str
    description: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Callable[..., Any]:
        """The class."""
        loaded: Callable[..., Any] = getattr(
            import_module(f"searchlab.rankers.estimators.{self.module}"), self.class_name
        )
        return loaded


@dataclass(frozen=True)
class OwnRankerEntry:
    """A class or function of a user's own."""

    factory: Callable[..., Any]
    description: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Callable[..., Any]:
        """The class or function."""
        return self.factory


# RSVM-IR-GD stops earlier than the exact solver: near the optimum its steps gain little.
GRADIENT_DESCENT = {"solver": "gd", "tolerance": 1e-3}

RANKERS: dict[str, Entry] = {
    "softmax": RankerEntry(
        "softmax", "SoftmaxRanker", "linear, each document against all of lower grades (softmax cross-entropy)"
    ),
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
    "lambdamart": RankerEntry(
        "lambdamart", "LambdaMART", "LambdaMART: boosted trees on the gradients of NDCG (LightGBM)"
    ),
    "svm": RankerEntry("classifiers", "SVMClassifier", "a classifier, relevant or not: support vector machine"),
    "maxent": RankerEntry("classifiers", "MaxEntClassifier", "a classifier, relevant or not: maximum entropy"),
    "linear": RankerEntry("baselines", "LinearRanker", "fixed weights, given by hand"),
    "single": RankerEntry("baselines", "SingleFeatureRanker", "one feature as it is"),
}


# The ranker that learns from candidates of a search, unless another is chosen.
SEARCH_RANKER = "softmax"

# The names that need no extension.
BUILT_IN = tuple(RANKERS)


def ranker(name: str, description: str = "") -> Callable[[Factory], Factory]:
    """Register a class or function that makes a ranker: an estimator with `fit` and `predict`.

    Its parameters are the ranker's settings. The description is by default the first line of its docstring.
    """

    def decorate(factory: Factory) -> Factory:
        if not callable(factory):
            raise SettingError(f"ranker {name} is {type(factory).__name__}, expected a class or function that makes it")
        first_line = (inspect.getdoc(factory) or "").partition("\n")[0]
        text = description or first_line or f"{factory.__module__}.{factory.__qualname__}"
        register(RANKERS, "ranker", name, OwnRankerEntry(factory, text), factory)
        return factory

    return decorate


def make_ranker(name: str, settings: Mapping[str, Any] | None = None) -> Ranker:
    """The ranker of this name; settings given as text are parsed as JSON where possible."""
    if name not in RANKERS:
        raise unknown_name("ranker", name, RANKERS)
    entry = RANKERS[name]
    factory = entry.load()
    known = inspect.signature(factory).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    chosen = dict(entry.settings)
    for key, value in (settings or {}).items():
        if key not in known and not takes_any:
            raise unknown_name(f"setting of {name}", key, known)
        chosen[key] = _parse_setting(value) if isinstance(value, str) else value
    try:
        return as_ranker(factory(**chosen))
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from None
    except SearchlabError:
        raise
    except Exception as error:
        raise failure(f"ranker {name} failed with its settings", factory, error) from error


def default_settings(name: str) -> dict[str, Any]:
    """The settings of a ranker with their defaults, by name."""
    entry = RANKERS[name]
    known = inspect.signature(entry.load()).parameters.values()
    defaults = {each.name: each.default for each in known if each.default is not each.empty}
    return dict(sorted({**defaults, **entry.settings}.items()))


def as_ranker(estimator: Any) -> Ranker:
    """A ranker of searchlab as it is, another estimator as an `EstimatorRanker`; its settings are checked."""
    from searchlab.rankers.estimators.base_ranker import Ranker
    from searchlab.rankers.estimators.estimator_ranker import EstimatorRanker

    made = estimator if isinstance(estimator, Ranker) else EstimatorRanker(estimator)
    made._check_settings()
    return made


def _parse_setting(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
