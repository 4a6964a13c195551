"""EM: it finds the most likely weights, and the likelihood never falls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.mixtures.em import EM, train_em, weigh_pairs
from searchlab.mixtures.likelihood import join, log_likelihoods, one_query


def random_evidence(seed, n_queries=4, n_components=3, n_groups=1):
    """Queries of one to four words in up to five documents; the first is relevant, and about half of the others."""
    rng = np.random.default_rng(seed)
    pieces = []
    for _ in range(n_queries):
        n_docs, n_words = rng.integers(1, 6), rng.integers(1, 5)
        probabilities = rng.random((n_docs, n_words, n_components)) * (
            rng.random((n_docs, n_words, n_components)) < 0.7
        )
        probabilities[..., -1] = rng.random(n_words) * 0.1 + 0.001
        relevant = rng.random(n_docs) < 0.5
        relevant[0] = True
        groups = rng.integers(0, n_groups, n_docs)
        pieces.append(one_query(probabilities, rng.integers(1, 3, n_words).astype(float), relevant, groups))
    return join(pieces)


def test_one_step_by_hand():
    # Two words: P = (0.4, 0.1) and (0, 0.2). From halves: γ of the first component is 0.2/0.25 and 0: m = (0.4, 0.6).
    evidence = one_query(np.array([[[0.4, 0.1], [0.0, 0.2]]]), np.ones(2), np.array([True]))
    fit = train_em(evidence, [[0.5, 0.5]], EM(iterations=1))
    assert fit.weights[0].tolist() == pytest.approx([0.4, 0.6])
    assert fit.likelihoods == pytest.approx((np.log(0.25 * 0.1) / 2, np.log((0.16 + 0.06) * 0.12) / 2))


@given(
    seed=st.integers(0, 10**6), weighing=st.sampled_from(["query", "pair", "word"]), n_groups=st.sampled_from([1, 3])
)
def test_the_likelihood_never_falls_and_weights_stay_normalised(seed, weighing, n_groups):
    evidence = random_evidence(seed, n_groups=n_groups)
    fit = train_em(evidence, settings=EM(iterations=30, tolerance=0, weighing=weighing))
    assert all(np.diff(fit.likelihoods) >= -1e-12)
    assert (fit.weights >= 0).all()
    assert fit.weights.sum(axis=1).tolist() == pytest.approx([1.0] * len(fit.weights))


def test_em_converges_to_the_best_weights_from_any_start():
    evidence = random_evidence(3, n_queries=12, n_components=2)
    known = evidence.only_relevant()
    pair_weights = weigh_pairs(known, "query")

    def likelihood(share):
        return float(pair_weights @ (log_likelihoods(known, np.array([[share, 1 - share]])) / known.lengths))

    for start in (0.01, 0.5, 0.99):
        fit = train_em(evidence, [[start, 1 - start]], EM(iterations=2000, tolerance=1e-13))
        best = max(np.linspace(0.001, 0.999, 999), key=likelihood)
        assert fit.weights[0, 0] == pytest.approx(best, abs=2e-3)
        assert fit.likelihoods[-1] >= likelihood(best) - 1e-9


def test_irrelevant_documents_have_no_influence():
    evidence = random_evidence(5)
    fit, alone = train_em(evidence), train_em(evidence.only_relevant())
    assert fit.weights[0].tolist() == pytest.approx(alone.weights[0].tolist())
    assert fit.likelihoods == pytest.approx(alone.likelihoods)


def test_pairs_are_weighted_by_query_pair_or_word():
    # The first query has two relevant documents of one word, the second one of two words.
    one = one_query(np.full((2, 1, 2), 0.5), np.ones(1), np.array([True, True]))
    two = one_query(np.full((1, 2, 2), 0.5), np.ones(2), np.array([True]))
    evidence = join([one, two])
    assert weigh_pairs(evidence, "query").tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2])
    assert weigh_pairs(evidence, "pair").tolist() == pytest.approx([1 / 3] * 3)
    assert weigh_pairs(evidence, "word").tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2])


def test_a_component_without_probability_keeps_the_least_weight():
    evidence = one_query(np.array([[[0.0, 0.1], [0.0, 0.2]]]), np.ones(2), np.array([True]))
    fit = train_em(evidence, settings=EM(least=1e-4))
    assert fit.weights[0, 0] == pytest.approx(1e-4, rel=1e-3)


def test_a_group_without_relevant_documents_keeps_its_weights():
    probabilities = np.array([[[0.4, 0.1]], [[0.4, 0.1]]])
    evidence = one_query(probabilities, np.ones(1), np.array([True, False]), np.array([0, 1]))
    fit = train_em(evidence, [[0.5, 0.5], [0.3, 0.7]])
    assert fit.weights[1].tolist() == [0.3, 0.7]
    assert fit.weights[0, 0] > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": 0}, "EM: iterations is 0, expected a whole number from 1"),
        ({"iterations": 1.5}, "EM: iterations is 1.5, expected a whole number"),
        ({"tolerance": -1}, "EM: tolerance is -1"),
        ({"least": 0.5}, "EM: least is 0.5"),
        ({"weighing": "topic"}, "unknown weighing 'topic'; there is: pair, query, word"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        EM(**settings)


def test_queries_without_relevant_documents_and_wrong_starts_are_refused():
    evidence = one_query(np.full((1, 1, 2), 0.1), np.ones(1), np.array([False]))
    with pytest.raises(SettingError, match="no relevant document in the training queries"):
        train_em(evidence)
    with pytest.raises(SettingError, match=r"EM: start: the sum is 0\.8, expected 1"):
        train_em(random_evidence(1, n_components=2), [[0.4, 0.4]])
