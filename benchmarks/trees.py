"""Speed of scoring and explaining by trees, compared with LightGBM.

    python benchmarks/trees.py

300 trees learnt from random rows, 400 candidates of 40 features, a tenth of the values undefined. Times are the best of
several rounds, one after the other, so that a slow moment of the machine hits both. LightGBM scores with all cores, and
with one; searchlab uses one. Fails if a score differs in a bit, or a contribution by more than 1e-9.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import lightgbm
import numpy as np
from report import Target, table

from searchlab.rankers.models.lightgbm_text import read_lightgbm

N_TREES, N_CANDIDATES, N_FEATURES = 300, 400, 40
LEAVES = (7, 10, 15, 31, 63)
ROUNDS = 30


def main() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, N_FEATURES))
    X[random.random(X.shape) < 0.1] = np.nan
    grades, offsets = random.integers(0, 3, len(X)), np.array([0, N_CANDIDATES])
    rows, ratios = [], []
    for leaves in LEAVES:
        data = lightgbm.Dataset(X, grades, group=[50] * 100)
        booster = lightgbm.train({"objective": "lambdarank", "num_leaves": leaves, "verbosity": -1}, data, N_TREES)
        model, candidates = read_lightgbm(booster.model_to_string()), X[:N_CANDIDATES]
        assert np.array_equal(model.score(candidates, offsets), booster.predict(candidates))
        contributions = booster.predict(candidates[:1], pred_contrib=True)[0]
        parts = {part.feature: part.amount for part in model.parts(candidates, 0)}
        assert np.allclose([parts.get(n, 0.0) for n in [*range(N_FEATURES), None]], contributions, rtol=0, atol=1e-9)
        ours, theirs, single, explaining = best_times(
            partial(model.score, candidates, offsets),
            partial(booster.predict, candidates),
            partial(booster.predict, candidates, num_threads=1),
            partial(model.parts, candidates, 0),
        )
        ratios.append(ours / theirs)
        figures = [f"{1000 * seconds:.2f}" for seconds in (ours, theirs, single)]
        rows.append([str(leaves), *figures, f"{ours / theirs:.2f}", f"{1000 * explaining:.1f}"])
    header = ["leaves", "searchlab ms", "LightGBM ms", "one thread ms", "ratio", "explain one, ms"]
    print(table(header, rows))
    print()
    print(Target("within 3 times of LightGBM", max(ratios), "times", below=3))


def best_times(*works: Callable[[], object]) -> list[float]:
    """The least seconds of each work over some rounds."""
    best = [math.inf] * len(works)
    for _ in range(ROUNDS):
        for number, work in enumerate(works):
            began = time.perf_counter()
            work()
            best[number] = min(best[number], time.perf_counter() - began)
    return best


if __name__ == "__main__":
    main()
