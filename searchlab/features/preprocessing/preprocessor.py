"""How does a table of raw features become what a ranker sees?

Undefined values are filled, features are normalised, and perhaps bent, in this order. The rules belong to the model
that was trained with them: they are kept in its bundle, and what is re-ranked later is prepared by the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from searchlab.errors import SettingError, unknown_name
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import Filling, filling_from_json, make_filling
from searchlab.features.preprocessing.normalisation import (
    Normalisation,
    Standard,
    make_normalisation,
    normalisation_from_json,
)
from searchlab.features.preprocessing.powers import BENDS, bend


@dataclass(frozen=True)
class Preparation:
    """The rules, with what they have learnt from training data if they learn anything."""

    filling: Filling
    normalisation: Normalisation
    bends: str = "none"

    def __post_init__(self) -> None:
        if self.bends not in BENDS:
            raise unknown_name("way to bend features", str(self.bends), BENDS)

    @classmethod
    def named(cls, filling: str = "query-minimum", normalisation: str = "query-minmax", bends: str = "none") -> Self:
        """The rules of these names."""
        return cls(make_filling(filling), make_normalisation(normalisation), bends)

    @property
    def label(self) -> str:
        """The rules in a few words."""
        parts = [self.filling.name, self.normalisation.name, *([self.bends] if self.bends != "none" else [])]
        return ", ".join(parts)

    def fit(self, table: FeatureTable) -> Self:
        """The same rules, with what they learn from a table to train with."""
        filling = self.filling.fit(table)
        return replace(self, filling=filling, normalisation=self.normalisation.fit(filling.transform(table)))

    def apply(self, table: FeatureTable) -> FeatureTable:
        """What the ranker sees."""
        return bend(self.normalisation.transform(self.filling.transform(table)), self.bends)

    def to_json(self) -> dict[str, Any]:
        """The rules as plain JSON."""
        return {
            "filling": self.filling.to_json(),
            "normalisation": self.normalisation.to_json(),
            "bends": self.bends,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """The rules that `to_json` wrote."""
        normalisation = normalisation_from_json(kept["normalisation"])
        if isinstance(normalisation, Standard):
            for number in (*normalisation.means, *normalisation.deviations):
                if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
                    raise SettingError(f"the normalisation standard has {number!r}, expected finite numbers")
        return cls(filling_from_json(kept["filling"]), normalisation, kept["bends"])
