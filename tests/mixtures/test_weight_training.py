"""Training of mixture weights: what is trained is what a search scores, and MCE improves on its start."""

import numpy as np
import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import SettingError
from searchlab.mixtures.likelihood import fit_pairs, log_likelihoods, mix_components
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.mixtures.weight_training import LearntWeights, learn_em, learn_mce
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.trained_mixture import COMPONENTS  # type: ignore[attr-defined]
from tests.mixtures.example_collection import DOCS, QRELS, TOPICS


def test_the_evidence_is_what_the_engine_scores(engine):
    queries = gather(engine, TOPICS, QRELS, COMPONENTS[:6])
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


LEVELS = name_components(["ngrams"])


@pytest.fixture(scope="module")
def ngram_engine(build):
    settings = AnalysisSettings("none", "none", frozenset(), ngrams=3)
    with SearchEngine(build(DOCS, settings=settings, words_per_shard=12)) as engine:
        yield engine


def test_the_evidence_of_two_levels_is_what_the_engine_scores(ngram_engine):
    assert LEVELS == ("document", "corpus", "ngram_document", "ngram_corpus")
    queries = gather(ngram_engine, TOPICS, QRELS, LEVELS)
    learnt = LearntWeights("em", LEVELS, np.array([0.2, 0.3, 0.1, 0.4]))
    weights = learnt.shared[None]
    fits = fit_pairs(queries.evidence, weights, mix_components(queries.evidence, weights))
    hits = ngram_engine.search("heat flow", k=None, scorer=learnt.scorer())
    scored = dict(zip(hits.docnos, hits.scores, strict=True))
    pairs = range(queries.evidence.query_offsets[1])
    # A score is the fit times the number of words, two.
    trained = {queries.docnos[queries.docs[pair]]: 2 * fits[pair] for pair in pairs}
    assert {docno: scored[docno] for docno in trained} == pytest.approx(trained)


def test_em_gives_a_level_the_share_of_its_units_and_mce_learns_it(ngram_engine):
    queries = gather(ngram_engine, TOPICS[:1], QRELS, LEVELS)
    # "heat flow" is two words and four trigrams: hea, eat, flo, low.
    assert learn_em(queries).shared[2:].sum() == pytest.approx(4 / 6, abs=1e-5)
    queries = gather(ngram_engine, TOPICS, QRELS, LEVELS)
    learnt = learn_mce(queries)
    assert learnt.shared.sum() == pytest.approx(1)
    assert max(learnt.history) >= learnt.history[0]
    with pytest.raises(SettingError, match="expected components without ngrams"):
        learn_mce(queries, per_document=True)


def test_ngrams_of_an_index_without_them_are_refused(engine):
    with pytest.raises(SettingError, match="indexed without n-grams"):
        gather(engine, TOPICS, QRELS, LEVELS)
