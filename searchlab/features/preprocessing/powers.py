"""Powers of features: the square and the square root beside each feature, for linear models.

A single weight makes twice the value worth twice as much. With the square and the root, a linear model can also learn
that only the best matches count, or that more than a little adds nothing. Values from 0 to 1, as most normalisations
produce them, have powers from 0 to 1; negative values keep their sign.
"""

from __future__ import annotations

import numpy as np

from searchlab.features.feature_table import FeatureTable

# The exponents, and what they append to the name of a feature.
POWER_SUFFIXES = {2.0: "^2", 0.5: "^0.5"}


def add_powers(table: FeatureTable) -> FeatureTable:
    """The table with the powers of all features as further columns, those of one exponent together."""
    values, names = [table.values], [*table.names]
    for exponent, suffix in POWER_SUFFIXES.items():
        values.append(np.sign(table.values) * np.abs(table.values) ** exponent)
        names += [name + suffix for name in table.names]
    return table.with_values(np.hstack(values), names)


def base_feature(name: str) -> str:
    """The feature that a column is a power of; the column itself if it is none."""
    return next((name.removesuffix(suffix) for suffix in POWER_SUFFIXES.values() if name.endswith(suffix)), name)
