"""PLSA: the latent topics that texts were drawn from are recovered, and EM never lowers the likelihood."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from searchlab.errors import SettingError
from searchlab.indexing.blockwise.row_blocks import RowBlock
from searchlab.indexing.blockwise.workspace import IN_MEMORY
from searchlab.topic_models.plsa import fold_in, learn_latent_topics
from searchlab.topic_models.plsa_blocks import BlockCounts, BlockTraining
from tests.hypothesis_profiles import examples


def reference(counts, of_terms, of_docs, tau=1.0):
    """One iteration by the printed formula, with the whole array of documents × words × latent topics."""
    joint = (of_terms[None] * of_docs[:, None]) ** tau
    posterior = joint / joint.sum(axis=2, keepdims=True)
    shares = counts[:, :, None] * posterior
    return shares.sum(0) / shares.sum((0, 1)), shares.sum(1) / shares.sum((1, 2))[:, None]


def perplexity(counts, of_terms, of_docs):
    return math.exp(-(counts * np.log(of_docs @ of_terms.T)).sum() / counts.sum())


def mixtures(n_docs=150, n_words=60, n_topics=3, length=100, seed=3):
    """Counts of documents, each mostly of one latent topic, and the P(w|T) and P(T|D) they were drawn from."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    shares = rng.dirichlet(np.full(n_topics, 0.2), n_docs)
    counts = np.array([rng.multinomial(length, row @ topics) for row in shares])
    return counts, topics, shares


def best_match(found, true):
    """The assignment to true latent topics that differs least, and by how much (half the sum of differences)."""
    differences = 0.5 * np.abs(found.T[:, None] - true[None]).sum(2)
    orders = permutations(range(len(true)))
    best = min(orders, key=lambda order: sum(differences[k, j] for j, k in enumerate(order)))
    return list(best), [differences[k, j] for j, k in enumerate(best)]


@pytest.mark.parametrize("tau", [1.0, 0.7])
def test_an_iteration_follows_the_printed_formula(tau):
    counts = np.array([[2, 0, 1, 0], [0, 3, 1, 1], [1, 1, 0, 5]])
    # In two blocks, each without some of the words.
    blocks = [RowBlock.of(csr_array(rows)).put(IN_MEMORY.store) for rows in (counts[:2], counts[2:])]
    assert [block.columns.tolist() for block in blocks] == [[0, 1, 2, 3], [0, 1, 3]]
    training = BlockTraining(IN_MEMORY, blocks, 4, 1 + np.random.default_rng(1).random((4, 2)))
    for _ in range(3):
        of_terms, of_docs = reference(counts, training.state.of_terms, training.gather_documents(np.zeros(2)), tau)
        training.step(tau)
        np.testing.assert_allclose(training.state.of_terms, of_terms, rtol=1e-12)
        np.testing.assert_allclose(training.gather_documents(np.zeros(2)), of_docs, rtol=1e-12)
        assert training.perplexity(blocks) == pytest.approx(perplexity(counts, of_terms, of_docs))
    lengths = counts.sum(1)
    np.testing.assert_allclose(training.shares(), lengths @ of_docs / lengths.sum(), rtol=1e-12)


MATRICES = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).poisson(0.7, np.random.default_rng(seed).integers(1, 9, 2))
)


@settings(max_examples=examples(60))
@given(counts=MATRICES, n_topics=st.integers(1, 12))
def test_without_tempering_perplexity_never_rises(counts, n_topics):
    topics = learn_latent_topics(csr_array(counts), n_topics, held_out=0, iterations=30)
    falls = np.diff(topics.perplexities)
    assert (falls <= 1e-9 * np.array(topics.perplexities[:-1])).all()
    np.testing.assert_allclose(topics.of_docs.sum(1), 1)
    assert topics.shares.sum() == pytest.approx(1)
    if counts.any():
        np.testing.assert_allclose(topics.of_terms.sum(0), 1)
        assert topics.perplexities[-1] == pytest.approx(
            perplexity_of_known(counts, topics.of_terms, topics.of_docs), rel=1e-9
        )


def perplexity_of_known(counts, of_terms, of_docs):
    rows, columns = np.nonzero(counts)
    p = (of_docs @ of_terms.T)[rows, columns]
    return math.exp(-(counts[rows, columns] * np.log(p)).sum() / counts.sum())


def test_the_latent_topics_that_texts_were_drawn_from_are_recovered():
    counts, true, shares = mixtures()
    topics = learn_latent_topics(csr_array(counts), 3)
    order, differences = best_match(topics.of_terms, true)
    assert max(differences) < 0.12
    np.testing.assert_allclose(topics.of_docs[:, order], shares, atol=0.35)
    assert np.abs(topics.of_docs[:, order] - shares).mean() < 0.05
    # The perplexity of the truth, or less, since the model was fitted.
    assert topics.perplexities[-1] < 1.02 * perplexity_of_known(counts, true.T, shares)


def test_disjoint_vocabularies_are_separated_exactly():
    counts = np.kron(np.eye(2, dtype=int), np.array([[3, 1, 2], [1, 2, 2], [4, 4, 1]]))
    topics = learn_latent_topics(csr_array(counts), 2, held_out=0, iterations=500)
    order, differences = best_match(topics.of_terms, np.array([[8, 7, 5, 0, 0, 0], [0, 0, 0, 8, 7, 5]]) / 20)
    assert max(differences) < 1e-3
    np.testing.assert_allclose(topics.of_docs[:, order], np.kron(np.eye(2), np.ones((3, 1))), atol=1e-3)


def test_a_single_latent_topic_is_the_collection():
    counts, *_ = mixtures()
    topics = learn_latent_topics(csr_array(counts), 1)
    background = counts.sum(0) / counts.sum()
    np.testing.assert_allclose(topics.of_terms[:, 0], background)
    assert (topics.of_docs == 1).all() and topics.shares == 1
    used = background[background > 0]
    assert topics.perplexities[-1] == pytest.approx(math.exp(-(used * np.log(used)).sum()))


def test_the_seed_decides_the_latent_topics():
    counts, *_ = mixtures()
    first, same, other = (learn_latent_topics(csr_array(counts), 4, seed=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.of_terms, same.of_terms)
    np.testing.assert_array_equal(first.of_docs, same.of_docs)
    assert first.perplexities == same.perplexities and first.held_out == same.held_out
    assert not np.allclose(first.of_terms, other.of_terms)


def test_the_order_of_documents_does_not_matter():
    counts, *_ = mixtures()
    order = np.random.default_rng(1).permutation(len(counts))
    there, back = (
        learn_latent_topics(csr_array(each), 3, held_out=0, iterations=20) for each in (counts, counts[order])
    )
    np.testing.assert_allclose(there.of_terms, back.of_terms, rtol=1e-9)
    np.testing.assert_allclose(there.of_docs[order], back.of_docs, rtol=1e-9)


@pytest.mark.parametrize("held_out", [0, 0.1])
def test_folding_in_a_training_document_gives_nearly_its_learnt_shares(held_out):
    counts, *_ = mixtures()
    topics = learn_latent_topics(csr_array(counts), 3, held_out=held_out)
    folded = fold_in(csr_array(counts), topics.of_terms, topics.shares, topics.temperature)
    np.testing.assert_allclose(folded.sum(1), 1)
    np.testing.assert_allclose(folded, topics.of_docs, atol=0.03)


def test_folding_in_by_hand():
    # One word in both latent topics, twice as likely in the first: EM converges to the first. The other document has
    # two words of one latent topic each, 3 and 1 times.
    of_terms = np.array([[0.5, 0.25], [0.5, 0.0], [0.0, 0.75]])
    found = fold_in(csr_array([[4, 0, 0], [0, 3, 1]]), of_terms, np.array([0.9, 0.1]))
    assert found[0] == pytest.approx([1, 0], abs=1e-3)
    assert found[1] == pytest.approx([0.75, 0.25], abs=1e-4)


def test_documents_without_known_words_get_the_shares_of_the_collection():
    of_terms = np.array([[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]])
    found = fold_in(csr_array([[0, 0, 0], [0, 0, 5]]), of_terms, np.array([0.9, 0.1]))
    assert found.tolist() == [[0.9, 0.1]] * 2
    counts, *_ = mixtures()
    counts[3] = 0
    topics = learn_latent_topics(csr_array(counts), 3)
    np.testing.assert_array_equal(topics.of_docs[3], topics.shares)
    lengths = counts.sum(1)
    np.testing.assert_allclose(topics.shares, lengths @ topics.of_docs / lengths.sum())


def test_tempering_prevents_overfitting():
    rng = np.random.default_rng(5)
    texts = csr_array(rng.poisson(0.25, (300, 80)))  # noise: more than one latent topic overfits
    tempered, plain = learn_latent_topics(texts, 5), learn_latent_topics(texts, 5, held_out=0)
    assert plain.temperature == 1 and plain.held_out == ()
    assert plain.perplexities[-1] < 0.9 * tempered.perplexities[-1]
    assert min(tempered.held_out) == tempered.held_out[0]  # there is nothing to learn
    assert len(tempered.perplexities) == 1
    structured, *_ = mixtures(400, 120, 6, 30)
    found = learn_latent_topics(csr_array(structured), 12)
    assert found.temperature < 1
    assert min(found.held_out) < 0.8 * found.held_out[0]
    # Lower temperatures than the best were tried without success.
    assert min(found.held_out) < found.held_out[-1] and len(found.perplexities) == 2


def test_held_out_and_remaining_words_together_are_all_words():
    counts, *_ = mixtures()
    whole = BlockCounts.of(csr_array(counts))
    held, remaining = whole.split(0.3, np.random.default_rng(1))

    def dense(part):
        return csr_array((part.counts, part.terms, part.starts), shape=counts.shape).toarray()

    np.testing.assert_array_equal(dense(held) + dense(remaining), counts)
    assert (held.counts > 0).all() and (remaining.counts > 0).all()
    assert held.n_words == pytest.approx(0.3 * whole.n_words, rel=0.05)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (4, 0), (3, 4)])
def test_without_words_all_latent_topics_are_alike(shape):
    topics = learn_latent_topics(csr_array(shape), 3)
    assert topics.of_terms.shape == (shape[1], 3) and topics.of_docs.shape == (shape[0], 3)
    assert topics.shares == pytest.approx([1 / 3] * 3)
    assert np.allclose(topics.of_docs, 1 / 3)
    assert topics.perplexities[-1] == 1


def test_there_may_be_more_latent_topics_than_documents():
    topics = learn_latent_topics(csr_array([[2, 1, 0], [0, 1, 4]]), 50)
    assert topics.of_terms.shape == (3, 50)
    np.testing.assert_allclose(topics.of_terms.sum(0), 1)
    assert np.isfinite(topics.of_docs).all()
    # Each document can be explained by its counts alone: the lowest possible perplexity.
    expected = math.exp(-(2 * math.log(2 / 3) + math.log(1 / 3) + math.log(1 / 5) + 4 * math.log(4 / 5)) / 8)
    assert topics.perplexities[-1] == pytest.approx(expected, rel=1e-3)


def test_progress_is_reported_by_stage():
    calls = []
    counts, *_ = mixtures()
    learn_latent_topics(csr_array(counts), 3, progress=lambda *call: calls.append(call))
    assert list(dict.fromkeys(stage for stage, *_ in calls)) == ["tempering", "training"]
    assert calls[-1][1] == calls[-1][2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "n_topics is 0, expected 1 to 1000"),
        ({"n_topics": 1001}, "n_topics is 1001, expected 1 to 1000"),
        ({"held_out": 1}, "held_out is 1, expected 0 to less than 1"),
        ({"held_out": -0.1}, "held_out is -0.1, expected"),
        ({"iterations": 0}, "iterations is 0, expected 1 or more"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(SettingError, match=message):
        learn_latent_topics(csr_array([[1]]), **options)
