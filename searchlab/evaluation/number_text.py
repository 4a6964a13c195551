"""Numbers and counts in sentences: .4123, +.031, p = .03, 3 topics, 1 of 3 topics."""

from __future__ import annotations


def format_value(value: float) -> str:
    """A value with four decimals and no zero before the point: .4123."""
    return f"{value:.4f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.4f}"


def format_difference(value: float) -> str:
    """A signed difference; small ones have more decimals: +.031, -.0004. What rounds to 0 has no sign: .000."""
    if abs(value) < 5e-7:
        return ".000"
    digits = 3 if abs(value) >= 0.001 else 4 if abs(value) >= 0.0001 else 6
    return f"{value:+.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:+.{digits}f}"


def format_p_value(p: float) -> str:
    """A p-value as papers print it: p = .03, p < .001."""
    if p < 0.001:
        return "p < .001"
    digits = 2 if p >= 0.0095 else 3
    return f"p = {p:.{digits}f}".replace(" 0.", " .")


def format_count(n: int, noun: str, plural: str = "") -> str:
    """A number of things: 1 topic, 1,200 topics; `plural` is for nouns that do not take an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def format_share(n: int, total: int, noun: str) -> str:
    """A part of a number of things: 1 of 3 topics."""
    return f"{n:,} of {format_count(total, noun)}"
