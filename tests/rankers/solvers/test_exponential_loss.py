"""The exponential loss of pairs whose better rows have weights of their own, against a sum over pairs."""

import math

import numpy as np
import pytest

from searchlab.rankers.solvers.exponential_loss import pair_potentials

LEVELS = np.array([0.0, 0.0, 1.0, 1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5, 3.0])
# The second row of level 1 wins no pair, the row of level 2 only half of its pairs.
WINNING = np.array([1.0, 2.0, 1.0, 0.0, 1.5])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 500.0])
def test_losses_and_slopes_are_those_of_explicit_pairs(scale):
    """With the largest scale, scores are too far apart for plain numbers."""
    scores = scale * np.array([0.3, -1.0, 0.8, 0.1, -0.4])
    with np.errstate(divide="ignore"):
        logs, slopes = pair_potentials(scores, LEVELS, np.log(WEIGHTS), np.array([0, 5]), np.log(WINNING))
    terms = {
        (i, j): math.log(WINNING[i] * WEIGHTS[j]) + scores[j] - scores[i]
        for i in range(5)
        for j in range(5)
        if LEVELS[i] > LEVELS[j] and WINNING[i] > 0
    }
    top = max(terms.values())
    total = math.fsum(math.exp(term - top) for term in terms.values())
    assert logs[0] == pytest.approx(top + math.log(total))
    expected = np.zeros(5)
    for (i, j), term in terms.items():
        expected[i] += math.exp(term - top) / total
        expected[j] -= math.exp(term - top) / total
    assert slopes == pytest.approx(expected, abs=1e-12)


def test_winning_weights_are_those_of_the_rows_unless_given():
    scores = np.array([0.3, -1.0, 0.8, 0.1, -0.4])
    plain = pair_potentials(scores, LEVELS, np.log(WEIGHTS), np.array([0, 5]))
    given = pair_potentials(scores, LEVELS, np.log(WEIGHTS), np.array([0, 5]), np.log(WEIGHTS))
    assert np.array_equal(plain[0], given[0])
    assert np.array_equal(plain[1], given[1])
