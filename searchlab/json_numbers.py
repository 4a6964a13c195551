"""Numbers that JSON can hold: NaN and infinity become null, NumPy scalars become Python numbers."""

from __future__ import annotations

import math
from typing import Any


def without_nan(value: Any) -> Any:
    """The same value with null for every NaN and infinity, in nested dicts and lists too."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
