"""Settings of training methods: their meanings, their checks, and their change by text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from typing import Any, TypeVar

from searchlab.errors import SettingError, unknown_name

T = TypeVar("T")
# The key of a setting's meaning in the metadata of its field.
MEANING = "meaning"


def setting(default: T, meaning: str) -> T:
    """A field of a frozen dataclass of settings: its default, and its meaning for the help of a command."""
    described: T = field(default=default, metadata={MEANING: meaning})
    return described


def describe_settings(base: T, variants: Mapping[str, T] | None = None) -> list[tuple[str, str]]:
    """Each setting as `name=default` with its meaning, and where its default differs in a variant, that one too."""
    described = []
    for each in fields(base):  # type: ignore[arg-type]
        default = getattr(base, each.name)
        others = {label: getattr(variant, each.name) for label, variant in (variants or {}).items()}
        differing = [f"{_in_print(value)} {label}" for label, value in others.items() if value != default]
        described.append((f"{each.name}={_in_print(default)}", "; ".join([each.metadata[MEANING], *differing])))
    return described


def _in_print(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


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
    known = {each.name: each.type for each in fields(base)}  # type: ignore[arg-type]
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
