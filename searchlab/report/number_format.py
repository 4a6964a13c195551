"""Number format of reports, as in papers: no zero before the point (.4497), a true minus sign, thousands separators."""

from __future__ import annotations

import math
from collections.abc import Sequence

MINUS = "\u2212"
DASH = "\u2013"  # for undefined values


def format_number(value: float, digits: int = 4) -> str:
    """An integer without decimals, a float with `digits` decimals: .4497, −.0120, 1.2500, 12,345."""
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    if math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{abs(value):,.{digits}f}"
    # A number that is rounded to 0 has no sign.
    sign = MINUS if value < 0 and text.strip("0.") else ""
    return sign + (text.removeprefix("0") if digits else text)


def format_ticks(values: Sequence[float]) -> list[str]:
    """The labels of the ticks of an axis, all with the same number of decimals: 0, .400, .405."""
    texts = [format_tick(value) for value in values]
    if any("e" in text for text in texts):
        return texts
    digits = max((len(text.partition(".")[2]) for text in texts), default=0)
    return [
        text if text == "0" else format_number(float(value), digits) for value, text in zip(values, texts, strict=True)
    ]


def format_tick(value: float) -> str:
    """The shortest label of a tick: .05, 10, 1,000, 1e−06."""
    value = float(f"{value:.10g}")  # 0.30000000000000004 is .3
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:g}".replace("-", MINUS)
    text = f"{abs(value):,.10f}".rstrip("0").rstrip(".")
    return (MINUS if value < 0 else "") + (text.removeprefix("0") or "0")
