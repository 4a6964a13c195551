"""The word topic model: words get latent topics from their neighbours, documents from their words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from searchlab.topic_models.plsa import learn_latent_topics
from searchlab.topic_models.word_topics import count_neighbours, mix_words


def laid_out(texts):
    tokens = np.array([token for text in texts for token in text], np.int32)
    return tokens, np.cumsum([0, *(len(text) for text in texts)])


def reference(texts, n_terms, window):
    counts = np.zeros((n_terms, n_terms))
    for text in texts:
        for i, word in enumerate(text):
            for j, neighbour in enumerate(text):
                if i != j and abs(i - j) <= window:
                    counts[word, neighbour] += 1
    return counts


def test_neighbours_by_hand():
    # In 0 1 2 1 with a window of 1: 0-1, 1-2, 2-1 are neighbours; windows end with the document.
    found = count_neighbours([laid_out([[0, 1, 2, 1], [2, 0]])], 3, window=1).toarray()
    assert found.tolist() == [[0, 1, 1], [1, 0, 2], [1, 2, 0]]


@given(
    texts=st.lists(st.lists(st.integers(0, 4), max_size=12), max_size=5),
    window=st.integers(1, 6),
    cut=st.integers(0, 5),
)
def test_neighbours_are_those_of_a_brute_force_count(texts, window, cut):
    found = count_neighbours([laid_out(texts[:cut]), laid_out(texts[cut:])], 5, window)
    np.testing.assert_array_equal(found.toarray(), reference(texts, 5, window))


def test_a_document_mixes_the_latent_topics_of_its_words_by_hand():
    of_words = np.array([[0.8, 0.2], [0.4, 0.6], [0.0, 0.0]])
    shares = np.array([0.7, 0.3])
    # Three words: (2·0.8 + 0.4)/3. The word without latent topics does not count; a document of no other has `shares`.
    found = mix_words(csr_array([[2, 1, 0], [1, 0, 9], [0, 0, 2], [0, 0, 0]]), of_words, shares)
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3], [0.8, 0.2], [0.7, 0.3], [0.7, 0.3]])


def test_mixing_the_models_of_words_is_mixing_their_latent_topics():
    # P(q|D) = Σ_w P(w|D) Σ_k P(q|T_k) P(T_k|w), summed word by word.
    rng = np.random.default_rng(2)
    of_terms, of_words = rng.dirichlet(np.ones(5), 3).T, rng.dirichlet(np.ones(3), 5)
    counts = np.array([1, 0, 2, 3, 0])
    printed = [
        sum(n / 6 * sum(of_terms[q, k] * of_words[w, k] for k in range(3)) for w, n in enumerate(counts))
        for q in range(5)
    ]
    topics = mix_words(csr_array(counts[None]), of_words, np.full(3, 1 / 3))[0]
    assert of_terms @ topics == pytest.approx(printed)


def test_words_that_share_their_neighbours_share_their_latent_topics():
    car, auto, engine, road, apple, fruit, tree, juice = range(8)
    texts = [[car, engine, road], [auto, engine, road], [road, car, engine], [auto, road]] * 5
    texts += [[apple, tree, juice], [fruit, tree, juice], [juice, apple, tree], [fruit, juice]] * 5
    topics = learn_latent_topics(count_neighbours([laid_out(texts)], 8), 2, held_out=0, iterations=300)
    assert topics.of_docs[car] == pytest.approx(topics.of_docs[auto], abs=0.01)
    assert topics.of_docs[apple] == pytest.approx(topics.of_docs[fruit], abs=0.01)
    assert np.abs(topics.of_docs[car] - topics.of_docs[apple]).sum() > 1.9
