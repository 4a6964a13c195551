"""Prior weights of linear rankers: what learning starts from, one weight for each feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.types import Floats


def check_prior(prior: Any) -> None:
    """Raise SettingError unless a prior is a list of finite weights."""
    try:
        weights = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.full((1, 1), np.nan)
    if weights.ndim != 1 or not np.isfinite(weights).all():
        raise SettingError("prior is malformed, expected a list of finite weights, one for each feature")


def prior_weights(prior: Any, n_features: int) -> Floats:
    """A prior as an array; it must have a weight for each feature."""
    weights = np.asarray(prior, dtype=np.float64)
    if len(weights) != n_features:
        raise SettingError(f"prior has {len(weights)} weights, expected one for each of {n_features} features")
    return weights
