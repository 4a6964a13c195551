"""The coordinates of a verdict's pictures, worked by hand."""

import pytest

from searchlab.web.pages.training.verdict_charts import HEIGHT, make_charts

HELD_OUT = {
    "measure": "nDCG@10",
    "qids": ["1", "2", "3"],
    "values": {"mine": [0.5, 0.2, 0.4], "BM25": [0.1, 0.1, 0.1], "RM3": [0.3, 0.6, 0.4]},
    "intervals": {"mine": [0.2, 0.5], "BM25": [0.1, 0.1], "RM3": [0.3, 0.8]},
    "precision_recall": {name: [1.0] + [0.5] * 10 for name in ("mine", "BM25", "RM3")},
}
CURVE = {"measure": "nDCG@10", "points": [{"n_topics": 5, "mean": 0.33}, {"n_topics": 10, "mean": 0.38}]}


def test_topics_are_compared_with_the_best_baseline_and_sorted_by_gain():
    charts = make_charts({"held_out": HELD_OUT}, {"1": "lymphoma"})
    assert (charts["model"], charts["best"]) == ("mine", "RM3")
    assert [(row["qid"], row["text"]) for row in charts["topics"]] == [("1", "lymphoma"), ("3", "3"), ("2", "2")]
    assert [row["difference"] for row in charts["topics"]] == pytest.approx([0.2, 0.0, -0.4])
    assert (charts["n_won"], charts["n_lost"]) == (1, 1)
    assert (charts["smallest"], charts["largest"]) == pytest.approx((-0.4, 0.2))


def test_means_and_intervals_share_an_axis_from_0_to_the_highest_end():
    rows = make_charts({"held_out": HELD_OUT}, {})["means"]
    assert [row["name"] for row in rows] == ["mine", "BM25", "RM3"]
    # The highest end is .8: a mean of .3667 is at 45.8 of 100.
    assert rows[0]["x"] == pytest.approx(100 * (1.1 / 3) / 0.8)
    assert (rows[0]["x_low"], rows[0]["x_high"]) == pytest.approx((25, 62.5))
    assert rows[2]["x_high"] == pytest.approx(100)


def test_lines_lie_between_their_axes():
    charts = make_charts({"held_out": HELD_OUT, "learning_curve": CURVE}, {})
    curve = charts["curve"]
    # A range of tenths, .3 to .5; 10 topics are at the right end.
    assert [text for _, text in curve["y_ticks"]] == ["0.3", "0.4", "0.5"]
    assert curve["lines"][0]["points"][1][0] == curve["axis"]["right"]
    bottom, top = curve["axis"]["bottom"], curve["axis"]["top"]
    assert curve["lines"][0]["points"][0][1] == pytest.approx(bottom - (bottom - top) * 0.15, abs=0.01)
    lines = charts["precision_recall"]["lines"]
    assert [line["name"] for line in lines] == ["mine", "BM25", "RM3"]
    assert lines[0]["points"][0] == (charts["precision_recall"]["axis"]["left"], top)
    assert all(0 <= y <= HEIGHT for line in lines for _, y in line["points"])


@pytest.mark.parametrize("mean", [0.0, 0.05, 0.85, 0.95, 1.0])
def test_the_range_of_a_curve_holds_its_points(mean):
    points = [{"n_topics": 5, "mean": mean}, {"n_topics": 10, "mean": mean}]
    curve = make_charts({"held_out": HELD_OUT, "learning_curve": {"points": points}}, {})["curve"]
    assert curve["axis"]["top"] <= curve["lines"][0]["points"][0][1] <= curve["axis"]["bottom"]


@pytest.mark.parametrize(
    "points",
    [None, [], [1, 2], [{"n_topics": 5, "mean": 0.3}], [{"n_topics": "5", "mean": 0.3}] * 2, [{"n_topics": 5}] * 2],
)
def test_without_a_curve_none_is_drawn(points):
    assert make_charts({"held_out": HELD_OUT, "learning_curve": {"points": points}}, {})["curve"] is None


def test_qids_that_are_no_texts_are_not_drawn():
    assert make_charts({"held_out": HELD_OUT | {"qids": [["1"], {}, 3]}}, {}) is None


@pytest.mark.parametrize("trial", [None, {}, {"held_out": None}, {"held_out": {"measure": "AP"}}])
def test_models_of_earlier_versions_have_no_pictures(trial):
    assert make_charts(trial, {}) is None
