"""Checks of the settings of training methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from searchlab.errors import SettingError, unknown_name

T = TypeVar("T")


def require_number(name: str, value: object, low: float, high: float, *, whole: bool = False) -> None:
    """Refuse a value that is not a number from `low` to `high`, or not a whole one with `whole`."""
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        noun = "a whole number" if whole else "a number"
        raise SettingError(f"{name} is {value!r}, expected {noun} from {low:g} to {high:g}")


def require_one_of(name: str, value: str, known: Collection[str]) -> None:
    """Refuse an unknown name."""
    if value not in known:
        raise unknown_name(name, value, known)


def change_settings(base: T, changes: Mapping[str, str]) -> T:
    """Settings with some of them changed, given as text: `change_settings(MCE(), {"alpha": "5"})`."""
    kind = type(base)
    known = {field.name: field.type for field in fields(base)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, text in changes.items():
        if key not in known:
            raise unknown_name(f"setting of {kind.__name__}", key, known)
        try:
            values[key] = text if known[key] == "str" else int(text) if known[key] == "int" else float(text)
        except ValueError:
            noun = "a whole number" if known[key] == "int" else "a number"
            raise SettingError(f"{kind.__name__}: {key} is {text!r}, expected {noun}") from None
    return replace(base, **values)  # type: ignore[type-var]
