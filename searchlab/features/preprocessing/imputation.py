"""Imputation: what replaces undefined feature values (NaN).

An imputation belongs to the model that was trained with it:

    query-minimum   the smallest value of the feature in the query, 0 if it has none there; chosen features always get 0
    letor           as LETOR 3.0: query-minimum, but BM25 and its logarithm get 0
    zero            0
    none            nothing: undefined values stay, for rankers that take them (trees)
    indicator       as query-minimum, and a further feature `name?` that is 1 where the feature is undefined, for each
                    feature that was undefined anywhere in training

With `letor`, the Feature-null files of LETOR 3.0 become its QueryLevelNorm files up to the rounding of the last digit;
with plain query-minimum, the worst match of a query would have a BM25 of 0 after normalisation.

`fit` returns a new imputation with what it has learnt; `transform` replaces the undefined values of a table. An
imputation is written as plain JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.features.feature_table import FeatureTable, check_feature_names
from searchlab.types import Floats

# BM25 and its logarithm on title, abstract and both, by their numbers in LETOR 3.0's files of OHSUMED and by our names.
LETOR_ZEROS = (
    *("f11", "f12", "f26", "f27", "f41", "f42"),
    *(f"letor.{stream}.{what}" for stream in ("title", "body", "both") for what in ("bm25", "log_bm25")),
)


class Imputation(Protocol):
    """Replaces undefined values."""

    name: ClassVar[str]

    def fit(self, table: FeatureTable) -> Imputation:
        """The imputation, with what it learns from the training table."""

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values."""

    def to_json(self) -> dict[str, Any]:
        """The imputation as plain JSON, the inverse of `imputation_from_json`."""


@dataclass(frozen=True, slots=True)
class QueryMinimumImputation:
    """The smallest value of the feature in the query; 0 if it is undefined in the whole query.

    Features named in `zeros` always get 0; the table need not have them.
    """

    name: ClassVar[str] = "query-minimum"
    zeros: tuple[str, ...] = ()

    def fit(self, table: FeatureTable) -> QueryMinimumImputation:
        """Learns nothing."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values."""
        return table.with_values(impute_query_minimum(table, self.zeros))

    def to_json(self) -> dict[str, Any]:
        """The imputation as plain JSON."""
        return {"name": self.name} | ({"zeros": list(self.zeros)} if self.zeros else {})


@dataclass(frozen=True, slots=True)
class ZeroImputation:
    """0 for every undefined value."""

    name: ClassVar[str] = "zero"

    def fit(self, table: FeatureTable) -> ZeroImputation:
        """Learns nothing."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values."""
        return table.with_values(np.where(np.isnan(table.values), 0.0, table.values))

    def to_json(self) -> dict[str, Any]:
        """The imputation as plain JSON."""
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class IndicatorImputation:
    """The query's minimum, and for each of the `marked` features a column that is 1 where it was undefined."""

    name: ClassVar[str] = "indicator"
    marked: tuple[str, ...] | None = None

    def fit(self, table: FeatureTable) -> IndicatorImputation:
        """Learns which features are undefined anywhere in the table."""
        undefined = np.any(np.isnan(table.values), axis=0).tolist()
        return IndicatorImputation(
            tuple(name for name, is_undefined in zip(table.names, undefined, strict=True) if is_undefined)
        )

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values, with the indicator columns at the end."""
        if self.marked is None:
            raise SettingError("the imputation indicator has seen no table, expected fit before transform")
        undefined = np.isnan(table.select(self.marked).values)
        names = (*table.names, *(f"{name}?" for name in self.marked))
        return table.with_values(np.hstack([impute_query_minimum(table), undefined]), names)

    def to_json(self) -> dict[str, Any]:
        """The imputation as plain JSON."""
        return {"name": self.name} | ({} if self.marked is None else {"marked": list(self.marked)})


@dataclass(frozen=True, slots=True)
class NoImputation:
    """Undefined values stay undefined."""

    name: ClassVar[str] = "none"

    def fit(self, table: FeatureTable) -> NoImputation:
        """Learns nothing."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The same table."""
        return table

    def to_json(self) -> dict[str, Any]:
        """The imputation as plain JSON."""
        return {"name": self.name}


IMPUTATIONS: dict[str, Imputation] = {
    "query-minimum": QueryMinimumImputation(),
    "letor": QueryMinimumImputation(LETOR_ZEROS),
    "zero": ZeroImputation(),
    "indicator": IndicatorImputation(),
    "none": NoImputation(),
}


def make_imputation(name: str) -> Imputation:
    """The imputation of this name, not yet fitted."""
    if name not in IMPUTATIONS:
        raise unknown_name("imputation", name, IMPUTATIONS)
    return IMPUTATIONS[name]


def name_of_imputation(imputation: Imputation) -> str:
    """The name by which `make_imputation` gives an imputation, fitted or not."""
    return next((name for name, each in IMPUTATIONS.items() if each == imputation), imputation.name)


def imputation_from_json(record: Mapping[str, Any]) -> Imputation:
    """The imputation that `to_json` wrote."""
    imputation = make_imputation(record.get("name", ""))
    if isinstance(imputation, QueryMinimumImputation):
        return QueryMinimumImputation(check_feature_names(record.get("zeros", ())))
    if isinstance(imputation, IndicatorImputation) and record.get("marked") is not None:
        return IndicatorImputation(check_feature_names(record["marked"]))
    return imputation


def impute_query_minimum(table: FeatureTable, zeros: Collection[str] = ()) -> Floats:
    """The values, with the feature's minimum in the query in place of NaN; 0 for the features named in `zeros`."""
    if not table.n_rows:
        return table.values
    smallest = np.fmin.reduceat(table.values, table.group_offsets[:-1], axis=0)
    smallest[np.isnan(smallest)] = 0.0
    smallest[:, [name in zeros for name in table.names]] = 0.0
    of_rows = np.repeat(smallest, np.diff(table.group_offsets), axis=0)
    return np.where(np.isnan(table.values), of_rows, table.values)
