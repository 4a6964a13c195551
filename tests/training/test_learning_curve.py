"""Learning curves: the same held-out topics at every point, nested training topics, and no leak between them."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.training import learning_curve as module
from searchlab.training.learning_curve import CurvePoint, LearningCurve, halved, measure_learning_curve
from searchlab.training.recipe import Recipe
from searchlab.training.training_set import TrainingSet
from tests.training.example_tables import QUICK, some_table


def training_set(n_queries=20, **options):
    table = some_table(n_queries, **options)
    qrels = {
        qid: dict(zip(table.docnos[rows].tolist(), table.grades[rows].tolist(), strict=True))
        for qid, rows in table.queries()
    }
    return TrainingSet((), qrels, table, {}, 0)


def test_sizes_are_halved_down_to_five():
    assert halved(80) == [5, 10, 20, 40, 80]
    assert halved(21) == [5, 10, 21]
    assert halved(4) == []


def test_training_topics_are_nested_and_never_held_out(monkeypatch):
    data, seen = training_set(), []
    learn = Recipe.learn

    def listen(self, train, *others):
        choice = learn(self, train, *others)
        seen.append(set(train.query_ids))
        return choice

    monkeypatch.setattr(Recipe, "learn", listen)
    recipe = Recipe("rsvm", QUICK, n_folds=4)
    curve = measure_learning_curve(recipe, data)
    assert [point.n_topics for point in curve.points] == [7, 15]
    assert [len(qids) for qids in seen] == [7, 15] * 4
    for small, large in zip(seen[::2], seen[1::2], strict=True):
        assert small < large
    held_out = [set(data.table.query_ids) - large for large in seen[1::2]]
    assert set.union(*held_out) == set(data.table.query_ids)
    assert sum(map(len, held_out)) == 20


def test_the_last_point_is_the_cross_validation():
    data = training_set()
    recipe = Recipe("rsvm", QUICK, n_folds=4)
    scores = module_cross_validation(recipe, data)
    (point,) = measure_learning_curve(recipe, data, [15]).points
    assert point.per_topic == pytest.approx(recipe.validation_measure(data.qrels).per_query(data.table, scores))


def module_cross_validation(recipe, data):
    from searchlab.training.cross_validation import cross_validate_table

    return cross_validate_table(recipe, data.table, recipe.validation_measure(data.qrels))


def test_a_signal_is_learnt_better_from_more_topics():
    curve = measure_learning_curve(Recipe("rsvm", QUICK, n_folds=5), training_set(40, signal=0.5), [1, 32])
    few, many = curve.points
    assert few.mean < many.mean


def test_the_last_doubling_compares_the_same_topics():
    values = np.array([0.1, 0.2, 0.3, 0.4])
    curve = LearningCurve("AP", (CurvePoint(0, values), CurvePoint(5, values), CurvePoint(10, values + 0.1)))
    gain = curve.last_doubling
    assert gain.difference == pytest.approx(0.1)
    assert (gain.name_a, gain.name_b, gain.wins) == ("10 topics", "5 topics", 4)
    assert LearningCurve("AP", (CurvePoint(10, values),)).last_doubling is None
    assert LearningCurve("AP", ()).last_doubling is None
    assert curve.to_json()["points"][2] == {"n_topics": 10, "mean": pytest.approx(0.35)}
    assert "0.3500" in curve._repr_html_() or ".3500" in curve._repr_html_()


@pytest.mark.parametrize("sizes", [[16], [0], [5, "x"]])
def test_sizes_that_cannot_be_are_refused(sizes):
    with pytest.raises(SettingError, match="size is "):
        measure_learning_curve(Recipe("rsvm", QUICK, n_folds=4), training_set(), sizes)
    assert module.MIN_SIZE == 5
