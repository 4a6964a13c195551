"""What stands where a feature is undefined?

A rule, which belongs to the model that was trained with it:

    query-minimum   the smallest value that the feature has in the query, 0 if it has none there; some features can be
                    chosen to get 0 in any case
    letor           as LETOR 3.0 fills: by query-minimum, but BM25 and its logarithm with 0
    zero            0
    indicator       as query-minimum, and a further feature `name?` that is 1 where the feature is undefined, for each
                    feature that was so anywhere in training

With `letor`, the Feature-null files of LETOR 3.0 become its QueryLevelNorm files up to the rounding of the last digit;
with plain query-minimum, the query's worst match would have a BM25 of 0 after normalisation.

`fit` gives a new rule that has learnt what it needs; `transform` fills a table. A rule becomes plain JSON and back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.features.feature_table import FeatureTable, check_names
from searchlab.types import Floats

# BM25 and its logarithm on title, abstract and both, by their numbers in LETOR 3.0's files of OHSUMED and by our names.
LETOR_ZEROS = (
    *("f11", "f12", "f26", "f27", "f41", "f42"),
    *(f"letor.{stream}.{what}" for stream in ("title", "body", "both") for what in ("bm25", "log_bm25")),
)


class Filling(Protocol):
    """What fills undefined values."""

    name: ClassVar[str]

    def fit(self, table: FeatureTable) -> Filling:
        """The rule, with what it learns from a table to train with."""

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values."""

    def to_json(self) -> dict[str, Any]:
        """The rule as plain JSON, from which `filling_from_json` makes it again."""


@dataclass(frozen=True, slots=True)
class FillWithQueryMinimum:
    """The smallest value that the feature has in the query; 0 if it is undefined in all of the query.

    Those of the features called `zeros` that the table has get 0 in any case.
    """

    name: ClassVar[str] = "query-minimum"
    zeros: tuple[str, ...] = ()

    def fit(self, table: FeatureTable) -> FillWithQueryMinimum:
        """Nothing is learnt."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values."""
        return table.with_values(fill_with_query_minimum(table, self.zeros))

    def to_json(self) -> dict[str, Any]:
        """The rule as plain JSON."""
        return {"name": self.name} | ({"zeros": list(self.zeros)} if self.zeros else {})


@dataclass(frozen=True, slots=True)
class FillWithZero:
    """0, wherever a feature is undefined."""

    name: ClassVar[str] = "zero"

    def fit(self, table: FeatureTable) -> FillWithZero:
        """Nothing is learnt."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values."""
        return table.with_values(np.where(np.isnan(table.values), 0.0, table.values))

    def to_json(self) -> dict[str, Any]:
        """The rule as plain JSON."""
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class FillWithIndicator:
    """The query's minimum, and for each of the `marked` features a column that says where it was undefined."""

    name: ClassVar[str] = "indicator"
    marked: tuple[str, ...] | None = None

    def fit(self, table: FeatureTable) -> FillWithIndicator:
        """Learns which features are undefined anywhere."""
        ever = np.any(np.isnan(table.values), axis=0).tolist()
        return FillWithIndicator(tuple(name for name, undefined in zip(table.names, ever, strict=True) if undefined))

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table without undefined values, and with the indicators after its own features."""
        if self.marked is None:
            raise SettingError("the filling indicator has seen no table to learn from, expected fit before transform")
        undefined = np.isnan(table.select(self.marked).values)
        names = (*table.names, *(f"{name}?" for name in self.marked))
        return table.with_values(np.hstack([fill_with_query_minimum(table), undefined]), names)

    def to_json(self) -> dict[str, Any]:
        """The rule as plain JSON."""
        return {"name": self.name} | ({} if self.marked is None else {"marked": list(self.marked)})


FILLINGS: dict[str, Filling] = {
    "query-minimum": FillWithQueryMinimum(),
    "letor": FillWithQueryMinimum(LETOR_ZEROS),
    "zero": FillWithZero(),
    "indicator": FillWithIndicator(),
}


def make_filling(name: str) -> Filling:
    """The rule of this name, which has learnt nothing yet."""
    if name not in FILLINGS:
        raise unknown_name("filling", name, FILLINGS)
    return FILLINGS[name]


def filling_from_json(kept: Mapping[str, Any]) -> Filling:
    """The rule that `to_json` wrote."""
    rule = make_filling(kept.get("name", ""))
    if isinstance(rule, FillWithQueryMinimum):
        return FillWithQueryMinimum(check_names(kept.get("zeros", ())))
    if isinstance(rule, FillWithIndicator) and kept.get("marked") is not None:
        return FillWithIndicator(check_names(kept["marked"]))
    return rule


def fill_with_query_minimum(table: FeatureTable, zeros: Collection[str] = ()) -> Floats:
    """The values, with the smallest of query and feature in place of NaN; 0 for the features called `zeros`."""
    if not table.n_rows:
        return table.values
    smallest = np.fmin.reduceat(table.values, table.group_offsets[:-1], axis=0)
    smallest[np.isnan(smallest)] = 0.0
    smallest[:, [name in zeros for name in table.names]] = 0.0
    of_rows = np.repeat(smallest, np.diff(table.group_offsets), axis=0)
    return np.where(np.isnan(table.values), of_rows, table.values)
