"""Systems: scorers and models have the same methods, and the parts of their explanations add up."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import SettingError
from searchlab.features.feature_sets import make_feature_set
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.reranking import Reranker
from searchlab.rankers.systems import make_system
from searchlab.records import Document
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet

DOCUMENTS = [
    Document("d1", "Lymphoma", "lymphoma of t cells in mice", {"year": 1988}),
    Document("d2", "Cells", "cells divide and cells die", {"year": 1990}),
    Document("d3", "Mice", "mice with lymphoma and a diet of lymphoma cells", {"year": 1990}),
    Document("d4", "Wings", "heat flow over wings", {"year": 1990}),
]


@pytest.fixture(scope="module")
def engine(build):
    return searchlab.open(build(DOCUMENTS, settings=AnalysisSettings()))


@pytest.fixture(scope="module")
def models(engine):
    features = make_feature_set("table1").names
    first = FirstStage(k=2, expanded=False)
    bundle = Bundle(
        "rsvm", {}, LinearModel(np.arange(1.0, 1 + len(features))), features, Preprocessor.named(), first_stage=first
    )
    wider = replace(bundle, first_stage=FirstStage(k=2))
    return {"mine": lambda: Reranker(engine, bundle), "rm3": lambda: Reranker(engine, wider)}


def test_a_name_alone_is_a_scorer_with_its_defaults(engine):
    system = make_system(engine, "bm25")
    assert (system.name, system.label, system.kind) == ("bm25", "BM25", "scorer")
    assert system.search("lymphoma cells").docnos == engine.search("lymphoma cells").docnos
    assert system.search("lymphoma cells").scores.tolist() == engine.search("lymphoma cells").scores.tolist()


def test_settings_stand_behind_the_name(engine):
    system = make_system(engine, "dirichlet:mu=7")
    assert system.label == "Dirichlet (mu=7)"
    expected = engine.search("lymphoma", scorer=Dirichlet(mu=7))
    assert system.search("lymphoma").scores.tolist() == expected.scores.tolist()
    assert make_system(engine, "bm25:k1=0.9,b=0.4+rm3").label == "BM25 (k1=0.9, b=0.4) + RM3"


def test_an_expanded_query_is_searched_and_its_own_words_are_told(engine):
    system = make_system(engine, "bm25+rm3")
    expected = engine.search(Pipeline(engine, expansion=RM3()).start("lymphoma").expanded_query, k=10)
    hits = system.search("lymphoma")
    assert hits.docnos == expected.docnos
    assert hits.scores.tolist() == expected.scores.tolist()
    assert [term.text for term in hits.query.terms] == ["lymphoma"]
    assert len(expected.query.terms) > 1


def test_filters_and_operators_reach_all_systems(engine, models):
    for name in ("bm25", "bm25+rm3", "model:mine"):
        system = make_system(engine, name, models)
        assert set(system.search("lymphoma", filters=["year=1990"]).docnos) <= {"d2", "d3", "d4"}
        assert system.search('"lymphoma cells"').docnos == ["d3"]
        assert set(system.search('"lymphoma cells"', syntax="plain").docnos) > {"d3"}


@pytest.mark.parametrize("name", ["bm25", "bm25+rm3", "dirichlet", "bm25f"])
@pytest.mark.parametrize("query", ["lymphoma", "lymphoma AND diet", "lymphoma NOT diet", '"cells divide"'])
@pytest.mark.parametrize("filters", [(), ("year=1990",)])
def test_explanations_say_whether_a_document_is_found_at_all(engine, name, query, filters):
    system = make_system(engine, name)
    found = set(system.search(query, k=None, filters=filters).docnos)
    explanations = system.explain(query, ["d1", "d2", "d3", "d4"], filters=filters)
    assert {explanation.docno for explanation in explanations if explanation.found} == found


def test_documents_that_differ_in_case_alone_are_told_apart(build):
    own = searchlab.open(build([Document("A", "", "mice"), Document("a", "", "rats")], settings=AnalysisSettings()))
    assert [explanation.found for explanation in make_system(own, "bm25").explain("mice", ["A", "a"])] == [True, False]


@pytest.mark.parametrize("name", ["bm25", "bm25+rm3", "dirichlet:mu=7", "bm25f", "tfidf", "model:mine"])
def test_parts_add_up_to_the_score_that_was_shown(engine, models, name):
    system = make_system(engine, name, models)
    hits = system.search("lymphoma cells", k=2)
    explanations = system.explain("lymphoma cells", hits.docnos)
    assert [explanation.docno for explanation in explanations] == hits.docnos
    for explanation, score in zip(explanations, hits.scores.tolist(), strict=True):
        assert explanation.score == pytest.approx(score, abs=1e-9)
        assert sum(part.amount for part in explanation.parts) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "searches", "estimations"), [("bm25", 1, 0), ("bm25+rm3", 2, 1), ("model:mine", 1, 0), ("model:rm3", 2, 1)]
)
@pytest.mark.parametrize("filters", [(), ("year=[1988 TO 1990]",)])
def test_explaining_what_was_just_found_repeats_nothing(engine, models, work, name, searches, estimations, filters):
    system = make_system(engine, name, models)
    hits = system.search("lymphoma cells", k=3, filters=filters)
    explanations = system.explain(system.parse("lymphoma cells"), hits.docnos[:2], filters=filters)
    assert all(explanation.found for explanation in explanations)
    assert (work["searches"], work["estimations"]) == (searches, estimations)
    assert work["extractions"] == (system.kind == "model")


@pytest.mark.parametrize("name", ["bm25", "bm25+rm3", "dirichlet", "model:mine", "model:rm3"])
@pytest.mark.parametrize("query", ["lymphoma", "lymphoma AND diet", "heat", "unknown"])
@pytest.mark.parametrize("filters", [(), ("year=1990",)])
@pytest.mark.parametrize("searched_before", [True, False])
def test_what_a_search_finds_is_marked_without_reranking(engine, models, work, name, query, filters, searched_before):
    found = set(make_system(engine, name, models).search(query, k=None, filters=filters).docnos)
    system = make_system(engine, name, models)
    if searched_before:
        system.search(query, k=1, filters=filters)
    before = Counter(work)
    marks = system.mark_hits(query, filters=filters)
    docnos = engine.snapshot.docnos_of(*np.nonzero(np.stack(marks)))
    assert set(docnos) == found
    assert work["extractions"] == before["extractions"]
    if name in ("bm25", "dirichlet", "model:mine"):
        assert work["searches"] == before["searches"]


def test_searches_with_other_filters_or_syntax_are_told_apart(engine):
    system = make_system(engine, "bm25+rm3")
    everything = system.search("lymphoma NOT diet", k=None)
    plain = system.search("lymphoma NOT diet", k=None, syntax="plain")
    filtered = system.search("lymphoma NOT diet", k=None, filters=["year=1988"])
    assert "d3" in plain.docnos
    assert "d3" not in everything.docnos
    assert filtered.docnos == ["d1"]
    assert system.search("lymphoma NOT diet", k=None).docnos == everything.docnos


def test_a_model_is_called_by_its_name_and_opened_when_it_is_asked_for(engine, models):
    system = make_system(engine, "model:mine", models)
    assert (system.name, system.label, system.kind) == ("model:mine", "mine (rsvm)", "model")
    assert sorted(system.search("lymphoma cells").docnos)[:2] == ["d1", "d2"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm52", "did you mean bm25"),
        ("bm25:k1", "expected NAME=VALUE"),
        ("bm25:k1=x", "expected a number"),
        ("bm25:", "expected NAME=VALUE"),
        ("bm25:mu=3", "unknown setting of bm25"),
        ("model:mien", "did you mean mine"),
        ("", "unknown scorer"),
    ],
)
def test_what_there_is_not_is_refused(engine, models, name, message):
    with pytest.raises(SettingError, match=message):
        make_system(engine, name, models)


def test_without_any_model_this_is_said(engine):
    with pytest.raises(SettingError, match="there is no model 'x'"):
        make_system(engine, "model:x")


def test_equal_systems_are_equal(engine):
    assert make_system(engine, "bm25") == make_system(engine, "bm25")
    assert make_system(engine, "bm25").pipeline.scorer == BM25()
