"""Cohen's κ against values worked by hand and scikit-learn, and agreement of judges."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from searchlab.errors import SettingError
from searchlab.judgments.agreement import cohen_kappa, compare_judges
from searchlab.judgments.judgment_store import JudgmentStore


def test_two_grades_by_hand():
    # 20 + 15 of 50 agree; by chance (25/50)(30/50) = .3 on 1 and (25/50)(20/50) = .2 on 0: (.7 - .5) / (1 - .5).
    a = [1] * 20 + [1] * 5 + [0] * 10 + [0] * 15
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4, abs=1e-15)
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(0.4, abs=1e-15)


def test_three_grades_by_hand():
    # Pairs 0-0, 0-1, 1-1, 2-0: distances 0, 1, 0, 4, the sum is 5. By chance, rows 2, 1, 1 and columns 2, 2, 0 of 4:
    # (2·2·1 + 1·2·1 + 1·2·4 + 1·2·1) / 4 = 4. Unweighted, 2 of 4 agree, and (2·2 + 1·2 + 1·0) / 16 by chance.
    assert cohen_kappa([0, 0, 1, 2], [0, 1, 1, 0], "quadratic") == pytest.approx(1 - 5 / 4)
    assert cohen_kappa([0, 0, 1, 2], [0, 1, 1, 0]) == pytest.approx((0.5 - 0.375) / (1 - 0.375))


def test_quadratic_weights_use_the_grades_even_if_one_between_does_not_occur():
    assert cohen_kappa([0, 0, 2, 3], [0, 2, 2, 3], "quadratic") == pytest.approx(
        cohen_kappa_score([0, 0, 2, 3], [0, 2, 2, 3], labels=[0, 1, 2, 3], weights="quadratic")
    )


@pytest.mark.parametrize("both", [[], [1], [2, 2, 2]])
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_kappa_is_undefined_if_all_grades_are_equal(both, weights):
    assert cohen_kappa(both, both, weights) is None


def test_full_agreement_and_full_disagreement():
    assert cohen_kappa([0, 1, 2, -1], [0, 1, 2, -1]) == 1
    assert cohen_kappa([0, 1], [1, 0]) == -1
    # One always gives 1, the other never: no better than chance.
    assert cohen_kappa([1, 1], [0, 0]) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_kappa_equals_that_of_scikit_learn(weights, pairs):
    a, b = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weights)
    found = cohen_kappa(a, b, weights)
    assert math.isnan(expected) if found is None else found == pytest.approx(expected, abs=1e-12)
    assert found == cohen_kappa(b, a, weights)


def test_unequal_numbers_of_grades_and_unknown_weights_are_errors():
    with pytest.raises(SettingError, match="found 2 grades of one judge and 1 of the other"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(SettingError, match="weights is 'linear', expected None or 'quadratic'"):
        cohen_kappa([1, 2], [1, 2], "linear")


def test_each_pair_of_judges_is_compared_on_common_documents(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("s", "heat", "1")
        store.add_topic("s", "wings", "2")
        grades = {
            "bob": {("1", "x"): 0, ("1", "y"): 2, ("2", "x"): 2, ("2", "z"): 1},
            "ann": {("1", "x"): 0, ("1", "y"): 0, ("2", "x"): 2, ("1", "z"): 1},
            "cyd": {("2", "w"): 1},
        }
        for judge, judged in grades.items():
            for (qid, docno), grade in judged.items():
                store.judge("s", qid, docno, judge=judge, grade=grade)
        store.judge("s", "2", "z", judge="ann", grade=1)
        store.undo("ann")
        first, second, third = compare_judges(store, "s")
        assert compare_judges(store, "nothing") == []
    assert (first.judges, first.n, first.agreement) == (("ann", "bob"), 3, 2 / 3)
    assert (first.grades, first.table) == ((0, 2), ((1, 1), (0, 1)))
    # By chance (2·1 + 1·2) / 9 agree.
    assert first.kappa == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert (second.judges, second.n, second.agreement, second.kappa, second.weighted_kappa) == (
        *(("ann", "cyd"), 0),
        *(None, None, None),
    )
    assert (third.judges, third.grades, third.table) == (("bob", "cyd"), (), ())


def test_with_a_limit_the_judges_with_the_most_judgments_are_compared(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("s", "heat", "1")
        for judge, n in (("ann", 1), ("bob", 3), ("cyd", 2), ("dee", 3)):
            for number in range(n):
                store.judge("s", "1", f"d{number}", judge=judge, grade=1)
        assert [agreement.judges for agreement in compare_judges(store, "s", max_judges=3)] == [
            *(("bob", "cyd"), ("bob", "dee")),
            ("cyd", "dee"),
        ]
        assert len(compare_judges(store, "s", max_judges=4)) == len(compare_judges(store, "s")) == 6
