"""Word vectors of candidates: cosines are those of a plain product, whatever words are dense."""

import numpy as np
import pytest

from searchlab.features.latent_semantics import word_vectors
from searchlab.features.latent_semantics.neighbours import neighbour_means
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.features.latent_semantics.word_vectors import WordVectors
from searchlab.records import Document

N = 30
MATRIX = np.where(np.random.default_rng(4).random((N, 80)) < np.linspace(0.01, 0.9, 80), 1.0, 0.0)
MATRIX *= np.random.default_rng(5).random(MATRIX.shape)
MATRIX[7] = 0
MATRIX /= np.maximum(np.linalg.norm(MATRIX, axis=1, keepdims=True), 1e-9)


def entries_of(matrix):
    words, rows = np.nonzero(matrix.T)
    return words, rows, matrix[rows, words]


def off_diagonal(cosines):
    return cosines - np.diag(np.diag(cosines))


@pytest.mark.parametrize("least", [1, 5, 100])
def test_cosines_are_those_of_a_plain_product(monkeypatch, least):
    monkeypatch.setattr(word_vectors, "MIN_DENSE_DOCUMENTS", least)
    vectors = WordVectors.of(N, *entries_of(MATRIX))
    assert len(vectors) == N
    expected = off_diagonal(MATRIX @ MATRIX.T)
    assert off_diagonal(vectors.cosines(0, N)) == pytest.approx(expected, abs=1e-6)
    assert vectors.cosines(4, 9)[:, :4] == pytest.approx(expected[4:9, :4], abs=1e-6)


def test_documents_without_words_have_no_neighbours():
    (means,) = neighbour_means(WordVectors.of(3, *entries_of(np.zeros((3, 2)))), [np.ones(3)], [1])
    assert np.isnan(means).all()


def test_vectors_are_the_rows_of_the_matrix_of_the_space(build):
    """BM25 weights of words of at least two documents; the documents are asked for in another order."""
    texts = ["red fox fox", "red hen", "blue fox", "blue blue hen sun"]
    folder = build([Document(f"d{number}", body=text) for number, text in enumerate(texts)])
    space = build_space(folder, dims=2)
    docs = np.array([3, 0, 2, 1])
    found = off_diagonal(WordVectors.join(4, space.word_entries(np.zeros(4, np.int64), docs)).cosines(0, 4))
    lengths = np.array([3, 2, 2, 4])
    counts = np.array([[1, 2, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 2]])  # red, fox, hen, blue; sun is alone
    norms = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    weights = counts / (counts + norms[:, None])  # all four words have the same idf
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    assert found == pytest.approx(off_diagonal(weights[docs] @ weights[docs].T), abs=1e-6)
