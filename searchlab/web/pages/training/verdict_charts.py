"""The pictures of a verdict: means with intervals, held-out topics, the learning curve, precision at recall.

Only coordinates are computed here; `verdict_macros.html` draws them as SVG with presentation attributes, since the
security policy forbids styles within the page. Each picture also has its numbers, for a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from searchlab.evaluation.significance import TIE_TOLERANCE
from searchlab.web.api.training.models import N_RECALL_POINTS, is_held_out, is_share

# The size of a plot with two axes, and of the margin for the labels of its axes, in units of its SVG.
WIDTH, HEIGHT = 320.0, 180.0
LEFT, RIGHT, TOP, BOTTOM = 34.0, 10.0, 10.0, 30.0
RECALL = tuple(tenths / 10 for tenths in range(N_RECALL_POINTS))


def make_charts(trial: Mapping[str, Any] | None, topics: Mapping[str, str]) -> dict[str, Any] | None:
    """The charts of a cross-validation as its model file has it; `topics` are texts by qid.

    None if the file has no values of held-out topics, as of earlier versions, or is malformed.
    """
    held_out: dict[str, Any] = (trial or {}).get("held_out") or {}
    if not is_held_out(held_out):
        return None
    values: dict[str, list[float]] = held_out["values"]
    means = {name: sum(each) / len(each) for name, each in values.items()}
    model, *baselines = values
    best = max(baselines, key=lambda name: means[name])
    differences = [_difference(a, b) for a, b in zip(values[model], values[best], strict=True)]
    rows = [
        {"qid": qid, "text": str(topics.get(qid, qid)), "difference": difference, "value": a, "other": b}
        for qid, difference, a, b in zip(held_out["qids"], differences, values[model], values[best], strict=True)
    ]
    return {
        "measure": held_out["measure"],
        "model": model,
        "best": best,
        "means": mean_rows(means, held_out["intervals"]),
        "topics": sorted(rows, key=lambda row: -row["difference"]),
        "n_won": sum(difference > 0 for difference in differences),
        "n_lost": sum(difference < 0 for difference in differences),
        "smallest": min(0.0, *differences),
        "largest": max(0.0, *differences),
        "curve": _curve((trial or {}).get("learning_curve")),
        "precision_recall": _plot(
            {name: list(zip(RECALL, each, strict=True)) for name, each in held_out["precision_recall"].items()},
            x_ticks=[0, 0.5, 1],
        ),
    }


def _difference(value: float, other: float) -> float:
    return value - other if abs(value - other) > TIE_TOLERANCE else 0.0


def mean_rows(means: Mapping[str, float], intervals: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Bars from 0 and intervals on a common axis of 100 units; none without means."""
    if not means:
        return []
    longest = max(high for _, high in intervals.values()) or 1.0
    rows = []
    for name, mean in means.items():
        low, high = intervals[name]
        at = {key: 100 * value / longest for key, value in (("x", mean), ("x_low", low), ("x_high", high))}
        rows.append({"name": name, "mean": mean, "low": low, "high": high, **at})
    return rows


def _curve(curve: Any) -> dict[str, Any] | None:
    """The learning curve as a plot; None if there are not two points of it."""
    points = curve.get("points") if isinstance(curve, dict) else None
    if not isinstance(points, list) or len(points) < 2:
        return None
    pairs: list[Any] = [(point.get("n_topics"), point.get("mean")) for point in points if isinstance(point, dict)]
    if len(pairs) < 2 or not all(isinstance(n, int) and 0 <= n < 10**6 and is_share(mean) for n, mean in pairs):
        return None
    return _plot({"": pairs}, x_ticks=sorted({n for n, _ in pairs}), from_zero=False)


def _plot(
    lines: Mapping[str, Sequence[tuple[float, float]]], *, x_ticks: Sequence[float], from_zero: bool = True
) -> dict[str, Any]:
    """Lines over two axes: the points of each in units of the SVG, and ticks with their positions."""
    ys = [y for points in lines.values() for _, y in points]
    low, high = (0.0, 1.0) if from_zero else _rounded_range(min(ys), max(ys))
    widest = max(x_ticks) or 1

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / widest
        return round(across, 2), round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - low) / (high - low), 2)

    return {
        "width": WIDTH,
        "height": HEIGHT,
        "axis": {"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM},
        "x_ticks": [(at(x, low)[0], f"{x:g}") for x in x_ticks],
        "y_ticks": [(at(0, y)[1], f"{y:.2g}") for y in (low, (low + high) / 2, high)],
        "lines": [
            {"name": name, "points": [at(x, y) for x, y in points], "values": list(points)}
            for name, points in lines.items()
        ],
    }


def _rounded_range(low: float, high: float) -> tuple[float, float]:
    """A range of at least two tenths around the values, so that small differences are not drawn large."""
    begin = min(int(low * 10), 8)
    end = max(int(high * 10) + 1, begin + 2)
    return begin / 10, min(end, 10) / 10
