"""Training of mixture weights from queries, by maximum likelihood (`em`) or minimum classification error (`mce`).

Weights are shared by all documents. MCE can also give individual weights to each document that is relevant to a
training query.

The start of MCE matters, because it is a descent, and the most likely weights need not rank well: the bigrams of the
collection explain queries best, but are the same for every document, so they rank worst. So MCE starts with the weights
of EM, or with those of EM for the unigrams and a small weight of each other component, whichever ranks the training
queries best.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from searchlab.errors import SettingError
from searchlab.mixtures.em import EM, train_em
from searchlab.mixtures.likelihood import fit_pairs, mix_components
from searchlab.mixtures.mce import MCE, MCEFit, average_precision, train_mce
from searchlab.mixtures.setting_checks import require_number
from searchlab.mixtures.training_queries import TrainingQueries
from searchlab.scorers.execution.mixture_components import COMPONENTS, UNIGRAMS, TopicProbabilities
from searchlab.scorers.trained_mixture import DocumentWeights, TrainedMixture
from searchlab.types import Floats, Progress

METHODS = ("em", "mce")

# As on the slides, the rival is the hardest irrelevant document. But most relevant documents rank behind it whatever
# the weights: with a gentle slope and no offset, the loss is lowest where all documents score alike, with no weight on
# any document model. A steep loss with a margin (β < 0) rewards order instead, and AP decides when to stop.
SHARED_MCE = MCE(alpha=20, beta=-2, step=1, schedule="bold", watch="AP", iterations=200, patience=50)
# With individual weights the rivals do not change, so documents cannot become alike.
PER_DOCUMENT_MCE = MCE(alpha=5, beta=0, step=1, schedule="decay", watch="AP", iterations=100, patience=20)
# Initial weights to try for each component other than the unigrams.
START_WEIGHTS = (0.02, 0.002, 0.0002)


@dataclass(frozen=True, eq=False)
class LearntWeights:
    """The weights of a mixture: the shared ones, and a row of `document_weights` for each of `docnos`.

    `history` has the values that training watched: the mean ln P of a word (EM), the loss or AP (MCE).
    """

    method: str
    components: tuple[str, ...]
    shared: Floats
    docnos: tuple[str, ...] = ()
    document_weights: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    history: tuple[float, ...] = ()

    def scorer(self, topic_model: TopicProbabilities | None = None) -> TrainedMixture:
        """The scorer with these weights."""
        columns = [COMPONENTS.index(name) for name in self.components]
        document_weights = None
        if self.docnos:
            rows = np.zeros((len(self.docnos), len(COMPONENTS)))
            rows[:, columns] = self.document_weights
            document_weights = DocumentWeights(self.docnos, rows)
        weights = dict.fromkeys(COMPONENTS, 0.0) | dict(zip(self.components, self.shared.tolist(), strict=True))
        return TrainedMixture(**weights, topic_model=topic_model, document_weights=document_weights)


def learn_em(queries: TrainingQueries, settings: EM | None = None) -> LearntWeights:
    """The weights that make the queries most likely in their relevant documents."""
    fit = train_em(queries.evidence, settings=settings)
    return LearntWeights("em", queries.components, fit.weights[0], history=fit.likelihoods)


def learn_mce(
    queries: TrainingQueries,
    settings: MCE | None = None,
    *,
    per_document: bool = False,
    held_out: float | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> LearntWeights:
    """The weights that put relevant documents before irrelevant ones.

    A share `held_out` of the queries is watched and not trained with: by default none for shared weights, which are
    few, and a fifth with `per_document`. Individual weights start from the shared ones; `settings` are then those of
    the individual weights.
    """
    if per_document and queries.evidence.levels is not None:
        raise SettingError("weights of single documents are those of words: expected components without ngrams")
    if held_out is None:
        held_out = 0.2 if per_document else 0.0
    require_number("held_out", held_out, 0, 0.9)
    training, watched = _split(queries, held_out, seed)
    shared_settings = SHARED_MCE if settings is None or per_document else settings
    shared = _train_shared(training, watched, shared_settings, progress)
    if not per_document:
        return LearntWeights("mce", queries.components, shared.weights[0], history=shared.watched)
    docs = training.relevant_docs
    if not len(docs):
        raise SettingError("MCE: no relevant document in the training queries, expected at least one")
    trained = train_mce(
        training.grouped(docs),
        np.repeat(shared.weights, len(docs) + 1, axis=0),
        settings or PER_DOCUMENT_MCE,
        held_out=None if watched is None else watched.grouped(docs),
        rivals_learn=False,
        progress=progress,
    )
    docnos = tuple(queries.docnos[doc] for doc in docs.tolist())
    return LearntWeights("mce", queries.components, trained.weights[0], docnos, trained.weights[1:], trained.watched)


def _split(queries: TrainingQueries, held_out: float, seed: int) -> tuple[TrainingQueries, TrainingQueries | None]:
    """Queries to train with, and queries to watch; None if their share makes less than one query."""
    n_queries = queries.evidence.n_queries
    order = np.random.default_rng(seed).permutation(n_queries)
    n_held = int(held_out * n_queries)
    if not n_held:
        return queries, None
    return queries.take(sorted(order[n_held:].tolist())), queries.take(sorted(order[:n_held].tolist()))


def _train_shared(
    queries: TrainingQueries, watched: TrainingQueries | None, settings: MCE, progress: Progress | None
) -> MCEFit:
    start = max(_starts(queries), key=lambda weights: _precision(queries, weights))
    held_out = None if watched is None else watched.evidence
    return train_mce(queries.evidence, start, settings, held_out=held_out, progress=progress)


def _starts(queries: TrainingQueries) -> list[Floats]:
    """Weights that MCE can start with."""
    by_em = train_em(queries.evidence).weights
    others = [name for name in queries.components if name not in UNIGRAMS]
    if not others:
        return [by_em]
    unigrams = train_em(queries.only(UNIGRAMS).evidence).weights[0]
    starts = [by_em]
    for other_weight in START_WEIGHTS:
        start = np.full((1, len(queries.components)), other_weight)
        for name, weight in zip(UNIGRAMS, unigrams, strict=True):
            start[0, queries.components.index(name)] = weight * (1 - other_weight * len(others))
        starts.append(start)
    return starts


def _precision(queries: TrainingQueries, weights: Floats) -> float:
    evidence = queries.evidence
    return average_precision(evidence, fit_pairs(evidence, weights, mix_components(evidence, weights)))
