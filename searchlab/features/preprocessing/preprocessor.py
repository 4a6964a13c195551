"""Preprocessing: from a table of raw features to the columns that a model sees.

Undefined values are imputed, features are normalised, and powers are added if chosen, in this order. The preprocessor
belongs to the model that was trained with it: it is stored in the bundle, and applied again when the model re-ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import Imputation, imputation_from_json, make_imputation
from searchlab.features.preprocessing.normalisation import (
    Normalisation,
    Standard,
    make_normalisation,
    normalisation_from_json,
)
from searchlab.features.preprocessing.powers import add_powers


@dataclass(frozen=True)
class Preprocessor:
    """An imputation, a normalisation, and whether powers of the features are added."""

    imputation: Imputation
    normalisation: Normalisation
    powers: bool = False

    @classmethod
    def named(
        cls, imputation: str = "query-minimum", normalisation: str = "query-minmax", powers: bool = False
    ) -> Self:
        """The preprocessor with the imputation and the normalisation of these names."""
        return cls(make_imputation(imputation), make_normalisation(normalisation), powers)

    @property
    def label(self) -> str:
        """The names of the steps."""
        return ", ".join([self.imputation.name, self.normalisation.name, *(["powers"] if self.powers else [])])

    def fit(self, table: FeatureTable) -> Self:
        """The same steps, with what they learn from the training table."""
        imputation = self.imputation.fit(table)
        return replace(self, imputation=imputation, normalisation=self.normalisation.fit(imputation.transform(table)))

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The columns that the model sees."""
        normalised = self.normalisation.transform(self.imputation.transform(table))
        return add_powers(normalised) if self.powers else normalised

    def to_json(self) -> dict[str, Any]:
        """The preprocessor as plain JSON."""
        return {
            "imputation": self.imputation.to_json(),
            "normalisation": self.normalisation.to_json(),
            "powers": self.powers,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The preprocessor that `to_json` wrote."""
        normalisation = normalisation_from_json(record["normalisation"])
        if isinstance(normalisation, Standard):
            for number in (*normalisation.means, *normalisation.deviations):
                if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
                    raise SettingError(f"the normalisation standard has {number!r}, expected finite numbers")
        powers = record["powers"]
        if not isinstance(powers, bool):
            raise SettingError(f"powers is {powers!r}, expected true or false")
        return cls(imputation_from_json(record["imputation"]), normalisation, powers)
