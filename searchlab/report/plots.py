"""How do numbers become drawings?

    bars               means of several systems, by measure, with intervals if there are any
    curves, shapes     lines over a common axis, with and without a sign at each point
    differences        what each topic gained or lost, sorted
    precision_recall   interpolated precision at recall 0, .1, …, 1
    scatter            points of several kinds, and arrows between places
    histogram          how often values occur

Each gives an SVG to be set into a page: no background, text and axes in the colour of the page's own text, and colours
that colour-blind readers tell apart and that stand out on white as on black (a contrast of 3 or more on both). Systems
also differ in their signs and dashes. The same numbers give the same bytes. Names are plain words: `$` means a dollar.
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

Interval = tuple[float, float, float]
Values = Sequence[float] | npt.NDArray[np.float64]
Point = tuple[float, float]

# After Okabe and Ito (2008), some darkened so that they can be seen on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8639a", "#a17a00", "#7d7d7d")
MARKERS = "osD^vP"
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
# Stands for the colour of the page's text until the drawing is tidied.
INK = "#010203"
MAX_LABELS = 40  # more would overlap
MAX_LABEL_LENGTH = 36
WIDTH, HEIGHT = 6.0, 3.4  # inches

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and takes the page's font
    "svg.hashsalt": "searchlab",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",  # for measuring; it comes with matplotlib, so that it is the same everywhere
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
    """Measure → system → mean, or mean and the ends of its interval: a group of bars for each measure."""
    systems = list(dict.fromkeys(system for group in groups.values() for system in group))
    _require(bool(systems), "bars")
    thick = 0.8 / len(systems)

    def draw(axes: Any) -> None:
        for number, system in enumerate(systems):
            found = [(place, group[system]) for place, group in enumerate(groups.values()) if system in group]
            places = np.array([place for place, _ in found]) + (number - (len(systems) - 1) / 2) * thick
            triples = np.array([value if isinstance(value, tuple) else (value,) * 3 for _, value in found], dtype=float)
            mean, low, high = triples.T
            axes.bar(places, mean, thick * 0.9, color=_colour(number), label=_label(system))
            wide = high > low
            if wide.any():
                reach = np.maximum(np.stack([mean - low, high - mean]), 0.0)[:, wide]
                axes.errorbar(places[wide], mean[wide], reach, fmt="none", color=INK, elinewidth=1, capsize=2.5)
        axes.set_xticks(range(len(groups)), [_label(name) for name in groups])
        axes.tick_params(axis="x", length=0)

    return _drawn(draw, ylabel=ylabel, legend=len(systems))


def curves(xs: Values, lines: Mapping[str, Values], *, xlabel: str, ylabel: str, log_x: bool = False) -> str:
    """A line for each name over common places on the x axis, with a sign at each point."""
    for name, ys in lines.items():
        if len(ys) != len(xs):
            raise SettingError(f"curves: {name!r} has {len(ys)} values, expected {len(xs)}, one for each place")
    return _lines({name: (xs, ys) for name, ys in lines.items()}, "curves", xlabel, ylabel, signs=True, log_x=log_x)


def function_curves(functions: Mapping[str, tuple[Values, Values]], *, xlabel: str, ylabel: str) -> str:
    """Functions given by many points: lines without signs, each over places of its own."""
    for name, (xs, ys) in functions.items():
        if len(ys) != len(xs):
            raise SettingError(f"shapes: {name!r} has {len(ys)} values, expected {len(xs)}, one for each place")
    return _lines(functions, "shapes", xlabel, ylabel, signs=False)


def precision_recall(lines: Mapping[str, Values]) -> str:
    """Interpolated precision at the 11 points of recall 0, .1, …, 1 for each name."""
    for name, precision in lines.items():
        if len(precision) != 11:
            raise SettingError(f"precision_recall: {name!r} has {len(precision)} values, expected 11")
    recall = np.linspace(0, 1, 11)
    found = {name: (recall, precision) for name, precision in lines.items()}
    return _lines(found, "precision_recall", "recall", "precision", signs=True, from_zero=True)


def differences(values: Values, *, ylabel: str, labels: Sequence[str] | None = None) -> str:
    """A bar for each topic, from the largest gain to the largest loss; labels are shown if they have room."""
    found = np.asarray(values, dtype=np.float64)
    _require(len(found) > 0, "differences")
    if labels is not None and len(labels) != len(found):
        raise SettingError(f"differences: found {len(labels)} labels, expected {len(found)}, one for each value")
    order = np.argsort(-found, kind="stable")
    shown = found[order]

    def draw(axes: Any) -> None:
        colours = np.where(shown >= 0, PALETTE[0], PALETTE[1]).tolist()
        axes.bar(range(len(shown)), shown, 0.82, color=colours)
        axes.axhline(0, color=INK, linewidth=0.7)
        axes.spines["bottom"].set_visible(False)
        if labels is not None and len(shown) <= MAX_LABELS:
            names = [_label(labels[place]) for place in order.tolist()]
            axes.set_xticks(range(len(shown)), names, rotation=90, rotation_mode="anchor", ha="right", va="center")
        else:
            axes.set_xticks([])
        axes.tick_params(axis="x", length=0)
        axes.margins(x=0.01)
        gained, lost = int((shown > 0).sum()), int((shown < 0).sum())
        axes.set_title(f"{gained:,} better, {lost:,} worse, {len(shown) - gained - lost:,} equal", fontsize=9.5)

    return _drawn(draw, ylabel=ylabel)


def scatter(
    groups: Mapping[str, npt.NDArray[np.float64]],
    arrows: Mapping[str, tuple[Point, Point]],
    *,
    xlabel: str,
    ylabel: str,
) -> str:
    """Points (n×2) of each kind, and named arrows from one place to another."""
    _require(bool(groups) or bool(arrows), "scatter")
    for name, points in groups.items():
        if np.ndim(points) != 2 or np.shape(points)[1] != 2:
            raise SettingError(f"scatter: {name!r} has the shape {np.shape(points)}, expected (n, 2)")

    def draw(axes: Any) -> None:
        axes.grid(True, axis="both")
        for number, (name, points) in enumerate(groups.items()):
            sign = MARKERS[number % len(MARKERS)]
            look: dict[str, Any] = {"s": 20, "alpha": 0.75, "linewidths": 0}
            axes.scatter(points[:, 0], points[:, 1], color=_colour(number), marker=sign, label=_label(name), **look)
        for number, (name, (start, end)) in enumerate(arrows.items(), start=len(groups)):
            look = {"arrowstyle": "-|>", "color": _colour(number), "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", end, start, arrowprops=look)
            # An annotation is in no legend, and the axes do not make room for it.
            axes.plot([], [], color=_colour(number), label=_label(name))
            axes.update_datalim([start, end])
        axes.autoscale_view()

    return _drawn(draw, xlabel=xlabel, ylabel=ylabel, legend=len(groups) + len(arrows))


def histogram(values: Values, *, xlabel: str, ylabel: str, bins: int = 20) -> str:
    """How many values lie in each of `bins` equal parts of their range; undefined ones (NaN) are left out."""
    found = np.asarray(values, dtype=np.float64)
    found = found[np.isfinite(found)]
    _require(len(found) > 0, "histogram")
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise SettingError(f"histogram: bins is {bins!r}, expected 1 or more")

    def draw(axes: Any) -> None:
        axes.hist(found, bins=bins, color=PALETTE[0], rwidth=0.92)
        axes.yaxis.get_major_locator().set_params(integer=True)

    return _drawn(draw, xlabel=xlabel, ylabel=ylabel)


def _lines(
    lines: Mapping[str, tuple[Values, Values]],
    kind: str,
    xlabel: str,
    ylabel: str,
    *,
    signs: bool,
    log_x: bool = False,
    from_zero: bool = False,
) -> str:
    _require(any(len(xs) for xs, _ in lines.values()), kind)

    def draw(axes: Any) -> None:
        if log_x:
            axes.set_xscale("log")
        for number, (name, (xs, ys)) in enumerate(lines.items()):
            look = {"color": _colour(number), "linestyle": DASHES[number % len(DASHES)], "label": _label(name)}
            sign = MARKERS[number % len(MARKERS)] if signs else None
            axes.plot(np.asarray(xs, dtype=float), np.asarray(ys, dtype=float), marker=sign, **look)
        if from_zero:
            axes.set_ylim(bottom=0)

    return _drawn(draw, xlabel=xlabel, ylabel=ylabel, legend=len(lines))


def _drawn(draw: Callable[[Any], None], *, ylabel: str, xlabel: str = "", legend: int = 0) -> str:
    """What `draw` draws on axes in the common style, as SVG."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    rows = math.ceil(legend / 3) if legend > 1 else 0
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # whatever the user's matplotlibrc says
        matplotlib.rcParams.update(_STYLE)  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the reader's font may have it
        figure = Figure(figsize=(WIDTH, HEIGHT + 0.2 * rows), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_xlabel(_label(xlabel))
        axes.set_ylabel(_label(ylabel))
        for axis in [axes.yaxis, *([axes.xaxis] if xlabel else [])]:  # otherwise there are names below
            formatter: Any = FuncFormatter(lambda value, _: format_tick(value))
            if axis.get_scale() == "linear":
                formatter.format_ticks = format_ticks
            axis.set_major_formatter(formatter)
            axis.set_minor_formatter(NullFormatter())
        if rows:
            figure.legend(loc="outside upper center", ncols=min(legend, 3), handlelength=2.6, columnspacing=1.6)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return tidy_svg(file.getvalue(), ink=INK)


def _colour(number: int) -> str:
    return PALETTE[number % len(PALETTE)]


def _label(text: str) -> str:
    line = on_one_line(text)
    # Matplotlib leaves labels that begin with _ out of legends.
    line = f"\u200b{line}" if line.startswith("_") else line
    return line if len(line) <= MAX_LABEL_LENGTH else f"{line[: MAX_LABEL_LENGTH - 1]}…"


def _require(something: bool, kind: str) -> None:
    if not something:
        raise SettingError(f"{kind}: found nothing to draw, expected at least one value")
