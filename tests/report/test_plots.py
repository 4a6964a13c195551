"""Plots show their numbers, are readable, and are deterministic."""

import math
import re
import subprocess
import sys
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.report import plots
from searchlab.report.svg import inline_svg
from tests.colours import contrast

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<b>$x^2$ & "_" \x00 中 \\frac'
XS = [1.0, 2.0, 3.0]
DRAWN = {
    "bars": lambda: plots.bars({"AP": {"a": (0.4, 0.3, 0.5), "b": 0.2}, "P@5": {"b": 0.3}}, ylabel="mean"),
    "curves": lambda: plots.curves(XS, {"a": XS, "b": [3, math.nan, 1]}, xlabel="x", ylabel="y"),
    "curves, log": lambda: plots.curves([0.01, 1, 100], {"a": XS}, xlabel="x", ylabel="y", log_x=True),
    "function_curves": lambda: plots.function_curves({"a": (XS, XS), "b": ([0, 1], [1, 0])}, xlabel="x", ylabel="y"),
    "differences": lambda: plots.differences([0.5, -0.25, 0.0], ylabel="d", labels=["q1", "q2", "q3"]),
    "precision_recall": lambda: plots.precision_recall({"a": np.linspace(1, 0, 11)}),
    "scatter": lambda: plots.scatter({"a": np.eye(2)}, {"w": ((0, 0), (2, 3))}, xlabel="x", ylabel="y"),
    "scatter, hollow": lambda: plots.scatter(
        {"a": np.eye(2), "b": np.zeros((1, 2))}, {}, xlabel="x", ylabel="y", hollow={"b": "a"}
    ),
    "histogram": lambda: plots.histogram([1, 1, 2, math.nan], xlabel="x", ylabel="n", bins=2),
}


@cache
def drawn(kind: str) -> str:
    return DRAWN[kind]()


def words_of(drawing: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def bars_of(drawing: str, colour: str) -> list[tuple[float, float, float]]:
    """Left edge, bottom and height of each bar of a colour."""
    found = []
    for path in ElementTree.fromstring(drawing).iter(f"{SVG}path"):
        if f"fill: {colour}" in path.get("style", "") and "clip-path" in path.attrib:
            points = np.array(re.findall(r"-?[\d.]+", path.attrib["d"]), dtype=float).reshape(-1, 2)
            found.append((points[0, 0], points[0, 1], points[0, 1] - points[2, 1]))
    return found


@pytest.mark.parametrize("kind", DRAWN)
def test_a_drawing_can_be_embedded_and_takes_colour_and_font_of_the_page(kind):
    drawing = drawn(kind)
    assert inline_svg(drawing, name="it", alt="it")
    colours = set(re.findall(r"(?:fill|stroke): ([^;\"]+)", drawing))
    assert "currentColor" in colours
    assert colours <= {"none", "currentColor", *plots.PALETTE}
    assert "font-family" not in drawing
    assert "fill: currentColor" in re.findall("<text[^>]*>", drawing)[0]


@pytest.mark.parametrize("kind", DRAWN)
def test_the_same_numbers_give_the_same_bytes(kind):
    assert DRAWN[kind]() == drawn(kind)


def test_another_process_with_other_settings_gives_the_same_bytes(tmp_path):
    (tmp_path / "matplotlibrc").write_text("font.size: 30\naxes.grid: False\nsvg.fonttype: path\n")
    script = (
        "from searchlab.report import plots\nprint(plots.bars({'AP': {'a': (0.4, 0.3, 0.5), 'b': 0.2}}, ylabel='mean'))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert ended.stdout == plots.bars({"AP": {"a": (0.4, 0.3, 0.5), "b": 0.2}}, ylabel="mean") + "\n"


def test_drawing_does_not_change_the_settings_of_matplotlib():
    import matplotlib

    with matplotlib.rc_context({"font.size": 30.0}):
        before = dict(matplotlib.rcParams)
        DRAWN["bars"]()
        assert dict(matplotlib.rcParams) == before


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[start : start + 2], 16)) for start in (1, 3, 5))})"


@pytest.mark.parametrize("colour", plots.PALETTE)
@pytest.mark.parametrize("paper", ["#fdfdfc", "#15181c"])
def test_colours_have_enough_contrast_in_light_and_dark(colour, paper):
    assert contrast(rgb(colour), rgb(paper)) >= 3


def test_heights_of_bars_are_proportional_to_their_numbers():
    drawing = plots.bars({"AP": {"a": 0.4, "b": 0.1}, "P": {"a": 0.2, "b": 0.3}}, ylabel="mean")
    heights = [bar[2] for colour in plots.PALETTE[:2] for bar in bars_of(drawing, colour)]
    assert np.array(heights) / heights[0] * 0.4 == pytest.approx([0.4, 0.2, 0.1, 0.3], abs=1e-6)
    assert {"AP", "P", "a", "b", "mean"} <= set(words_of(drawing))


def test_a_system_without_a_measure_has_no_bar_there():
    drawing = plots.bars({"AP": {"a": 0.4, "b": 0.1}, "P": {"b": 0.3}}, ylabel="mean")
    assert [len(bars_of(drawing, colour)) for colour in plots.PALETTE[:2]] == [1, 2]


def test_given_intervals_are_drawn():
    without = plots.bars({"AP": {"a": 0.4, "b": 0.4}}, ylabel="mean")
    with_one = plots.bars({"AP": {"a": (0.4, 0.3, 0.45), "b": 0.4}}, ylabel="mean")
    assert with_one.count("<use") == without.count("<use") + 2  # the caps of one interval


def test_differences_go_from_gain_to_loss():
    drawing = plots.differences([-0.25, 0.5, 0.0, 0.25], ylabel="d", labels=["q1", "q2", "q3", "q4"])
    gains, losses = (sorted(bars_of(drawing, colour)) for colour in plots.PALETTE[:2])
    heights = np.array([height for _, _, height in gains + losses])
    assert heights / heights[0] == pytest.approx([1, 0.5, 0, -0.5], abs=1e-6)
    assert [word for word in words_of(drawing) if word.startswith("q")] == ["q2", "q4", "q3", "q1"]
    assert "2 better, 1 worse, 1 equal" in words_of(drawing)


def test_too_many_labels_are_left_out():
    drawing = plots.differences(np.arange(41.0), ylabel="d", labels=[f"q{n}" for n in range(41)])
    assert not [word for word in words_of(drawing) if word.startswith("q")]


def test_a_histogram_counts():
    heights = [height for _, _, height in bars_of(drawn("histogram"), plots.PALETTE[0])]
    assert heights[0] == pytest.approx(2 * heights[1], abs=1e-3)


def test_axes_have_no_zero_before_the_point():
    assert {"0", ".2", ".4", "1.0"} <= set(words_of(drawn("precision_recall")))
    assert {".01", "1", "100"} <= set(words_of(drawn("curves, log")))


def test_an_arrow_is_within_the_axes():
    words = words_of(plots.scatter({}, {"w": ((0, 0), (20, 30))}, xlabel="x", ylabel="y"))
    assert {"20", "30"} <= set(words)


def test_hollow_points_have_the_colour_and_marker_of_the_filled_ones():
    groups = {"a": np.eye(2), "b": np.zeros((3, 2)), "c": np.zeros((4, 2))}
    drawing = plots.scatter(groups, {}, xlabel="x", ylabel="y", hollow={"b": "a"})
    blue, orange = plots.PALETTE[:2]
    # Each kind is drawn once more in the legend.
    styles = [element.get("style", "") for element in ElementTree.fromstring(drawing).iter()]
    assert sum(f"fill: {blue}" in style for style in styles) == 2 + 1
    assert sum("fill: none" in style and f"stroke: {blue}" in style for style in styles) == 3 + 1
    assert sum(f"fill: {orange}" in style for style in styles) == 4 + 1


def test_seven_systems_have_seven_colours():
    drawing = plots.bars({"AP": dict.fromkeys("abcdefg", 0.5)}, ylabel="mean")
    for colour in (*plots.PALETTE, "currentColor"):
        assert len(bars_of(drawing, colour)) == 1


def test_a_legend_of_long_names_stays_within_the_drawing():
    names = [f"query {number}, 2 over 1: 3.36" for number in (12, 50, 9)]
    drawing = plots.function_curves(dict.fromkeys(names, (XS, XS)), xlabel="x", ylabel="y")
    texts = [text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text") if text.text in names]
    lefts = [round(float(re.findall(r"[-\d.]+", text.get("x") or text.attrib["transform"])[0])) for text in texts]
    # In three columns the first name would begin left of the drawing.
    assert len(set(lefts)) == 2
    assert min(lefts) > 0


def test_many_names_below_groups_of_bars_are_slanted():
    few = plots.bars({"1000–1999": {"a": 1.0}, "2000–2999": {"a": 1.0}}, ylabel="queries")
    many = plots.bars({f"{n}000–{n}999": {"a": 1.0} for n in range(1, 10)}, ylabel="queries")
    assert "rotate(-30" not in few
    assert many.count("rotate(-30") == 9


def test_names_are_plain_text():
    drawing = plots.bars({HOSTILE: {HOSTILE: 0.5, "_b": 0.25}}, ylabel=HOSTILE)
    shown = '<b>$x^2$ & "_" 中 \\frac'
    assert words_of(drawing).count(shown) == 3
    assert "\u200b_b" in words_of(drawing)


def test_a_long_name_is_cut():
    words = words_of(plots.curves(XS, {"n" * 100: XS, "b": XS}, xlabel="x", ylabel="y"))
    assert "n" * 35 + "…" in words


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.bars({}, ylabel=""), "bars: found nothing to draw"),
        (lambda: plots.bars({"AP": {}}, ylabel=""), "bars: found nothing to draw"),
        (lambda: plots.curves([], {"a": []}, xlabel="", ylabel=""), "curves: found nothing to draw"),
        (lambda: plots.curves([1], {"a": [1, 2]}, xlabel="", ylabel=""), "'a' has 2 values, expected 1"),
        (lambda: plots.function_curves({"a": ([1], [1, 2])}, xlabel="", ylabel=""), "'a' has 2 values, expected 1"),
        (lambda: plots.precision_recall({"a": [1]}), "'a' has 1 values, expected 11"),
        (lambda: plots.differences([], ylabel=""), "differences: found nothing"),
        (lambda: plots.differences([1], ylabel="", labels=[]), "found 0 labels, expected 1"),
        (lambda: plots.scatter({}, {}, xlabel="", ylabel=""), "scatter: found nothing"),
        (lambda: plots.scatter({"a": np.ones(3)}, {}, xlabel="", ylabel=""), r"shape \(3,\), expected \(n, 2\)"),
        (
            lambda: plots.scatter({"a": np.eye(2)}, {}, xlabel="", ylabel="", hollow={"a": "b"}),
            "'a' is hollow for 'b', expected kinds of points, the latter filled",
        ),
        (lambda: plots.histogram([math.nan], xlabel="", ylabel=""), "histogram: found nothing"),
        (lambda: plots.histogram([1], xlabel="", ylabel="", bins=0), "bins is 0, expected 1 or more"),
    ],
)
def test_invalid_values_are_errors(draw, message):
    with pytest.raises(SettingError, match=message):
        draw()
