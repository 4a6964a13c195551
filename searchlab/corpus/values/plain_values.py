"""Plain JSON values from Python values: NumPy scalars, timestamps, missing values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any

from searchlab.corpus.parsing.identifiers import FLOAT_IDS
from searchlab.corpus.text_cleaning import clean
from searchlab.errors import RecordError

MAX_NESTING_DEPTH = 100
# pandas' missing values, recognised by their types' names so that pandas is not imported.
MISSING_TYPES = ("NAType", "NaTType")


def plain_record(record: Mapping[Any, Any], location: str) -> dict[str, Any]:
    """A record with plain JSON values; None, NaN and NaT are absent."""
    for key in record:
        if not isinstance(key, str):
            raise RecordError(location, f"expected text as the name of a field, found {key!r}")
    plain = {clean(key): plain_value(value, location, key) for key, value in record.items()}
    return {key: value for key, value in plain.items() if value is not None}


def plain_value(value: Any, location: str, key: str, depth: int = 0) -> Any:
    """A value as a plain JSON value, None if it is missing; `location` and `key` are for messages."""
    if value is None or type(value).__name__ in MISSING_TYPES:
        return None
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        if math.isinf(value):
            raise RecordError(location, f"expected a finite number as {key}, found {value}")
        return None if math.isnan(value) else float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if depth > MAX_NESTING_DEPTH:
        raise RecordError(location, f"expected a plain value as {key}, found one nested too deeply")
    if isinstance(value, list | tuple):
        return [plain_value(item, location, key, depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {clean(str(name)): plain_value(item, location, key, depth + 1) for name, item in value.items()}
    return _plain_numpy(value, location, key, depth)


def _plain_numpy(value: Any, location: str, key: str, depth: int) -> Any:
    import numpy as np

    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, np.generic | np.ndarray):
        return plain_value(value.tolist(), location, key, depth + 1)
    raise RecordError(
        location, f"expected text, a number, a date, a list or a dict as {key}, found {describe_type(value)}"
    )


def refuse_float_id(record: Mapping[str, Any], kind: str, keys: Sequence[str], location: str) -> None:
    """Raise RecordError if the docno or qid (`kind`) of a plain record is a float; the first of `keys` in it counts."""
    value = next((record[key] for key in keys if key in record), None)
    if isinstance(value, float):
        raise RecordError(location, f"{kind} is {value} of type float, expected text or a whole number ({FLOAT_IDS})")


def describe_type(value: object) -> str:
    """The type of a value, for messages."""
    return f"a value of type {type(value).__name__}"
