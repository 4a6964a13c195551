"""Feature tables: a row for each pair of a query and a document, a column for each feature.

NaN is an undefined value, which is not the same as 0. The rows of a query are adjacent, in their original order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import DuplicateError, RecordError, SettingError, unknown_name
from searchlab.notebook_html import MAX_ROWS, Cell, html_block, html_table
from searchlab.row_groups import find_duplicate, group_rows
from searchlab.types import Array

# Columns of features that a notebook shows.
MAX_SHOWN_FEATURES = 8


@dataclass(frozen=True, init=False, eq=False, repr=False)
class FeatureTable:
    """Rows × features, checked and grouped by query on construction.

    `values` is float64; `grades` is int64 if all grades are whole numbers, float64 otherwise, and None if nothing was
    judged. `docnos` may be empty strings. `comments` are those of the file that the rows were read from, if it has any.
    All of them are read-only arrays, those of strings of dtype object. `was_regrouped` is whether the queries were
    interleaved. Query i, in order of first appearance, has the rows `group_offsets[i]:group_offsets[i + 1]`.
    """

    names: tuple[str, ...]
    qids: Array
    docnos: Array
    values: npt.NDArray[np.float64]
    grades: Array | None = None
    comments: Array | None = None
    was_regrouped: bool = field(default=False, init=False)
    group_offsets: npt.NDArray[np.int64] = field(init=False)

    def __init__(
        self,
        names: Iterable[str],
        qids: Sequence[str] | Array,
        docnos: Sequence[str] | Array,
        values: npt.ArrayLike,
        grades: npt.ArrayLike | None = None,
        comments: Sequence[str] | Array | None = None,
    ) -> None:
        grouped_by = _strings(qids)
        columns: dict[str, Array | None] = {
            "qids": grouped_by,
            "docnos": _strings(docnos),
            "values": np.ascontiguousarray(values, dtype=np.float64),
            "grades": None if grades is None else _whole_if_possible(np.asarray(grades)),
            "comments": None if comments is None else _strings(comments),
        }
        checked = check_feature_names(names)
        _check_shapes(len(grouped_by), len(checked), columns)
        offsets, order = group_rows(grouped_by)
        for name, column in columns.items():
            if column is not None:
                column = (column if order is None else column[order]).view()
                column.flags.writeable = False
            object.__setattr__(self, name, column)
        object.__setattr__(self, "names", checked)
        object.__setattr__(self, "group_offsets", offsets)
        object.__setattr__(self, "was_regrouped", order is not None)
        self._check_rows()

    def __repr__(self) -> str:
        return f"FeatureTable({self.n_rows} rows, {self.n_features} features, {self.n_queries} queries)"

    @property
    def n_rows(self) -> int:
        """The number of pairs."""
        return len(self.qids)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.group_offsets) - 1

    @property
    def query_ids(self) -> list[str]:
        """Each qid once, in the order of the rows."""
        return list(self.qids[self.group_offsets[:-1]])

    def queries(self) -> Iterator[tuple[str, slice]]:
        """Each query with its rows."""
        for qid, (start, end) in zip(self.query_ids, pairwise(self.group_offsets.tolist()), strict=True):
            yield qid, slice(start, end)

    def column(self, name: str) -> npt.NDArray[np.float64]:
        """The values of one feature."""
        return self.values[:, self._number(name)]

    def select(self, names: Iterable[str]) -> FeatureTable:
        """The table with these features, in this order."""
        chosen = tuple(names)
        return self.with_values(self.values[:, [self._number(name) for name in chosen]], chosen)

    def with_values(self, values: npt.ArrayLike, names: Iterable[str] | None = None) -> FeatureTable:
        """The same rows with other values, and other names if they are other features."""
        # The rows are not checked again: in a search that would take longer than computing the values.
        checked = self.names if names is None else check_feature_names(names)
        read_only = np.ascontiguousarray(values, dtype=np.float64).view()
        read_only.flags.writeable = False
        _check_shapes(self.n_rows, len(checked), {"values": read_only})
        table = copy(self)
        for name, value in (("names", checked), ("values", read_only), ("was_regrouped", False)):
            object.__setattr__(table, name, value)
        table._check_values()
        return table

    def with_grades(self, grades: npt.ArrayLike | None) -> FeatureTable:
        """The same rows with other grades."""
        return FeatureTable(self.names, self.qids, self.docnos, self.values, grades, self.comments)

    def only(self, qids: Collection[str]) -> FeatureTable:
        """The rows of some queries, in the order of this table."""
        wanted = set(qids)
        unknown = sorted(wanted.difference(self.query_ids))
        if unknown:
            raise SettingError(f"query {excerpt(unknown[0])} has no rows; there are {self.n_queries} queries")
        chosen = np.array([qid in wanted for qid in self.query_ids], dtype=bool)
        return self.rows(np.repeat(chosen, np.diff(self.group_offsets)))

    def rows(self, chosen: Array | slice) -> FeatureTable:
        """Some of the rows, selected by a NumPy index."""
        return FeatureTable(
            self.names,
            self.qids[chosen],
            self.docnos[chosen],
            self.values[chosen],
            None if self.grades is None else self.grades[chosen],
            None if self.comments is None else self.comments[chosen],
        )

    def to_dataframe(self, *, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars: qid, docno, relevance if there are grades, and the features."""
        from searchlab.dataframes import make_dataframe

        columns: dict[str, Any] = {"qid": self.qids, "docno": self.docnos}
        if self.grades is not None:
            columns["relevance"] = self.grades
        for number, name in enumerate(self.names):
            if name in columns:
                raise SettingError(f"a feature is called {name}, as another column of the DataFrame; expected another")
            columns[name] = self.values[:, number]
        return make_dataframe(columns, polars=polars)

    def _repr_html_(self) -> str:
        names = self.names[:MAX_SHOWN_FEATURES]
        graded = () if self.grades is None else ("relevance",)
        rows: list[list[Cell]] = []
        for row in range(min(self.n_rows, MAX_ROWS)):
            grades = [] if self.grades is None else [self.grades[row].item()]
            values = self.values[row, : len(names)].tolist()
            shown = [None if np.isnan(value) else value for value in values]
            rows.append([str(self.qids[row]), str(self.docnos[row]), *grades, *shown])
        rest = [(self.n_rows - len(rows), "rows"), (self.n_features - len(names), "features")]
        more = " and ".join(f"{number:,} more {what}" for number, what in rest if number)
        caption = f"Features: {self.n_rows:,} rows, {self.n_features:,} features, {self.n_queries:,} queries"
        return html_block(
            caption, html_table(("qid", "docno", *graded, *names), rows), note=f"… and {more}" if more else ""
        )

    def equals(self, other: FeatureTable) -> bool:
        """Whether both tables are equal, with NaN equal to NaN."""
        return (
            self.names == other.names
            and np.array_equal(self.values, other.values, equal_nan=True)
            and all(
                _equal(mine, theirs)
                for mine, theirs in [
                    (self.qids, other.qids),
                    (self.docnos, other.docnos),
                    (self.grades, other.grades),
                    (self.comments, other.comments),
                ]
            )
        )

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name("feature", name, self.names)
        return self.names.index(name)

    def _location(self, row: int) -> str:
        return f"row {row + 1} (query {self.qids[row]}, document {self.docnos[row] or 'without a docno'})"

    def _check_rows(self) -> None:
        for qid in self.query_ids:
            if not isinstance(qid, str) or len(qid.split()) != 1:
                raise SettingError(f"qid is {qid!r}, expected a word without blanks")
        duplicate = find_duplicate(self.docnos, self.group_offsets)
        if duplicate is not None:
            first, second = duplicate
            raise DuplicateError(self._location(second), f"occurs already as row {first + 1}, expected once")
        self._check_values()
        if self.grades is not None and not np.isfinite(self.grades).all():
            row = int(np.flatnonzero(~np.isfinite(self.grades))[0])
            raise RecordError(self._location(row), f"grade is {self.grades[row]}, expected a finite number")

    def _check_values(self) -> None:
        if self.values.size and _any_infinite(self.values):
            row, number = np.argwhere(np.isinf(self.values))[0]
            found = f"feature {self.names[number]} is {self.values[row, number]}"
            raise RecordError(self._location(row), f"{found}, expected a finite number, or NaN where it is undefined")


def require_table(value: object, name: str = "table") -> FeatureTable:
    """A table as it is; raises SettingError for anything else."""
    if not isinstance(value, FeatureTable):
        raise SettingError(
            f"{name} is {type(value).__name__}, expected a FeatureTable, as read_letor and extract give it"
        )
    return value


def concat(tables: Sequence[FeatureTable]) -> FeatureTable:
    """The rows of all tables, which must have the same features; a query may have rows in several of them."""
    if not tables:
        raise SettingError("found no tables to concatenate, expected at least one")
    first = tables[0]
    for table in tables[1:]:
        if table.names != first.names:
            differing = sorted(set(table.names) ^ set(first.names)) or ["another order"]
            raise SettingError(f"tables differ in their features ({', '.join(differing[:5])}), expected the same")
        if (table.grades is None) != (first.grades is None):
            raise SettingError("some tables have grades and some have none, expected all or none")
    grades = [table.grades for table in tables if table.grades is not None]
    has_comments = any(table.comments is not None for table in tables)
    comments = [_strings([""] * table.n_rows) if table.comments is None else table.comments for table in tables]
    return FeatureTable(
        first.names,
        np.concatenate([table.qids for table in tables]),
        np.concatenate([table.docnos for table in tables]),
        np.concatenate([table.values for table in tables]),
        np.concatenate(grades) if grades else None,
        np.concatenate(comments) if has_comments else None,
    )


def check_feature_names(names: Iterable[str]) -> tuple[str, ...]:
    """Check names of features: words without blanks, each once."""
    checked = tuple(names)
    for name in checked:
        if not isinstance(name, str) or len(name.split()) != 1:
            raise SettingError(f"feature is called {name!r}, expected a word without blanks")
    if len(set(checked)) < len(checked):
        duplicate = next(name for number, name in enumerate(checked) if name in checked[:number])
        raise SettingError(f"two features are called {duplicate}, expected distinct names")
    return checked


def _strings(column: Sequence[str] | Array) -> Array:
    return np.array(column, dtype=object) if not isinstance(column, np.ndarray) else column.astype(object, copy=False)


def _whole_if_possible(grades: Array) -> Array:
    if grades.dtype.kind in "iub":
        return grades.astype(np.int64, copy=False)
    floats = grades.astype(np.float64)
    whole = np.isfinite(floats).all() and (np.abs(floats) < 2**53).all() and (floats == np.floor(floats)).all()
    return floats.astype(np.int64) if whole else floats


def _check_shapes(n_rows: int, n_features: int, columns: dict[str, Array | None]) -> None:
    for name, column in columns.items():
        expected = (n_rows, n_features) if name == "values" else (n_rows,)
        if column is not None and column.shape != expected:
            raise SettingError(f"{name} have the shape {column.shape}, expected {expected}")


def _any_infinite(values: npt.NDArray[np.float64]) -> bool:
    # The extremes without NaN need no memory; isinf would allocate an eighth of the table.
    extremes: list[Any] = [np.fmax, np.fmin]
    return any(bool(np.isinf(extreme.reduce(values, axis=None))) for extreme in extremes)


def _equal(one: Array | None, other: Array | None) -> bool:
    return (one is None) == (other is None) and (one is None or other is None or np.array_equal(one, other))
