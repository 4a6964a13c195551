"""The plan of an experiment over systems by their names: scorers that search, and rankers that are trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.measures import parse_measure
from searchlab.experiments.plan import ExperimentPlan, SystemPlan
from searchlab.features.feature_sets import DEFAULT_SET, make_feature_set
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.rankers.systems import MODEL, scorer_settings
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.training.from_table import require_storable
from searchlab.training.recipe import Recipe

# The rankers that learn from judgments.
TRAINABLE = tuple(name for name in RANKERS if name not in ("linear", "single"))
LABELS = {"bm25": "BM25", "bm25+rm3": "RM3", "bm25f": "BM25F"}


def plan_systems(
    title: str, output: Path, systems: Sequence[str], rankers: Sequence[str], measures: Sequence[str]
) -> ExperimentPlan:
    """A plan that compares scorers, such as bm25+rm3, and rankers with the first of them.

    The file of the plan is where `searchlab experiment` would have found it; nothing is read from it.
    """
    names = tuple(dict.fromkeys(parse_measure(name).name for name in measures))
    if not names:
        raise SettingError("found no measures, expected at least one")
    planned = [plan_scorer(name) for name in dict.fromkeys(systems)]
    planned += [plan_ranker(name, names[0]) for name in dict.fromkeys(rankers)]
    if len(planned) < 2:
        raise SettingError(f"found {len(planned)} systems, expected at least two to compare")
    return ExperimentPlan(
        file=output / "plan.toml",
        title=title,
        output=output,
        systems=tuple(planned),
        measures=names,
        baseline=planned[0].name,
    )


def plan_scorer(name: str) -> SystemPlan:
    """A scorer by its name, with settings and expansion."""
    if name.startswith(MODEL):
        raise SettingError(f"{name}: found a trained model, expected scorers and rankers, which are trained on folds")
    scorer, settings, expanded = scorer_settings(name)
    if scorer not in SCORERS:
        raise unknown_name("scorer", scorer, SCORERS)
    make_scorer(scorer, settings)
    return SystemPlan(LABELS.get(name, name), scorer, settings, expansion=RM3() if expanded else None)


def plan_ranker(name: str, measure: str = "nDCG@10") -> SystemPlan:
    """A ranker by its name, trained as `searchlab train` does, with settings chosen by a measure."""
    if name not in TRAINABLE:
        raise unknown_name("ranker", name, TRAINABLE)
    recipe = Recipe.for_search(name, measure=measure, n_folds=0)
    require_storable(recipe)
    return SystemPlan(recipe.label, recipe=recipe, features=make_feature_set(DEFAULT_SET))
