"""MCE: it follows slides 2 to 7, and puts relevant documents first."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.mixtures.likelihood import Levels, fit_pairs, join, log_likelihoods, mix_components, one_query
from searchlab.mixtures.mce import MCE, RIVALS, WEIGHINGS, average_precision, mce_loss, train_mce, update, update_online
from tests.mixtures.test_em import random_evidence


def contrasts(seed, n_components=3, n_groups=1):
    """Random queries, each with relevant and irrelevant documents."""
    evidence = random_evidence(seed, 8, n_components, n_groups)
    return evidence.take(np.flatnonzero(evidence.is_contrast))


def softmax(free):
    raised = np.exp(free)
    return raised / raised.sum(axis=1, keepdims=True)


def one_pair():
    """A query of two words, a relevant document and two irrelevant ones."""
    probabilities = np.array([[[0.4, 0.1], [0.0, 0.2]], [[0.2, 0.1], [0.1, 0.2]], [[0.0, 0.1], [0.0, 0.2]]])
    return one_query(probabilities, np.ones(2), np.array([True, False, False]))


def test_error_and_loss_by_hand():
    # From halves: ln P of D* is ln(0.25·0.1), of the harder rival ln(0.15·0.15).
    found = mce_loss(one_pair(), np.array([[0.5, 0.5]]), MCE(alpha=3, beta=0.5))
    error = (math.log(0.15 * 0.15) - math.log(0.25 * 0.1)) / 2
    assert found.errors.tolist() == pytest.approx([error])
    assert found.value == pytest.approx(1 / (1 + math.exp(-3 * error + 0.5)))


def test_a_soft_maximum_is_the_mean_of_exponentials():
    found = mce_loss(one_pair(), np.array([[0.5, 0.5]]), MCE(rivals="soft", sharpness=2))
    fits = [math.log(0.15 * 0.15) / 2, math.log(0.05 * 0.1) / 2]
    soft = math.log(sum(math.exp(2 * fit) for fit in fits) / 2) / 2
    assert found.errors.tolist() == pytest.approx([soft - math.log(0.25 * 0.1) / 2])
    # The sharper the maximum, the closer it is to the hardest document.
    sharp = mce_loss(one_pair(), np.array([[0.5, 0.5]]), MCE(rivals="soft", sharpness=1e4)).errors
    assert sharp == pytest.approx(mce_loss(one_pair(), np.array([[0.5, 0.5]]), MCE()).errors, abs=1e-3)


def test_a_step_follows_slide_7():
    # Only the weights of D* change, as on the slides; its rivals are another group.
    evidence, alpha, beta, step = replace(one_pair(), groups=np.array([0, 1, 1])), 3.0, 0.5, 0.7
    m1, m2 = 0.3, 0.7
    settings = MCE(alpha=alpha, beta=beta, step=step)
    start = np.array([[m1, m2], [0.5, 0.5]])
    found = mce_loss(evidence, start, settings, rivals_learn=False)
    loss = found.value
    shares = [m1 * p / (m1 * p + m2 * c) for p, c in ((0.4, 0.1), (0.0, 0.2))]
    nabla1 = -step * alpha * loss * (1 - loss) * (-m1 + sum(shares) / 2)
    nabla2 = -step * alpha * loss * (1 - loss) * (-m2 + sum(1 - share for share in shares) / 2)
    raised = m1 * math.exp(-nabla1), m2 * math.exp(-nabla2)
    moved = update(start, found.gradient, np.array([1.0, 0.0]), step)
    assert moved[0].tolist() == pytest.approx([raised[0] / sum(raised), raised[1] / sum(raised)], rel=1e-12)
    assert moved[1].tolist() == [0.5, 0.5]
    trained = train_mce(evidence, start, replace(settings, iterations=1, least=0), rivals_learn=False)
    assert trained.weights[0].tolist() == pytest.approx(moved[0].tolist(), rel=1e-12)


@given(
    seed=st.integers(0, 10**6),
    rivals=st.sampled_from(RIVALS),
    weighing=st.sampled_from(WEIGHINGS),
    n_groups=st.sampled_from([1, 3]),
)
def test_gradients_equal_finite_differences(seed, rivals, weighing, n_groups):
    evidence = contrasts(seed, n_groups=n_groups)
    if not evidence.n_queries:
        return
    settings = MCE(alpha=3, beta=0.4, rivals=rivals, sharpness=2, weighing=weighing)
    free = np.random.default_rng(seed).normal(size=(n_groups, 3))
    gradient = mce_loss(evidence, softmax(free), settings).gradient
    for index in np.ndindex(free.shape):
        nudge = np.zeros_like(free)
        nudge[index] = 1e-6
        up, down = (mce_loss(evidence, softmax(free + sign * nudge), settings).value for sign in (1, -1))
        assert gradient[index] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_without_rivals_learning_the_gradient_is_that_of_relevant_documents_alone():
    # Each document is a separate group: only that of D* has a gradient, the same as with rivals learning.
    evidence = replace(one_pair(), groups=np.array([0, 1, 2]))
    weights = np.array([[0.3, 0.7], [0.6, 0.4], [0.5, 0.5]])
    alone = mce_loss(evidence, weights, MCE(), rivals_learn=False).gradient
    together = mce_loss(evidence, weights, MCE()).gradient
    assert alone[0].tolist() == pytest.approx(together[0].tolist())
    assert not alone[1:].any()
    assert together[1].any()
    assert not together[2].any()  # not the hardest


@given(seed=st.integers(0, 10**6), step=st.sampled_from([0.1, 5, 1e5]), schedule=st.sampled_from(["decay", "bold"]))
def test_weights_stay_positive_and_normalised_for_any_step(seed, step, schedule):
    evidence = contrasts(seed, n_groups=2)
    if not evidence.n_queries:
        return
    trained = train_mce(evidence, np.full((2, 3), 1 / 3), MCE(step=step, schedule=schedule, iterations=10))
    assert (trained.weights > 0).all()
    assert trained.weights.sum(axis=1).tolist() == pytest.approx([1, 1])


@given(seed=st.integers(0, 10**6), rivals=st.sampled_from(RIVALS))
def test_bold_steps_never_raise_the_loss(seed, rivals):
    evidence = contrasts(seed)
    if not evidence.n_queries:
        return
    settings = MCE(step=20, schedule="bold", rivals=rivals, sharpness=2, iterations=30)
    losses = train_mce(evidence, np.full((1, 3), 1 / 3), settings).losses
    assert all(np.diff(losses) <= 0)


def separable():
    """The first component favours relevant documents, the second irrelevant ones; the third is noise."""
    rng = np.random.default_rng(4)
    pieces = []
    for _ in range(20):
        probabilities = rng.random((10, 3, 4)) * 0.2
        relevant = np.arange(10) < 3
        probabilities[relevant, :, 0] += 0.2
        probabilities[~relevant, :, 1] += 0.2
        probabilities[..., 3] = 0.05
        pieces.append(one_query(probabilities, np.ones(3), relevant))
    return join(pieces)


@pytest.mark.parametrize("rivals", RIVALS)
def test_training_lowers_the_loss_and_raises_precision(rivals):
    evidence = separable()
    trained = train_mce(evidence, np.full((1, 4), 0.25), MCE(rivals=rivals))
    assert trained.losses[trained.best] < 0.5 * trained.losses[0]
    weights = trained.weights[0]
    assert weights[0] > 0.7
    assert weights[1] < 0.05
    before, after = (
        average_precision(evidence, log_likelihoods(evidence, each))
        for each in (np.full((1, 4), 0.25), trained.weights)
    )
    assert after > before + 0.3


def test_documents_learn_individual_weights():
    # The first component favours document 0, the second document 1; rivals are equally likely by both.
    probabilities = np.array([[[0.3, 0.05, 0.02]], [[0.05, 0.3, 0.02]], [[0.15, 0.15, 0.02]]])
    evidence = one_query(probabilities, np.ones(1), np.array([True, True, False]), np.array([1, 2, 0]))
    start = np.full((3, 3), 1 / 3)
    trained = train_mce(evidence, start, MCE(step=5), rivals_learn=False)
    assert trained.weights[1].argmax() == 0
    assert trained.weights[2].argmax() == 1
    assert trained.weights[0].tolist() == pytest.approx([1 / 3] * 3)  # not relevant to any query
    assert trained.losses[-1] < trained.losses[0]


def test_the_iteration_that_is_best_on_held_out_queries_is_kept():
    evidence = separable()
    # The held-out queries have opposite judgments: each iteration makes them worse.
    opposite = replace(evidence, relevant=~evidence.relevant)
    stopped = train_mce(evidence, np.full((1, 4), 0.25), MCE(patience=5), held_out=opposite)
    assert (stopped.best, stopped.n_iterations) == (0, 5)
    assert stopped.weights.tolist() == [[0.25] * 4]
    assert stopped.held_out[-1] > stopped.held_out[0]
    assert stopped.watched == stopped.held_out
    watched = train_mce(evidence, np.full((1, 4), 0.25), MCE(watch="AP"), held_out=evidence)
    assert watched.watched[watched.best] == max(watched.watched)


def test_average_precision_by_hand():
    # Ranked: relevant, irrelevant, relevant: (1 + 2/3)/2; alone: 1; a tie is lost: 1/2.
    three = one_query(np.ones((3, 1, 1)), np.ones(1), np.array([True, False, True]))
    one = one_query(np.ones((1, 1, 1)), np.ones(1), np.array([True]))
    two = one_query(np.ones((2, 1, 1)), np.ones(1), np.array([True, False]))
    found = average_precision(join([three, one, two]), np.array([3.0, 2.0, 1.0, 0.0, 5.0, 5.0]))
    assert found == pytest.approx(((1 + 2 / 3) / 2 + 1 + 1 / 2) / 3)


def test_queries_without_contrast_are_left_out():
    evidence = one_pair()
    all_relevant = one_query(np.ones((2, 1, 2)) * 0.1, np.ones(1), np.array([True, True]))
    alone, together = (
        train_mce(each, [[0.5, 0.5]], MCE(iterations=5)) for each in (evidence, join([all_relevant, evidence]))
    )
    assert alone.losses == together.losses
    with pytest.raises(SettingError, match="none of the training queries has both relevant and irrelevant documents"):
        train_mce(all_relevant, [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0}, "MCE: alpha is 0, expected a number from 1e-06"),
        ({"beta": math.inf}, "MCE: beta is inf"),
        ({"step": -1}, "MCE: step is -1"),
        ({"decay": -1}, "MCE: decay is -1"),
        ({"iterations": 2.5}, "MCE: iterations is 2.5, expected a whole number"),
        ({"sharpness": 0}, "MCE: sharpness is 0"),
        ({"patience": -1}, "MCE: patience is -1"),
        ({"least": 1}, "MCE: least is 1"),
        ({"rivals": "all"}, "unknown rivals 'all'; there is: hardest, soft"),
        ({"weighing": "word"}, "unknown weighing 'word'; there is: pair, query"),
        ({"schedule": "slow"}, "unknown schedule 'slow'"),
        ({"watch": "MAP"}, "unknown watch 'MAP'"),
        ({"updates": "all"}, "unknown updates 'all'; there is: batch, online"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        MCE(**settings)


def test_wrong_starts_are_refused():
    with pytest.raises(SettingError, match=r"MCE: start: the sum is 1\.5, expected 1"):
        train_mce(one_pair(), [[0.5, 1.0]])
    with pytest.raises(SettingError, match="MCE: start has 1 groups, expected 3"):
        train_mce(replace(one_pair(), groups=np.array([0, 1, 2])), [[0.5, 0.5]])


def test_without_watching_the_last_iteration_is_kept():
    # As on slide 8, which makes 100 iterations. The held-out queries want the opposite: the start is their best.
    evidence = contrasts(3, 4)
    opposite = replace(evidence, relevant=~evidence.relevant)
    start = np.full((1, 4), 0.25)
    settings = MCE(watch="none", iterations=30, patience=2)
    found = train_mce(evidence, start, settings, held_out=opposite)
    assert (found.best, found.n_iterations) == (30, 30)
    weights = start
    totals = np.ones(1)
    for iteration in range(30):
        loss = mce_loss(evidence, weights, settings)
        weights = update(
            weights, loss.gradient, totals, settings.step / (1 + settings.decay * iteration), settings.least
        )
    np.testing.assert_allclose(found.weights, weights)
    assert train_mce(evidence, start, replace(settings, watch="loss"), held_out=opposite).n_iterations < 30


def test_online_steps_follow_slide_7_pair_by_pair():
    # A query of one word, two relevant documents with weights of their own, and one rival.
    probabilities = np.array([[[0.4, 0.1]], [[0.1, 0.1]], [[0.3, 0.1]], [[0.05, 0.1]]])
    relevant = np.array([True, False, False, True])
    evidence = one_query(probabilities, np.ones(1), relevant, np.array([0, 1, 1, 2]))
    alpha, beta, step = 3.0, 0.5, 0.7
    start = np.array([[0.3, 0.7], [0.5, 0.5], [0.6, 0.4]])
    rival = math.log(0.5 * 0.3 + 0.5 * 0.1)
    expected = start.copy()
    for group, document in ((0, 0.4), (2, 0.05)):
        m1, m2 = start[group]
        mixed = m1 * document + m2 * 0.1
        loss = 1 / (1 + math.exp(-alpha * (rival - math.log(mixed)) + beta))
        first = -step * alpha * loss * (1 - loss) * (-m1 + m1 * document / mixed)
        second = -step * alpha * loss * (1 - loss) * (-m2 + m2 * 0.1 / mixed)
        raised = m1 * math.exp(-first), m2 * math.exp(-second)
        expected[group] = np.array(raised) / sum(raised)
    settings = MCE(alpha=alpha, beta=beta, step=step, updates="online")
    found = update_online(start, evidence, settings, step, rivals_learn=False)
    np.testing.assert_allclose(found, expected)


def test_online_steps_see_the_weights_of_the_step_before():
    evidence = contrasts(5)
    settings = MCE(updates="online", iterations=1, watch="none")
    start = np.full((1, 3), 1 / 3)
    weights = start
    for pair in evidence.each_relevant():
        assert pair.n_queries == 1 and pair.relevant.sum() == 1
        gradient = mce_loss(pair, weights, settings).gradient
        weights = update(weights, gradient, np.ones(1), settings.step, settings.least)
    np.testing.assert_allclose(train_mce(evidence, start, settings).weights, weights)
    batch = train_mce(evidence, start, replace(settings, updates="batch")).weights
    assert np.abs(batch - weights).max() > 1e-6


@pytest.mark.parametrize("updates", ["batch", "online"])
def test_the_loss_falls_by_both_kinds_of_updates(updates):
    evidence = contrasts(7)
    settings = MCE(updates=updates, step=0.2, iterations=20, watch="none")
    found = train_mce(evidence, np.full((1, 3), 1 / 3), settings)
    assert found.losses[-1] < found.losses[0]


def two_levels(seed):
    """Random queries with words and n-grams: two components for each, and a query without n-grams."""
    rng = np.random.default_rng(seed)
    pieces = []
    for n_words, n_ngrams in ((2, 3), (1, 5), (2, 0)):
        rows = np.array([0] * n_words + [1] * n_ngrams)
        probabilities = rng.uniform(0.01, 1, (4, len(rows), 4)) * (rows[:, None] == np.array([0, 0, 1, 1]))
        counts = rng.integers(1, 3, len(rows)).astype(float)
        levels = Levels(rows, np.array([0, 0, 1, 1]))
        pieces.append(one_query(probabilities, counts, np.array([True, True, False, False]), levels=levels))
    return join(pieces)


@pytest.mark.parametrize("rivals", ["hardest", "soft"])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_of_two_levels_equal_finite_differences(seed, rivals):
    evidence, settings = two_levels(seed), MCE(alpha=3, beta=0.4, rivals=rivals, sharpness=2)
    free = np.random.default_rng(seed).normal(size=(1, 4))
    gradient = mce_loss(evidence, softmax(free), settings).gradient
    assert np.abs(gradient).max() > 1e-4
    for k in range(4):
        nudge = np.zeros((1, 4))
        nudge[0, k] = 1e-6
        up, down = (mce_loss(evidence, softmax(free + sign * nudge), settings).value for sign in (1, -1))
        assert gradient[0, k] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_the_fit_of_two_levels_by_hand():
    # Words 0.25 and 0.5, an n-gram 0.1, by components that share a level equally: the weight of the n-grams is 0.4.
    probabilities = np.array([[[0.25, 0.25, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.1, 0.1]]])
    levels = Levels(np.array([0, 0, 1]), np.array([0, 0, 1, 1]))
    evidence = one_query(probabilities, np.ones(3), np.array([True]), levels=levels)
    weights = np.array([[0.3, 0.3, 0.2, 0.2]])
    expected = 0.6 * (math.log(0.25) + math.log(0.5)) / 2 + 0.4 * math.log(0.1)
    assert fit_pairs(evidence, weights, mix_components(evidence, weights)).tolist() == pytest.approx([expected])
    words = evidence.only([0, 1])
    assert (words.levels, words.probabilities.tolist()) == (None, [[0.25, 0.25], [0.5, 0.5]])


def test_levels_that_do_not_fit_are_refused():
    evidence = two_levels(0)
    with pytest.raises(SettingError, match="levels of 1 rows and 4 components"):
        replace(evidence, levels=Levels(np.zeros(1, np.int64), np.zeros(4, np.int64)))
    with pytest.raises(SettingError, match="several levels and groups of documents"):
        replace(evidence, groups=np.ones(evidence.n_pairs, np.int64))
    with pytest.raises(SettingError, match="pieces with and without levels"):
        join([evidence, replace(evidence, levels=None)])
