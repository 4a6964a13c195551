"""Measures that a user registers: what they see, where their names work, and how mistakes are reported."""

import numpy as np
import pytest

import searchlab
from searchlab.errors import SettingError
from searchlab.evaluation.custom_measures import measure
from searchlab.evaluation.ties import evaluate_ties
from searchlab.training.validation import ValidationMeasure

pytestmark = pytest.mark.usefixtures("registered_here")

QRELS = {"1": {"a": 2, "b": 0, "c": 1, "x": 1}, "2": {"a": 0}}
RUN = {"1": {"a": 3.0, "u": 2.0, "b": 1.5, "c": 1.0}, "2": {"u": 1.0}}


def test_a_function_sees_grades_in_rank_order_all_grades_cutoff_and_lowest_relevant_grade():
    seen = []

    @measure("Seen", "what it sees")
    def look(topic):
        seen.append(topic)
        return len(topic.ranked)

    values = searchlab.evaluate_run(QRELS, RUN, ["Seen", "Seen(rel=2)@3"]).values.tolist()
    assert values == [[4, 3], [1, 1]]
    whole, cut = seen[0], seen[2]
    assert whole.ranked.tolist() == [2, 0, 0, 1]
    assert whole.is_judged.tolist() == [True, False, True, True]
    assert whole.is_relevant.tolist() == [True, False, False, True]
    assert (whole.judged.tolist(), whole.n_relevant, whole.cutoff, whole.rel) == ([2, 1, 1, 0], 3, None, 1)
    assert cut.ranked.tolist() == [2, 0, 0]
    assert (cut.n_relevant, cut.cutoff, cut.rel) == (1, 3, 2)


@pytest.fixture
def precision():
    @measure("OwnP", "precision at the cutoff, to compare with P")
    def own_precision(topic):
        return topic.is_relevant.sum() / topic.cutoff

    @measure("OwnRR", "reciprocal rank, to compare with RR")
    def own_rr(topic):
        ranks = np.flatnonzero(topic.is_relevant)
        return 1 / (ranks[0] + 1) if len(ranks) else 0


def random_run(seed):
    chance = np.random.default_rng(seed)
    names = [f"d{n:02}" for n in range(30)]
    qrels = {f"{q}": {name: int(chance.integers(0, 3)) for name in chance.choice(names, 12)} for q in range(8)}
    run = {qid: {name: float(chance.integers(0, 9)) for name in chance.choice(names, 15)} for qid in qrels}
    return qrels, run


@pytest.mark.parametrize("dialect", ["trec", "letor4"])
def test_measures_written_again_in_python_equal_the_built_in_ones(precision, dialect):
    qrels, run = random_run(5)
    names = ["OwnP@5", "P@5", "OwnRR", "RR", "OwnRR(rel=2)", "RR(rel=2)"]
    found = searchlab.evaluate_run(qrels, run, names, dialect=dialect)
    assert found.values[:, ::2] == pytest.approx(found.values[:, 1::2])
    assert found.mean("OwnRR") == pytest.approx(found.mean("RR"))


def test_ties_are_bounded_for_a_measure_of_an_extension_as_for_a_built_in_one(precision):
    qrels, run = random_run(6)
    rankings = searchlab.make_run(run)
    ties = evaluate_ties(qrels, rankings, ["OwnRR", "RR"])
    assert ties.best.mean("OwnRR") == pytest.approx(ties.best.mean("RR"))
    assert ties.worst.mean("OwnRR") == pytest.approx(ties.worst.mean("RR"))
    assert ties.worst.mean("OwnRR") < ties.expected.mean("OwnRR") < ties.best.mean("OwnRR")
    assert ties.expected.mean("OwnRR") == pytest.approx(ties.expected.mean("RR"), abs=0.02)


def test_runs_are_compared_and_training_is_validated_by_it(precision):
    qrels, run = random_run(7)
    runs = {"one": run, "two": random_run(8)[1]}
    evaluations = [searchlab.evaluate_run(qrels, each, ["OwnRR", "RR"], name=name) for name, each in runs.items()]
    own, built_in = (searchlab.compare_evaluations(evaluations, measures=[name]) for name in ("OwnRR", "RR"))
    assert repr(own).replace("OwnRR", "RR") == repr(built_in)
    assert ValidationMeasure("OwnRR@10").name == "OwnRR@10"


def test_a_name_may_be_registered_again_but_no_built_in_name_of_any_tool():
    for value in (1, 2):
        measure("Mine", "a number")(lambda topic, value=value: value)
        assert searchlab.evaluate_run(QRELS, RUN, "Mine").means == {"Mine": value}
    for name in ("nDCG", "NDCG", "MAP", "map", "ndcg_cut", "P_5", "recall_100"):
        with pytest.raises(SettingError, match=rf"^measure {name} is built in, expected another name$"):
            measure(name, "a number")(lambda topic: 1)
    with pytest.raises(SettingError, match=r"unknown measure 'Mien' \(did you mean Mine.*there is: nDCG, .*, Mine$"):
        searchlab.evaluate_run(QRELS, RUN, "Mien")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda topic: float("nan"), "measure Mine returned nan for grades 2, 0, 0, 1, expected a finite number"),
        (lambda topic: None, r"measure Mine failed: TypeError: float\(\) argument must be .*"),
        (lambda topic: topic.ranked, "measure Mine failed: TypeError: only .*"),
        (lambda topic: 1 / 0, r"measure Mine failed: ZeroDivisionError: .* \(test_custom_measures.py, line \d+\)"),
        (lambda: 1, "measure Mine failed: TypeError: .* takes 0 positional arguments but 1 was given .*"),
    ],
)
def test_mistakes_of_an_author_are_reported_with_the_name(function, message):
    measure("Mine", "wrong")(function)
    with pytest.raises(SettingError, match=f"^{message}$"):
        searchlab.evaluate_run(QRELS, RUN, "Mine")


@pytest.mark.parametrize(
    ("arguments", "function", "message"),
    [
        (("a b", "x"), len, "measure is called 'a b', expected a letter, then"),
        (("Mine", "x\ny"), len, "measure Mine: description is 'x\\\\ny', expected a line"),
        (("Mine", "x"), 3, "measure Mine is int, expected a function"),
    ],
)
def test_wrong_registrations_are_refused(arguments, function, message):
    with pytest.raises(SettingError, match=f"^{message}"):
        measure(*arguments)(function)
