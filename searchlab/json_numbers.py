"""Numbers in JSON: NaN and infinity become null, NumPy scalars become Python numbers; lists of them take one line."""

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


def compact_numbers(text: str) -> str:
    """JSON with each list of numbers on one line, for readability: indentation would give each number its own."""
    lines: list[str] = []
    number_list: list[str] | None = None
    for line in text.split("\n"):
        bare = line.strip()
        if number_list is None and bare.endswith("["):
            number_list = [line]
        elif number_list is not None and bare.rstrip(",").lstrip("-")[:1].isdigit():
            number_list.append(line)
        elif number_list is not None and bare in ("]", "],") and len(number_list) > 1:
            numbers = " ".join(number.strip() for number in number_list[1:])
            lines.append(f"{number_list[0]}{numbers}{bare}")
            number_list = None
        else:
            lines += number_list or []
            number_list = [line] if bare.endswith("[") else None
            lines += [] if number_list else [line]
    return "\n".join(lines + (number_list or []))
