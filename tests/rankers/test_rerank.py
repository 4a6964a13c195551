"""Re-ranking as a step: a model scores the candidates of any pipeline as it would score them alone."""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.errors import SearchlabError, SettingError, TrainingTopicsWarning
from searchlab.experiments.system_experiment import experiment
from searchlab.features.candidates import searched
from searchlab.features.extraction import extract
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.features.user_defined.external_features import external_feature
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.rerank import rerank
from searchlab.rankers.reranking import Reranker
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from tests.rankers.test_reranking import FEATURES, by_hand, make_bundle
from tests.retrieval.reference import random_documents


@pytest.fixture(scope="module")
def engine(build):
    documents = random_documents(seed=9, n_docs=60, words=["heat", "flow", "wings", "cell", "lift"], longest=9)
    with SearchEngine(build([Document(own.docno, own.title, own.body) for own in documents])) as opened:
        yield opened


def test_candidates_of_any_pipeline_are_scored_as_by_hand(engine):
    bundle, text = make_bundle(), "heat flow"
    bm25 = engine.retriever()
    for first in (bm25, bm25 >> RM3(), 0.5 * bm25 + engine.retriever("tfidf"), bm25 | engine.retriever("jm")):
        candidates = searched(first, [Topic("q", text)], k=9)
        docnos, scores = by_hand(engine, bundle, text, candidates)
        pipeline = first >> rerank(bundle, candidates=9)
        hits = pipeline.search(text, k=None)
        assert hits.docnos == docnos
        assert hits.scores.tolist() == pytest.approx(scores)
        for hit, each in zip(hits, pipeline.explain(hits, hits.docnos), strict=True):
            assert sum(part.amount for part in each.parts) == pytest.approx(hit.score)


def test_features_are_extracted_once_for_hits_and_explanations(engine, work):
    pipeline = engine.retriever() >> rerank(make_bundle())
    hits = pipeline.search("heat flow", k=3)
    pipeline.explain(hits, hits.docnos)
    pipeline.search(hits, k=20)
    assert work["extractions"] == 1


def test_a_model_brings_its_number_of_candidates(engine, tmp_path):
    bundle = make_bundle(first_stage=FirstStage(7, expanded=False))
    bundle.save(tmp_path / "model.json")
    for model in (bundle, tmp_path / "model.json", str(tmp_path / "model.json")):
        pipeline = engine.retriever() >> rerank(model)
        hits = pipeline.search("heat flow", k=None)
        assert len(hits) == hits.n_matches == 7
        assert hits.docnos == Reranker(engine, bundle).pipeline().search("heat flow", k=7).docnos
        assert pipeline.label == "BM25 >> rerank(own)"
    assert len((engine.retriever() >> rerank(bundle, candidates=3)).search("heat flow", k=None)) == 3


def test_a_model_that_does_not_fit_is_refused(engine):
    bundle = make_bundle()
    unknown = Bundle("own", {}, bundle.model, (*FEATURES[:-1], "unheard"), bundle.preprocessor)
    with pytest.raises(SettingError, match="the model needs feature unheard"):
        engine.retriever() >> rerank(unknown)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: rerank("nowhere.json"),
        lambda: rerank(3),
        lambda: rerank(None),
        lambda: rerank(FirstStage),
        lambda: rerank(lambda hits: hits),  # type: ignore[arg-type,misc]
        lambda: rerank(len, candidates=0),
        lambda: rerank(len, candidates="all"),
    ],
)
def test_mistakes_are_our_errors(mistake):
    with pytest.raises(SearchlabError) as caught:
        mistake()
    assert "\n" not in str(caught.value)


def test_features_are_those_of_the_query_as_written(engine):
    # Operators and filters restrict candidates; features see words only.
    bundle = make_bundle()
    hits = (engine.retriever() >> rerank(bundle)).search("heat AND flow", k=None, syntax="full")
    candidates = searched(engine.retriever(), [Topic("q", "heat flow")], k=60)
    table = extract(engine, [Topic("q", "heat flow")], candidates, FEATURES)
    assert set(hits.docnos) == set(engine.search("heat AND flow", k=None, syntax="full").docnos)
    assert set(hits.docnos) < set(table.docnos.tolist())
    assert np.isfinite(hits.scores).all()


def _divide(query, hits):
    return 1 / 0


@pytest.mark.parametrize("function", [_divide, lambda query, hits: (1 / 0 for _ in hits)])
def test_a_function_that_fails_is_named_with_its_line(engine, function):
    message = (
        r"^rerank\(.*\) failed for query 'heat flow': ZeroDivisionError: division by zero \(test_rerank.py, line \d+"
    )
    with pytest.raises(SettingError, match=message):
        (engine.retriever() >> rerank(function)).search("heat flow")


def test_a_run_of_training_topics_warns_once_and_names_how_many(engine):
    bundle = replace(make_bundle(), training={"topics": {"1": "heat flow", "2": "wings"}})
    topics = {"7": "Heat  flow", "8": "cell", "9": "wings"}
    bm25 = engine.retriever()
    reranked = bm25 >> rerank(bundle)
    for pipeline in (reranked, reranked % 3, bm25 + reranked, bm25 | reranked, Reranker(engine, bundle).pipeline()):
        with pytest.warns(TrainingTopicsWarning, match="trained on 2 of these 3 topics") as caught:
            pipeline.run(topics)
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with pytest.warns(TrainingTopicsWarning, match="trained on 1 of these 1 topics"):
        experiment([bm25, reranked], {"7": "heat flow"}, {"7": {bm25.search("heat flow").docnos[0]: 1}})


def test_other_topics_and_pipelines_without_a_trained_model_do_not_warn(engine):
    bundle = replace(make_bundle(), training={"topics": {"1": "heat flow"}})
    bm25 = engine.retriever()
    # A warning would be an error here.
    (bm25 >> rerank(bundle)).run({"1": "wings"})
    (bm25 >> rerank(lambda query, hits: hits.scores)).run({"1": "heat flow"})
    bm25.run({"1": "heat flow"})


TOPICS = [Topic("1", "heat flow"), Topic("2", "wings"), Topic("3", "heat flow")]


def with_external():
    """A model that only has a score computed elsewhere."""
    preprocessor, stage = Preprocessor.named("query-minimum", "none", False), FirstStage(8, expanded=False)
    return Bundle("own", {}, LinearModel(np.ones(1)), ("external.n",), preprocessor, first_stage=stage)


def test_scores_computed_elsewhere_are_those_of_the_topics_that_are_run(engine):
    bm25 = engine.retriever()
    first = bm25.run(TOPICS, k=8)
    # By topic: the order of BM25, and its reverse for topic 3; topics 1 and 3 have the same text.
    scores = {each.qid: {d: n if each.qid == "3" else -n for n, d in enumerate(each.docnos)} for each in first}
    neural = external_feature("n", scores)
    steps = rerank(with_external(), external=[neural])
    for pipeline in (bm25 >> steps, (bm25 >> steps) % 8, 1 * (bm25 >> steps)):
        run = pipeline.run(TOPICS)
        assert run["1"].docnos == first["1"].docnos
        assert run["2"].docnos == first["2"].docnos
        assert run["3"].docnos == first["3"].docnos[::-1]
    assert Reranker(engine, with_external(), [neural]).pipeline().run(TOPICS, k=8)["2"].docnos == first["2"].docnos


def test_scores_computed_elsewhere_are_for_topics_only(engine):
    neural = external_feature("n", {"1": {"d1": 1.0}})
    pipeline = engine.retriever() >> rerank(with_external(), external=[neural])
    with pytest.raises(SettingError, match=r"external\.n has no scores for topic 2, expected some for each topic"):
        pipeline.run([Topic("2", "wings")])
    with pytest.raises(SettingError, match=r"external.n has scores of 1 topics, .*run\(topics\) of a pipeline"):
        pipeline.search("wings")
    with pytest.raises(SettingError, match=r"in Python rerank\(model, external=\[external_feature\('n', …\)\]\)"):
        _ = engine.retriever() >> rerank(with_external())
    with pytest.raises(SettingError, match="found external features, which only a trained model takes"):
        rerank(lambda query, hits: hits.scores, external=[neural])
    for wrong in (neural, {"1": {"d1": 1.0}}, "n", 5):
        with pytest.raises(SettingError, match=r"^external is \w+, expected a list such as \[external_feature"):
            rerank(with_external(), external=wrong)
