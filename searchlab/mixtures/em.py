"""Maximum likelihood training of mixture weights by expectation–maximisation (EM).

Given queries and their relevant documents D*, EM finds the weights that maximise Σ ln P(Q|D*) over these pairs
(Dempster, Laird, Rubin 1977; the conventional method on Chen's slide 1):

    E   γ_nk = m_k·P_k(q_n|D*) / Σ_j m_j·P_j(q_n|D*)       the responsibility of component k for word n
    M   m_k  = the mean of γ_nk over all words

Words and character n-grams of a query are units alike: a level of components gets the share of its units.

The likelihood never falls and is concave in the weights, so the result does not depend on the start, as long as no
weight starts at 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.mixtures.likelihood import (
    Evidence,
    check_weights,
    mix_components,
    raise_to_minimum,
    responsibilities,
    sum_segments,
)
from searchlab.mixtures.setting_checks import require_number, require_one_of, setting
from searchlab.types import Floats

# How pairs of a query and a relevant document are weighted.
WEIGHINGS = ("query", "pair", "word")


@dataclass(frozen=True)
class EM:
    """Settings of EM; `describe_settings` lists them with their meanings.

    With `weighing="word"` EM maximises the plain likelihood of all words of all pairs.
    """

    iterations: int = setting(200, "largest number of iterations")
    tolerance: float = setting(1e-7, "EM ends when the mean ln P of a word rises by less")
    weighing: str = setting(
        "query", "what counts equally: each query, each pair with a relevant document, or each word"
    )
    least: float = setting(1e-6, "no final weight is below this, so that the collection always smooths")

    def __post_init__(self) -> None:
        require_number("EM: iterations", self.iterations, 1, 1_000_000, whole=True)
        require_number("EM: tolerance", self.tolerance, 0, 1)
        require_number("EM: least", self.least, 0, 1e-2)
        require_one_of("weighing", self.weighing, WEIGHINGS)


@dataclass(frozen=True, eq=False)
class EMFit:
    """The weights, a row for each group, and the mean ln P of a word before each iteration and after the last."""

    weights: Floats
    likelihoods: tuple[float, ...]

    @property
    def n_iterations(self) -> int:
        """The number of iterations."""
        return len(self.likelihoods) - 1


def train_em(evidence: Evidence, start: npt.ArrayLike | None = None, settings: EM | None = None) -> EMFit:
    """The most likely weights, from `start` (a row for each group) or from equal weights.

    A group without a relevant document keeps its initial weights.
    """
    settings = settings or EM()
    if not evidence.relevant.any():
        raise SettingError("EM: no relevant document in the training queries, expected at least one")
    known = evidence.only_relevant()
    n_groups = int(np.max(evidence.groups)) + 1
    equal = np.full((n_groups, known.n_components), 1 / known.n_components)
    weights = check_weights(equal if start is None else start, known.n_components, "EM: start")
    if len(weights) < n_groups:
        raise SettingError(f"EM: start has {len(weights)} groups, expected {n_groups}")
    pair_weights = weigh_pairs(known, settings.weighing)
    totals = np.zeros(len(weights))
    np.add.at(totals, known.groups, pair_weights)
    likelihoods: list[float] = []
    while True:
        sums = mix_components(known, weights)
        words = sum_segments(known.counts * np.log(sums), known.pair_offsets) / known.lengths
        likelihoods.append(float(pair_weights @ words))
        rise = likelihoods[-1] - likelihoods[-2] if len(likelihoods) > 1 else np.inf
        if len(likelihoods) > settings.iterations or rise < settings.tolerance:
            return EMFit(raise_to_minimum(weights, settings.least), tuple(likelihoods))
        shares = responsibilities(known, weights, sums, pair_weights)
        learns = totals > 0
        weights = weights.copy()
        weights[learns] = shares[learns] / shares[learns].sum(axis=1, keepdims=True)


def weigh_pairs(evidence: Evidence, weighing: str) -> Floats:
    """The weight of each pair, 0 for irrelevant ones; the sum is 1."""
    relevant = evidence.relevant.astype(float)
    if weighing == "query":
        n_relevant = sum_segments(relevant, evidence.query_offsets)
        relevant /= np.maximum(n_relevant, 1)[evidence.query_of_pair]
    elif weighing == "word":
        relevant *= evidence.lengths
    total = relevant.sum()
    return np.asarray(relevant / total if total else relevant)
