"""BM25 and language models as rankers: features of the table that are scores of a search, used as they are.

Cao et al. (SIGIR 2006) compare their rankers with BM25 and with language models (LMIR). In LETOR's files, and in the
feature sets that follow them, both are features, over title and abstract. Nothing is learnt. The paper tuned LMIR with
one of the trials and applied it to the others; so the smoothing is chosen on the training set of the first fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from searchlab.evaluation.number_text import format_value
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import make_imputation
from searchlab.reproduction.letor import FoldData, RankerResult, reproduce
from searchlab.reproduction.paper_reports import published
from searchlab.training.recipe import PAPER, Recipe

BM25, LMIR = "BM25", "LMIR"


@dataclass(frozen=True)
class RetrievalFeatures:
    """The features of a table that are retrieval models: BM25, and language models by their smoothing."""

    bm25: str
    lmir: Mapping[str, str]


# By the names of our features, and of the files of LETOR 3.0 OHSUMED, which have numbers only.
NAMED_FEATURES = (
    RetrievalFeatures(
        "letor.both.bm25",
        {
            "Dirichlet": "letor.both.dirichlet",
            "Jelinek–Mercer": "letor.both.jm",
            "absolute discount": "letor.both.absolute",
        },
    ),
    RetrievalFeatures(
        "ordrank.both.H1",
        {"Dirichlet": "ordrank.both.H3", "Jelinek–Mercer": "ordrank.both.H4", "absolute discount": "ordrank.both.H5"},
    ),
)
OHSUMED_FEATURES = RetrievalFeatures("f41", {"Dirichlet": "f43", "Jelinek–Mercer": "f44", "absolute discount": "f45"})


@dataclass(frozen=True, eq=False)
class RetrievalModels:
    """The results of BM25 and LMIR by these names, and a sentence on what they are, or on why there are none."""

    results: Mapping[str, RankerResult]
    description: str


def find_retrieval_features(table: FeatureTable) -> RetrievalFeatures | None:
    """The features that are BM25 and language models; None if the names of the features do not tell."""
    known = [*NAMED_FEATURES, *([OHSUMED_FEATURES] if published.OHSUMED.matches(table) else [])]
    return next((each for each in known if {each.bm25, *each.lmir.values()} <= set(table.names)), None)


def evaluate_retrieval_models(data: FoldData, recipe: Recipe, relevant_from: int | None = None) -> RetrievalModels:
    """BM25 and LMIR on the test sets of all folds; `relevant_from` is as for `reproduce`."""
    features = find_retrieval_features(data.whole)
    if features is None:
        reason = "the names of the features do not tell which of them are scores of BM25 and of language models"
        return RetrievalModels({}, f"BM25 and LMIR are not shown: {reason}.")
    smoothing, tried = _choose_smoothing(data, features, recipe)
    results = {
        BM25: evaluate_feature(data, features.bm25, recipe, relevant_from),
        LMIR: evaluate_feature(data, features.lmir[smoothing], recipe, relevant_from),
    }
    means = ", ".join(f"{name} {format_value(value)}" for name, value in tried.items())
    return RetrievalModels(
        results,
        f"BM25 is the feature {features.bm25}. LMIR is the language model with {smoothing} smoothing, the feature "
        f"{features.lmir[smoothing]}, chosen by {recipe.validation_measure().name} on the training set of the first "
        f"fold ({means}) and applied to all folds, as in the paper. Both are as they stand, without training.",
    )


def evaluate_feature(data: FoldData, feature: str, recipe: Recipe, relevant_from: int | None = None) -> RankerResult:
    """One feature as it is, on the test sets of all folds, by the imputation and the measures of a recipe."""
    settings = {"feature": data.whole.names.index(feature)}
    alone = replace(recipe, ranker="single", settings=settings, powers=None, n_best=None)
    (result,) = reproduce(
        data, ["single"], recipe=alone, recipe_names=(PAPER,), relevant_from=relevant_from, n_jobs=1
    ).values()
    return result


def _choose_smoothing(data: FoldData, features: RetrievalFeatures, recipe: Recipe) -> tuple[str, dict[str, float]]:
    train = data.tables[0][0]
    filled = make_imputation(recipe.imputation).fit(train).transform(train)
    measure = recipe.validation_measure()
    means = {
        smoothing: float(np.mean(measure.per_query(train, filled.column(feature))))
        for smoothing, feature in features.lmir.items()
    }
    return max(means, key=lambda smoothing: means[smoothing]), means
