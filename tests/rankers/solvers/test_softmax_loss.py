"""The softmax loss: worked by hand, compared with a sum over documents, and minimised to a certified gap."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import check_grad

from searchlab.rankers.solvers.softmax_loss import SoftmaxProblem, solve_softmax_path

RANDOM = np.random.default_rng(11)
OFFSETS = np.array([0, 6, 9, 12, 20])
# The second query has a single grade and tells nothing; the fourth has grades below 0.
GRADES = np.array([0, 2, 1, 0, 2, 0, 1, 1, 1, 0, 0, 1, -1, 3, 0, 0, 3, -1, 0, 0], dtype=float)
X = RANDOM.normal(size=(20, 3)) + GRADES[:, None] * [0.3, 0.1, 0.0]
WEIGHTS = np.array([0.4, -1.2, 0.7])


def slow_loss(weights, X=X, grades=GRADES, offsets=OFFSETS):
    """The formula of the module, document by document."""
    scores, total = X @ weights, 0.0
    for start, end in pairwise(offsets.tolist()):
        gains = grades[start:end] - grades[start:end].min()
        for i in range(start, end):
            below = [math.exp(scores[j] - scores[i]) for j in range(start, end) if grades[j] < grades[i]]
            if below:
                total += gains[i - start] / gains.sum() * math.log(1 + sum(below))
    return total


def test_a_relevant_document_among_three_is_drawn_first_with_its_share():
    # By hand: scores ln 2, 0, 0: the relevant one is drawn with 2/(2 + 1 + 1) = 1/2.
    problem = SoftmaxProblem.of(np.array([[math.log(2)], [0.0], [0.0]]), np.array([0, 3]), np.array([1.0, 0.0, 0.0]))
    loss, gradient = problem.evaluate(np.ones(1))
    assert loss == pytest.approx(math.log(2))
    # d/dw −ln(2^w/(2^w + 2)) = −ln 2 · (1 − 1/2)
    assert gradient == pytest.approx([-math.log(2) / 2])


def test_a_document_competes_only_with_lower_grades():
    # By hand, all scores 0: the grade 2 against two others, ln 3, with a share of 2/3; the grade 1 against one, ln 2.
    problem = SoftmaxProblem.of(np.zeros((3, 1)), np.array([0, 3]), np.array([1.0, 0.0, 2.0]))
    assert problem.evaluate(np.zeros(1))[0] == pytest.approx(2 / 3 * math.log(3) + 1 / 3 * math.log(2))


def test_the_loss_is_that_of_a_sum_over_documents_and_the_gradient_its_slope():
    problem = SoftmaxProblem.of(X, OFFSETS, GRADES)
    assert problem.n_queries == 3
    assert problem.evaluate(WEIGHTS)[0] == pytest.approx(slow_loss(WEIGHTS))
    assert check_grad(slow_loss, lambda w: problem.evaluate(w)[1], WEIGHTS) < 1e-6


@pytest.mark.parametrize("scale", [500.0, 1e4])
def test_scores_far_apart_neither_overflow_nor_vanish(scale):
    problem = SoftmaxProblem.of(scale * np.array([[1.0], [2.0], [0.0]]), np.array([0, 3]), np.array([1.0, 0.0, 0.0]))
    loss, gradient = problem.evaluate(np.ones(1))
    assert loss == pytest.approx(scale)
    assert gradient == pytest.approx([scale])


def test_a_row_of_weight_two_counts_as_two_and_one_of_weight_zero_as_none():
    weights = np.array([1, 2, 1, 0, 1, 3, 1, 1, 1, 2, 0, 1, 1, 1, 0, 2, 1, 1, 1, 1], dtype=float)
    times = weights.astype(int)
    offsets = np.concatenate([[0], np.cumsum(times)])[OFFSETS]
    repeated = SoftmaxProblem.of(np.repeat(X, times, axis=0), offsets, np.repeat(GRADES, times))
    weighted = SoftmaxProblem.of(X, OFFSETS, GRADES, weights)
    for of_weights, of_repeats in zip(weighted.evaluate(WEIGHTS), repeated.evaluate(WEIGHTS), strict=True):
        assert of_weights == pytest.approx(of_repeats)


def test_solutions_are_certified_and_do_not_depend_on_the_path():
    problem = SoftmaxProblem.of(X, OFFSETS, GRADES)
    path = list(solve_softmax_path(problem, [10.0, 1.0, 0.1], tolerance=1e-10))
    (alone,) = solve_softmax_path(problem, [0.1], tolerance=1e-10)
    assert all(each.converged and each.gap <= 1e-10 for each in path)
    assert path[-1].weights == pytest.approx(alone.weights, abs=1e-4)
    objective = slow_loss(alone.weights) + 0.05 * float(alone.weights @ alone.weights)
    assert alone.objective == pytest.approx(objective)
    for other in RANDOM.normal(scale=0.1, size=(20, 3)):
        moved = alone.weights + other
        assert slow_loss(moved) + 0.05 * float(moved @ moved) > alone.objective


def test_with_much_regularisation_the_weights_are_the_centre():
    problem = SoftmaxProblem.of(X, OFFSETS, GRADES)
    (solution,) = solve_softmax_path(problem, [1e9], centre=WEIGHTS)
    assert solution.weights == pytest.approx(WEIGHTS, abs=1e-6)


def test_where_all_grades_are_equal_there_is_nothing_to_learn():
    problem = SoftmaxProblem.of(X, OFFSETS, np.ones(len(X)))
    (solution,) = solve_softmax_path(problem, [1.0])
    assert problem.n_queries == 0
    assert solution.weights.tolist() == [0, 0, 0]
    assert solution.converged


def test_queries_have_losses_of_their_own_and_can_be_taken_apart():
    problem = SoftmaxProblem.of(X, OFFSETS, GRADES)
    weights = np.linspace(-1, 1, X.shape[1])
    losses = problem.query_losses(weights)
    assert losses.sum() == pytest.approx(problem.evaluate(weights)[0])
    kept = np.arange(problem.n_queries) % 2 == 1
    assert kept.any()
    part = problem.of_queries(kept)
    assert part.n_queries == kept.sum()
    assert part.query_losses(weights) == pytest.approx(losses[kept])
    gradients = [each.evaluate(weights)[1] for each in (part, problem.of_queries(~kept))]
    assert sum(gradients) == pytest.approx(problem.evaluate(weights)[1])
