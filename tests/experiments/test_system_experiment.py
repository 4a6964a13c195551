"""Experiments from Python: values equal those of evaluation and comparison, whatever the systems are."""

import math

import pytest

import searchlab
from searchlab.errors import SearchlabError, SettingError
from searchlab.evaluation.comparison import compare_evaluations
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments.system_experiment import experiment
from searchlab.records import Document, Ranking
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from tests.retrieval.reference import random_documents

WORDS = ["heat", "flow", "wing", "cell", "lift"]
TOPICS = {"1": "heat flow", "2": "wing", "3": "cell lift", "4": "heat lift", "5": "unheard", "6": "unjudged"}


@pytest.fixture(scope="module")
def engine(build):
    documents = random_documents(seed=5, n_docs=50, words=WORDS, longest=9)
    with SearchEngine(build([Document(own.docno, own.title, own.body) for own in documents])) as opened:
        yield opened


@pytest.fixture(scope="module")
def qrels(engine):
    """Every third document that has a word of the topic is relevant; one judged topic is not among the topics."""
    found = {qid: engine.search(text, k=None, scorer="tfidf").docnos for qid, text in TOPICS.items()}
    judged = {qid: {docno: int(n % 3 == 0) for n, docno in enumerate(found[qid])} for qid in ("1", "2", "3", "4")}
    return judged | {"5": {found["1"][0]: 1}, "9": {found["1"][0]: 1}}


class Reversed:
    """A system of the user: whatever has a method `run`."""

    name = "reversed"

    def __init__(self, engine):
        self.engine = engine

    def run(self, topics):
        return [
            Ranking(ranking.qid, ranking.docnos, [-score for score in ranking.scores])
            for ranking in self.engine.search_many(topics, k=10)
        ]


def test_values_are_those_of_evaluation_and_comparison(engine, qrels, tmp_path):
    bm25 = engine.retriever()
    other = engine.search_many(TOPICS, scorer="dirichlet")
    other.write(tmp_path / "dirichlet.run")
    systems = [bm25, bm25 >> RM3(3), tmp_path / "dirichlet.run", other.to_dict(), Reversed(engine)]
    table = experiment(systems, TOPICS, qrels, ["AP", "nDCG@10"])
    assert table.names == ("BM25", "BM25 >> RM3(documents=3)", "dirichlet", "run", "reversed")
    wanted = {qid: qrels[qid] for qid in ("1", "2", "3", "4", "5")}
    runs = [bm25.run(TOPICS), (bm25 >> RM3(3)).run(TOPICS), other, other, Reversed(engine).run(TOPICS)]
    expected = [
        evaluate_run(wanted, run, ["AP", "nDCG@10"], complete=True, name=name)
        for run, name in zip(runs, table.names, strict=True)
    ]
    assert [each.means for each in table.evaluations] == [each.means for each in expected]
    assert table.evaluations[0].qids == ("1", "2", "3", "4", "5")
    # A topic for which nothing is found counts 0.
    assert table.evaluations[0].values_of("AP")[4] == 0
    assert table.comparison == compare_evaluations(expected)
    assert [run.query_ids for run in table.runs[:2]] == [tuple(TOPICS)] * 2
    assert tuple(run.name for run in table.runs) == table.names


def test_a_table_is_a_dataframe_a_text_and_latex(engine, qrels):
    pytest.importorskip("pandas")
    systems = [engine.retriever(), engine.retriever("tfidf"), engine.retriever("jm")]
    table = experiment(systems, TOPICS, qrels, ["AP"], baseline=1)
    frame = table.to_dataframe()
    assert list(frame.columns) == ["system", "AP", "AP difference", "AP p"]
    means = [each.means["AP"] for each in table.evaluations]
    assert frame["AP"].tolist() == means
    assert frame["AP difference"][0] == pytest.approx(means[0] - means[1])
    assert math.isnan(frame["AP difference"][1])
    corrected = {each.name_a: each.p_corrected for each in table.comparison.comparisons}
    assert frame["AP p"].tolist()[::2] == [corrected["BM25"], corrected["JelinekMercer"]]
    per_topic = table.to_dataframe(per_topic=True)
    assert per_topic.shape == (15, 3)
    assert per_topic.groupby("system")["AP"].mean()["TFIDF"] == pytest.approx(means[1])
    assert str(table).splitlines()[0].split() == ["run", "AP", "topics"]
    assert "95% interval" in str(table)
    assert table._repr_html_() == table.comparison._repr_html_()
    assert "\\begin{tabular}" in table.to_latex()
    assert repr(table) == "<SystemExperiment: 3 systems, 5 topics, AP>"


def test_one_system_is_evaluated_and_compared_with_nothing(engine, qrels):
    table = experiment([engine.retriever()], TOPICS, qrels, "P@5")
    assert table.comparison is None
    assert str(table).count("\n") == 1
    assert table._repr_html_() == table.evaluations[0]._repr_html_()
    assert "\\begin{tabular}" in table.to_latex()


def test_all_pairs_are_compared_on_demand(engine, qrels):
    systems = [engine.retriever(), engine.retriever("tfidf"), engine.retriever("jm")]
    table = experiment(systems, TOPICS, qrels, ["AP"], all_pairs=True, names=["a", "b", "c"], baseline="b")
    assert {(each.name_a, each.name_b) for each in table.comparison.comparisons} == {("a", "b"), ("c", "b"), ("c", "a")}
    pytest.importorskip("pandas")
    assert list(table.to_dataframe().columns) == ["system", "AP"]


def test_equal_labels_are_numbered(engine, qrels):
    table = experiment([engine.retriever(), engine.retriever()], TOPICS, qrels)
    assert table.names == ("BM25", "BM25 (2)")
    assert table.evaluations[0].measures == ("AP", "nDCG@10")


def test_it_is_part_of_the_public_interface():
    assert searchlab.experiment is experiment


MISTAKES = {
    "no list": lambda a, q: experiment(a, TOPICS, q),
    "no systems": lambda a, q: experiment([], TOPICS, q),
    "no system": lambda a, q: experiment([a, 3], TOPICS, q),
    "a step": lambda a, q: experiment([RM3()], TOPICS, q),
    "missing file": lambda a, q: experiment([a, "nowhere.run"], TOPICS, q),
    "topics": lambda a, q: experiment([a], 3, q),
    "no judged topic": lambda a, q: experiment([a], {"77": "heat"}, q),
    "qrels": lambda a, q: experiment([a], TOPICS, 3),
    "measure": lambda a, q: experiment([a], TOPICS, q, ["nDGC"]),
    "names": lambda a, q: experiment([a], TOPICS, q, names=["a", "b"]),
    "a name": lambda a, q: experiment([a], TOPICS, q, names="a"),
    "equal names": lambda a, q: experiment([a, a], TOPICS, q, names=["a", "a"]),
    "baseline": lambda a, q: experiment([a, a], TOPICS, q, baseline=2),
    "named baseline": lambda a, q: experiment([a, a], TOPICS, q, baseline="bm52"),
    "k": lambda a, q: experiment([a], TOPICS, q, k="10"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_our_error(engine, qrels, mistake):
    with pytest.raises(SearchlabError) as caught:
        MISTAKES[mistake](engine.retriever(), qrels)
    assert "\n" not in str(caught.value)


def test_a_dict_names_the_systems():
    qrels, topics = {"1": {"a": 1}}, {"1": "heat"}
    runs = {"one": {"1": {"a": 1.0}}, "two": {"1": {"a": 1.0, "b": 2.0}}}
    table = searchlab.experiment(runs, topics, qrels)
    assert table.names == ("one", "two")
    assert [each.means["AP"] for each in table.evaluations] == [1.0, 0.5]
    with pytest.raises(SettingError, match="names are given, but the dict of systems has names"):
        searchlab.experiment(runs, topics, qrels, names=["a", "b"])
