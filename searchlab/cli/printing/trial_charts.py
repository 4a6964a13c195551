"""A cross-validation drawn with characters: means, held-out topics, the learning curve, and precision at recall.

Pictures are drawn at a terminal that can show the characters; a file or a pipe gets the tables alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from searchlab.cli.printing.terminal_text import n_columns, printable, shorten
from searchlab.evaluation.number_text import format_value

CHART_WIDTH = 44
MAX_NAME_COLUMNS = 24
# The topics with the largest gains and losses that are drawn.
N_EXTREME_TOPICS = 5
_BARS = "▏▎▍▌▋▊▉█"
_STEPS = "▁▂▃▄▅▆▇█"


def can_draw() -> bool:
    """Whether standard output is a terminal with the characters of the pictures."""
    if not sys.stdout.isatty():
        return False
    try:
        f"{_BARS}{_STEPS}├─●┤".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def draw_trial(trial: Mapping[str, Any], topics: Mapping[str, str]) -> list[str]:
    """The lines of the pictures; none if the model has no values of held-out topics, as of earlier versions."""
    held_out = trial.get("held_out")
    if not held_out:
        return []
    values = held_out["values"]
    means = {name: sum(each) / len(each) for name, each in values.items()}
    model, *baselines = means
    best = max(baselines, key=lambda name: means[name])
    differences = [a - b for a, b in zip(values[model], values[best], strict=True)]
    texts = [str(topics.get(qid, qid)) for qid in held_out["qids"]]
    return [
        f"{held_out['measure']} on held-out topics, with 95 % intervals",
        *draw_intervals(means, held_out["intervals"]),
        "",
        *_draw_topics(differences, texts, best),
        *_draw_curve(trial.get("learning_curve")),
        *_draw_precision(held_out["precision_recall"]),
    ]


def draw_intervals(means: Mapping[str, float], intervals: Mapping[str, Sequence[float]]) -> list[str]:
    """A line for each system: its interval and mean on a common axis, which begins at 0."""
    longest = max(high for _, high in intervals.values()) or 1.0
    width = min(MAX_NAME_COLUMNS, max(map(n_columns, means)))
    lines = []
    for name, mean in means.items():
        low, middle, high = (
            round((CHART_WIDTH - 1) * at / longest) for at in (intervals[name][0], mean, intervals[name][1])
        )
        cells = [" "] * CHART_WIDTH
        cells[low : high + 1] = "─" * (high + 1 - low)
        cells[low], cells[high], cells[middle] = "├", "┤", "●"
        lines.append(f"  {_padded(name, width)}  {format_value(mean)}  {''.join(cells).rstrip()}")
    return lines


def _draw_topics(differences: Sequence[float], texts: Sequence[str], best: str) -> list[str]:
    """The topics with the largest gains and losses against the best baseline, as bars."""
    from searchlab.evaluation.significance import TIE_TOLERANCE

    won = sum(each > TIE_TOLERANCE for each in differences)
    lost = sum(each < -TIE_TOLERANCE for each in differences)
    order = sorted(range(len(differences)), key=lambda row: -differences[row])
    shown = [row for row in order[:N_EXTREME_TOPICS] if differences[row] > TIE_TOLERANCE]
    shown += [row for row in order[-N_EXTREME_TOPICS:] if differences[row] < -TIE_TOLERANCE and row not in shown]
    largest = max((abs(each) for each in differences), default=0.0) or 1.0
    lines = [f"{won} better, {lost} worse, {len(differences) - won - lost} the same as {printable(best)}"]
    for row in shown:
        bar = _bar(abs(differences[row]) / largest, CHART_WIDTH // 2)
        sign = "+" if differences[row] > 0 else "−"
        lines.append(f"  {_padded(texts[row], MAX_NAME_COLUMNS)}  {sign}{format_value(abs(differences[row]))}  {bar}")
    return lines


def _draw_curve(curve: Any) -> list[str]:
    """The learning curve as a row of steps."""
    if not curve or len(curve["points"]) < 2:
        return []
    means = [point["mean"] for point in curve["points"]]
    # At least two tenths, so that small differences are not drawn large.
    low = int(min(means) * 10) / 10
    high = max(low + 0.2, int(max(means) * 10 + 1) / 10)
    heights = [round((len(_STEPS) - 1) * (mean - low) / (high - low)) for mean in means]
    steps = " ".join(_STEPS[height] * 3 for height in heights)
    counts = " ".join(f"{point['n_topics']:>3}" for point in curve["points"])
    return ["", f"{curve['measure']} by the number of topics learnt from", f"  {steps}", f"  {counts}"]


def _draw_precision(precision: Mapping[str, Sequence[float]]) -> list[str]:
    """Interpolated precision at each tenth of recall, as a row of steps for each system; the highest step is 1."""
    if not precision:
        return []
    width = min(MAX_NAME_COLUMNS, max(map(n_columns, precision)))
    lines = ["", "precision at recall 0, .1, …, 1 on held-out topics"]
    for name, values in precision.items():
        steps = " ".join(_STEPS[round((len(_STEPS) - 1) * value)] * 3 for value in values)
        lines.append(f"  {_padded(name, width)}  {format_value(values[0])}  {steps}  {format_value(values[-1])}")
    return lines


def _bar(share: float, width: int) -> str:
    """A bar of eighths of a column."""
    eighths = max(1, round(share * width * len(_BARS)))
    whole, rest = divmod(eighths, len(_BARS))
    return _BARS[-1] * whole + (_BARS[rest - 1] if rest else "")


def _padded(text: str, width: int) -> str:
    short = shorten(printable(text), width)
    return short + " " * (width - n_columns(short))
