"""Shrinkage of a model towards its prior, as far as it is not certain that it ranks better.

What was learnt from a few topics can rank worse than the model that learning started from. The topics held out to
choose settings tell how likely that is: with d, the mean gain over the prior, and its standard error s, the probability
that the prior is better is about Φ(−d/s), and that is its share in the scores: a half if nothing was gained, 2 % after
a gain of two standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.bundle import columns_of
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.prior import Prior
from searchlab.training.selection import Choice
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Floats


def probability_of_loss(gains: Floats) -> float:
    """About how likely it is that the mean of such gains is below 0."""
    mean = float(np.mean(gains))
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0
    if error > 0:
        return 0.5 * math.erfc(mean / (error * math.sqrt(2)))
    return 0.5 if mean == 0 else float(mean < 0)


def shrink_to_prior(
    choice: Choice, prior: Prior, train: FeatureTable, held_out: Sequence[FeatureTable], measure: ValidationMeasure
) -> Choice:
    """The choice with a model between the chosen one and its prior, by the queries that settings were chosen on."""
    before = np.concatenate([measure.per_query(part, prior.bundle.scores(part)) for part in held_out])
    share = probability_of_loss(np.mean([trial.per_query for trial in choice.chosen], axis=0) - before)
    prepared = choice.preprocessor.transform(train)
    other = LinearModel(np.array(prior.weights_for(columns_of(train.names, choice.preprocessor))))
    assert isinstance(choice.model, LinearModel)  # only Ranking SVMs take a prior
    models, shares = [choice.model, other], [1 - share, share]
    spreads = [float(np.std(model.score(prepared.values, prepared.group_offsets))) for model in models]
    factors = [each / spread if spread > 0 else 0.0 for each, spread in zip(shares, spreads, strict=True)]
    return replace(choice, model=LinearModel.average(models, factors), prior=prior, prior_share=share)
