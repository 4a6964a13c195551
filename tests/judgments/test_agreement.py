"""Is κ what Cohen's formula gives?"""

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
    # 20 and 15 alike of 50; yes by chance (25/50)(30/50) = .3, no (25/50)(20/50) = .2: (.7 - .5) / (1 - .5).
    a = [1] * 20 + [1] * 5 + [0] * 10 + [0] * 15
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4, abs=1e-15)
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(0.4, abs=1e-15)


def test_three_grades_by_hand():
    # Pairs 0-0, 0-1, 1-1, 2-0: apart by 0, 1, 0, 4, in all 5. By chance, rows 2, 1, 1 and columns 2, 2, 0 of 4:
    # (2·2·1 + 1·2·1 + 1·2·4 + 1·2·1) / 4 = 4. Unweighted, 2 of 4 agree, and (2·2 + 1·2 + 1·0) / 16 by chance.
    assert cohen_kappa([0, 0, 1, 2], [0, 1, 1, 0], "quadratic") == pytest.approx(1 - 5 / 4)
    assert cohen_kappa([0, 0, 1, 2], [0, 1, 1, 0]) == pytest.approx((0.5 - 0.375) / (1 - 0.375))


def test_grades_are_as_far_apart_as_their_numbers_though_one_between_is_never_given():
    assert cohen_kappa([0, 0, 2, 3], [0, 2, 2, 3], "quadratic") == pytest.approx(
        cohen_kappa_score([0, 0, 2, 3], [0, 2, 2, 3], labels=[0, 1, 2, 3], weights="quadratic")
    )


@pytest.mark.parametrize("both", [[], [1], [2, 2, 2]])
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_without_any_difference_to_explain_it_is_undefined(both, weights):
    assert cohen_kappa(both, both, weights) is None


def test_full_agreement_and_its_contrary():
    assert cohen_kappa([0, 1, 2, -1], [0, 1, 2, -1]) == 1
    assert cohen_kappa([0, 1], [1, 0]) == -1
    # The one gives always 1, the other never: nothing is better than chance.
    assert cohen_kappa([1, 1], [0, 0]) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_it_is_that_of_scikit_learn(weights, pairs):
    a, b = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weights)
    found = cohen_kappa(a, b, weights)
    assert math.isnan(expected) if found is None else found == pytest.approx(expected, abs=1e-12)
    assert found == cohen_kappa(b, a, weights)


def test_what_does_not_fit_is_refused():
    with pytest.raises(SettingError, match="found 2 grades of one judge and 1 of the other"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(SettingError, match="weights is 'linear', expected None or 'quadratic'"):
        cohen_kappa([1, 2], [1, 2], "linear")


def test_each_two_judges_are_compared_on_what_both_judged(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("s", "heat", "1")
        store.add_topic("s", "wings", "2")
        given_ = {
            "bob": {("1", "x"): 0, ("1", "y"): 2, ("2", "x"): 2, ("2", "z"): 1},
            "ann": {("1", "x"): 0, ("1", "y"): 0, ("2", "x"): 2, ("1", "z"): 1},
            "cyd": {("2", "w"): 1},
        }
        for judge, own in given_.items():
            for (qid, docno), grade in own.items():
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


def test_of_very_many_judges_those_are_compared_who_have_judged_the_most(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("s", "heat", "1")
        for judge, n in (("ann", 1), ("bob", 3), ("cyd", 2), ("dee", 3)):
            for number in range(n):
                store.judge("s", "1", f"d{number}", judge=judge, grade=1)
        assert [own.judges for own in compare_judges(store, "s", most=3)] == [
            *(("bob", "cyd"), ("bob", "dee")),
            ("cyd", "dee"),
        ]
        assert len(compare_judges(store, "s", most=4)) == len(compare_judges(store, "s")) == 6
