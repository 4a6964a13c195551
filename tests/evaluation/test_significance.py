"""Significance tests against values worked by hand, enumeration and scipy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from searchlab.errors import SettingError
from searchlab.evaluation.significance import bootstrap_interval, holm, paired_t_test, randomisation_test, sign_test
from tests.hypothesis_profiles import examples

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=1, max_size=14)


def test_the_sign_test_is_a_binomial_worked_by_hand():
    # 5 wins of 6, one tie: 2 · (C(6,0) + C(6,1))/2^6 = 14/64.
    outcome = sign_test([0.1, 0.2, 0.3, 0.1, 0.4, -0.2, 0.0])
    assert (outcome.statistic, outcome.p, outcome.n) == (5, 14 / 64, 6)
    assert sign_test([1, -1]).p == 1
    assert sign_test([0, 0]).p == 1
    assert sign_test([]).p == 1


@pytest.mark.parametrize("printed", ["3.91e-02", "2.44e-13", "2.28e-12"])
def test_printed_p_values_of_a_paper_are_those_of_a_single_outcome(printed):
    # Cao et al. (2006), Table 2, on 106 queries: no other numbers of wins and losses give these p.
    outcomes = {"3.91e-02": (8, 1), "2.44e-13": (64, 6), "2.28e-12": (63, 7)}
    found = [
        (n - losses, losses)
        for n in range(1, 107)
        for losses in range(n // 2 + 1)
        if f"{sign_test([1] * (n - losses) + [-1] * losses + [0] * (106 - n)).p:.2e}" == printed
    ]
    assert found == [outcomes[printed]]


def test_the_t_test_worked_by_hand():
    # Mean 2, s = 1, n = 3: t = 2√3; with 2 degrees of freedom p = 1 - t/√(2 + t²).
    outcome = paired_t_test([1, 2, 3])
    t = 2 * math.sqrt(3)
    assert outcome.statistic == pytest.approx(t)
    assert outcome.p == pytest.approx(1 - t / math.sqrt(2 + t * t))


def test_the_t_test_without_variance():
    assert paired_t_test([]).p == paired_t_test([0.5]).p == paired_t_test([0.0, 0.0]).p == 1
    same = paired_t_test([0.5, 0.5])
    assert (same.statistic, same.p) == (math.inf, 0)
    assert paired_t_test([-0.5, -0.5]).statistic == -math.inf


def test_randomisation_worked_by_hand():
    # Of the 8 assignments of signs to 1, 2, 3, only +++ and --- reach a sum of 6.
    outcome = randomisation_test([1, 2, 3])
    assert (outcome.statistic, outcome.p, outcome.n) == (2, 2 / 8, 3)
    # 1, 1, 2 as 1 + 2 - 1 = 2: |±1 ±1 ±2| ≥ 2 in all but +1+1-2, -1-1+2.
    assert randomisation_test([1, -1, 2]).p == 6 / 8
    assert randomisation_test([0, 0]).p == 1
    assert randomisation_test([]).p == 1


@given(DIFFERENCES)
@settings(max_examples=examples(60))
def test_p_values_equal_those_of_scipy_and_of_enumeration(differences):
    d = np.array(differences)
    wins, losses = int(np.sum(d > 0)), int(np.sum(d < 0))
    if wins + losses:
        assert sign_test(d).p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)
    if len(d) > 1 and np.std(d) > 0:
        t = stats.ttest_1samp(d, 0)
        assert paired_t_test(d).statistic == pytest.approx(t.statistic)
        assert paired_t_test(d).p == pytest.approx(t.pvalue)
    if len(d) <= 9:
        sums = [
            abs(sum(sign * x for sign, x in zip(signs, d, strict=True)))
            for signs in itertools.product([1, -1], repeat=len(d))
        ]
        assert randomisation_test(d).p == pytest.approx(np.mean(np.array(sums) >= abs(d.sum())))


def test_many_draws_approximate_all_assignments(monkeypatch):
    d = np.random.default_rng(1).normal(0.3, 1, 14)
    exact = randomisation_test(d).p
    monkeypatch.setattr("searchlab.evaluation.significance.MAX_EXACT_DIFFERENCES", 3)
    drawn = randomisation_test(d, n_draws=100_000)
    assert drawn.p != exact
    assert drawn.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 100_000))
    assert randomisation_test(d, seed=0).p == drawn.p
    assert randomisation_test(d, seed=1).p != drawn.p


def test_a_draw_that_is_equally_extreme_is_counted():
    # 17 or more wins or losses of 20 have the probability 2·(C(20,17) + C(20,18) + C(20,19) + 1)/2^20; without the
    # draws of exactly 17 it would be a sixth of that.
    exact = 2 * (1140 + 190 + 20 + 1) / 2**20
    assert randomisation_test([1] * 17 + [-1] * 3).p == pytest.approx(exact, abs=4 * math.sqrt(exact / 100_000))


def test_a_drawn_probability_is_never_0():
    assert randomisation_test(np.ones(40), n_draws=999).p == 1 / 1000


def test_randomisation_tolerates_rounding_errors():
    # 0.1 + 0.2 is not 0.3 in binary, but the counts are those worked by hand.
    assert randomisation_test([0.1, 0.2, -0.3]).p == 1
    assert randomisation_test([0.1] * 3).p == 2 / 8
    # In tenths 6, 2, 4, 1, 3: all sums but 6 + 2 - (4 + 1 + 3) and its opposite are at least 2.
    assert randomisation_test([-0.6, 0.2, 0.4, 0.1, -0.3]).p == 30 / 32


def test_the_bootstrap_interval_approximates_that_of_the_normal_distribution():
    d = np.random.default_rng(2).normal(0.2, 1, 400)
    interval = bootstrap_interval(d)
    half = stats.norm.ppf(0.975) * np.std(d) / math.sqrt(len(d))
    assert interval.mean == pytest.approx(np.mean(d))
    assert interval.low == pytest.approx(np.mean(d) - half, abs=0.01)
    assert interval.high == pytest.approx(np.mean(d) + half, abs=0.01)
    narrow = bootstrap_interval(d, level=0.5)
    assert interval.low < narrow.low < narrow.high < interval.high
    assert bootstrap_interval(d) == interval
    assert bootstrap_interval(d, seed=7) != interval
    constant = bootstrap_interval([0.25, 0.25])
    assert (constant.low, constant.mean, constant.high) == (0.25, 0.25, 0.25)


def test_holm_worked_by_hand():
    # Sorted: .01·4, .02·3, .03·2, .04·1, each at least the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1, 1]
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).tolist() == []


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: paired_t_test([1, math.nan]), "one finite number for each topic"),
        (lambda: sign_test([[1, 2]]), "one finite number for each topic"),
        (lambda: randomisation_test([1], n_draws=0), "n_draws is 0"),
        (lambda: bootstrap_interval([1], level=1), "level is 1"),
        (lambda: bootstrap_interval([]), "no differences"),
        (lambda: holm([1.5]), "expected a list of p-values"),
    ],
)
def test_invalid_arguments_are_errors(call, complaint):
    with pytest.raises(SettingError) as error:
        call()
    assert complaint in str(error.value)
