"""Other tools for evaluation, which are optional: ranx and ir_measures."""

from __future__ import annotations

from typing import Any

from searchlab.errors import SettingError


def is_ranx(value: object) -> bool:
    """Whether a value is one of ranx, which is recognised by its type without importing ranx."""
    return type(value).__module__.partition(".")[0] == "ranx"


def import_ranx() -> Any:
    """The package ranx; raises SettingError if it is not installed."""
    try:
        import ranx
    except ImportError:
        raise SettingError("ranx is not installed, expected it for its values: `pip install ranx`") from None
    return ranx


def import_ir_measures() -> Any:
    """The package ir_measures; raises SettingError if it is not installed."""
    try:
        import ir_measures
    except ImportError:
        message = "ir_measures is not installed, expected it for its values: `pip install ir-measures`"
        raise SettingError(message) from None
    return ir_measures
