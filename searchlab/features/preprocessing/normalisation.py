"""Normalisation: bringing features to a common scale.

    query-minmax   (x - min) / (max - min) within the query: LETOR's QueryLevelNorm
    query-zscore   (x - mean) / deviation within the query
    query-rank     (rank - 1) / (n - 1) within the query, from the smallest value up; equal values share their mean rank
    standard       (x - mean) / deviation, both learnt from the training table
    none           x

The deviation is that of the population (divided by n). A constant feature, for which the formula would divide by 0 (or
by less than 1e-307), becomes 0; as ranks, equal values all become ½. Undefined values (NaN) stay undefined, and the
others are normalised as if those were absent.

`fit` returns a new normalisation with what it has learnt; `transform` normalises a table. All but ranks are affine,
normalised = scale·x + shift, so that the weight of a normalised value can be expressed as one of the raw value:
`affine` returns scale and shift of each query. `explain` describes how one row was normalised.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, unknown_name
from searchlab.features.feature_table import FeatureTable
from searchlab.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """normalised = scale·raw + shift; both have a row for each query of the table, and a column for each feature."""

    scale: Floats
    shift: Floats


@dataclass(frozen=True, slots=True)
class NormalisedValue:
    """A raw value, its normalised value, and how that is computed (`text`); scale and shift if it is affine."""

    feature: str
    raw: float
    normalised: float
    text: str
    scale: float | None = None
    shift: float | None = None


class Normalisation(Protocol):
    """Brings features to a common scale."""

    name: ClassVar[str]

    def fit(self, table: FeatureTable) -> Normalisation:
        """The normalisation, with what it learns from the training table."""

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table with normalised values."""

    def affine(self, table: FeatureTable) -> Affine | None:
        """Scale and shift for each query of a table of raw values; None if the normalisation is not affine."""

    def explain(self, table: FeatureTable, row: int) -> list[NormalisedValue]:
        """How the features of one row of a table of raw values are normalised."""

    def to_json(self) -> dict[str, Any]:
        """The normalisation as plain JSON, the inverse of `normalisation_from_json`."""


class _AffineNormalisation(ABC):
    """(x - centre) / spread, which a subclass computes for each query; 0 where the spread is 0."""

    name: ClassVar[str]
    words: ClassVar[str]

    @abstractmethod
    def _centre_and_spread(self, table: FeatureTable) -> tuple[Floats, Floats]:
        """Centre and spread of each query and feature."""

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table with normalised values."""
        centre, spread = self._centre_and_spread(table)
        sizes = np.diff(table.group_offsets)
        values = table.values - np.repeat(centre, sizes, axis=0)
        # Where the spread is 0, the division by 1 keeps NaN and the multiplication makes the rest 0.
        values /= np.repeat(np.where(spread > 0, spread, 1.0), sizes, axis=0)
        if not (spread > 0).all():
            values *= np.repeat(spread > 0, sizes, axis=0)
            values += 0.0  # no -0.0
        return table.with_values(values)

    def affine(self, table: FeatureTable) -> Affine:
        """Scale and shift for each query of a table of raw values."""
        centre, spread = self._centre_and_spread(table)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        return Affine(scale, -centre * scale)

    def explain(self, table: FeatureTable, row: int) -> list[NormalisedValue]:
        """How the features of one row of a table of raw values are normalised."""
        query, row = _query_of(table, row)
        centre, spread = (part[0] for part in self._centre_and_spread(query))
        affine, normalised = self.affine(query), self.transform(query).values[row]
        return [
            NormalisedValue(
                name,
                float(query.values[row, n]),
                float(normalised[n]),
                self._describe(query.values[row, n], centre[n], spread[n]),
                float(affine.scale[0, n]),
                float(affine.shift[0, n]),
            )
            for n, name in enumerate(table.names)
        ]

    def _describe(self, raw: float, centre: float, spread: float) -> str:
        if math.isnan(raw):
            return "undefined"
        return f"({raw:.6g} - {centre:.6g}) / {spread:.6g}, {self.words}" if spread > 0 else f"constant, {self.words}"


@dataclass(frozen=True, slots=True)
class QueryMinMax(_AffineNormalisation):
    """From 0 for the query's smallest value to 1 for its largest."""

    name: ClassVar[str] = "query-minmax"
    words: ClassVar[str] = "by smallest value and range of the query"

    def fit(self, table: FeatureTable) -> QueryMinMax:
        """Learns nothing."""
        return self

    def to_json(self) -> dict[str, Any]:
        """The normalisation as plain JSON."""
        return {"name": self.name}

    def _centre_and_spread(self, table: FeatureTable) -> tuple[Floats, Floats]:
        smallest, largest = _extremes(table.values, table.group_offsets[:-1])
        return _zero_for_nan(smallest), _divisor(largest - smallest)


@dataclass(frozen=True, slots=True)
class QueryZScore(_AffineNormalisation):
    """Mean 0 and deviation 1 within the query."""

    name: ClassVar[str] = "query-zscore"
    words: ClassVar[str] = "by mean and deviation of the query"

    def fit(self, table: FeatureTable) -> QueryZScore:
        """Learns nothing."""
        return self

    def to_json(self) -> dict[str, Any]:
        """The normalisation as plain JSON."""
        return {"name": self.name}

    def _centre_and_spread(self, table: FeatureTable) -> tuple[Floats, Floats]:
        return _moments(table.values, table.group_offsets)


@dataclass(frozen=True, slots=True)
class Standard(_AffineNormalisation):
    """Mean 0 and deviation 1 over all rows of the training table."""

    name: ClassVar[str] = "standard"
    words: ClassVar[str] = "by mean and deviation in training"
    names: tuple[str, ...] | None = None
    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()

    def fit(self, table: FeatureTable) -> Standard:
        """Learns mean and deviation of each feature."""
        if not table.n_rows:
            raise SettingError("found no rows to learn means from, expected at least one")
        means, deviations = _moments(table.values, np.array([0, table.n_rows]))
        return Standard(table.names, tuple(means[0].tolist()), tuple(deviations[0].tolist()))

    def to_json(self) -> dict[str, Any]:
        """The normalisation as plain JSON."""
        if self.names is None:
            return {"name": self.name}
        columns = {"names": self.names, "means": self.means, "deviations": self.deviations}
        return {"name": self.name} | {key: list(column) for key, column in columns.items()}

    def _centre_and_spread(self, table: FeatureTable) -> tuple[Floats, Floats]:
        if self.names is None:
            raise SettingError("the normalisation standard has seen no table, expected fit before transform")
        if self.names != table.names:
            differing = sorted(set(self.names) ^ set(table.names)) or ["another order"]
            raise SettingError(
                f"features differ from those of training ({', '.join(differing[:5])}), expected the same"
            )
        shape = (table.n_queries, table.n_features)
        return np.broadcast_to(self.means, shape), np.broadcast_to(self.deviations, shape)


@dataclass(frozen=True, slots=True)
class Unchanged(_AffineNormalisation):
    """Raw values."""

    name: ClassVar[str] = "none"
    words: ClassVar[str] = "as it is"

    def fit(self, table: FeatureTable) -> Unchanged:
        """Learns nothing."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The same table."""
        return table

    def to_json(self) -> dict[str, Any]:
        """The normalisation as plain JSON."""
        return {"name": self.name}

    def _centre_and_spread(self, table: FeatureTable) -> tuple[Floats, Floats]:
        shape = (table.n_queries, table.n_features)
        return np.zeros(shape), np.ones(shape)

    def _describe(self, raw: float, centre: float, spread: float) -> str:
        return "undefined" if math.isnan(raw) else self.words


@dataclass(frozen=True, slots=True)
class QueryRank:
    """From 0 for the query's smallest value to 1 for its largest, in steps of equal size."""

    name: ClassVar[str] = "query-rank"

    def fit(self, table: FeatureTable) -> QueryRank:
        """Learns nothing."""
        return self

    def transform(self, table: FeatureTable) -> FeatureTable:
        """The table with normalised values."""
        values = np.empty_like(table.values)
        for _, rows in table.queries():
            ranks, counts = mean_ranks(table.values[rows])
            values[rows] = np.where(counts > 1, (ranks - 1) / np.maximum(counts - 1, 1), ranks - 0.5)
        return table.with_values(values)

    def affine(self, table: FeatureTable) -> None:
        """Ranks are not affine."""
        return

    def explain(self, table: FeatureTable, row: int) -> list[NormalisedValue]:
        """How the features of one row of a table of raw values are normalised."""
        query, row = _query_of(table, row)
        ranks, counts = mean_ranks(query.values)
        normalised = self.transform(query).values[row]
        texts = [
            "undefined" if math.isnan(rank) else f"rank {rank:g} of {count} in the query, from the smallest up"
            for rank, count in zip(ranks[row].tolist(), counts.tolist(), strict=True)
        ]
        raw = query.values[row].tolist()
        return [NormalisedValue(*parts) for parts in zip(table.names, raw, normalised.tolist(), texts, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """The normalisation as plain JSON."""
        return {"name": self.name}


NORMALISATIONS: dict[str, type[QueryMinMax | QueryZScore | QueryRank | Standard | Unchanged]] = {
    kind.name: kind for kind in (QueryMinMax, QueryZScore, QueryRank, Standard, Unchanged)
}


def make_normalisation(name: str) -> Normalisation:
    """The normalisation of this name, not yet fitted."""
    if name not in NORMALISATIONS:
        raise unknown_name("normalisation", name, NORMALISATIONS)
    return NORMALISATIONS[name]()


def normalisation_from_json(record: Mapping[str, Any]) -> Normalisation:
    """The normalisation that `to_json` wrote."""
    normalisation = make_normalisation(record.get("name", ""))
    if not isinstance(normalisation, Standard) or record.get("names") is None:
        return normalisation
    names, means, deviations = (tuple(record.get(key, ())) for key in ("names", "means", "deviations"))
    if not len(names) == len(means) == len(deviations):
        found = f"{len(means)} means and {len(deviations)} deviations"
        raise SettingError(f"the normalisation standard has {found}, expected {len(names)} of each")
    return Standard(names, means, deviations)


def mean_ranks(values: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Ranks of values in their columns, from 1, equal values with their mean rank; and the number of defined values."""
    n_rows = len(values)
    order = np.argsort(values, axis=0, kind="stable")  # NaN comes last
    ordered = np.take_along_axis(values, order, axis=0)
    begins = np.ones(values.shape, dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    ends = np.ones_like(begins)
    ends[:-1] = begins[1:]
    numbers = np.arange(n_rows)[:, np.newaxis]
    first = np.maximum.accumulate(np.where(begins, numbers, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, numbers, n_rows)[::-1], axis=0)[::-1]
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    undefined = np.isnan(values)
    ranks[undefined] = np.nan
    return ranks, n_rows - undefined.sum(axis=0)


def _query_of(table: FeatureTable, row: int) -> tuple[FeatureTable, int]:
    """The rows of a row's query, and the row's number among them."""
    if not 0 <= row < table.n_rows:
        raise SettingError(f"row is {row}, expected 0 to {table.n_rows - 1}")
    number = int(np.searchsorted(table.group_offsets, row, side="right")) - 1
    start, end = table.group_offsets[number : number + 2].tolist()
    return table.rows(slice(start, end)), row - start


def _extremes(values: Floats, starts: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    if not len(starts):
        return np.empty((0, values.shape[1])), np.empty((0, values.shape[1]))
    return np.fmin.reduceat(values, starts, axis=0), np.fmax.reduceat(values, starts, axis=0)


def _moments(values: Floats, offsets: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Mean and deviation of the defined values between the offsets; both are 0 where there are none."""
    smallest, largest = _extremes(values, offsets[:-1])
    if not len(smallest):
        return smallest, largest
    sizes = np.diff(offsets)
    defined = ~np.isnan(values)
    counts = np.maximum(np.add.reduceat(defined, offsets[:-1], axis=0, dtype=np.int64), 1)
    means = np.add.reduceat(np.where(defined, values, 0.0), offsets[:-1], axis=0) / counts
    # Deviations are computed in units of the range: squares of very small or large numbers would underflow or overflow.
    spread = _divisor(largest - smallest)
    unit = np.where(spread > 0, spread, 1.0)
    deviation = np.where(defined, values - np.repeat(means, sizes, axis=0), 0.0) / np.repeat(unit, sizes, axis=0)
    deviations = unit * np.sqrt(np.add.reduceat(deviation * deviation, offsets[:-1], axis=0) / counts)
    # By rounding, the mean of equal values may differ from them, and their deviation from 0.
    return np.where(spread > 0, means, _zero_for_nan(smallest)), np.where(spread > 0, _divisor(deviations), 0.0)


def _divisor(spread: Floats) -> Floats:
    """The spread, or 0 where it is so small that dividing by it would overflow."""
    return np.where(spread >= np.finfo(np.float64).tiny, spread, 0.0)


def _zero_for_nan(values: Floats) -> Floats:
    return np.where(np.isnan(values), 0.0, values)
