"""Recipes: which ranker learns from which features, and by which measure its settings are chosen.

A ranker is trained by one of two named recipes:

    paper   the source's system and nothing else: the features as given, one value of the tuned setting chosen by
            validation, τ from NDCG@1 (Cao et al. 2006, §5.2) whatever measure chooses
    tuned   what we found better: powers of the features, an average over the best few values of the tuned setting, τ
            from NDCG@k if that measure chooses

For rankers that neither add powers, nor are averaged, nor weigh pairs by τ, the two are one and the same. A setting
given by the user (`powers`, `n_best`, `depth`) takes precedence over the recipe's, and is named in the label.

Learning may start from a prior, the weights of another model (`rankers/prior.py`). The tuned recipe for candidates of a
search starts from the built-in model where that fits the ranker and the features; all others start from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from searchlab.cluster.cluster import Cluster
from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.measures import parse_measure
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.bundle import columns_of
from searchlab.rankers.estimators.base_ranker import Ranker, require_whole
from searchlab.rankers.prior import Prior
from searchlab.rankers.ranker_registry import RANKERS, SEARCH_RANKER, as_ranker, make_ranker
from searchlab.records import Topic
from searchlab.training.selection import N_BEST, Choice, held_out_rows, select_model
from searchlab.training.shrinkage import shrink_to_prior
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Progress, no_progress

PAPER, TUNED = "paper", "tuned"
RECIPES: dict[str, str] = {
    PAPER: "the source's system: features as given, one value of the tuned setting, τ from NDCG@1",
    TUNED: f"powers of the features, the {N_BEST} best values of the tuned setting averaged, τ from the NDCG@k that "
    "chooses, the squared hinge of a classifier, where the ranker has them",
}


@dataclass(frozen=True)
class RecipeRules:
    """What a recipe does with a ranker.

    `n_averaged` is how many values of the `tuned` setting are averaged at most. `tau_depth` is the k of the NDCG@k that
    τ is derived from, None for rankers that do not weigh pairs by τ. `settings` are those in which the ranker's tuned
    recipe differs from the paper's.
    """

    powers: bool
    n_averaged: int
    tau_depth: int | None
    tuned: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()

    def describe(self) -> str:
        """The rules in a few words: no powers, one value of C, τ from NDCG@1."""
        parts = ["powers of the features" if self.powers else "no powers"]
        if self.tuned is not None:
            one, several = (
                f"one value of {self.tuned}",
                f"average over the {self.n_averaged} best values of {self.tuned}",
            )
            parts.append(one if self.n_averaged == 1 else several)
        if self.tau_depth is not None:
            parts.append(f"τ from NDCG@{self.tau_depth}")
        return ", ".join([*parts, *(f"{name}={value}" for name, value in self.settings)])

    def differences(self, other: RecipeRules) -> list[str]:
        """What these rules do that others do not, a few words for each."""
        parts = []
        if self.powers != other.powers:
            parts.append("powers" if self.powers else "no powers")
        if self.n_averaged != other.n_averaged:
            parts.append("not averaged" if self.n_averaged == 1 else f"average of {self.n_averaged}")
        if self.tau_depth != other.tau_depth:
            parts.append(f"depth {self.tau_depth}")
        changed = dict(self.settings).items() - dict(other.settings).items()
        return [*parts, *(f"{name}={value}" for name, value in sorted(changed))]


# A cross-validation is repeated N_REPEATS times, unless that were more than MAX_REPEATED_QUERIES queries.
N_REPEATS, MAX_REPEATED_QUERIES = 5, 1000

# Priors by name: the built-in model where it fits, and nothing. Others are `builtin`, and files of models.
AUTO, NO_PRIOR = "auto", "none"

# Defaults for candidates of a search. A document without any word of the query has no BM25: 0 distinguishes it from
# the worst match of the query, which the query's minimum would not. Powers were not found to help here.
SEARCH_DEFAULTS: Mapping[str, Any] = {
    "ranker": SEARCH_RANKER,
    "imputation": "letor",
    "measure": "nDCG@10",
    "dialect": "trec",
    "from_search": True,
    "prior": AUTO,
}


@dataclass(frozen=True)
class Recipe:
    """A ranker, the preprocessing of its features, and how its settings are chosen.

    `name` is one of `RECIPES`, which decides on powers and on how many of the best values are averaged unless `powers`
    and `n_best` are given; models that cannot be averaged are not. Without a validation set, settings are chosen on
    `n_parts` of the training queries, held out in turn. `n_folds` is for the cross-validation of the whole procedure; 0
    skips it. It is repeated `n_repeats` times with other folds, by default (None) 5 times if the ranker learns quickly,
    fewer if there are many queries. With `from_search` the rows are candidates of a search, for which powers were not
    found to help: the tuned recipe adds none.

    `prior` is what learning starts from: `none`, `auto` (the built-in model where it fits the tuned recipe of this
    ranker and the features), `builtin`, the path of a model, or a `Bundle`.

    `ranker` is a registered name, or an estimator: one of searchlab's, or anything with `fit(X, y)` and `predict(X)`.
    """

    ranker: Any = "rsvm-ir"
    settings: Mapping[str, Any] = field(default_factory=dict)
    imputation: str = "query-minimum"
    normalisation: str = "query-minmax"
    powers: bool | None = None
    measure: str = "AP"
    dialect: str = "letor3"
    n_parts: int = 4
    n_folds: int = 5
    seed: int = 0
    name: str = TUNED
    n_best: int | None = None
    from_search: bool = False
    prior: Any = NO_PRIOR
    n_repeats: int | None = None

    def __post_init__(self) -> None:
        if self.name not in RECIPES:
            raise unknown_name("recipe", str(self.name), RECIPES)
        if self.powers is not None and not isinstance(self.powers, bool):
            raise SettingError(f"powers is {self.powers!r}, expected true or false")
        for name, number in (("n_best", self.n_best), ("n_repeats", self.n_repeats)):
            if number is not None:
                require_whole(name, number)
        _ = self.preprocessor, self.validation_measure(), self._prior
        if self.imputation == "none" and not self.make_ranker().accepts_nan:
            raise SettingError(f"imputation is none, expected another: {self.ranker_name} takes no undefined values")
        for name, value, least in (("parts", self.n_parts, 2), ("folds", self.n_folds, 0), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least or (name, value) == ("folds", 1):
                expected = "0, or a whole number from 2" if name == "folds" else f"a whole number from {least}"
                raise SettingError(f"{name} is {value!r}, expected {expected}")

    @classmethod
    def for_search(cls, ranker: Any = SEARCH_RANKER, **given: Any) -> Recipe:
        """The recipe for candidates of a search: `SEARCH_DEFAULTS`, except what is `given`."""
        return cls(**{**SEARCH_DEFAULTS, "ranker": ranker, **given})

    @property
    def rules(self) -> RecipeRules:
        """What this recipe does, with what was given by the user."""
        usual = self._usual_rules(self.name)
        ranker = self.make_ranker()
        n_best = self.n_best if self.n_best is not None and _has_path(ranker, self.given_settings) else usual.n_averaged
        powers = usual.powers if self.powers is None else self.powers
        return RecipeRules(powers, n_best, _tau_depth(ranker), ranker.tuned, _chosen_settings(ranker))

    @property
    def is_shared(self) -> bool:
        """Whether the two recipes do the same with this ranker and what was given."""
        paper, tuned = (replace(self, name=name).rules for name in RECIPES)
        return paper == tuned

    @property
    def label(self) -> str:
        """The ranker, marked as tuned if that differs from the paper's recipe, and with what was given otherwise."""
        return ", ".join([self.ranker_name, *self._marks()])

    @property
    def inline_label(self) -> str:
        """The label within a sentence: rsvm-ir (tuned)."""
        marks = self._marks()
        return f"{self.ranker_name} ({', '.join(marks)})" if marks else self.ranker_name

    @property
    def ranker_name(self) -> str:
        """The registered name of the ranker, or that of the estimator's class."""
        return self.ranker if isinstance(self.ranker, str) else as_ranker(self.ranker).label

    @property
    def given_settings(self) -> Mapping[str, Any]:
        """The settings given by the user, in `settings` or in a ranker of searchlab."""
        if isinstance(self.ranker, str):
            return self.settings
        return {**as_ranker(self.ranker).changed_settings(), **self.settings}

    @property
    def ranker_description(self) -> str:
        """The ranker in a few words."""
        if isinstance(self.ranker, str):
            return RANKERS[self.ranker].description
        return " ".join(repr(self.ranker).split())

    def describe(self) -> str:
        """The recipe in a few words: recipe paper: no powers, one value of C, τ from NDCG@1."""
        return f"recipe {self.name}: {self.rules.describe()}"

    def to_json(self) -> dict[str, Any]:
        """What the recipe does, as plain JSON."""
        rules = self.rules
        return {
            "name": self.name,
            "label": self.label,
            "powers": rules.powers,
            "n_best": rules.n_averaged,
            "tau_depth": rules.tau_depth,
            **({} if self._prior is None else {"prior": self._prior.to_json()}),
        }

    @property
    def _prior(self) -> Prior | None:
        """The prior, whether or not it fits the features; None if there is none, or the ranker takes none by itself."""
        if self.prior is None or self.prior == NO_PRIOR:
            return None
        takes_one = self.make_ranker().takes_prior
        if self.prior == AUTO:
            return Prior.of(BUILTIN) if takes_one and self.name == TUNED else None
        if not takes_one:
            raise SettingError(
                f"a prior for {self.ranker_name}, expected softmax, a Ranking SVM with solver=qp, or prior none"
            )
        return Prior.of(self.prior)

    def for_topics(self, topics: Sequence[Topic]) -> Recipe:
        """The same recipe; without a prior if that would be the built-in model by itself, and it knows the topics.

        What was learnt from topics would make a cross-validation over them look too good.
        """
        if self.prior != AUTO or self._prior is None or not self._prior.bundle.known_topics(topics, "", lambda: ()):
            return self
        return replace(self, prior=NO_PRIOR)

    def find_prior(self, table: FeatureTable) -> Prior | None:
        """The prior for a table; one that was asked for by name must fit its features."""
        prior = self._prior
        if prior is None:
            return None
        misfit = prior.find_misfit(columns_of(table.names, self.preprocessor.fit(table)), self.preprocessor)
        if misfit and self.prior != AUTO:
            raise SettingError(f"prior {prior.name}: {misfit}")
        return None if misfit else prior

    def make_ranker(self) -> Ranker:
        """The ranker, not fitted yet; if it is tuned by NDCG@k, pairs are weighted (τ) by it unless `depth` is set."""
        return self._make_ranker(self.name, self.given_settings)

    @property
    def preprocessor(self) -> Preprocessor:
        """The preprocessing of the features, not fitted yet."""
        return Preprocessor.named(self.imputation, self.normalisation, self.rules.powers)

    @property
    def is_quick(self) -> bool:
        """Whether the ranker learns in about a second from a hundred queries."""
        return self.make_ranker().is_quick

    def count_repeats(self, n_queries: int) -> int:
        """How many times the cross-validation of these queries is repeated."""
        if self.n_repeats is not None:
            return self.n_repeats
        return max(1, min(N_REPEATS, MAX_REPEATED_QUERIES // max(1, n_queries))) if self.is_quick else 1

    def validation_measure(self, qrels: Mapping[str, Mapping[str, int]] | None = None) -> ValidationMeasure:
        """The measure that settings are chosen by; see `ValidationMeasure` for `qrels`."""
        return ValidationMeasure(self.measure, self.dialect, qrels)

    def learn(
        self,
        train: FeatureTable,
        measure: ValidationMeasure,
        valid: FeatureTable | None = None,
        progress: Progress = no_progress,
        cluster: Cluster | None = None,
    ) -> Choice:
        """Train the ranker and choose its settings, on these rows alone; a cluster may try the settings.

        A setting that the user gave is not chosen, even if its value is the default.
        """
        ranker, prior = self.make_ranker(), self.find_prior(train)
        alternatives = []
        if prior is not None:
            # A prior may mislead: where settings are chosen, models that start from nothing are tried beside.
            is_chosen = ranker.tuned is not None and ranker.tuned not in self.given_settings
            alternatives = [self.make_ranker()] if is_chosen else []
            ranker.set_params(prior=prior.weights_for(columns_of(train.names, self.preprocessor.fit(train))))
        choice = select_model(
            ranker,
            train,
            measure=measure,
            valid=valid,
            n_parts=0 if valid is not None else self.n_parts,
            preprocessors=[self.preprocessor],
            values=[None] if ranker.tuned in self.given_settings else None,
            n_best=self.rules.n_averaged,
            seed=self.seed,
            progress=progress,
            alternatives=alternatives,
            cluster=cluster,
        )
        if prior is None or not alternatives:
            return replace(choice, prior=prior)
        parts = (
            [train.rows(rows) for rows in held_out_rows(train, self.n_parts, self.seed)] if valid is None else [valid]
        )
        return shrink_to_prior(choice, prior, train, parts, measure)

    def _marks(self) -> list[str]:
        """How the recipe differs from the paper's."""
        rules, paper = self.rules, self._usual_rules(PAPER)
        if rules == paper or self.name == PAPER:
            return rules.differences(paper)
        return [TUNED, *rules.differences(self._usual_rules(TUNED))]

    def _make_ranker(self, name: str, settings: Mapping[str, Any]) -> Ranker:
        ranker = self._given_ranker(settings)
        if name == TUNED:
            ranker.set_params(**{key: value for key, value in ranker.tuned_settings.items() if key not in settings})
        measure = parse_measure(self.measure)
        if name == TUNED and "depth" in ranker.get_params() and "depth" not in settings and measure.family == "nDCG":
            ranker.set_params(depth=measure.cutoff or ranker.get_params()["depth"])
        return ranker

    def _given_ranker(self, settings: Mapping[str, Any]) -> Ranker:
        """The ranker by name or the given estimator, not fitted yet, with these settings."""
        if isinstance(self.ranker, str):
            return make_ranker(self.ranker, settings)
        return as_ranker(self.ranker).with_settings(settings)

    def _usual_rules(self, name: str) -> RecipeRules:
        """What the recipe of this name does if nothing else is given."""
        unusual = {"depth", *self._given_ranker(self.given_settings).tuned_settings}
        settings = {key: value for key, value in self.given_settings.items() if key not in unusual}
        ranker = self._make_ranker(name, settings)
        is_tuned = name == TUNED
        n_averaged = N_BEST if is_tuned and _has_path(ranker, settings) else 1
        return RecipeRules(
            is_tuned and ranker.powers and not self.from_search,
            n_averaged,
            _tau_depth(ranker),
            ranker.tuned,
            _chosen_settings(ranker),
        )


def choose_recipe(ranker: Any, recipe: Recipe | None, make: Callable[..., Recipe]) -> Recipe:
    """The given recipe, or the one that `make` gives for a ranker, or for none."""
    if recipe is None:
        return make() if ranker is None else make(ranker)
    if not isinstance(recipe, Recipe):
        found = repr(recipe) if isinstance(recipe, str) else type(recipe).__name__
        given = repr(recipe) if isinstance(recipe, str) else "…"
        raise SettingError(f"recipe is {found}, expected a Recipe; a ranker is given as ranker={given}")
    if ranker is not None:
        raise SettingError("found a ranker and a recipe, expected one of them: the recipe names the ranker")
    return recipe


def _has_path(ranker: Ranker, settings: Mapping[str, Any]) -> bool:
    """Whether several values of the tuned setting are tried, and their models can be averaged."""
    return ranker.averaged and ranker.tuned not in settings


def _chosen_settings(ranker: Ranker) -> tuple[tuple[str, Any], ...]:
    """The settings in which the two recipes of this ranker differ, with their values."""
    settings = ranker.get_params()
    return tuple((name, settings[name]) for name in ranker.tuned_settings)


def _tau_depth(ranker: Ranker) -> int | None:
    """The k of the NDCG@k that τ is derived from; None if pairs are not weighed by τ, or τ is given by hand."""
    settings = ranker.get_params()
    return int(settings["depth"]) if settings.get("tau") is True else None
