"""Comparison of systems: counts, tests, corrections and sentences."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_evaluations, compare_values
from searchlab.evaluation.significance import holm, paired_t_test, randomisation_test, sign_test
from tests.evaluation.evaluations import BASE, BETTER, make_evaluation


def test_values_are_compared_topic_by_topic():
    found = compare_values("new", [0.5, 0.4, 0.3], "old", [0.4, 0.4, 0.35], "AP")
    assert (found.wins, found.ties, found.losses, found.n_topics) == (1, 1, 1, 3)
    assert found.difference == pytest.approx(0.05 / 3)
    d = np.array([0.5, 0.4, 0.3]) - [0.4, 0.4, 0.35]
    assert (found.t, found.sign, found.randomisation) == (paired_t_test(d), sign_test(d), randomisation_test(d))
    assert found.interval.low <= found.difference <= found.interval.high
    assert found.p_corrected is None


def test_a_rounding_error_is_a_tie():
    assert compare_values("a", [1 / 3], "b", [1 - 2 / 3], "AP").ties == 1


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (
            BETTER,
            BASE,
            "new is better than old on 16 of 20 topics, worse on 4: AP +.036, p < .001",
        ),
        (
            BASE,
            BETTER,
            "new is worse than old on 16 of 20 topics, better on 4: AP -.036, p < .001",
        ),
        (
            [0.5, 0.2, 0.1],
            [0.4, 0.2, 0.1],
            "new is better than old on 1 of 3 topics, worse on 0, equal on 2: AP +.033, p = 1.00; this may be chance",
        ),
        ([0.5, 0.1], [0.1, 0.5], "new and old have equal means: better on 1 of 2 topics, worse on 1: AP .3000"),
    ],
)
def test_a_comparison_is_described_in_a_sentence(a, b, sentence):
    assert compare_values("new", a, "old", b, "AP").sentence() == sentence


def test_p_values_are_corrected_over_the_pairs_of_a_measure():
    systems = [
        make_evaluation("base", BASE),
        make_evaluation("good", BETTER),
        make_evaluation("same", BASE + 0.001 * (-1) ** np.arange(20)),
    ]
    report = compare_evaluations(systems)
    assert [(each.name_a, each.name_b) for each in report.comparisons] == [("good", "base"), ("same", "base")]
    plain = [each.p for each in report.comparisons]
    assert [each.p_corrected for each in report.comparisons] == pytest.approx(holm(plain).tolist())
    assert [each.significant for each in report.comparisons] == [True, False]
    assert report.sentences()[0].endswith("p < .001 after correction")
    pairs = compare_evaluations(systems, baseline="good", all_pairs=True).comparisons
    assert [(each.name_a, each.name_b) for each in pairs] == [("base", "good"), ("same", "good"), ("same", "base")]
    assert [each.p_corrected for each in pairs] == pytest.approx(holm([each.p for each in pairs]).tolist())


def test_one_pair_needs_no_correction():
    (only,) = compare_evaluations([make_evaluation("base", BASE), make_evaluation("good", BETTER)]).comparisons
    assert only.p_corrected is None
    assert "correction" not in only.sentence()


def test_topics_are_matched_by_qid_and_only_common_ones_are_compared():
    a = make_evaluation("a", [0.1, 0.2, 0.9], ["1", "2", "3"])
    b = make_evaluation("b", [0.9, 0.3, 0.1], ["x", "2", "1"])
    report = compare_evaluations([a, b])
    assert (report.n_topics, report.left_out) == (2, ("3", "x"))
    (found,) = report.comparisons
    assert (found.mean_a, found.mean_b) == (pytest.approx(0.2), pytest.approx(0.15))  # type: ignore[comparison-overlap]
    assert (found.wins, found.ties) == (1, 1)


def test_measures_are_compared_separately():
    values = np.column_stack([BASE, BETTER])
    systems = [
        make_evaluation("a", values, measures=["AP", "RR"]),
        make_evaluation("b", values[:, ::-1], measures=["AP", "RR"]),
    ]
    report = compare_evaluations(systems)
    assert [each.measure for each in report.comparisons] == ["AP", "RR"]
    assert report.comparisons[0].difference == -report.comparisons[1].difference > 0
    assert [each.measure for each in compare_evaluations(systems, measures=["RR"]).comparisons] == ["RR"]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: compare_evaluations([make_evaluation("a", [1.0])]), "found 1 to compare, expected at least two"),
        (lambda: compare_evaluations([make_evaluation("a", [1.0])] * 2), "have the same name: a, a"),
        (
            lambda: compare_evaluations(
                [make_evaluation("bm25", [1.0]), make_evaluation("rm3", [1.0])], baseline="bm2"
            ),
            "unknown baseline 'bm2' (did you mean bm25?)",
        ),
        (
            lambda: compare_evaluations([make_evaluation("a", [1.0], ["1"]), make_evaluation("b", [1.0], ["2"])]),
            "no topic is common to a, b",
        ),
        (
            lambda: compare_evaluations([make_evaluation("a", [1.0]), make_evaluation("b", [1.0], dialect="letor3")]),
            "evaluated with different dialects",
        ),
        (
            lambda: compare_evaluations([make_evaluation(name, [1.0], measures=["NumRet"]) for name in "ab"]),
            "measure NumRet is a total over topics; only means are compared",
        ),
        (lambda: compare_values("a", [1.0], "b", [1.0, 2.0], "AP"), "expected values for the same topics"),
        (lambda: compare_values("a", [], "b", [], "AP"), "expected values for the same topics"),
    ],
)
def test_invalid_comparisons_are_errors(call, complaint):
    with pytest.raises(SettingError) as error:
        call()
    assert complaint in str(error.value)


@pytest.mark.parametrize("wrong", [[1, 2], 5, None])
def test_only_evaluations_are_compared(wrong):
    with pytest.raises(SettingError, match="expected Evaluations, as evaluate_run returns"):
        compare_evaluations(wrong)
