"""A formula over the counts of one stream, and the score of a scorer as such a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from searchlab.features.counts import StreamCounts
from searchlab.scorers.base import PostingScorer
from searchlab.scorers.gains import gain
from searchlab.types import Array

# A number for each candidate, from the terms that occur in a stream of the collection.
Formula = Callable[[StreamCounts], Array]


class StreamFormula(NamedTuple):
    """A feature of any stream: its formula in print and in Python."""

    what: str
    formula: str
    compute: Formula
    source: str = ""


def undefined(s: StreamCounts) -> Array:
    """NaN for each candidate."""
    return np.full(s.n_candidates, np.nan)


def score_stream(s: StreamCounts, scorer: PostingScorer) -> Array:
    """Σ of a scorer's weights over the words of the query, decomposed as in the engine: equal to its scores."""
    if not s.n_terms:
        return np.zeros(s.n_candidates)
    weights = np.array([scorer.term_weight(term) for term in s.stats])
    scores = s.total(compute_gains(s, scorer, weights, s.stats[0].mean_length))
    scores += float(s.query_counts @ [scorer.background(term) for term in s.stats])
    bias = scorer.doc_bias(s.lengths, s.uniques)
    return scores if bias is None else scores + float(s.query_counts.sum()) * bias


def compute_gains(s: StreamCounts, scorer: PostingScorer, weights: Array, mean_length: float) -> Array:
    """The gain of each pair of a term and a candidate that has it."""
    factors = np.array([scorer.term_factor(term) for term in s.stats])
    norms = scorer.doc_norm(s.lengths, s.uniques, mean_length)
    return np.asarray(gain(scorer.shape, s.c, weights[s.term], factors[s.term], norms[s.doc], scorer.shift))
