"""DataFrames of pandas and polars: their columns as arrays, and columns as a DataFrame.

Both packages are optional. A DataFrame is recognised by its type, so that neither is imported unless one is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.types import Array

LIBRARIES = ("pandas", "polars")
# The kinds of NumPy arrays that hold plain numbers: flags, signed and unsigned whole numbers, floats.
NUMBER_KINDS = "biuf"
ROWS_AT_ONCE = 10_000

Columns = Mapping[str, Any]


def is_dataframe(value: object) -> bool:
    """Whether a value is a DataFrame of pandas or polars."""
    return _library(value) in LIBRARIES and type(value).__name__ == "DataFrame"


def require_dataframe(value: object) -> None:
    """Raise SettingError if a value is no DataFrame."""
    if not is_dataframe(value):
        raise SettingError(
            f"expected a DataFrame of pandas or polars, found a {type(value).__name__}{frame_hint(value)}"
        )


def frame_hint(value: object) -> str:
    """How to make a DataFrame of a value of pandas or polars that is none, for messages; empty for other values."""
    kind = type(value).__name__ if _library(value) in LIBRARIES else ""
    return {"LazyFrame": " (call its method collect() first)", "Series": " (call its method to_frame() first)"}.get(
        kind, ""
    )


def index_hint(frame: Any) -> str:
    """That the index of a DataFrame of pandas has a name and may be the missing column, for messages; or nothing."""
    names = [str(name) for name in getattr(getattr(frame, "index", None), "names", ()) if name is not None]
    return f" ({', '.join(names)} is its index: call its method reset_index() first)" if names else ""


def refuse_id_in_index(frame: Any, kind: str, names: Iterable[str]) -> None:
    """Raise SettingError if no column of a DataFrame has one of these names of the id, but its index has a name."""
    hint = index_hint(frame)
    if hint and set(names).isdisjoint(column_names(frame)):
        found = ", ".join(map(str, column_names(frame))) or "none"
        raise SettingError(f"the DataFrame has the columns {found}; expected also: a {kind}{hint}")


def column_names(frame: Any) -> list[Any]:
    """The names of the columns, which in pandas need not be strings."""
    return list(frame.columns)


def column(frame: Any, name: Any) -> Array:
    """A column as an array: of numbers if it has only these, otherwise of Python objects, with None for missing values.

    The NaN of a column of floats stays as it is.
    """
    if column_names(frame).count(name) > 1:
        raise SettingError(f"the DataFrame has two columns {name!r}, expected one")
    series = frame[name]
    return _polars_column(series) if _library(frame) == "polars" else _pandas_column(series)


def _polars_column(series: Any) -> Array:
    numeric = series.dtype.is_numeric() and not series.dtype.is_decimal()
    return np.asarray(series.to_numpy()) if numeric and not series.null_count() else objects(series.to_list())


def _pandas_column(series: Any) -> Array:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in NUMBER_KINDS:
        return np.asarray(series.to_numpy())
    values: Array = series.to_numpy(dtype=object)
    missing = series.isna().to_numpy()
    if missing.any():
        values = values.copy()
        values[missing] = None
    return values


def rows(frame: Any) -> Iterator[dict[Any, Any]]:
    """The rows as dicts, read in pieces, so that a large DataFrame is never held twice.

    A column of floats with missing values, and otherwise whole numbers, gives whole numbers: so pandas stores them.
    """
    names = column_names(frame)
    for start in range(0, len(frame), ROWS_AT_ONCE):
        end = start + ROWS_AT_ONCE
        piece = frame[start:end] if _library(frame) == "polars" else frame.iloc[start:end]
        columns = [_whole_if_possible(column(piece, name)).tolist() for name in names]
        yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))


def make_dataframe(columns: Columns, *, polars: bool = False) -> Any:
    """A DataFrame of pandas, or of polars, with these columns; an empty array of objects is a column of text."""
    texts = [name for name, values in columns.items() if _is_object_array(values) and not len(values)]
    try:
        if polars:
            import polars as pl

            # polars makes columns of objects from arrays of objects, and columns of strings from lists.
            listed = {name: _as_list(values) for name, values in columns.items()}
            return pl.DataFrame(listed, schema_overrides=dict.fromkeys(texts, pl.String))
        import pandas as pd
    except ImportError:
        found = f"{'polars' if polars else 'pandas'} is not installed"
        raise SettingError(f"{found}, expected it for a DataFrame: `pip install searchlab[dataframes]`") from None
    return pd.DataFrame(dict(columns) | {name: pd.Series([], dtype=str) for name in texts})


def objects(values: list[Any]) -> Array:
    """A list as an array of objects, also if the objects are sequences."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _whole_if_possible(values: Array) -> Array:
    """The column of whole numbers and None that pandas has made one of floats because some are missing."""
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, np.bool_)
    if not missing.any() or not (np.mod(values[~missing], 1) == 0).all():
        return values
    whole = objects([None] * len(values))
    whole[~missing] = list(map(int, values[~missing].tolist()))
    return whole


def _as_list(values: Any) -> Any:
    return values.tolist() if _is_object_array(values) else values


def _is_object_array(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == object


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]
