"""How does a mixture learn its weights from training queries?

By maximum likelihood (`em`) or by minimum classification error (`mce`), for all documents alike or, on top of that, for
each document that is relevant to a training query on its own.

Where MCE begins matters, since it only goes downhill, and the most likely weights need not rank well: a component that
says of every document alike what comes next, the bigrams of the collection, explains queries best and ranks worst. So
MCE begins with the weights of EM, or with those of EM for the unigrams and more or less of a little for each other
component, whichever ranks the training queries best.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from searchlab.errors import SettingError
from searchlab.mixtures.em import EM, train_em
from searchlab.mixtures.likelihood import log_likelihoods
from searchlab.mixtures.mce import MCE, Training, average_precision, train_mce
from searchlab.mixtures.setting_checks import require_number
from searchlab.mixtures.training_queries import TrainingQueries
from searchlab.scorers.execution.mixture_components import COMPONENTS, UNIGRAMS, TopicProbabilities
from searchlab.scorers.trained_mixture import DocumentWeights, TrainedMixture
from searchlab.types import Floats, Progress

METHODS = ("em", "mce")

# As on the slides the rival is the hardest irrelevant document. But most relevant documents stand behind that one,
# whatever the weights: with a gentle slope and no offset, least is lost where all documents are alike, with no weight
# on any model of theirs. A steep loss with a margin (β < 0) asks for order instead, and AP tells where to stop.
SHARED = MCE(alpha=20, beta=-2, step=1, schedule="bold", watch="AP", iterations=200, patience=50)
# Where documents have their own weights, rivals stay where they are, and all documents cannot become alike.
PER_DOCUMENT = MCE(alpha=5, beta=0, step=1, schedule="decay", watch="AP", iterations=100, patience=20)
# Beside the unigrams, each other component begins with one of these weights.
RESERVES = (0.02, 0.002, 0.0002)


@dataclass(frozen=True, eq=False)
class Learnt:
    """The weights of a mixture: the shared ones, and a row for each document that has its own.

    `history` is what training watched: the mean ln P of a word (EM), the loss or AP (MCE).
    """

    method: str
    components: tuple[str, ...]
    shared: Floats
    docnos: tuple[str, ...] = ()
    own: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    history: tuple[float, ...] = ()

    def scorer(self, topic_model: TopicProbabilities | None = None) -> TrainedMixture:
        """The scorer with these weights."""
        places = [COMPONENTS.index(name) for name in self.components]
        own = None
        if self.docnos:
            rows = np.zeros((len(self.docnos), len(COMPONENTS)))
            rows[:, places] = self.own
            own = DocumentWeights(self.docnos, rows)
        weights = dict.fromkeys(COMPONENTS, 0.0) | dict(zip(self.components, self.shared.tolist(), strict=True))
        return TrainedMixture(**weights, topic_model=topic_model, document_weights=own)


def learn_em(queries: TrainingQueries, settings: EM | None = None) -> Learnt:
    """The weights that make the queries most likely in their relevant documents."""
    fit = train_em(queries.evidence, settings=settings)
    return Learnt("em", queries.components, fit.weights[0], history=fit.likelihoods)


def learn_mce(
    queries: TrainingQueries,
    settings: MCE | None = None,
    *,
    per_document: bool = False,
    held_out: float | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Learnt:
    """The weights that put relevant documents before irrelevant ones.

    A share `held_out` of the queries is watched, and not trained with: none of them where all documents share their
    weights, which are few, and a fifth of them where documents learn their own. Documents that have their own begin
    with the shared ones; the `settings` are then those of their training.
    """
    if held_out is None:
        held_out = 0.2 if per_document else 0.0
    require_number("held_out", held_out, 0, 0.9)
    taught, watched = _split(queries, held_out, seed)
    by_all = SHARED if settings is None or per_document else settings
    shared = _train_shared(taught, watched, by_all, progress)
    if not per_document:
        return Learnt("mce", queries.components, shared.weights[0], history=shared.watched)
    docs = taught.relevant_docs
    if not len(docs):
        raise SettingError("MCE: no relevant document in the training queries, expected at least one")
    trained = train_mce(
        taught.grouped(docs),
        np.repeat(shared.weights, len(docs) + 1, axis=0),
        settings or PER_DOCUMENT,
        held_out=None if watched is None else watched.grouped(docs),
        rivals_learn=False,
        progress=progress,
    )
    docnos = tuple(queries.docnos[doc] for doc in docs.tolist())
    return Learnt("mce", queries.components, trained.weights[0], docnos, trained.weights[1:], trained.watched)


def _split(queries: TrainingQueries, held_out: float, seed: int) -> tuple[TrainingQueries, TrainingQueries | None]:
    """Queries to train with, and queries to watch; None if too few are left for that."""
    n_queries = queries.evidence.n_queries
    order = np.random.default_rng(seed).permutation(n_queries)
    n_held = int(held_out * n_queries)
    if not n_held:
        return queries, None
    return queries.take(sorted(order[n_held:].tolist())), queries.take(sorted(order[:n_held].tolist()))


def _train_shared(
    queries: TrainingQueries, watched: TrainingQueries | None, settings: MCE, progress: Progress | None
) -> Training:
    start = max(_starts(queries), key=lambda weights: _precision(queries, weights))
    held_out = None if watched is None else watched.evidence
    return train_mce(queries.evidence, start, settings, held_out=held_out, progress=progress)


def _starts(queries: TrainingQueries) -> list[Floats]:
    """Weights that MCE can begin with."""
    by_em = train_em(queries.evidence).weights
    others = [place for place, name in enumerate(queries.components) if name not in UNIGRAMS]
    if not others:
        return [by_em]
    unigrams = train_em(queries.only(UNIGRAMS).evidence).weights[0]
    starts = [by_em]
    for reserve in RESERVES:
        start = np.full((1, len(queries.components)), reserve)
        for name, weight in zip(UNIGRAMS, unigrams, strict=True):
            start[0, queries.components.index(name)] = weight * (1 - reserve * len(others))
        starts.append(start)
    return starts


def _precision(queries: TrainingQueries, weights: Floats) -> float:
    return average_precision(queries.evidence, log_likelihoods(queries.evidence, weights) / queries.evidence.lengths)
