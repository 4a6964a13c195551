"""Plots as SVG, drawn with matplotlib.

    bars               means of several systems by measure, with optional intervals
    curves             lines with a marker at each point, over common values of x
    function_curves    lines without markers, each over its own values of x
    differences        gain or loss of each topic, sorted
    precision_recall   interpolated precision at recall 0, .1, …, 1
    scatter            points of several kinds, filled or hollow, and arrows
    histogram          numbers of values in equal intervals

Each returns an SVG for embedding in a page: no background, text and axes in the colour of the page's text, and colours
that colour-blind readers can distinguish, with a contrast of at least 3 on white and on black; the seventh system has
the colour of the text. Systems also differ in marker and dash. The same numbers give the same bytes. Names are plain
text: `$` is a dollar sign.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import SettingError
from searchlab.report.number_format import format_tick, format_ticks
from searchlab.report.svg import tidy_svg

# A mean and the ends of its interval.
Interval = tuple[float, float, float]
Values = Sequence[float] | npt.NDArray[np.float64]
Point = tuple[float, float]

# After Okabe and Ito (2008), some darkened for contrast with white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8639a", "#a17a00", "#7d7d7d")
MARKERS = "osD^vP"
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
# A placeholder that `tidy_svg` replaces by the colour of the page's text.
INK = "#010203"
MAX_LABELS = 40  # more labels would overlap
MAX_LABEL_LENGTH = 36
MAX_TICK_CHARACTERS = 60  # longer names below groups of bars are slanted, or they would overlap
MAX_LEGEND_CHARACTERS = 22  # with longer names a legend has two columns, not three
WIDTH, HEIGHT = 6.0, 3.4  # inches

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text remains searchable, and takes the page's font
    "svg.hashsalt": "searchlab",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",  # for text widths; it comes with matplotlib, so that widths are the same everywhere
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.unicode_minus": True,
    "grid.color": INK,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.size": 0,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "path.simplify": False,
}


def bars(groups: Mapping[str, Mapping[str, Interval | float]], *, ylabel: str) -> str:
    """A group of bars for each measure: `groups` maps measure to system to mean, or to mean and interval."""
    systems = list(dict.fromkeys(system for group in groups.values() for system in group))
    _check_not_empty(bool(systems), "bars")
    bar_width = 0.8 / len(systems)

    def draw(axes: Any) -> None:
        for number, system in enumerate(systems):
            values = [(x, group[system]) for x, group in enumerate(groups.values()) if system in group]
            xs = np.array([x for x, _ in values]) + (number - (len(systems) - 1) / 2) * bar_width
            triples = np.array(
                [value if isinstance(value, tuple) else (value,) * 3 for _, value in values], dtype=float
            )
            mean, low, high = triples.T
            axes.bar(xs, mean, bar_width * 0.9, color=_colour(number), label=_label(system))
            has_interval = high > low
            if has_interval.any():
                errors = np.maximum(np.stack([mean - low, high - mean]), 0.0)[:, has_interval]
                axes.errorbar(
                    xs[has_interval], mean[has_interval], errors, fmt="none", color=INK, elinewidth=1, capsize=2.5
                )
        labels = [_label(name) for name in groups]
        slanted = {"rotation": 30, "rotation_mode": "anchor", "ha": "right"}
        is_crowded = len(labels) * max(map(len, labels)) > MAX_TICK_CHARACTERS
        axes.set_xticks(range(len(groups)), labels, **(slanted if is_crowded else {}))
        axes.tick_params(axis="x", length=0)

    return _draw_svg(draw, ylabel=ylabel, legend=systems)


def curves(xs: Values, lines: Mapping[str, Values], *, xlabel: str, ylabel: str, log_x: bool = False) -> str:
    """A line for each name over common values of x, with a marker at each point."""
    for name, ys in lines.items():
        if len(ys) != len(xs):
            raise SettingError(f"curves: {name!r} has {len(ys)} values, expected {len(xs)}, one for each x")
    return _lines({name: (xs, ys) for name, ys in lines.items()}, "curves", xlabel, ylabel, markers=True, log_x=log_x)


def function_curves(functions: Mapping[str, tuple[Values, Values]], *, xlabel: str, ylabel: str) -> str:
    """Functions given by many points: lines without markers, each over its own values of x."""
    for name, (xs, ys) in functions.items():
        if len(ys) != len(xs):
            raise SettingError(f"function_curves: {name!r} has {len(ys)} values, expected {len(xs)}, one for each x")
    return _lines(functions, "function_curves", xlabel, ylabel, markers=False)


def precision_recall(lines: Mapping[str, Values]) -> str:
    """A line for each name: interpolated precision at the 11 recall points 0, .1, …, 1."""
    for name, precision in lines.items():
        if len(precision) != 11:
            raise SettingError(f"precision_recall: {name!r} has {len(precision)} values, expected 11")
    recall = np.linspace(0, 1, 11)
    points = {name: (recall, precision) for name, precision in lines.items()}
    return _lines(points, "precision_recall", "recall", "precision", markers=True, from_zero=True)


def differences(values: Values, *, ylabel: str, labels: Sequence[str] | None = None) -> str:
    """A bar for each topic, from the largest gain to the largest loss; more than 40 labels are left out."""
    changes = np.asarray(values, dtype=np.float64)
    _check_not_empty(len(changes) > 0, "differences")
    if labels is not None and len(labels) != len(changes):
        raise SettingError(f"differences: found {len(labels)} labels, expected {len(changes)}, one for each value")
    order = np.argsort(-changes, kind="stable")
    heights = changes[order]

    def draw(axes: Any) -> None:
        colours = np.where(heights >= 0, PALETTE[0], PALETTE[1]).tolist()
        axes.bar(range(len(heights)), heights, 0.82, color=colours)
        axes.axhline(0, color=INK, linewidth=0.7)
        axes.spines["bottom"].set_visible(False)
        if labels is not None and len(heights) <= MAX_LABELS:
            names = [_label(labels[row]) for row in order.tolist()]
            axes.set_xticks(range(len(heights)), names, rotation=90, rotation_mode="anchor", ha="right", va="center")
        else:
            axes.set_xticks([])
        axes.tick_params(axis="x", length=0)
        axes.margins(x=0.01)
        gained, lost = int((heights > 0).sum()), int((heights < 0).sum())
        axes.set_title(f"{gained:,} better, {lost:,} worse, {len(heights) - gained - lost:,} equal", fontsize=9.5)

    return _draw_svg(draw, ylabel=ylabel)


def scatter(
    groups: Mapping[str, npt.NDArray[np.float64]],
    arrows: Mapping[str, tuple[Point, Point]],
    *,
    xlabel: str,
    ylabel: str,
    hollow: Mapping[str, str] | None = None,
) -> str:
    """Points (n×2) of each kind, and named arrows from one point to another.

    `hollow` kinds have no fill, and the colour and marker of the filled kind that they are mapped to.
    """
    _check_not_empty(bool(groups) or bool(arrows), "scatter")
    for name, points in groups.items():
        if np.ndim(points) != 2 or np.shape(points)[1] != 2:
            raise SettingError(f"scatter: {name!r} has the shape {np.shape(points)}, expected (n, 2)")

    outlined = hollow or {}
    numbers = {name: number for number, name in enumerate(name for name in groups if name not in outlined)}
    for name, filled in outlined.items():
        if name not in groups or filled not in numbers:
            raise SettingError(
                f"scatter: {name!r} is hollow for {filled!r}, expected kinds of points, the latter filled"
            )

    def draw(axes: Any) -> None:
        axes.grid(True, axis="both")
        for name, points in groups.items():
            number = numbers[outlined.get(name, name)]
            colour = _colour(number)
            style: dict[str, Any] = {"facecolors": colour, "linewidths": 0, "alpha": 0.75}
            if name in outlined:
                style = {"facecolors": "none", "edgecolors": colour, "linewidths": 1, "alpha": 0.9}
            marker = MARKERS[number % len(MARKERS)]
            axes.scatter(points[:, 0], points[:, 1], 20, marker=marker, label=_label(name), **style)
        for number, (name, (start, end)) in enumerate(arrows.items(), start=len(numbers)):
            style = {"arrowstyle": "-|>", "color": _colour(number), "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", end, start, arrowprops=style)
            # Legends and axis limits ignore annotations.
            axes.plot([], [], color=_colour(number), label=_label(name))
            axes.update_datalim([start, end])
        axes.autoscale_view()

    return _draw_svg(draw, xlabel=xlabel, ylabel=ylabel, legend=[*groups, *arrows])


def histogram(values: Values, *, xlabel: str, ylabel: str, bins: int = 20) -> str:
    """The number of values in each of `bins` equal intervals; undefined values (NaN) are left out."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    _check_not_empty(len(numbers) > 0, "histogram")
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise SettingError(f"histogram: bins is {bins!r}, expected 1 or more")

    def draw(axes: Any) -> None:
        axes.hist(numbers, bins=bins, color=PALETTE[0], rwidth=0.92)
        axes.yaxis.get_major_locator().set_params(integer=True)

    return _draw_svg(draw, xlabel=xlabel, ylabel=ylabel)


def _lines(
    lines: Mapping[str, tuple[Values, Values]],
    kind: str,
    xlabel: str,
    ylabel: str,
    *,
    markers: bool,
    log_x: bool = False,
    from_zero: bool = False,
) -> str:
    _check_not_empty(any(len(xs) for xs, _ in lines.values()), kind)

    def draw(axes: Any) -> None:
        if log_x:
            axes.set_xscale("log")
        for number, (name, (xs, ys)) in enumerate(lines.items()):
            style = {"color": _colour(number), "linestyle": DASHES[number % len(DASHES)], "label": _label(name)}
            marker = MARKERS[number % len(MARKERS)] if markers else None
            axes.plot(np.asarray(xs, dtype=float), np.asarray(ys, dtype=float), marker=marker, **style)
        if from_zero:
            axes.set_ylim(bottom=0)

    return _draw_svg(draw, xlabel=xlabel, ylabel=ylabel, legend=[*lines])


def _draw_svg(draw: Callable[[Any], None], *, ylabel: str, xlabel: str = "", legend: Sequence[str] = ()) -> str:
    """The SVG of what `draw` draws on axes, in the common style."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    columns = 3 if max((len(_label(name)) for name in legend), default=0) <= MAX_LEGEND_CHARACTERS else 2
    rows = math.ceil(len(legend) / columns) if len(legend) > 1 else 0
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # overrides the user's matplotlibrc
        matplotlib.rcParams.update(_STYLE)  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser's font may have it
        figure = Figure(figsize=(WIDTH, HEIGHT + 0.2 * rows), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_xlabel(_label(xlabel))
        axes.set_ylabel(_label(ylabel))
        for axis in [
            axes.yaxis,
            *([axes.xaxis] if xlabel else []),
        ]:  # without a label, the x axis has names, not numbers
            formatter: Any = FuncFormatter(lambda value, _: format_tick(value))
            if axis.get_scale() == "linear":
                formatter.format_ticks = format_ticks
            axis.set_major_formatter(formatter)
            axis.set_minor_formatter(NullFormatter())
        if rows:
            figure.legend(
                loc="outside upper center", ncols=min(len(legend), columns), handlelength=2.6, columnspacing=1.6
            )
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return tidy_svg(file.getvalue(), ink=INK)


def _colour(number: int) -> str:
    colours = (*PALETTE, INK)
    return colours[number % len(colours)]


def _label(text: str) -> str:
    line = on_one_line(text)
    # Matplotlib omits labels that begin with _ from legends.
    line = f"\u200b{line}" if line.startswith("_") else line
    return line if len(line) <= MAX_LABEL_LENGTH else f"{line[: MAX_LABEL_LENGTH - 1]}…"


def _check_not_empty(has_values: bool, kind: str) -> None:
    if not has_values:
        raise SettingError(f"{kind}: found nothing to draw, expected at least one value")
