"""Registry of the kinds of models: reading any model from JSON, and averaging several of one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.kernel_model import KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.neighbourhood_model import NeighbourhoodModel
from searchlab.rankers.models.rule_model import RuleModel
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.rankers.models.voting_model import VotingModel

MODEL_KINDS: dict[str, type[Model]] = {
    LinearModel.kind: LinearModel,
    VotingModel.kind: VotingModel,
    RuleModel.kind: RuleModel,
    KernelModel.kind: KernelModel,
    NeighbourhoodModel.kind: NeighbourhoodModel,
    TreeModel.kind: TreeModel,
}


def model_from_json(record: Mapping[str, Any], n_features: int) -> Model:
    """The model that `to_json` wrote, which must have this number of features."""
    if not isinstance(record, Mapping):
        raise SettingError(f"a model is malformed (found {type(record).__name__}, expected names with values)")
    kind = str(record.get("kind", ""))
    if kind not in MODEL_KINDS:
        raise unknown_name("kind of model", kind, MODEL_KINDS)
    try:
        model = MODEL_KINDS[kind].from_json(record)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise SettingError(f"a {kind} model is malformed ({type(error).__name__}: {error})") from None
    if model.n_features != n_features:
        raise SettingError(f"a {kind} model has {model.n_features} features, expected {n_features}")
    return model


def average_models(models: Sequence[Model], spreads: Sequence[float]) -> Model:
    """The model whose scores are the mean of those of several models of one kind, each divided by its spread."""
    if len(models) == 1:
        return models[0]
    factors = [1 / (len(models) * spread) if spread > 0 else 0.0 for spread in spreads]
    return type(models[0]).average(models, factors)
