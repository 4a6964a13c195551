"""Composed pipelines find what their parts find, in the documented order, and search nothing twice."""

import numpy as np
import pytest

from searchlab.errors import DuplicateError, QueryWarning, SettingError
from searchlab.rankers.rerank import rerank
from searchlab.records import Document, Ranking, Topic
from searchlab.retrieval.composition.combinations import Fusion
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.fusion import METHODS, fuse
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.tfidf import TFIDF
from tests.retrieval.reference import random_documents

WORDS = ["heat", "flow", "wing", "cell", "lift", "drag", "jet"]
QUERIES = ["heat flow", "wing", "cell cell drag", "unheard", "jet unheard", ""]


@pytest.fixture(scope="module")
def engine(build):
    """Sixty documents in several shards."""
    drawn = random_documents(seed=3, n_docs=60, words=WORDS, longest=8)
    documents = [Document(own.docno, own.title, own.body, {"year": 1990 + n % 3}) for n, own in enumerate(drawn)]
    with SearchEngine(build(documents, words_per_shard=80)) as opened:
        assert len(opened.snapshot.shards) > 2
        yield opened


def lengths(query, hits):
    return [len(hit.document.body) for hit in hits]


class Backwards:
    """A re-ranker that is an object: the last hit becomes the first."""

    def score(self, query, hits):
        return np.arange(len(hits))


# Every kind of pipeline, made from an engine.
PIPELINES = {
    "retriever": lambda e: e.retriever("bm25"),
    "expansion": lambda e: e.retriever() >> RM3(5, 4),
    "cut-off": lambda e: e.retriever("dirichlet") % 7,
    "sum": lambda e: 0.7 * e.retriever() + 0.3 * e.retriever("tfidf"),
    "sum with cut-offs": lambda e: (e.retriever() % 5 + 2 * (e.retriever(TFIDF(0.5)) % 3)) % 6,
    "fusion": lambda e: e.retriever() | e.retriever("dirichlet") % 9 | e.retriever(stream="title"),
    "weighted fusion": lambda e: Fusion([e.retriever(), e.retriever("jm")], "combmnz", [0.8, 0.4]),
    "re-ranking": lambda e: e.retriever() >> rerank(lengths, candidates=12),
    "all": lambda e: (e.retriever() >> RM3(3) | e.retriever("tfidf")) >> rerank(Backwards()) % 20,
    "sum of re-rankings": lambda e: e.retriever() % 9 + (e.retriever() >> rerank(lengths, candidates=4)),
}


@pytest.fixture(params=PIPELINES)
def pipeline(request, engine):
    return PIPELINES[request.param](engine)


# Properties of all pipelines.


def test_the_best_k_are_the_beginning_of_everything(pipeline):
    for text in QUERIES:
        everything = pipeline.search(text, k=None)
        scores = everything.scores.tolist()
        order = sorted(zip(scores, [docno.encode() for docno in everything.docnos], strict=True), reverse=True)
        assert everything.docnos == [docno.decode() for _, docno in order]
        for k in (1, 3, 8, 1000):
            hits = pipeline.search(text, k=k)
            assert (hits.docnos, hits.scores.tolist()) == (everything.docnos[:k], scores[:k])
            assert hits.n_matches == len(everything)


def test_an_explanation_adds_up_to_the_score_and_searches_nothing_again(pipeline, work):
    hits = pipeline.search("heat flow wing", k=10)
    assert len(hits) >= 4
    before = dict(work)
    explanations = pipeline.explain(hits, hits.docnos)
    assert work == before
    for hit, each in zip(hits, explanations, strict=True):
        assert (each.docno, each.found) == (hit.docno, True)
        assert each.score == pytest.approx(hit.score, abs=1e-9)
        assert sum(part.amount for part in each.parts) == pytest.approx(hit.score, abs=1e-9)


def test_a_run_has_what_single_searches_find(pipeline):
    topics = [Topic(str(number), text) for number, text in enumerate(QUERIES * 3)]
    expected = [pipeline.search(topic.text, k=9) for topic in topics]
    for jobs in (1, 3):
        run = pipeline.run(topics, 9, jobs=jobs)
        assert list(run) == [
            Ranking(topic.qid, hits.docnos, hits.scores.tolist()) for topic, hits in zip(topics, expected, strict=True)
        ]


def test_filters_and_operators_reach_every_part(pipeline):
    passing = set(pipeline.engine.search("heat AND flow", k=None, syntax="full", filters=["year=1991"]).docnos)
    found = pipeline.search("heat AND flow", k=None, syntax="full", filters=["year=1991"])
    years = {hit.document.fields["year"] for hit in found}
    assert years == {1991}
    assert {hit.docno for hit in found} <= passing


def test_a_search_knows_what_it_finds(pipeline):
    hits = pipeline.search("heat flow", k=3)
    everything = set(pipeline.search("heat flow", k=None).docnos)
    assert {docno for docno in pipeline.engine.snapshot.docnos() if hits.search.finds(docno)} == everything
    others = hits.without(hits.docnos[1])
    assert others.docnos == [hits.docnos[0], hits.docnos[2]]
    assert others.n_matches == len(everything) - 1


def test_a_pipeline_prints_as_it_could_be_written(engine):
    labels = {name: make(engine).label for name, make in PIPELINES.items()}
    assert labels["expansion"] == "BM25 >> RM3(documents=5, terms=4)"
    assert labels["sum"] == "0.7 * BM25 + 0.3 * TFIDF"
    assert labels["sum with cut-offs"] == "((BM25 % 5) + 2 * (TFIDF(s=0.5) % 3)) % 6"
    assert labels["fusion"] == "BM25 | (Dirichlet % 9) | BM25[title]"
    assert labels["weighted fusion"] == "combmnz(0.8 * BM25, 0.4 * JelinekMercer)"
    assert labels["all"] == "(((BM25 >> RM3(documents=3)) | TFIDF) >> rerank(Backwards)) % 20"
    assert repr(engine.retriever()) == f"<Pipeline on {engine.snapshot.folder}: BM25>"


# What is found, worked out otherwise.


def test_a_sum_adds_scores_and_a_missing_document_gets_0(engine):
    a, b = engine.retriever(), engine.retriever("dirichlet") % 4
    left = dict(zip(*(lambda hits: (hits.docnos, hits.scores.tolist()))(a.search("heat", k=None)), strict=True))
    right = dict(zip(*(lambda hits: (hits.docnos, hits.scores.tolist()))(b.search("heat", k=None)), strict=True))
    assert len(right) == 4 < len(left)
    hits = (0.5 * a + b * 3).search("heat", k=None)
    expected = {docno: 0.5 * left.get(docno, 0) + 3 * right.get(docno, 0) for docno in {*left, *right}}
    assert dict(zip(hits.docnos, hits.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert (a + b).terms == ((1.0, a), (1.0, b))
    assert (2 * (a + 3 * b)).terms == ((2.0, a), (6.0, b))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weights", [None, [0.2, 3]])
def test_a_fusion_is_that_of_the_runs(engine, method, weights):
    parts = [engine.retriever(), engine.retriever("dirichlet", stream="title") % 5]
    topics = [Topic(str(number), text) for number, text in enumerate(QUERIES)]
    expected = fuse([part.run(topics) for part in parts], method, weights=weights)
    assert list(Fusion(parts, method, weights).run(topics)) == list(expected)


def test_a_part_of_weight_0_adds_no_documents(engine):
    a, b = engine.retriever(stream="title"), engine.retriever()
    hits = Fusion([a, b], weights=[1, 0]).search("heat", k=None)
    assert hits.docnos == a.search("heat", k=None).docnos
    assert len(hits) < len(b.search("heat", k=None))


def test_several_bars_are_one_fusion(engine):
    a, b, c = engine.retriever(), engine.retriever("tfidf"), engine.retriever("jm")
    assert (a | b | c).parts == (a, b, c)
    weighted = Fusion([a, b], weights=[1, 2])
    assert (weighted | c).parts == (weighted, c)


def test_a_function_orders_the_candidates_and_finds_nothing_else(engine):
    candidates = engine.search("heat flow", k=6)
    seen = []

    def by_docno(query, hits):
        seen.append((query, hits.docnos, hits.scores.tolist()))
        return [-ord(docno[-1]) for docno in hits.docnos]

    hits = (engine.retriever() >> rerank(by_docno, candidates=6)).search("heat flow", k=None)
    assert seen == [("heat flow", candidates.docnos, candidates.scores.tolist())]
    assert sorted(hits.docnos) == sorted(candidates.docnos)
    assert [docno[-1] for docno in hits.docnos] == sorted(docno[-1] for docno in hits.docnos)


def test_a_function_is_not_asked_about_nothing(engine):
    assert len((engine.retriever() >> rerank(lambda query, hits: 1 / 0)).search("unheard")) == 0


def test_rm3_behind_a_retriever_is_the_pipeline_with_an_expansion(engine):
    assert engine.retriever("dirichlet", stream="title") >> RM3(4) == Pipeline(
        engine, Dirichlet(), "title", expansion=RM3(4)
    )
    assert engine.retriever("dirichlet", expansion="rm3") == Pipeline(engine, "dirichlet", expansion="rm3")


# What is shared.


def test_parts_that_search_alike_share_a_search(engine, work):
    bm25 = engine.retriever("bm25")
    pipeline = bm25 + 2 * (bm25 >> RM3()) + 3 * (engine.retriever(BM25()) >> rerank(lengths))
    hits = pipeline.search("heat flow", k=5)
    assert work["searches"] <= 3  # once to depth 100 or 10, once to 1,000, and the expanded query
    assert work["estimations"] == 1
    pipeline.explain(hits, hits.docnos)
    pipeline.search(hits, k=30)
    assert work["searches"] <= 3


# Mistakes.


def test_parts_of_different_indexes_are_refused(engine, build):
    with SearchEngine(build([Document("a", "", "heat")])) as other, SearchEngine(engine.snapshot.folder) as again:
        with pytest.raises(SettingError, match="search different indexes"):
            engine.retriever() + other.retriever()
        with pytest.raises(SettingError, match="one index opened twice: expected one engine"):
            engine.retriever() | again.retriever()


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda a: a >> a, "BM25 follows BM25, expected a step, such as RM3"),
        (lambda a: a >> RM3, r"what follows BM25 is the class RM3, expected an object: RM3\(\)"),
        (lambda a: a.engine.retriever(BM25), r"scorer is the class BM25, expected an object: BM25\(\)"),
        (lambda a: a.engine.retriever(expansion=RM3), r"expansion is the class RM3, expected an object: RM3\(\)"),
        (lambda a: a.engine.retriever(expansion="RM3"), r"unknown expansion 'RM3' \(did you mean rm3\?\)"),
        (lambda a: a >> 3, "3 follows BM25, expected a step"),
        (lambda a: "heat" >> a, "'heat' comes before BM25"),
        (lambda a: rerank(lengths) >> a, r"BM25 follows the step rerank\(lengths\)"),
        (lambda a: a % 5 >> RM3(), "RM3 follows BM25 % 5, expected a retriever without expansion"),
        (lambda a: a >> RM3() >> RM3(terms=3), r"RM3\(terms=3\) follows BM25 >> RM3, expected a retriever"),
        (lambda a: a % 2.5, "k is 2.5, expected a whole number"),
        (lambda a: a % True, "k is True"),
        (lambda a: a * "2", "weight is '2', expected a finite number"),
        (lambda a: float("nan") * a, "weight is nan"),
        (lambda a: a * a, "weight is <Pipeline"),
        (lambda a: a + 1, r"found 1 on one side of \+, expected a pipeline"),
        (lambda a: 1 + a, r"found 1 on one side of \+"),
        (lambda a: a | RM3(), r"found RM3 on one side of \|"),
        (lambda a: None | a, r"found None on one side of \|"),
        (lambda a: Fusion(a), "expected a list of pipelines"),
        (lambda a: Fusion([]), "no runs: expected at least one"),
        (lambda a: Fusion([a, 3]), "found 3 among those to fuse"),  # type: ignore[list-item]
        (lambda a: Fusion([a], "rff"), r"unknown method 'rff' \(did you mean rrf\?\)"),
        (lambda a: Fusion([a, a], weights=[1]), "found 1 weights for 2 runs"),
        (lambda a: (a % 3).search("heat", k=0), "k is 0"),
        (lambda a: (a + a).explain("heat"), "docnos is None, expected a docno, a list"),
        (lambda a: a.run([Topic("1", "heat")], jobs=0), "jobs is 0"),
        (lambda a: a.run(7), "topics is a value of type int"),
        (lambda a: (a + a).search(None), "query is None, expected a text"),
        (lambda a: (a >> rerank(lambda query, hits: [1])).search("heat flow"), "gave 1 scores, expected"),
        (lambda a: (a >> rerank(lambda query, hits: 1)).search("heat flow"), "gave int, expected"),
        (lambda a: (a >> rerank(lambda query, hits: ["x"] * len(hits))).search("heat"), "gave list, expected"),
        (lambda a: (a >> rerank(lambda query, hits: [np.nan] * len(hits))).search("heat"), "gave the score nan"),
        (lambda a: Pipeline("medical"), "engine is 'medical', expected an open index"),
    ],
)
def test_every_mistake_is_our_error(engine, mistake, message):
    with pytest.raises(SettingError, match=message):
        mistake(engine.retriever())


def test_only_documents_that_are_ranked_can_be_explained(engine):
    pipeline = engine.retriever() % 2 + engine.retriever("tfidf") % 2
    other = engine.search("heat", k=None).docnos[-1]
    with pytest.raises(SettingError, match=rf"{other} is not among the \d documents that \(BM25 % 2\) \+ "):
        pipeline.explain("heat", [other])
    with pytest.raises(SettingError, match="holds no document 'nobody'"):
        pipeline.explain("heat", ["nobody"])
    (below,) = (engine.retriever() % 2).explain("heat", [other])
    assert below.found is False


def test_topics_of_the_same_qid_are_refused(engine):
    with pytest.raises(DuplicateError, match="topic 1 occurs twice"):
        engine.retriever().run([Topic("1", "heat"), Topic("1", "flow")])


def test_remarks_on_queries_are_warnings_where_searchlab_was_called(engine):
    pipeline = engine.retriever() | engine.retriever("tfidf")
    for search in (pipeline.search, lambda text, syntax: pipeline.run({"1": text}, syntax=syntax)):
        with pytest.warns(QueryWarning, match="a quotation mark is not closed") as caught:
            search('"heat flow', syntax="full")
        assert [warning.filename for warning in caught] == [__file__]
    assert len(pipeline.search(pipeline.parse('"heat flow', "full"))) > 0


def test_one_docno_or_all_hits_are_explained(build):
    with SearchEngine(build([Document("a", "", "heat flow"), Document("b", "", "heat")])) as engine:
        pipeline = engine.retriever()
        hits = pipeline.search("heat")
        both = pipeline.explain("heat", hits.docnos)
        assert pipeline.explain(hits) == both
        assert pipeline.explain("heat", hits.docnos[1]) == both[1:]


def test_python_sums_pipelines(engine):
    parts = [engine.retriever(), 2 * engine.retriever("tfidf")]
    assert sum(parts) == parts[0] + parts[1]
    for wrong in (1, 0.0, False, None):
        with pytest.raises(SettingError, match=f"found {wrong} on one side of \\+, expected a pipeline"):
            _ = wrong + parts[0]


def test_an_expansion_may_be_named(engine):
    assert engine.retriever() >> "rm3" == engine.retriever() >> RM3()
    with pytest.raises(SettingError, match="unknown expansion 'rm4'"):
        _ = engine.retriever() >> "rm4"


@pytest.mark.parametrize("filters", [{"year": 1990}, {"year": "[1991 TO 1992]"}])
def test_filters_may_be_a_dict(engine, filters):
    ((field, value),) = filters.items()
    hits = engine.search("heat", filters=filters, k=None)
    assert 0 < len(hits) < len(engine.search("heat", k=None))
    assert hits.docnos == engine.search("heat", filters=[f"{field}={value}"], k=None).docnos
    pipeline = engine.retriever() % 9 >> rerank(lengths)
    assert (
        pipeline.search("heat", filters=filters).docnos == pipeline.search("heat", filters=[f"{field}={value}"]).docnos
    )
    assert pipeline.run({"1": "heat"}, filters=filters)["1"].docnos == pipeline.search("heat", filters=filters).docnos
