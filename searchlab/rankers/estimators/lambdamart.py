"""LambdaMART: boosted regression trees on the gradients of NDCG, learnt by LightGBM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from searchlab.errors import SettingError
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive, require_share, require_whole
from searchlab.rankers.models.lightgbm_text import read_lightgbm
from searchlab.rankers.models.tree import MAX_LEAVES
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats, Ints

# Limits of LightGBM: rows of a query, and distinct grades. A gain of 2^grade must be a float of 32 bits.
MAX_QUERY_ROWS = 10_000
MAX_GRADES, HIGHEST_GRADE = 31, 30
MAX_SEED = 2**31 - 1


class LambdaMART(Ranker):
    """LambdaMART (Burges, MSR-TR-2010-82), learnt by LightGBM (Ke et al., NIPS 2017): `pip install searchlab[trees]`.

    From f = 0, each round adds a regression tree that is fitted to the λ of the documents, by a Newton step in each
    leaf. The λ of a document is the sum over the documents of its query that have another grade:

        λ_i = Σ_j ± |ΔNDCG(i, j)| · σ(f(x_j) − f(x_i)),     σ(z) = 1 / (1 + e^−z),  + where i has the higher grade

    ΔNDCG(i, j) is the change of NDCG, with gains 2^grade − 1, if the two documents changed places. Pairs count if one
    of them is among the best `truncation` documents.

    `trees` is the number of rounds, `leaves` of each tree, `learning_rate` the factor of each tree, `min_rows` the
    least number of documents in a leaf, `l2` the penalty on leaf values; `query_share` and `feature_share` are the
    shares of queries and of features, drawn with `seed`, that a tree is learnt from.

    Deviations of LightGBM: the λ of each query are divided by a norm; features are cut into 255 bins. Rows are sorted
    before learning, so that the model does not depend on their order. Undefined values (NaN) go the way that is better
    in training. Weights of rows must be whole numbers.

    The same data and settings give the same trees: one thread, no choice by measured time. The model needs no LightGBM.
    """

    name: ClassVar[str] = "lambdamart"
    title: ClassVar[str] = "LambdaMART: regression trees on the gradients of NDCG"
    tuned: ClassVar[str | None] = "trees"
    accepts_nan: ClassVar[bool] = True
    averaged: bool = True
    # Small trees on random parts of queries and features: found better on a few dozen queries.
    tuned_settings: Mapping[str, Any] = {
        "leaves": 7,
        "learning_rate": 0.05,
        "min_rows": 100,
        "query_share": 0.5,
        "feature_share": 0.3,
    }

    def __init__(
        self,
        trees: int = 300,
        leaves: int = 10,
        learning_rate: float = 0.1,
        min_rows: int = 20,
        l2: float = 0.0,
        query_share: float = 1.0,
        feature_share: float = 1.0,
        truncation: int = 30,
        seed: int = 0,
    ) -> None:
        self.trees = trees
        self.leaves = leaves
        self.learning_rate = learning_rate
        self.min_rows = min_rows
        self.l2 = l2
        self.query_share = query_share
        self.feature_share = feature_share
        self.truncation = truncation
        self.seed = seed

    def _check_settings(self) -> None:
        for name in ("trees", "min_rows", "truncation"):
            require_whole(name, getattr(self, name))
        require_whole("seed", self.seed, 0)
        require_whole("leaves", self.leaves, 2)
        for name, least, most in (("leaves", 2, MAX_LEAVES), ("seed", 0, MAX_SEED)):
            if getattr(self, name) > most:
                raise SettingError(f"{name} is {getattr(self, name)!r}, expected a whole number from {least} to {most}")
        require_positive("learning_rate", self.learning_rate)
        if self.l2 != 0:
            require_positive("l2", self.l2)
        require_share("query_share", self.query_share)
        require_share("feature_share", self.feature_share)

    def values(self, training: TrainingData) -> Sequence[int]:
        """Numbers of trees from 10 to `trees`, each half as large again as the previous one."""
        values = [min(10, self.trees)]
        while values[-1] < self.trees:
            values.append(min(self.trees, values[-1] * 3 // 2))
        return values

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A ranker for each number of trees, all from a single run of boosting."""
        rankers = [clone(self).set_params(trees=value) for value in values]
        for ranker in rankers:
            ranker._check_settings()
        model = self._boost(training, max(values, default=0))
        for ranker in rankers:
            yield ranker._set_model(training, *ranker._describe(training, model))

    def _learn(self, training: TrainingData) -> tuple[TreeModel, dict[str, Any]]:
        return self._describe(training, self._boost(training, self.trees))

    def _describe(self, training: TrainingData, model: TreeModel) -> tuple[TreeModel, dict[str, Any]]:
        """The first trees of a model, and a description of the training."""
        chosen = model.first(self.trees)
        return chosen, {"n_pairs": training.n_pairs, "n_trees": len(chosen.trees)}

    def _boost(self, training: TrainingData, n_trees: int) -> TreeModel:
        lightgbm = load_lightgbm()
        rows = training.repeated()
        if not rows.n_pairs or not n_trees:
            return TreeModel((), training.X.shape[1])
        sizes = np.diff(rows.offsets)
        if sizes.max() > MAX_QUERY_ROWS:
            raise SettingError(f"a query has {sizes.max():,} documents, expected at most {MAX_QUERY_ROWS:,}")
        labels, gains = grade_gains(rows.grades)
        X, labels, sizes = _sorted_rows(rows, labels)
        data = lightgbm.Dataset(X, labels, group=sizes, params={"verbosity": -1, "feature_pre_filter": False})
        booster = lightgbm.train(self._parameters(gains), data, n_trees)
        return read_lightgbm(booster.model_to_string())

    def _parameters(self, gains: list[float]) -> dict[str, Any]:
        return {
            "objective": "lambdarank",
            "label_gain": gains,
            "lambdarank_truncation_level": int(self.truncation),
            "num_leaves": int(self.leaves),
            "learning_rate": float(self.learning_rate),
            "min_data_in_leaf": int(self.min_rows),
            "min_sum_hessian_in_leaf": 0.0,
            "lambda_l2": float(self.l2),
            "bagging_by_query": True,
            "bagging_fraction": float(self.query_share),
            "bagging_freq": int(self.query_share < 1),
            "feature_fraction": float(self.feature_share),
            "seed": int(self.seed),
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
            "feature_pre_filter": False,
        }


def load_lightgbm() -> ModuleType:
    """LightGBM, which only learning needs."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        raise SettingError(
            f"LambdaMART learns by LightGBM, which cannot be loaded ({error}): pip install 'searchlab[trees]'"
        ) from None
    return lightgbm


def grade_gains(grades: Floats) -> tuple[Ints, list[float]]:
    """A number for each grade, ascending, and the gain 2^grade − 1 of each; grades below 0 gain nothing."""
    distinct, numbers = np.unique(grades, return_inverse=True)
    if len(distinct) > MAX_GRADES or distinct[-1] > HIGHEST_GRADE:
        found = f"{len(distinct)} different grades up to {distinct[-1]:g}"
        raise SettingError(f"{found}, expected at most {MAX_GRADES} up to {HIGHEST_GRADE}")
    return numbers.reshape(-1), (2.0 ** np.maximum(distinct, 0) - 1).tolist()


def _sorted_rows(rows: TrainingData, labels: Ints) -> tuple[Floats, Ints, Ints]:
    """Features, labels and sizes of queries in an order that depends on their values alone."""
    n_queries = len(rows.offsets) - 1
    query = np.repeat(np.arange(n_queries), np.diff(rows.offsets))
    order = np.lexsort((labels, *rows.X.T[::-1], query))
    X, labels = rows.X[order], labels[order]
    first = X[rows.offsets[:-1]]
    of_queries = np.lexsort((labels[rows.offsets[:-1]], *first.T[::-1]))
    place = np.empty(n_queries, dtype=np.int64)
    place[of_queries] = np.arange(n_queries)
    again = np.argsort(place[query], kind="stable")
    return X[again], labels[again], np.diff(rows.offsets)[of_queries]
