"""The built-in model: a linear model of features that searchlab computes, with its provenance, for any index."""

import numpy as np
import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import SettingError, StoreError, TransferWarning, WriteFailed
from searchlab.features.feature_sets import look_up_feature
from searchlab.features.latent_semantics.semantic_space import SemanticSpace
from searchlab.rankers import reranking
from searchlab.rankers.builtin import as_bundle, load_builtin
from searchlab.rankers.bundle import hash_topic
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.reranking import Reranker
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine

DOCUMENTS = [Document(f"d{n:02d}", f"w{n % 7} title", f"w{n % 5} w{n % 3} common words " * 3) for n in range(40)]


def test_it_is_a_linear_model_of_known_features():
    builtin = load_builtin()
    assert isinstance(builtin.model, LinearModel)
    assert np.isfinite(builtin.model.weights).all()
    assert all(look_up_feature(name) is not None for name in builtin.features)
    assert builtin.label == "built-in"
    assert builtin.transferable


def test_it_records_what_it_was_trained_on_without_the_texts():
    training = load_builtin().training
    assert "topics" not in training
    collections = training["collections"]
    assert sum(each["n_topics"] for each in collections.values()) == len(training["topic_hashes"]) > 500
    for each in collections.values():
        assert set(each["left_out"]["nDCG@10"]) == {"built-in", "BM25", "RM3"}


def test_it_is_better_than_both_searches_on_collections_left_out():
    figures = [each["left_out"]["nDCG@10"] for each in load_builtin().training["collections"].values()]
    means = {system: np.mean([each[system] for each in figures]) for system in figures[0]}
    assert means["built-in"] > means["RM3"] + 0.005 > means["BM25"]


def test_it_is_known_by_its_name():
    assert as_bundle("builtin") is load_builtin()
    with pytest.raises(SettingError, match="the model is int, expected a Bundle, the path of one, or 'builtin'"):
        as_bundle(3)


def test_topics_are_known_by_their_hashes():
    bundle = load_builtin()
    assert bundle.known_topics([Topic("1", "never heard of")], "", lambda: ()) == []
    assert hash_topic("A  topic\n") == hash_topic("a topic")
    assert hash_topic("a topic") != hash_topic("another topic")


def test_what_it_needs_is_made_when_an_index_is_opened_with_it(build):
    folder = build(DOCUMENTS, settings=AnalysisSettings())
    told = []
    with searchlab.open(folder, rerank="builtin", progress=lambda *step: told.append(step)) as engine:
        assert {stage for stage, _, _ in told} >= {"weighing", "decomposing"}
        hits = engine.search("w3 common", k=5)
        assert hits.docnos == Reranker(engine, "builtin").pipeline().search("w3 common", k=5).docnos
        plain = engine.search("w3 common", k=5, scorer="bm25")
    with searchlab.open(folder) as engine:
        assert plain.docnos == engine.search("w3 common", k=5).docnos
        assert plain.docnos != hits.docnos or plain.scores.tolist() != hits.scores.tolist()
        assert SemanticSpace.open(engine.snapshot).n_docs == len(DOCUMENTS)


def test_a_pipeline_makes_what_it_needs(build):
    with SearchEngine(build(DOCUMENTS, settings=AnalysisSettings())) as engine:
        pipeline = engine.retriever() >> searchlab.rerank("builtin")
        assert len(pipeline.search("w3 common", k=5)) == 5


def test_an_index_that_cannot_be_written_is_told_what_to_do(build, monkeypatch):
    def refuse(*arguments, **options):
        raise WriteFailed("semantic: cannot be written (Read-only file system)")

    monkeypatch.setattr(reranking, "build_prerequisites", refuse)
    with pytest.raises(StoreError, match=r"Read-only file system.*make it once, .*`searchlab semantic -i "):
        searchlab.open(build(DOCUMENTS), rerank="builtin")


def test_another_stemmer_is_a_warning(build):
    folder = build(DOCUMENTS, settings=AnalysisSettings(stemmer="none"))
    with pytest.warns(TransferWarning, match="built-in was trained on English texts with stemmer porter, .* none"):
        engine = searchlab.open(folder, rerank="builtin")
    with engine:
        assert len(engine.search("w3 common", k=5)) == 5
