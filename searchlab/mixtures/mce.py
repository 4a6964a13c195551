"""Minimum classification error (MCE) training of mixture weights: relevant documents before irrelevant ones.

(Chen, Learning to Rank using Language Models and SVMs, slides 2–7; Chen et al., ACM TALIP 2004.) For a training query Q
and a relevant document D*, with D' among the irrelevant ones:

    E = (1/|Q|)·(−ln P(Q|D*) + max over D' of ln P(Q|D'))       above 0 if an irrelevant document ranks before D*
    L = 1 / (1 + exp(−α·E + β))
    m_k = exp(m̃_k) / Σ_j exp(m̃_j),   m̃_k ← m̃_k − ε(i)·∂L/∂m̃_k

In terms of m alone (slide 7), which keeps m_k ≥ 0 and Σ m_k = 1, a step is:

    m_k ← m_k·exp(−∇_k) / Σ_j m_j·exp(−∇_j),   ∇_k = ε(i)·∂L/∂m̃_k
    ∂L/∂m̃_k = α·L·(1 − L)·∂E/∂m̃_k
    ∂E/∂m̃_k = −(−m_k + (1/|Q|)·Σ_n m_k·P_k(q_n|D*) / Σ_j m_j·P_j(q_n|D*))

Weights belong to groups of documents (`Evidence.groups`). With weights per document, as on the slides, only those of D*
change; with shared weights, D' contributes the same gradient with the opposite sign (`rivals_learn`).

Where a query has words and character n-grams (`Evidence.levels`), (1/|Q|)·ln P(Q|D) is the mean of the levels, weighted
by the sums of their components' weights, which are learnt with them.

The slides write the step of one pair, and leave open how those of several are combined: with `updates="batch"`, the
default, one step is made for all pairs, by the mean of their gradients in each group; with "online" one for each pair
in turn. With `rivals="soft"`, "all irrelevant documents" of slide 3, the maximum is
(1/η)·ln((1/n)·Σ exp(η·(1/|Q|)·ln P(Q|D'))).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.mixtures.em import weigh_pairs
from searchlab.mixtures.likelihood import (
    Evidence,
    check_weights,
    fit_gradient,
    fit_pairs,
    mix_components,
    raise_to_minimum,
    sum_segments,
)
from searchlab.mixtures.setting_checks import require_number, require_one_of, setting
from searchlab.types import Floats, Ints, Progress

RIVALS = ("hardest", "soft")
WEIGHINGS = ("query", "pair")
UPDATES = ("batch", "online")
SCHEDULES = ("decay", "bold")
WATCHES = ("loss", "AP", "none")
# With the schedule "bold", a step grows by this factor while the loss falls, and is halved otherwise.
STEP_GROWTH = 1.3
# Training stops at steps smaller than this share of the first.
MIN_STEP_SHARE = 1e-6


@dataclass(frozen=True)
class MCE:
    """Settings of MCE; `describe_settings` lists them with their meanings.

    With the schedule `decay`, ε(i) = step/(1 + decay·i); with decay=0 it is constant. With `bold`, steps grow while
    the loss falls; a step that would raise it is not made, but halved.

    What is watched is that of the held-out queries, or of the training queries if none are held out. The slides watch
    nothing and make 100 iterations: `watch="none"`.
    """

    alpha: float = setting(5.0, "slope α of the loss 1/(1 + exp(-αE + β))")
    beta: float = setting(0.0, "offset β of the loss; below 0, a relevant document must win by a margin")
    step: float = setting(2.0, "first step size ε(0)")
    updates: str = setting(
        "batch", "batch: one step for all pairs, by their mean gradient; online: one for each in turn"
    )
    schedule: str = setting("decay", "decay: ε(i) = step/(1 + decay·i); bold: longer while the loss falls, else halved")
    decay: float = setting(0.02, "decrease of the step size (schedule decay)")
    iterations: int = setting(100, "largest number of steps")
    rivals: str = setting("hardest", "D': hardest, the best irrelevant document; soft, a soft maximum of all")
    sharpness: float = setting(10.0, "η of the soft maximum; towards 0 it is the mean (rivals soft)")
    weighing: str = setting("query", "what counts equally: each query, or each pair of query and relevant document")
    watch: str = setting("loss", "what decides the iteration that is kept: loss, AP, or none for the last one")
    patience: int = setting(20, "iterations without a better one before training ends; 0 makes all")
    least: float = setting(1e-6, "no weight falls below this, so that the collection always smooths")

    def __post_init__(self) -> None:
        require_number("MCE: alpha", self.alpha, 1e-6, 1e6)
        require_number("MCE: beta", self.beta, -1e6, 1e6)
        require_number("MCE: step", self.step, 1e-9, 1e6)
        require_number("MCE: decay", self.decay, 0, 1e6)
        require_number("MCE: iterations", self.iterations, 0, 1_000_000, whole=True)
        require_number("MCE: sharpness", self.sharpness, 1e-6, 1e6)
        require_number("MCE: patience", self.patience, 0, 1_000_000, whole=True)
        require_number("MCE: least", self.least, 0, 1e-2)
        require_one_of("rivals", self.rivals, RIVALS)
        require_one_of("weighing", self.weighing, WEIGHINGS)
        require_one_of("updates", self.updates, UPDATES)
        require_one_of("schedule", self.schedule, SCHEDULES)
        require_one_of("watch", self.watch, WATCHES)


@dataclass(frozen=True, eq=False)
class Loss:
    """The mean loss of the pairs, its gradient in m̃ (a row for each group), and E of each relevant pair.

    `fits` are (1/|Q|)·ln P(Q|D) of all pairs.
    """

    value: float
    gradient: Floats
    errors: Floats
    fits: Floats


@dataclass(frozen=True, eq=False)
class MCEFit:
    """The weights of the best iteration, a row for each group, and the losses of all iterations from the start.

    `watched` has the watched values, the loss or AP.
    """

    weights: Floats
    losses: tuple[float, ...]
    held_out: tuple[float, ...]
    best: int
    watched: tuple[float, ...]

    @property
    def n_iterations(self) -> int:
        """The number of steps."""
        return len(self.losses) - 1


def train_mce(
    evidence: Evidence,
    start: npt.ArrayLike,
    settings: MCE | None = None,
    *,
    held_out: Evidence | None = None,
    rivals_learn: bool = True,
    progress: Progress | None = None,
) -> MCEFit:
    """The weights of the lowest loss, from `start`, a row for each group.

    Queries without relevant or without irrelevant documents are left out. A group without a relevant document keeps its
    initial weights.
    """
    settings = settings or MCE()
    known = _contrasts(evidence, "the training queries")
    watched = None if held_out is None or not held_out.is_contrast.any() else _contrasts(held_out, "held-out queries")
    weights = check_weights(start, known.n_components, "MCE: start")
    if len(weights) <= int(np.max(known.groups)):
        raise SettingError(f"MCE: start has {len(weights)} groups, expected {int(np.max(known.groups)) + 1}")
    weights = raise_to_minimum(weights, settings.least)
    totals = np.zeros(len(weights))
    np.add.at(totals, known.groups, weigh_pairs(known, settings.weighing))
    log = _TrainingLog(settings, watched)
    loss = mce_loss(known, weights, settings, rivals_learn=rivals_learn)
    log.record(weights, known, loss)
    bold = settings.schedule == "bold"
    step = settings.step
    for iteration in range(settings.iterations):
        if progress is not None:
            progress("training", iteration, settings.iterations)
        if not bold:
            step = settings.step / (1 + settings.decay * iteration)
        if settings.updates == "online":
            next_weights = update_online(weights, known, settings, step, rivals_learn=rivals_learn)
        else:
            next_weights = update(weights, loss.gradient, totals, step, settings.least)
        next_loss = mce_loss(known, next_weights, settings, rivals_learn=rivals_learn)
        if bold:
            fell = next_loss.value <= loss.value
            step = step * STEP_GROWTH if fell else step / 2
            if not fell and step >= settings.step * MIN_STEP_SHARE:
                continue
            if not fell:
                break
        weights, loss = next_weights, next_loss
        log.record(weights, known, loss)
        if settings.patience and len(log.losses) - 1 - log.best >= settings.patience:
            break
    return MCEFit(log.best_weights, tuple(log.losses), tuple(log.held_out), log.best, tuple(log.watched))


class _TrainingLog:
    """The losses so far, and the best weights by the watched value."""

    def __init__(self, settings: MCE, held_out: Evidence | None) -> None:
        self._settings = settings
        self._held_out = held_out
        self.losses: list[float] = []
        self.held_out: list[float] = []
        self.watched: list[float] = []
        self.best = 0
        self.best_weights: Floats = np.zeros((0, 0))

    def record(self, weights: Floats, evidence: Evidence, loss: Loss) -> None:
        """Record the loss of weights on the training queries, and the watched value."""
        self.losses.append(loss.value)
        if self._held_out is not None:
            evidence, loss = self._held_out, mce_loss(self._held_out, weights, self._settings, rivals_learn=False)
            self.held_out.append(loss.value)
        watch = self._settings.watch
        self.watched.append(average_precision(evidence, loss.fits) if watch == "AP" else loss.value)
        now, best = self.watched[-1], self.watched[self.best]
        improves = {"loss": now < best, "AP": now > best, "none": True}[watch]
        if improves or len(self.watched) == 1:
            self.best, self.best_weights = len(self.watched) - 1, weights


def update(weights: Floats, gradient: Floats, totals: Floats, step: float, least: float = 0.0) -> Floats:
    """The weights after one step of slide 7, by the mean gradient of each group, whose pairs weigh `totals`."""
    learning = totals > 0
    slope = step * gradient[learning] / totals[learning, None]
    # Only differences between components matter: with the smallest slope as 0 the exponents cannot overflow.
    raised = weights[learning] * np.exp(np.min(slope, axis=1, keepdims=True) - slope)
    moved = weights.copy()
    moved[learning] = raise_to_minimum(raised / raised.sum(axis=1, keepdims=True), least)
    return moved


def update_online(weights: Floats, evidence: Evidence, settings: MCE, step: float, *, rivals_learn: bool) -> Floats:
    """The weights after a step of slide 7 for each pair of a query and a relevant document, in their order."""
    for pair in evidence.each_relevant():
        totals = np.zeros(len(weights))
        totals[pair.groups[pair.relevant]] = 1.0
        loss = mce_loss(pair, weights, settings, rivals_learn=rivals_learn)
        weights = update(weights, loss.gradient, totals, step, settings.least)
    return weights


def average_precision(evidence: Evidence, fits: Floats) -> float:
    """The mean over queries of the AP of their pairs, ranked by `fits`; of equal ones the irrelevant come first."""
    order = np.lexsort((evidence.relevant, -fits, evidence.query_of_pair))
    relevant = evidence.relevant[order].astype(float)
    begins = evidence.query_offsets[:-1]
    seen = np.cumsum(relevant)
    seen -= (seen - relevant)[begins][evidence.query_of_pair]
    ranks = np.arange(1, evidence.n_pairs + 1) - begins[evidence.query_of_pair]
    sums = sum_segments(relevant * seen / ranks, evidence.query_offsets)
    return float(np.mean(sums / np.maximum(sum_segments(relevant, evidence.query_offsets), 1)))


def mce_loss(evidence: Evidence, weights: Floats, settings: MCE, *, rivals_learn: bool = True) -> Loss:
    """The loss of queries that all have relevant and irrelevant documents, and its gradient in m̃.

    With `rivals_learn=False` the likelihoods of irrelevant documents are treated as constants.
    """
    totals = mix_components(evidence, weights)
    fits = fit_pairs(evidence, weights, totals)
    rivals, pairs, shares = _rivals(evidence, fits, settings)
    relevant = np.flatnonzero(evidence.relevant)
    queries = evidence.query_of_pair[relevant]
    errors = rivals[queries] - fits[relevant]
    losses = 0.5 * (1 + np.tanh(0.5 * (settings.alpha * errors - settings.beta)))
    pair_weights = weigh_pairs(evidence, settings.weighing)[relevant]
    slopes = pair_weights * settings.alpha * losses * (1 - losses)
    # ∂L/∂ of each pair's (1/|Q|)·ln P(Q|D): relevant documents are pulled up, rivals pushed down.
    pulls = np.zeros(evidence.n_pairs)
    pulls[relevant] = -slopes
    if rivals_learn:
        pulls[pairs] = np.bincount(queries, slopes, evidence.n_queries)[evidence.query_of_pair[pairs]] * shares
    gradient = fit_gradient(evidence, weights, totals, pulls)
    return Loss(float(pair_weights @ losses), gradient, errors, fits)


def _rivals(evidence: Evidence, fits: Floats, settings: MCE) -> tuple[Floats, Ints, Floats]:
    """For each query the maximum over its irrelevant documents; the pairs that contribute to it, and their shares."""
    candidates = np.where(evidence.relevant, -np.inf, fits)
    highest = np.maximum.reduceat(candidates, evidence.query_offsets[:-1])
    if settings.rivals == "hardest":
        hardest = np.flatnonzero(candidates == highest[evidence.query_of_pair])
        # Of equally hard documents the first.
        _, firsts = np.unique(evidence.query_of_pair[hardest], return_index=True)
        return highest, hardest[firsts], np.ones(len(firsts))
    raised = np.exp(settings.sharpness * (candidates - highest[evidence.query_of_pair]))
    sums = sum_segments(raised, evidence.query_offsets)
    n_irrelevant = sum_segments((~evidence.relevant).astype(float), evidence.query_offsets)
    pairs = np.flatnonzero(~evidence.relevant)
    soft = highest + np.log(sums / n_irrelevant) / settings.sharpness
    return soft, pairs, (raised / sums[evidence.query_of_pair])[pairs]


def _contrasts(evidence: Evidence, name: str) -> Evidence:
    """The queries that have both relevant and irrelevant documents."""
    contrast = evidence.is_contrast
    if contrast.all() and evidence.n_queries:
        return evidence
    if not contrast.any():
        raise SettingError(f"MCE: none of {name} has both relevant and irrelevant documents, expected at least one")
    return evidence.take(np.flatnonzero(contrast))
