"""Transformers for PyTerrier: results equal searchlab's own, and PyTerrier's operators and experiments work."""

import subprocess
import sys

import numpy as np
import pytest

import searchlab
from searchlab.errors import DuplicateError, IndexMissing, SettingError
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.rerank import rerank
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from tests.retrieval.reference import random_documents

pd = pytest.importorskip("pandas")
pt = pytest.importorskip("pyterrier")
transformers = pytest.importorskip("searchlab.pyterrier")

# PyTerrier itself uses what pandas deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

TOPICS = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["heat flow", "wing", "unheard"], "note": ["a", "b", "c"]})


@pytest.fixture(scope="module")
def engine(build):
    documents = random_documents(seed=3, n_docs=40, words=["heat", "flow", "wing", "cell"], longest=8)
    with SearchEngine(build([Document(own.docno, own.title, own.body) for own in documents])) as opened:
        yield opened


def lengths(query, hits):
    return [len(hit.document.body) for hit in hits]


def test_a_retriever_finds_what_the_engine_finds(engine):
    found = transformers.Retriever(engine, num_results=5)(TOPICS)
    assert list(found.columns) == ["qid", "query", "note", "docno", "score", "rank"]
    for qid, query in (("1", "heat flow"), ("2", "wing")):
        hits, rows = engine.search(query, k=5), found[found.qid == qid]
        assert rows.docno.tolist() == hits.docnos
        assert rows.score.tolist() == hits.scores.tolist()
        assert rows["rank"].tolist() == list(range(len(hits)))
        assert set(rows["query"]) == {query}
    assert set(found.qid) == {"1", "2"}


def test_a_model_scores_the_documents_of_other_results(engine):
    found = transformers.Retriever(engine)(TOPICS)
    ranked = (transformers.Retriever(engine) >> transformers.Reranker(lengths, engine))(TOPICS)
    assert sorted(zip(ranked.qid, ranked.docno, strict=True)) == sorted(zip(found.qid, found.docno, strict=True))
    assert ranked.score.tolist() == [len(engine.document(docno).body) for docno in ranked.docno]
    for _, rows in ranked.groupby("qid"):
        assert rows["rank"].tolist() == list(range(len(rows)))
        assert rows.score.tolist() == sorted(rows.score, reverse=True)


def test_a_pipeline_scores_the_documents_of_other_results(engine):
    dirichlet = engine.retriever("dirichlet")
    results = pd.DataFrame({"qid": "1", "query": "heat flow", "docno": engine.search("wing", k=None).docnos})
    ranked = transformers.Reranker(dirichlet)(results)
    hits = dirichlet.search("heat flow", k=None)
    scores = dict(zip(hits.docnos, hits.scores.tolist(), strict=True))
    lowest = min(scores.values())
    assert lowest < 0
    assert ranked.score.tolist() == [scores.get(docno, lowest) for docno in ranked.docno]
    assert set(ranked.docno) - set(scores)
    assert transformers.Reranker(engine.retriever())(results).score.min() == 0


def test_operators_and_experiments_of_pyterrier_work_without_java(engine):
    bm25 = transformers.Retriever(engine)
    rerankers = transformers.Reranker(engine.retriever("tfidf")) ** transformers.Reranker(lengths, engine)
    features = (bm25 % 4 >> rerankers)(TOPICS)
    assert features.groupby("qid").size().tolist() == [4, 4]
    scores = np.stack(features["features"].to_list())
    assert scores[:, 1].tolist() == [len(engine.document(docno).body) for docno in features.docno]
    best = engine.search("heat flow", k=3).docnos
    qrels = pd.DataFrame({"qid": ["1"] * 3 + ["2"], "docno": [*best, engine.search("wing").docnos[1]], "label": 1})
    systems = [bm25, bm25 % 2, transformers.Retriever(engine.retriever() >> RM3())]
    table = pt.Experiment(systems, TOPICS[:2], qrels, ["map", "P_2"], names=["a", "b", "c"], validate="error")
    own = searchlab.experiment(
        [engine.retriever(), engine.retriever() % 2, engine.retriever() >> RM3()],
        TOPICS[:2],
        {"1": dict.fromkeys(best, 1), "2": {engine.search("wing").docnos[1]: 1}},
        ["AP", "P@2"],
    )
    assert table["map"].tolist() == pytest.approx([each.means["AP"] for each in own.evaluations], abs=1e-9)
    assert table["P_2"].tolist() == pytest.approx([each.means["P@2"] for each in own.evaluations], abs=1e-9)
    assert not pt.java.started()


def test_no_rows_stay_no_rows(engine):
    pipeline = transformers.Retriever(engine) >> transformers.Reranker(lengths, engine)
    assert list(pipeline(TOPICS[:0]).columns) == ["qid", "query", "note", "docno", "score", "rank"]
    assert repr(pipeline).count("Re") == 2


def test_mistakes_are_our_errors(engine):
    with pytest.raises(SettingError, match="found 7, expected an engine or a pipeline of searchlab, or the path"):
        transformers.Retriever(7)
    with pytest.raises(IndexMissing):
        transformers.Retriever("nowhere")
    with pytest.raises(SettingError, match="engine is None, expected the engine of the index"):
        transformers.Reranker(lengths)
    with pytest.raises(SettingError, match=r"found the engine first, expected the model: Reranker\(model, engine\)"):
        transformers.Reranker(engine, lengths)
    with pytest.raises(SettingError, match="holds no document 'nobody'"):
        transformers.Reranker(lengths, engine)(pd.DataFrame({"qid": ["1"], "query": ["heat"], "docno": ["nobody"]}))
    with pytest.raises(pt.validate.InputValidationError):
        transformers.Retriever(engine)(pd.DataFrame({"qid": ["1"]}))


def test_without_pyterrier_the_message_names_the_extra():
    script = "import sys; sys.modules['pyterrier'] = None\nimport searchlab.pyterrier"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "SettingError: PyTerrier is not installed" in ended.stderr
    assert "pip install searchlab[pyterrier]" in ended.stderr


def test_topics_may_share_a_qid(engine):
    doubled = pd.DataFrame({"qid": ["1", "1"], "query": ["heat", "wing"]})
    found = transformers.Retriever(engine, 2)(doubled)
    assert found["query"].tolist() == ["heat", "heat", "wing", "wing"]


def test_the_module_is_an_attribute_of_the_package():
    script = "import searchlab; print(searchlab.pyterrier.Retriever.__name__)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout == "Retriever\n", ended.stderr
    script = "import sys; sys.modules['pyterrier'] = None\nimport searchlab; searchlab.pyterrier"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install searchlab[pyterrier]" in ended.stderr.splitlines()[-1]


def test_a_retriever_takes_the_path_of_an_index_and_a_scorer(engine):
    folder = engine.snapshot.folder
    expected = engine.search("heat flow", k=None, scorer="dirichlet")
    for given in (engine, folder, str(folder)):
        found = transformers.Retriever(given, num_results=None, scorer="dirichlet")(TOPICS[:1])
        assert found.docno.tolist() == expected.docnos
        assert found.score.tolist() == expected.scores.tolist()
    with pytest.raises(SettingError, match="scorer is 'jm', expected none beside a pipeline, which has its own"):
        transformers.Retriever(engine.retriever(), scorer="jm")


@pytest.mark.parametrize("number", [0, -1, 2.5, True, "9"])
def test_a_number_of_results_is_at_least_one(engine, number):
    with pytest.raises(SettingError, match=rf"num_results is {number!r}, expected a whole number of at least 1"):
        transformers.Retriever(engine, num_results=number)


def test_a_pipeline_is_run_with_the_qids_of_topics(engine):
    scores = searchlab.external_feature(
        "own", {"2": {docno: n for n, docno in enumerate(engine.search("wing").docnos)}}
    )
    model = Bundle(
        "own", {}, LinearModel(np.ones(1)), (scores.name,), Preprocessor.named("query-minimum", "none", False)
    )
    pipeline = engine.retriever() % 10 >> rerank(model, external=[scores])
    found = transformers.Retriever(pipeline)(TOPICS[1:2])
    assert found.docno.tolist() == engine.search("wing").docnos[::-1]


def test_a_document_that_occurs_twice_is_named_with_its_topic(engine):
    docno = engine.search("heat").docnos[0]
    results = pd.DataFrame({"qid": ["t7", "t7"], "query": ["heat", "heat"], "docno": [docno, docno]})
    with pytest.raises(DuplicateError, match=f"^topic t7: document {docno} occurs twice, expected once"):
        transformers.Reranker(lengths, engine)(results)
