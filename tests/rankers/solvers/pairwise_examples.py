"""Problems for the descents on the pairwise hinge loss."""

import numpy as np


def example(n_queries=6, n_docs=30, n_features=8, n_grades=4, seed=1):
    random = np.random.default_rng(seed)
    offsets = np.arange(n_queries + 1) * n_docs
    X = random.normal(size=(n_queries * n_docs, n_features))
    scores = X @ random.normal(size=n_features) + 2 * random.normal(size=len(X))
    grades = np.clip(np.floor(scores / 2 + n_grades / 2), 0, n_grades - 1).astype(int)
    return X, offsets, grades


def small_problem(seed, n_grades, weighted):
    """A few queries, with collinear and constant features."""
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 12, 4)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = random.normal(size=(offsets[-1], 3))
    X = np.hstack([X, X[:, :1], np.ones((len(X), 1))])
    grades = random.integers(0, n_grades, len(X))
    return X, offsets, grades, random.uniform(0, 3, len(X)) if weighted else None


def uneven(query, high, low):
    return (1 + query) * (high - low)
