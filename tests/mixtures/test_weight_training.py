"""Training of mixture weights: what is trained is what a search scores, and MCE improves on its start."""

import numpy as np
import pytest

from searchlab.mixtures.likelihood import log_likelihoods
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.mixtures.weight_training import LearntWeights, learn_mce
from searchlab.scorers.trained_mixture import COMPONENTS  # type: ignore[attr-defined]
from tests.mixtures.example_collection import QRELS, TOPICS


def test_the_evidence_is_what_the_engine_scores(engine):
    queries = gather(engine, TOPICS, QRELS, COMPONENTS[:-1])
    learnt = LearntWeights("em", queries.components, np.array([0.2, 0.3, 0.1, 0.1, 0.2, 0.1]))
    likelihoods = log_likelihoods(queries.evidence, learnt.shared[None])
    hits = engine.search("heat flow", k=None, scorer=learnt.scorer())
    trained = {queries.docnos[doc]: likelihoods[pair] for pair, doc in enumerate(queries.docs[:5])}
    assert dict(zip(hits.docnos, hits.scores, strict=True)) == pytest.approx(trained)


def test_mce_ranks_training_queries_better_than_its_start(engine):
    queries = gather(engine, TOPICS, QRELS, name_components(["title", "body"]))
    learnt = learn_mce(queries)
    assert learnt.shared.sum() == pytest.approx(1)
    assert max(learnt.history) >= learnt.history[0]
    individual = learn_mce(queries, per_document=True, held_out=0)
    assert sorted(individual.docnos) == ["a", "b", "d"]
    assert individual.document_weights.shape == (3, 4)
    # Documents that are not trained keep the shared weights.
    assert individual.shared.tolist() == pytest.approx(learnt.shared.tolist())
    assert individual.scorer().document_weights.of("c") is None
