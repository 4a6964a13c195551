"""Is the best setting chosen, and by nothing that it was trained on?"""

from itertools import pairwise

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.estimators.base_ranker import Ranker
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.ranker_registry import make_ranker
from searchlab.rankers.training_data import TrainingData
from searchlab.training.selection import N_BEST, choose
from searchlab.training.validation import Judge

PLAIN = Preprocessor.named("zero", "none")
EVENTS = []


class Spy(Ranker):
    """Scores by the column that `value` names, and tells which rows it was shown."""

    name = "spy"
    title = "one column"
    tuned = "value"

    def __init__(self, value=None, scale=1.0):
        self.value = value
        self.scale = scale

    def values(self, training):
        return range(training.X.shape[1])

    def _learn(self, training):
        EVENTS.append(("fit", set(training.grades.tolist()), training.X.copy(), self.value))
        weights = np.zeros(training.X.shape[1])
        weights[self.value or 0] = self.scale * 2.0 ** (self.value or 0)
        return LinearModel(weights), {}


class AveragedSpy(Spy):
    averaged = True


@pytest.fixture(autouse=True)
def events(monkeypatch):
    """What happens, in its order: who was fitted with which grades, who was judged by which."""
    EVENTS.clear()
    judge = Judge.per_query

    def listen(self, table, scores):
        EVENTS.append(("judge", set() if table.grades is None else set(table.grades.tolist())))
        return judge(self, table, scores)

    monkeypatch.setattr(Judge, "per_query", listen)
    return EVENTS


def named_by_grades(n_queries, first=1, n_features=3, seed=1):
    """A table in which a grade tells the query: its rows are recognised wherever they turn up."""
    random = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(first, first + n_queries), 4)
    values = random.normal(size=(len(numbers), n_features)) + numbers[:, None]
    docnos = [f"d{row}" for row in range(len(numbers))]
    return FeatureTable([f"f{k}" for k in range(n_features)], [f"q{n}" for n in numbers], docnos, values, numbers)


def ranks_as_score(*orders):
    """Columns of scores that put documents in these orders, best first."""
    n = len(orders[0])
    columns = np.zeros((n, len(orders)))
    for column, order in enumerate(orders):
        columns[list(order), column] = np.arange(n, 0, -1)
    return columns


# Document 0 has grade 3, 1 to 5 have 1, the others 0.
GRADES = [3, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
PLANTED = ranks_as_score(
    [0, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 5],  # the best comes first, the others last: nDCG@10
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0],  # five that are relevant, but the best is the last: P@5
    [1, 2, 3, 4, 6, 5, 0, 7, 8, 9, 10, 11],  # (1 + 1 + 1 + 1 + 5/6 + 6/7)/6 against 5.5/6: AP
)


def planted(first=0, n_queries=3):
    qids = np.repeat([f"q{first + number}" for number in range(n_queries)], 12)
    docnos = [f"d{row}" for row in range(12)] * n_queries
    return FeatureTable(["a", "b", "c"], qids, docnos, np.tile(PLANTED, (n_queries, 1)), GRADES * n_queries)


@pytest.mark.parametrize(("measure", "best"), [("nDCG@10", 0), ("P@5", 1), ("AP", 2)])
@pytest.mark.parametrize("by", ["validation", "parts", "both"])
def test_the_best_value_by_a_measure_is_chosen(measure, best, by):
    chances = {"validation": {"valid": planted(9)}, "parts": {"n_parts": 3}}
    chances["both"] = chances["validation"] | chances["parts"]
    choice = choose(Spy(), planted(), judge=Judge(measure), preparations=[PLAIN], **chances[by])
    assert [trial.value for trial in choice.chosen] == [best]
    assert [trial.value for trial in choice.trials] == [0, 1, 2]
    assert {len(trial.per_query) for trial in choice.trials} == {6 if by == "both" else 3}
    assert max(choice.trials, key=lambda trial: trial.mean) is choice.chosen[0]
    assert choice.rankers[0].value == best
    assert np.flatnonzero(choice.model.weights).tolist() == [best]
    assert choice.scores(planted(20)).tolist() == (np.tile(PLANTED[:, best], 3) * 2.0**best).tolist()


def test_the_means_are_those_of_the_validation_queries():
    choice = choose(Spy(), planted(), judge=Judge("P@5"), valid=planted(9), preparations=[PLAIN])
    # 1 of the first five, all five, four.
    assert [trial.mean for trial in choice.trials] == pytest.approx([0.2, 1.0, 0.8])


@pytest.mark.parametrize("n_parts", [2, 3, 5, 50])
def test_what_judges_was_never_trained_on(events, n_parts):
    train = named_by_grades(5)
    choice = choose(Spy(), train, judge=Judge("nDCG"), n_parts=n_parts, preparations=[PLAIN])
    judged = [(before[1], event[1]) for before, event in pairwise(events) if event[0] == "judge"]
    parts = min(n_parts, 5)
    assert len(judged) == 3 * parts
    for fitted, aside in judged:
        assert fitted.isdisjoint(aside)
        assert fitted | aside == {1, 2, 3, 4, 5}
    # Each query judges each value once.
    assert sorted(query for _, aside in judged for query in aside) == sorted([1, 2, 3, 4, 5] * 3)
    assert max(len(aside) for _, aside in judged) <= -(-5 // parts)
    assert [len(trial.per_query) for trial in choice.trials] == [5, 5, 5]
    # What is kept is trained on all.
    assert events[-1][:2] == ("fit", {1, 2, 3, 4, 5})
    assert events[-1][3] == choice.chosen[0].value


def test_what_a_preparation_learns_it_learns_from_the_rows_that_are_trained_on(events):
    train, valid = named_by_grades(6), named_by_grades(2, first=90)
    rules = Preprocessor.named("zero", "standard")
    choice = choose(Spy(), train, judge=Judge("nDCG"), valid=valid, n_parts=3, preparations=[rules])
    fitted = [event for event in events if event[0] == "fit"]
    assert len(fitted) == 3 * 3 + 3
    for _, _, X, _ in fitted:
        # The rows of queries with larger numbers have larger values: means are 0 only over the very rows.
        assert np.abs(X.mean(axis=0)).max() < 1e-9
        assert X.std(axis=0) == pytest.approx(np.ones(3))
    assert choice.preparation == rules.fit(train)
    assert choice.scores(valid) == pytest.approx(
        choice.model.score(rules.fit(train).transform(valid).values, valid.group_offsets)
    )


def test_a_validation_set_alone_judges_the_models_that_are_kept(events):
    train, valid = named_by_grades(4), named_by_grades(3, first=50)
    choose(Spy(), train, judge=Judge("nDCG"), valid=valid, preparations=[PLAIN])
    assert [event[0] for event in events] == ["fit", "judge"] * 3
    assert {frozenset(event[1]) for event in events if event[0] == "fit"} == {frozenset({1, 2, 3, 4})}
    assert {frozenset(event[1]) for event in events if event[0] == "judge"} == {frozenset({50, 51, 52})}


def test_parts_are_dealt_by_the_seed(events):
    def dealt(seed):
        EVENTS.clear()
        choose(Spy(), named_by_grades(8), judge=Judge("nDCG"), n_parts=4, preparations=[PLAIN], seed=seed)
        return [sorted(event[1]) for event in EVENTS if event[0] == "judge"]

    assert dealt(1) == dealt(1)
    assert dealt(1) != dealt(2)


def test_equal_means_are_decided_for_the_more_cautious():
    table = planted().with_values(np.tile(PLANTED[:, 1:2], (3, 3)))
    choice = choose(Spy(), table, judge=Judge("AP"), n_parts=3, preparations=[PLAIN], values=[2, 0, 1])
    assert len({trial.mean for trial in choice.trials}) == 1
    assert [trial.value for trial in choice.chosen] == [2]
    first, second = Preprocessor.named("zero", "none"), Preprocessor.named("zero", "query-minmax")
    assert choose(Spy(), table, judge=Judge(), n_parts=3, preparations=[first, second]).preparation == first
    assert choose(Spy(), table, judge=Judge(), n_parts=3, preparations=[second, first]).preparation == second
    best = choose(AveragedSpy(), table, judge=Judge(), n_parts=3, preparations=[PLAIN], values=[2, 0, 1], n_best=2)
    assert [trial.value for trial in best.chosen] == [2, 0]


def test_the_best_preparation_is_chosen_with_the_best_value():
    # All values are below 0: filled with 0, the document without a value would come before the relevant one.
    values = [[-5.0], [np.nan], [-9.0]] * 2
    table = FeatureTable(["a"], ["1"] * 3 + ["2"] * 3, ["x", "y", "z"] * 2, values, [1, 0, 0] * 2)
    rules = [Preprocessor.named("zero", "none"), Preprocessor.named("query-minimum", "none")]
    choice = choose(Spy(), table, judge=Judge(), n_parts=2, preparations=rules)
    assert choice.preparation == rules[1]
    assert [trial.mean for trial in choice.trials] == [0.5, 1.0]
    assert [trial.preparation for trial in choice.trials] == rules


@pytest.mark.parametrize("by", ["validation", "parts"])
def test_the_best_few_are_averaged_each_scaled_to_the_same_spread(by):
    train = planted()
    chances = {"valid": planted(9)} if by == "validation" else {"n_parts": 3}
    choice = choose(AveragedSpy(), train, judge=Judge("AP"), preparations=[PLAIN], n_best=2, **chances)
    # By AP column 2 is the best and column 1 the second; each holds the numbers 1 to 12.
    assert {trial.value for trial in choice.chosen} == {1, 2}
    spread = np.std(np.arange(1, 13))
    expected = np.array([0.0, 2 / (2 * 2 * spread), 4 / (2 * 4 * spread)])
    assert choice.model.weights == pytest.approx(expected)
    assert len(choice.rankers) == 2
    scores = choice.scores(train)
    alone = [each.predict(train.values) for each in choice.rankers]
    assert scores == pytest.approx(sum(own / np.std(own) for own in alone) / 2)


def test_without_averaging_one_is_kept_and_all_if_there_are_fewer():
    single = choose(Spy(), planted(), judge=Judge(), n_parts=3, preparations=[PLAIN], n_best=3)
    assert len(single.rankers) == 1
    several = choose(AveragedSpy(), planted(), judge=Judge(), n_parts=3, preparations=[PLAIN])
    assert len(several.rankers) == 3 < N_BEST


@pytest.mark.parametrize(("name", "given"), [("rsvm", {"C": 0.1}), ("rankboost", {"rounds": 7}), ("svm", {"C": 3.0})])
def test_a_setting_that_was_given_is_not_tried_out(name, given):
    choice = choose(make_ranker(name, given), planted(), judge=Judge(), preparations=[PLAIN])
    (trial,) = choice.trials
    assert (trial.value, trial.per_query.tolist(), trial.mean) == (None, [], 0.0)
    (kept,) = choice.rankers
    alone = make_ranker(name, given).fit(planted().values, planted().grades, planted().qids)
    assert np.array_equal(choice.scores(planted()), alone.predict(planted().values))
    assert kept.get_params() == alone.get_params()


def test_a_given_setting_is_trained_once_on_everything(events):
    train = named_by_grades(4)
    valid = named_by_grades(2, first=60)
    choice = choose(Spy(value=1), train, judge=Judge(), valid=valid, n_parts=4, preparations=[PLAIN])
    assert [event[:2] for event in events] == [("fit", {1, 2, 3, 4})]
    assert choice.rankers[0].value == 1
    EVENTS.clear()
    choose(Spy(), train, judge=Judge(), preparations=[PLAIN], values=[2])
    assert [(event[0], event[3]) for event in events] == [("fit", 2)]


def test_between_preparations_a_given_setting_is_still_tried():
    rules = [Preprocessor.named("zero", "none"), Preprocessor.named("zero", "query-minmax")]
    choice = choose(Spy(value=1), planted(), judge=Judge("P@5"), n_parts=3, preparations=rules)
    assert [trial.mean for trial in choice.trials] == [1.0, 1.0]
    assert choice.rankers[0].value == 1


@pytest.mark.parametrize("name", ["rsvm", "rankboost", "svm", "maxent", "rankboost-qd", "single", "mhr"])
def test_whatever_is_tuned_is_tuned_unless_it_was_given(name):
    ranker = make_ranker(name)
    choice = choose(ranker, planted(), judge=Judge(), n_parts=3, preparations=[PLAIN])
    training = TrainingData.of(planted().values, planted().grades, planted().qids)
    assert [trial.value for trial in choice.trials] == list(ranker.values(training))
    assert len(choice.trials) > 1
    assert {len(trial.per_query) for trial in choice.trials} == {3}


def test_progress_is_told_from_the_first_path_to_the_end():
    told = []
    rules = [Preprocessor.named("zero", "none"), Preprocessor.named("zero", "query-minmax")]
    choose(
        Spy(),
        planted(),
        judge=Judge(),
        valid=planted(9),
        n_parts=3,
        preparations=rules,
        progress=lambda stage, done, of: told.append((done, of)),
    )
    assert told == [(step, 9) for step in range(1, 10)]


def test_what_cannot_be_chosen_is_refused():
    train, judge = planted(), Judge()
    with pytest.raises(SettingError, match="nothing to choose by: expected a validation set, or parts to hold out"):
        choose(Spy(), train, judge=judge)
    with pytest.raises(SettingError, match="nothing to choose by"):
        choose(Spy(value=1), train, judge=judge, preparations=[PLAIN, Preprocessor.named()])
    with pytest.raises(SettingError, match="1 query to train with, expected at least 2: some are held out"):
        choose(Spy(), planted(n_queries=1), judge=judge, n_parts=4)
    with pytest.raises(SettingError, match="n_best is 0, expected a whole number from 1"):
        choose(Spy(), train, judge=judge, n_parts=2, n_best=0)
    with pytest.raises(SettingError, match="values is empty"):
        choose(Spy(), train, judge=judge, n_parts=2, values=[])
    with pytest.raises(SettingError, match="a table to train with has no grades"):
        choose(Spy(), train.with_grades(None), judge=judge, n_parts=2)
    with pytest.raises(SettingError, match="a table to choose by has no grades"):
        choose(Spy(), train, judge=judge, valid=planted(9).with_grades(None))


def test_one_query_is_enough_with_a_validation_set():
    choice = choose(Spy(), planted(n_queries=1), judge=Judge(), valid=planted(9), n_parts=4, preparations=[PLAIN])
    assert {len(trial.per_query) for trial in choice.trials} == {3}
