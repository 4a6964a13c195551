"""Tables of features to train with."""

import numpy as np

from searchlab.features.feature_table import FeatureTable

# A fixed setting of the Ranking SVMs: nothing is tuned.
QUICK = {"C": 0.01}


def some_table(n_queries=12, signal=1.0, seed=1, first=0, n_docs=10):
    """Two features that are each partly correlated with the grade, and a third of noise."""
    random = np.random.default_rng(seed)
    n = n_queries * n_docs
    grades = random.integers(0, 3, n)
    values = random.normal(size=(n, 3)) + signal * grades[:, None] * [0.8, 0.8, 0.0]
    qids = np.repeat([f"q{first + number}" for number in range(n_queries)], n_docs)
    return FeatureTable(["a", "b", "noise"], qids, [f"d{row}" for row in range(n)], values, grades)
