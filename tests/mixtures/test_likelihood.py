"""The likelihood of a mixture: evidence, by hand, and checks of weights."""

import math

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.mixtures.likelihood import Evidence, check_weights, join, log_likelihoods, one_query, raise_to_minimum


def example():
    """Two queries: one of two words in two documents, one of a repeated word in one."""
    first = one_query(
        np.array([[[0.5, 0.1], [0.0, 0.2]], [[0.2, 0.1], [0.4, 0.2]]]), np.array([1.0, 1.0]), np.array([True, False])
    )
    second = one_query(np.array([[[0.3, 0.1]]]), np.array([2.0]), np.array([True]))
    return join([first, second])


def test_likelihoods_by_hand():
    found = log_likelihoods(example(), np.array([[0.75, 0.25]]))
    # 0.75·0.5 + 0.25·0.1 = 0.4 and 0.05; 0.175 and 0.35; 0.25 twice.
    assert found.tolist() == pytest.approx([math.log(0.4 * 0.05), math.log(0.175 * 0.35), 2 * math.log(0.25)])


def test_groups_have_separate_weights():
    evidence = example()
    grouped = Evidence(
        evidence.probabilities,
        evidence.counts,
        evidence.pair_offsets,
        evidence.query_offsets,
        evidence.relevant,
        np.array([1, 0, 1]),
    )
    weights = np.array([[0.75, 0.25], [0.5, 0.5]])
    # By the second weights: 0.3·0.1 and 0.2²; by the first as above.
    assert log_likelihoods(grouped, weights).tolist() == pytest.approx(
        [math.log(0.03), math.log(0.175 * 0.35), 2 * math.log(0.2)]
    )


def test_queries_and_relevant_documents_can_be_selected():
    evidence = example()
    last = evidence.take([1])
    assert (last.n_queries, last.n_pairs, last.counts.tolist()) == (1, 1, [2.0])
    swapped = evidence.take([1, 0])
    assert swapped.lengths.tolist() == [2, 2, 2]
    assert swapped.probabilities[0].tolist() == [0.3, 0.1]
    assert swapped.is_contrast.tolist() == [False, True]
    relevant = evidence.only_relevant()
    assert relevant.relevant.tolist() == [True, True]
    assert relevant.probabilities.tolist() == [[0.5, 0.1], [0.0, 0.2], [0.3, 0.1]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.4], "the sum is 0.9, expected 1"),
        ([1.5, -0.5], "-0.5, expected numbers from 0"),
        ([math.nan, 1], "nan, expected numbers from 0"),
        ([0.2, 0.3, 0.5], "3 numbers, expected 2"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    with pytest.raises(SettingError, match=message):
        check_weights(weights, 2)


def test_weights_are_raised_to_the_minimum_and_normalised():
    raised = raise_to_minimum(np.array([[1.0, 0.0]]), 0.25)
    assert raised.tolist() == [[0.8, 0.2]]


def test_inconsistent_evidence_is_refused():
    with pytest.raises(SettingError, match="the pair offsets do not increase from 0 to 2 in 1 steps"):
        Evidence(np.ones((2, 2)), np.ones(2), np.array([0, 1]), np.array([0, 1]), np.array([True]), np.array([0]))
    with pytest.raises(SettingError, match="expected at least one query"):
        join([])
