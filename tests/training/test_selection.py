# mypy: disable-error-code="attr-defined"
"""Model selection: the best setting is chosen, on queries that it was not trained on."""

from itertools import pairwise

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.estimators.base_ranker import Ranker
from searchlab.rankers.estimators.ranksvm import RankSVM
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.ranker_registry import make_ranker
from searchlab.rankers.training_data import TrainingData
from searchlab.training.selection import N_BEST, select_model
from searchlab.training.validation import ValidationMeasure
from tests.training.example_tables import some_table

PLAIN = Preprocessor.named("zero", "none")
EVENTS = []


class Spy(Ranker):
    """Scores by the column numbered `value`, and records the rows it is fitted with."""

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
    """Fits and measurements in their order, each with the grades of its rows."""
    EVENTS.clear()
    per_query = ValidationMeasure.per_query

    def record(self, table, scores):
        EVENTS.append(("measure", set() if table.grades is None else set(table.grades.tolist())))
        return per_query(self, table, scores)

    monkeypatch.setattr(ValidationMeasure, "per_query", record)
    return EVENTS


def named_by_grades(n_queries, first=1, n_features=3, seed=1):
    """A table in which the grade is the number of the query, so that rows are recognised anywhere."""
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
    choice = select_model(Spy(), planted(), measure=ValidationMeasure(measure), preprocessors=[PLAIN], **chances[by])
    assert [trial.value for trial in choice.chosen] == [best]
    assert [trial.value for trial in choice.trials] == [0, 1, 2]
    assert {len(trial.per_query) for trial in choice.trials} == {6 if by == "both" else 3}
    assert max(choice.trials, key=lambda trial: trial.mean) is choice.chosen[0]
    assert choice.rankers[0].value == best
    assert np.flatnonzero(choice.model.weights).tolist() == [best]
    assert choice.scores(planted(20)).tolist() == (np.tile(PLANTED[:, best], 3) * 2.0**best).tolist()


def test_the_means_are_those_of_the_validation_queries():
    choice = select_model(Spy(), planted(), measure=ValidationMeasure("P@5"), valid=planted(9), preprocessors=[PLAIN])
    # 1 of the first five, all five, four.
    assert [trial.mean for trial in choice.trials] == pytest.approx([0.2, 1.0, 0.8])


@pytest.mark.parametrize("n_parts", [2, 3, 5, 50])
def test_validation_queries_were_never_trained_on(events, n_parts):
    train = named_by_grades(5)
    choice = select_model(Spy(), train, measure=ValidationMeasure("nDCG"), n_parts=n_parts, preprocessors=[PLAIN])
    measured = [(before[1], event[1]) for before, event in pairwise(events) if event[0] == "measure"]
    parts = min(n_parts, 5)
    assert len(measured) == 3 * parts
    for fitted, aside in measured:
        assert fitted.isdisjoint(aside)
        assert fitted | aside == {1, 2, 3, 4, 5}
    # Each value is measured on each query once.
    assert sorted(query for _, aside in measured for query in aside) == sorted([1, 2, 3, 4, 5] * 3)
    assert max(len(aside) for _, aside in measured) <= -(-5 // parts)
    assert [len(trial.per_query) for trial in choice.trials] == [5, 5, 5]
    # The final model is trained on all queries.
    assert events[-1][:2] == ("fit", {1, 2, 3, 4, 5})
    assert events[-1][3] == choice.chosen[0].value


def test_a_preparation_is_fitted_on_the_training_rows_alone(events):
    train, valid = named_by_grades(6), named_by_grades(2, first=90)
    rules = Preprocessor.named("zero", "standard")
    choice = select_model(
        Spy(), train, measure=ValidationMeasure("nDCG"), valid=valid, n_parts=3, preprocessors=[rules]
    )
    fitted = [event for event in events if event[0] == "fit"]
    assert len(fitted) == 3 * 3 + 3
    for _, _, X, _ in fitted:
        # Queries with larger numbers have larger values: means are 0 only over exactly these rows.
        assert np.abs(X.mean(axis=0)).max() < 1e-9
        assert X.std(axis=0) == pytest.approx(np.ones(3))
    assert choice.preprocessor == rules.fit(train)
    assert choice.scores(valid) == pytest.approx(
        choice.model.score(rules.fit(train).transform(valid).values, valid.group_offsets)
    )


def test_with_a_validation_set_alone_each_value_is_fitted_once(events):
    train, valid = named_by_grades(4), named_by_grades(3, first=50)
    select_model(Spy(), train, measure=ValidationMeasure("nDCG"), valid=valid, preprocessors=[PLAIN])
    assert [event[0] for event in events] == ["fit", "measure"] * 3
    assert {frozenset(event[1]) for event in events if event[0] == "fit"} == {frozenset({1, 2, 3, 4})}
    assert {frozenset(event[1]) for event in events if event[0] == "measure"} == {frozenset({50, 51, 52})}


def test_the_seed_decides_the_parts(events):
    def parts(seed):
        EVENTS.clear()
        select_model(
            Spy(), named_by_grades(8), measure=ValidationMeasure("nDCG"), n_parts=4, preprocessors=[PLAIN], seed=seed
        )
        return [sorted(event[1]) for event in EVENTS if event[0] == "measure"]

    assert parts(1) == parts(1)
    assert parts(1) != parts(2)


def test_of_equal_means_the_more_cautious_value_wins():
    table = planted().with_values(np.tile(PLANTED[:, 1:2], (3, 3)))
    choice = select_model(
        Spy(), table, measure=ValidationMeasure("AP"), n_parts=3, preprocessors=[PLAIN], values=[2, 0, 1]
    )
    assert len({trial.mean for trial in choice.trials}) == 1
    assert [trial.value for trial in choice.chosen] == [2]
    first, second = Preprocessor.named("zero", "none"), Preprocessor.named("zero", "query-minmax")
    assert (
        select_model(Spy(), table, measure=ValidationMeasure(), n_parts=3, preprocessors=[first, second]).preprocessor
        == first
    )
    assert (
        select_model(Spy(), table, measure=ValidationMeasure(), n_parts=3, preprocessors=[second, first]).preprocessor
        == second
    )
    best = select_model(
        AveragedSpy(), table, measure=ValidationMeasure(), n_parts=3, preprocessors=[PLAIN], values=[2, 0, 1], n_best=2
    )
    assert [trial.value for trial in best.chosen] == [2, 0]


def test_the_best_preparation_is_chosen_with_the_best_value():
    # All values are below 0: filled with 0, the document without a value would come before the relevant one.
    values = [[-5.0], [np.nan], [-9.0]] * 2
    table = FeatureTable(["a"], ["1"] * 3 + ["2"] * 3, ["x", "y", "z"] * 2, values, [1, 0, 0] * 2)
    rules = [Preprocessor.named("zero", "none"), Preprocessor.named("query-minimum", "none")]
    choice = select_model(Spy(), table, measure=ValidationMeasure(), n_parts=2, preprocessors=rules)
    assert choice.preprocessor == rules[1]
    assert [trial.mean for trial in choice.trials] == [0.5, 1.0]
    assert [trial.preprocessor for trial in choice.trials] == rules


@pytest.mark.parametrize("by", ["validation", "parts"])
def test_the_best_few_are_averaged_each_scaled_to_the_same_deviation(by):
    train = planted()
    chances = {"valid": planted(9)} if by == "validation" else {"n_parts": 3}
    choice = select_model(
        AveragedSpy(), train, measure=ValidationMeasure("AP"), preprocessors=[PLAIN], n_best=2, **chances
    )
    # By AP column 2 is the best and column 1 the second; each holds the numbers 1 to 12.
    assert {trial.value for trial in choice.chosen} == {1, 2}
    deviation = np.std(np.arange(1, 13))
    expected = np.array([0.0, 2 / (2 * 2 * deviation), 4 / (2 * 4 * deviation)])
    assert choice.model.weights == pytest.approx(expected)
    assert len(choice.rankers) == 2
    scores = choice.scores(train)
    alone = [each.predict(train.values) for each in choice.rankers]
    assert scores == pytest.approx(sum(single / np.std(single) for single in alone) / 2)


def test_without_averaging_one_ranker_is_kept_and_with_it_all_of_a_short_path():
    single = select_model(Spy(), planted(), measure=ValidationMeasure(), n_parts=3, preprocessors=[PLAIN], n_best=3)
    assert len(single.rankers) == 1
    several = select_model(AveragedSpy(), planted(), measure=ValidationMeasure(), n_parts=3, preprocessors=[PLAIN])
    assert len(several.rankers) == 3 < N_BEST


@pytest.mark.parametrize(("name", "given"), [("rsvm", {"C": 0.1}), ("rankboost", {"rounds": 7}), ("svm", {"C": 3.0})])
def test_a_given_setting_is_not_tuned(name, given):
    choice = select_model(make_ranker(name, given), planted(), measure=ValidationMeasure(), preprocessors=[PLAIN])
    (trial,) = choice.trials
    assert (trial.value, trial.per_query.tolist(), trial.mean) == (None, [], 0.0)
    (fitted,) = choice.rankers
    alone = make_ranker(name, given).fit(planted().values, planted().grades, planted().qids)
    assert np.array_equal(choice.scores(planted()), alone.predict(planted().values))
    assert fitted.get_params() == alone.get_params()


def test_a_given_setting_is_trained_once_on_everything(events):
    train = named_by_grades(4)
    valid = named_by_grades(2, first=60)
    choice = select_model(
        Spy(value=1), train, measure=ValidationMeasure(), valid=valid, n_parts=4, preprocessors=[PLAIN]
    )
    assert [event[:2] for event in events] == [("fit", {1, 2, 3, 4})]
    assert choice.rankers[0].value == 1
    EVENTS.clear()
    select_model(Spy(), train, measure=ValidationMeasure(), preprocessors=[PLAIN], values=[2])
    assert [(event[0], event[3]) for event in events] == [("fit", 2)]


def test_a_given_setting_is_validated_where_preprocessors_are_to_be_chosen():
    rules = [Preprocessor.named("zero", "none"), Preprocessor.named("zero", "query-minmax")]
    choice = select_model(Spy(value=1), planted(), measure=ValidationMeasure("P@5"), n_parts=3, preprocessors=rules)
    assert [trial.mean for trial in choice.trials] == [1.0, 1.0]
    assert choice.rankers[0].value == 1


@pytest.mark.parametrize("name", ["rsvm", "rankboost", "svm", "maxent", "rankboost-qd", "single", "mhr"])
def test_every_tunable_ranker_is_tuned_over_its_path(name):
    ranker = make_ranker(name)
    choice = select_model(ranker, planted(), measure=ValidationMeasure(), n_parts=3, preprocessors=[PLAIN])
    training = TrainingData.of(planted().values, planted().grades, planted().qids)
    assert [trial.value for trial in choice.trials] == list(ranker.values(training))
    assert len(choice.trials) > 1
    assert {len(trial.per_query) for trial in choice.trials} == {3}


def test_progress_is_reported_from_the_first_path_to_the_end():
    reported = []
    rules = [Preprocessor.named("zero", "none"), Preprocessor.named("zero", "query-minmax")]
    select_model(
        Spy(),
        planted(),
        measure=ValidationMeasure(),
        valid=planted(9),
        n_parts=3,
        preprocessors=rules,
        progress=lambda stage, done, of: reported.append((done, of)),
    )
    assert reported == [(step, 9) for step in range(1, 10)]


def test_settings_that_allow_no_choice_are_refused():
    train, measure = planted(), ValidationMeasure()
    with pytest.raises(SettingError, match="no queries to choose settings on: expected a validation set, or parts"):
        select_model(Spy(), train, measure=measure)
    with pytest.raises(SettingError, match="no queries to choose settings on"):
        select_model(Spy(value=1), train, measure=measure, preprocessors=[PLAIN, Preprocessor.named()])
    with pytest.raises(SettingError, match="1 query to train with, expected at least 2: some are held out"):
        select_model(Spy(), planted(n_queries=1), measure=measure, n_parts=4)
    with pytest.raises(SettingError, match="n_best is 0, expected a whole number from 1"):
        select_model(Spy(), train, measure=measure, n_parts=2, n_best=0)
    with pytest.raises(SettingError, match="values is empty"):
        select_model(Spy(), train, measure=measure, n_parts=2, values=[])
    with pytest.raises(SettingError, match="the training table has no grades"):
        select_model(Spy(), train.with_grades(None), measure=measure, n_parts=2)
    with pytest.raises(SettingError, match="the validation table has no grades"):
        select_model(Spy(), train, measure=measure, valid=planted(9).with_grades(None))


def test_one_query_is_enough_with_a_validation_set():
    choice = select_model(
        Spy(), planted(n_queries=1), measure=ValidationMeasure(), valid=planted(9), n_parts=4, preprocessors=[PLAIN]
    )
    assert {len(trial.per_query) for trial in choice.trials} == {3}


def test_alternatives_are_tried_with_the_same_values_and_the_best_of_all_are_averaged():
    table = some_table(12)
    ranker = RankSVM(prior=(-1.0, -1.0, 5.0))
    plain = RankSVM()
    measure = ValidationMeasure("AP")
    choice = select_model(ranker, table, measure=measure, n_parts=3, n_best=3, alternatives=[plain])
    assert [trial.value for trial in choice.trials[:8]] == [trial.value for trial in choice.trials[8:]]
    assert {id(trial.variant) for trial in choice.trials[:8]} == {id(ranker)}
    assert {id(trial.variant) for trial in choice.trials[8:]} == {id(plain)}
    best = sorted((trial.mean for trial in choice.trials), reverse=True)[:3]
    assert sorted((trial.mean for trial in choice.chosen), reverse=True) == best
    for trial, fitted in zip(choice.chosen, choice.rankers, strict=True):
        assert (fitted.C, fitted.prior) == (trial.value, trial.variant.prior)
