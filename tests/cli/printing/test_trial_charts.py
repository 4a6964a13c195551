"""Pictures of a cross-validation for a terminal, worked by hand."""

import io
import sys

from searchlab.cli.printing.trial_charts import CHART_WIDTH, can_draw, draw_intervals, draw_trial

HELD_OUT = {
    "measure": "nDCG@10",
    "qids": ["1", "2", "3"],
    "values": {"mine": [0.5, 0.2, 0.4], "RM3": [0.3, 0.6, 0.4]},
    "intervals": {"mine": [0.2, 0.5], "RM3": [0.3, 0.8]},
    "precision_recall": {},
}
CURVE = {"measure": "nDCG@10", "points": [{"n_topics": 5, "mean": 0.3}, {"n_topics": 10, "mean": 0.4}]}


def test_intervals_are_drawn_on_one_axis_from_0():
    first, second = draw_intervals({"mine": 0.25, "RM3": 0.375}, {"mine": [0.0, 0.25], "RM3": [0.25, 0.5]})
    assert first.startswith("  mine  .2500  ├")
    # .25 of .5 is the middle of the axis, where one interval ends and the other begins.
    assert first.index("●") == second.index("├") == len("  mine  .2500  ") + round((CHART_WIDTH - 1) / 2)
    assert len(second) == len("  RM3   .3750  ") + CHART_WIDTH
    assert second.endswith("─┤")


def test_topics_are_counted_against_the_best_baseline_and_drawn():
    lines = draw_trial({"held_out": HELD_OUT, "learning_curve": CURVE}, {"1": "lymphoma\x1b[31m of mice", "2": "iron"})
    assert "1 better, 1 worse, 1 the same as RM3" in lines
    gain, loss = (next(line for line in lines if text in line) for text in ("lymphoma", "iron"))
    assert "+.2000" in gain
    assert "−.4000" in loss
    assert gain.count("█") * 2 == loss.count("█") == CHART_WIDTH // 2
    assert "\x1b" not in gain
    # From .3 to .5: .4 is in the middle, 3.5 of 7 steps, rounded to 4.
    assert lines[-2:] == ["  ▁▁▁ ▅▅▅", "    5  10"]


def test_precision_at_recall_is_drawn_on_one_scale_for_all_systems():
    precision = {"mine": [1.0, 0.5, 0.0], "RM3": [0.6, 0.6, 0.1]}
    lines = draw_trial({"held_out": HELD_OUT | {"precision_recall": precision}}, {})
    # The eight steps stand for 0, 1/7, …, 1: .5 and .6 are nearest to 4/7 (3.5 is rounded to the even 4), .1 to 1/7.
    assert lines[-3:] == [
        "precision at recall 0, .1, …, 1 on held-out topics",
        "  mine  1.0000  ███ ▅▅▅ ▁▁▁  .0000",
        "  RM3   .6000  ▅▅▅ ▅▅▅ ▂▂▂  .1000",
    ]


def test_models_of_earlier_versions_have_no_pictures():
    assert draw_trial({}, {}) == []


def test_files_pipes_and_poor_terminals_get_tables_alone(monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not can_draw()
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO(), "ascii"))
    assert not can_draw()
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO(), "utf-8"))
    assert can_draw()
