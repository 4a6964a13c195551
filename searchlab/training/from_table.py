"""Training from a table of features, with cross-validation against the best single feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_values
from searchlab.extensions import origin_of
from searchlab.features.catalogue import FEATURE
from searchlab.features.feature_sets import look_up_feature
from searchlab.features.feature_table import FeatureTable, concat, require_table
from searchlab.features.user_defined.external_features import FORMULA, count_missing_scores, is_external
from searchlab.rankers.bundle import Bundle, fingerprint_of
from searchlab.rankers.estimators.base_ranker import Ranker
from searchlab.training.cross_validation import MIN_QUERIES, CrossValidationResult, cross_validate_table
from searchlab.training.recipe import NO_PRIOR, Recipe, choose_recipe
from searchlab.training.selection import Choice
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Progress, no_progress

BASELINE = "the best single feature"


def train_from_table(
    table: FeatureTable,
    valid: FeatureTable | None = None,
    *,
    ranker: Any = None,
    recipe: Recipe | None = None,
    source: str = "",
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
) -> Bundle:
    """A model trained on a table; settings are chosen on `valid`, or on parts of the training queries without it.

    A `ranker`, by name or as an estimator, is trained by `Recipe(ranker)`; a `recipe` decides on all of the training.
    Cross-validation runs over the queries of both tables. With a `cluster`, or its address, its workers learn the folds
    and the settings that are tried.
    """
    if isinstance(table, Recipe):
        raise SettingError("table is a Recipe, expected the table first: train_from_table(table, recipe=…)")
    train = require_table(table)
    recipe = choose_recipe(ranker, recipe, Recipe)
    measure = recipe.validation_measure()
    require_different_grades(train)
    both = train if valid is None else _concatenate(train, require_table(valid, "valid"))
    result = None
    if recipe.n_folds:
        if both.n_queries < MIN_QUERIES:
            found = f"{both.n_queries} quer{'y' if both.n_queries == 1 else 'ies'}"
            raise SettingError(f"{found} to cross-validate with, expected at least {MIN_QUERIES}, or 0 folds")
        recipe = replace(recipe, n_folds=min(recipe.n_folds, both.n_queries))
    with nullcontext() if cluster is None else as_cluster(cluster) as connected:
        if recipe.n_folds:
            result = _compare_with_single_feature(recipe, both, measure, progress, connected)
        choice = recipe.learn(train, measure, valid, progress, connected)
    return make_bundle(recipe, choice, train, valid, measure, result, source=source)


def _compare_with_single_feature(
    recipe: Recipe, table: FeatureTable, measure: ValidationMeasure, progress: Progress, cluster: Cluster | None
) -> CrossValidationResult:
    """Cross-validation of a recipe and of the best single feature, which is chosen on the training folds too."""
    imputation = "query-minimum" if recipe.imputation == "none" else recipe.imputation
    single = replace(recipe, ranker="single", settings={}, powers=None, imputation=imputation, prior=NO_PRIOR)
    values = {
        name: measure.per_query(table, cross_validate_table(each, table, measure, progress, cluster))
        for name, each in ((recipe.label, recipe), (BASELINE, single))
    }
    means = {name: {measure.name: float(np.mean(each))} for name, each in values.items()}
    compared = compare_values(
        recipe.inline_label, values[recipe.label], BASELINE, values[BASELINE], measure.name, seed=recipe.seed
    )
    return CrossValidationResult(
        recipe.label,
        table.n_queries,
        recipe.n_folds,
        recipe.dialect,
        means,
        (compared,),
        inline_name=recipe.inline_label,
    )


def require_storable(recipe: Recipe) -> None:
    """Refuse a ranker whose model cannot be written to a file, before any work is done."""
    if not recipe.make_ranker().storable:
        settings = ", ".join(f"{name}={value}" for name, value in recipe.settings.items())
        found = f"a model of {recipe.ranker_name}{f' ({settings})' if settings else ''}"
        raise SettingError(
            f"{found} cannot be written to a file, expected a variant that can; in Python it trains and cross-validates"
        )


def has_different_grades(table: FeatureTable) -> bool:
    """Whether two rows of one query have different grades."""
    if table.grades is None or not table.n_rows:
        return False
    starts = table.group_offsets[:-1]
    return bool(np.any(np.minimum.reduceat(table.grades, starts) < np.maximum.reduceat(table.grades, starts)))


def require_different_grades(table: FeatureTable) -> None:
    """Refuse a table without two rows of one query that have different grades."""
    if table.grades is None or not table.n_rows:
        raise SettingError(f"{table.n_rows} rows to train with, without grades, expected rows with grades")
    if not has_different_grades(table):
        raise SettingError(
            f"none of {table.n_queries} queries has documents of different grades: there is nothing to learn from"
        )


def make_bundle(
    recipe: Recipe,
    choice: Choice,
    train: FeatureTable,
    valid: FeatureTable | None,
    measure: ValidationMeasure,
    result: CrossValidationResult | None,
    *,
    source: str,
) -> Bundle:
    """The model with its features, its preprocessing, and a record of how it was trained and chosen."""
    tables = [train] if valid is None else [train, valid]
    grades = np.zeros(0) if train.grades is None else train.grades
    distinct, sizes = np.unique(grades, return_counts=True)
    tuned = choice.rankers[0].tuned
    was_validated = any(len(each.per_query) for each in choice.trials)
    by = "validation set" if valid is not None else f"{recipe.n_parts} parts of the training queries in turn"
    return Bundle(
        ranker=recipe.ranker_name,
        settings=_common_settings(choice.rankers),
        model=choice.model,
        features=train.names,
        preprocessor=choice.preprocessor,
        definitions=_definitions(train.names),
        origins={name: origin for name in train.names if (origin := origin_of(FEATURE, name)) is not None},
        training={
            "source": source,
            "fingerprint": fingerprint_of(*tables),
            "n_queries": train.n_queries,
            "n_rows": train.n_rows,
            "grades": {f"{grade:g}": size for grade, size in zip(distinct.tolist(), sizes.tolist(), strict=True)},
            "seed": recipe.seed,
            **({"missing_scores": missing} if (missing := count_missing_scores(train)) else {}),
            "details": [_plain(each.details_) for each in choice.rankers],
            **_extension_record(recipe),
        },
        choice={
            "measure": measure.name,
            "dialect": measure.dialect,
            "by": by if was_validated else "nothing: there was no choice",
            "setting": tuned,
            "tried": [
                {"value": _plain(each.value), "mean": each.mean} for each in choice.trials if len(each.per_query)
            ],
            "chosen": [_plain(trial.value) for trial in choice.chosen],
        },
        trial=None if result is None else result.to_json(),
        recipe=_recipe_record(recipe, choice),
    )


def _definitions(names: Sequence[str]) -> dict[str, str]:
    """The formulas of features, as far as they have one."""
    features = {name: look_up_feature(name) for name in names}
    external = {name: FORMULA for name in names if is_external(name)}
    return external | {name: feature.formula for name, feature in features.items() if feature is not None}


def _extension_record(recipe: Recipe) -> dict[str, Any]:
    """Where a ranker of a user's own comes from; the model is used without it."""
    origin = origin_of("ranker", recipe.ranker_name)
    return {} if origin is None else {"extension": origin.to_json()}


def _recipe_record(recipe: Recipe, choice: Choice) -> dict[str, Any]:
    """What the recipe has done; fewer models are averaged than it asks for if fewer values were tried."""
    n_averaged = len(choice.rankers)
    summary = replace(recipe.rules, n_averaged=n_averaged).describe()
    prior = None if choice.prior is None else choice.prior.to_json()
    if prior is not None:
        prior["share"] = choice.prior_share
        summary += f", learning starts from {prior['name']}"
        if recipe.make_ranker().tuned is not None:  # only then is the model shrunk towards the prior
            summary += f", whose share is {100 * choice.prior_share:.0f} %"
    given = {"given": _plain(recipe.settings)} if recipe.settings else {}
    return {**recipe.to_json(), **given, "averaged": n_averaged, "summary": summary, "prior": prior}


def _concatenate(train: FeatureTable, valid: FeatureTable) -> FeatureTable:
    """Both tables as one; they may not share a query."""
    shared = sorted(set(train.query_ids) & set(valid.query_ids))
    if shared:
        raise SettingError(
            f"query {shared[0]} is in the training set and in the validation set, expected in one of them"
        )
    return concat([train, valid])


def _common_settings(rankers: Sequence[Ranker]) -> dict[str, Any]:
    """The settings in which all rankers agree."""
    first, *others = [_plain(each.settings_record()) for each in rankers]
    return {name: value for name, value in first.items() if all(other[name] == value for other in others)}


def _plain(value: Any) -> Any:
    """A value as plain JSON, without types of numpy."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else value
