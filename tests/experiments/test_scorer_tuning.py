"""Are settings chosen by other topics than those that judge them?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments.scorer_tuning import choose_by_folds, choose_point, show_settings, tune
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.bm25 import BM25


def test_each_fold_is_judged_with_what_is_best_on_the_others():
    # By hand: without topics 0 and 1, the rows' means are .5 and .6; without 2 and 3, .9 and .1.
    values = np.array([[0.9, 0.9, 0.5, 0.5], [0.1, 0.1, 0.6, 0.6]])
    chosen, held_out = choose_by_folds(values, [np.array([0, 1]), np.array([2, 3])])
    assert chosen == (1, 0)
    assert held_out.tolist() == [0.1, 0.1, 0.5, 0.5]
    # On all topics row 0 is best: its .7 flatters, .3 is what held-out topics say.
    assert choose_point(values, np.arange(4)) == 0
    assert np.mean(held_out) == pytest.approx(0.3)


def test_of_equal_points_the_first_is_chosen():
    assert choose_point(np.ones((3, 2)), np.arange(2)) == 0


@given(st.integers(0, 10_000), st.integers(0, 2))
def test_what_a_fold_chooses_does_not_depend_on_its_own_values(seed, fold):
    generator = np.random.default_rng(seed)
    values = generator.random((4, 9))
    folds = [np.arange(9)[number::3] for number in range(3)]
    before, _ = choose_by_folds(values, folds)
    values[:, folds[fold]] = generator.random((4, 3))
    after, held_out = choose_by_folds(values, folds)
    assert before[fold] == after[fold]
    assert held_out[folds[fold]].tolist() == values[after[fold], folds[fold]].tolist()


@pytest.fixture(scope="module")
def engine(build):
    """Topic i is answered by a long document that has its word twice; short ones have it once."""
    long = [Document(f"long{i}", "", f"word{i} word{i} " + "filler " * 30) for i in range(12)]
    short = [Document(f"short{i}", "", f"word{i} filler") for i in range(12)]
    with SearchEngine(build([*long, *short])) as engine:
        yield engine


TOPICS = [Topic(f"{i}", f"word{i}") for i in range(12)]
QRELS = {f"{i}": {f"long{i}": 1, f"short{i}": 0} for i in range(12)}


def test_a_setting_that_helps_every_topic_is_found_and_recommended(engine):
    found = tune(engine, TOPICS, QRELS, "bm25", {"b": ["0", "0.75"]}, measure="RR", n_folds=4)
    # Without a penalty for length, the document with two occurrences is first; with the default it is second.
    assert found.points[found.best] == {"b": 0.0}
    assert found.chosen == (0,) * 4
    assert (found.mean(0), found.mean(1), found.held_out) == (1.0, 0.5, 1.0)
    assert found.compared.mean_b == 0.5
    assert found.defaults == {"b": 0.75}
    assert found.at_edge == []
    assert found.verdict() == (
        "Tuning helps: RR .5000 → 1.0000 on 12 held-out topics (12 better, 0 worse, p < .001); recommended: b=0."
    )


def test_a_best_value_at_the_end_of_the_grid_is_noticed(engine):
    found = tune(engine, TOPICS, QRELS, "bm25", {"b": [0, 0.75, 1], "k1": [0.9, 1.2]}, measure="RR", n_folds=2)
    assert found.at_edge == ["b"]
    # A tenth of the penalty does no harm either; of equal points the first is the best, and here it is an inner one.
    assert tune(engine, TOPICS, QRELS, "bm25", {"b": [0.1, 0, 1]}, measure="RR", n_folds=2).at_edge == []


def test_the_values_of_a_point_are_those_of_its_scorer(engine):
    found = tune(engine, TOPICS, QRELS, "bm25", {"k1": [0.4, 2]}, settings={"b": 0.3}, measure="nDCG@5", n_folds=2)
    run = Pipeline(engine, BM25(k1=2, b=0.3)).run(TOPICS)
    assert found.values[1].tolist() == evaluate_run(QRELS, run, "nDCG@5").values_of("nDCG@5").tolist()
    assert found.defaults == {"b": 0.3, "k1": 1.2}


def test_what_helps_nobody_is_not_recommended(engine):
    found = tune(engine, TOPICS, QRELS, "bm25", {"b": [0.75, 0.8]}, measure="RR", n_folds=3)
    assert found.verdict() == (
        "Tuning is not shown to help: RR .5000 → .5000 on 12 held-out topics (0 better, 0 worse, p = 1.00, "
        "may be chance); recommended: stay with b=0.75."
    )


def test_few_topics_allow_no_verdict(engine):
    found = tune(engine, TOPICS[:5], QRELS, "bm25", {"b": [0, 0.75]}, measure="RR", n_folds=2)
    assert found.verdict().startswith("Too few topics to say whether tuning helps: RR .5000 → 1.0000 on 5 held-out")


def test_topics_without_relevant_documents_are_left_out(engine):
    found = tune(engine, [*TOPICS, Topic("99", "filler")], QRELS, "bm25", {"b": [0, 1]}, measure="RR", n_folds=2)
    assert found.n_skipped == 1
    assert found.qids == tuple(QRELS)


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({}, {}, "nothing to tune: expected a grid"),
        ({"b": []}, {}, "nothing to tune: expected a grid"),
        ({"bb": [1]}, {}, "unknown setting of bm25 'bb'"),
        ({"b": ["x"]}, {}, "bm25: b is 'x', expected a number"),
        ({"b": [1]}, {"settings": {"b": 0}}, "b is set and in the grid, expected one of the two"),
        ({"b": [1]}, {"n_folds": 13}, "folds is 13, expected 2 to 12, the number of topics"),
        ({"b": [1]}, {"n_folds": 1}, "folds is 1, expected 2 to 12"),
        ({"b": [1]}, {"measure": "NumRet"}, "measure NumRet is a total"),
        ({"b": [1]}, {"dialect": "x"}, "unknown dialect 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused(engine, grid, options, message):
    with pytest.raises(SettingError, match=message):
        tune(engine, TOPICS, QRELS, "bm25", grid, **options)


def test_settings_are_shown_as_they_are_written():
    assert show_settings({"k1": 0.9, "b": 1.0, "idf": "plain"}) == "k1=0.9, b=1, idf=plain"
