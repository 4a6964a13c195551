"""How can a linear model follow a bend?

A weight for a feature says that twice the value is worth twice as much. With the square and the root of the feature
beside it, the model can also learn that only the best matches count, or that more than a little adds nothing. For
values from 0 to 1, as most normalisations make them, all three are from 0 to 1; negative values keep their sign.
"""

from __future__ import annotations

import numpy as np

from searchlab.errors import unknown_name
from searchlab.features.feature_table import FeatureTable

# How the powers of a feature are called.
SUFFIXES = {2.0: "^2", 0.5: "^0.5"}
BENDS = ("none", "powers")


def bend(table: FeatureTable, how: str) -> FeatureTable:
    """The table with further columns for each feature, after all of its own: those of one power together."""
    if how not in BENDS:
        raise unknown_name("way to bend features", how, BENDS)
    if how == "none":
        return table
    values, names = [table.values], [*table.names]
    for power, suffix in SUFFIXES.items():
        values.append(np.sign(table.values) * np.abs(table.values) ** power)
        names += [name + suffix for name in table.names]
    return table.with_values(np.hstack(values), names)


def origin(name: str) -> str:
    """The feature that a column of a bent table comes from."""
    return next((name.removesuffix(suffix) for suffix in SUFFIXES.values() if name.endswith(suffix)), name)
