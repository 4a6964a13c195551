"""A pipeline finds what its steps find one by one, computes each step once, and explains what it found."""

import io
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import searchlab
from searchlab.corpus.trec.runs import write_run
from searchlab.errors import SettingError
from searchlab.records import Document, Topic
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline, PipelineSearch, tail_scores
from searchlab.retrieval.results import Contribution, Explanation
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet
from tests.retrieval.reference import ALL_SCORERS, random_documents

WORDS = ["heat", "flow", "wing", "cell", "lift", "drag", "jet"]
QUERIES = ["heat flow", "wing", "cell cell drag", "unheard", "jet unheard"]


@pytest.fixture(scope="module")
def engine(build):
    """Sixty documents in several shards."""
    drawn = random_documents(seed=3, n_docs=60, words=WORDS, longest=20)
    documents = [Document(own.docno, own.title, own.body, {"year": 1990 + n % 3}) for n, own in enumerate(drawn)]
    with SearchEngine(build(documents, words_per_shard=150)) as opened:
        assert len(opened.snapshot.shards) > 2
        yield opened


def expand(engine: SearchEngine, text: str, expansion: RM3, scorer=None, **settings):
    """Two searches and an estimation, step by step."""
    first = engine.search(text, k=expansion.documents, scorer=scorer, **settings)
    return expansion.expand(first.query, expansion.estimate(engine, first))


@dataclass(frozen=True)
class ByName:
    """Candidates with scores that order them by docno, ascending."""

    documents: DocumentList

    @property
    def order(self):
        return np.argsort(self.documents.docnos)

    @property
    def scores(self):
        scores = np.zeros(len(self.documents))
        scores[self.order] = np.arange(len(self.documents), 0, -1)
        return scores

    def explain(self, row):
        score = float(self.scores[row])
        return Explanation(self.documents.docnos[row], score, (Contribution("name", score),))


@dataclass(frozen=True)
class NameModel:
    """A model that needs no features."""

    n_candidates: int = 4
    candidates_label: str = "the 4 best"
    label: str = "names"

    def learnt_from(self, topics):
        return set()

    def score(self, search, documents):
        return ByName(documents)


# What is found.


def test_topics_are_searched_in_their_order(build):
    engine = SearchEngine(build([Document("a", "", "red"), Document("b", "", "red blue")]))
    topics = [Topic("2", "blue"), Topic("1", "red"), Topic("3", "unknown")]
    rankings = list(Pipeline(engine, Dirichlet(10), stream="body").run(iter(topics), k=5))
    assert [ranking.qid for ranking in rankings] == ["2", "1", "3"]
    assert [ranking.docnos for ranking in rankings] == [["b"], ["a", "b"], []]
    assert rankings[1].scores == engine.search("red", scorer=Dirichlet(10), stream="body").scores.tolist()
    # Scores are plain numbers, which print as such.
    assert {type(score) for ranking in rankings for score in ranking.scores} == {float}
    file = io.StringIO()
    write_run(file, rankings)
    assert file.getvalue().count("\n") == 3


@pytest.mark.parametrize("scorer", ALL_SCORERS, ids=lambda scorer: type(scorer).__name__)
@pytest.mark.parametrize("filters", [(), ("year=1991",)])
def test_a_pipeline_finds_what_its_steps_find_one_by_one(engine, scorer, filters):
    for text, k in product(QUERIES, (3, 30, None)):
        plain = Pipeline(engine, scorer).search(text, k=k, filters=filters)
        expected = engine.search(text, k=k, scorer=scorer, filters=filters)
        assert (plain.docnos, plain.scores.tolist()) == (expected.docnos, expected.scores.tolist())
        hits = Pipeline(engine, scorer, expansion=RM3(5, 4)).search(text, k=k, filters=filters)
        query = expand(engine, text, RM3(5, 4), scorer, filters=filters)
        expected = engine.search(query, k=k, scorer=scorer, filters=filters)
        assert (hits.docnos, hits.scores.tolist()) == (expected.docnos, expected.scores.tolist())


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("scorer", ALL_SCORERS, ids=lambda scorer: type(scorer).__name__)
def test_the_best_of_a_search_are_the_beginning_of_a_deeper_one(engine, scorer, compiled):
    with SearchEngine(engine.snapshot.folder, compiled=compiled) as own:
        deep = own.search("heat flow wing", k=None, scorer=scorer)
        assert len(deep) > 30
        for k in range(1, len(deep) + 2):
            hits = own.search("heat flow wing", k=k, scorer=scorer)
            assert hits.docnos == deep.docnos[:k]
            assert hits.scores.tolist() == deep.scores[:k].tolist()


def test_the_stream_is_that_of_search_expansion_and_explanation(engine):
    pipeline = Pipeline(engine, stream="title", expansion=RM3(3, 5))
    hits = pipeline.search("heat", k=5)
    assert {term.stream for term in hits.search.expanded_query.terms} == {"title"}
    explanations = pipeline.explain(hits, hits.docnos)
    assert [each.score for each in explanations] == pytest.approx(hits.scores.tolist())


def test_operators_need_the_full_syntax(engine):
    pipeline = Pipeline(engine)
    found = pipeline.search("heat AND flow", k=None, syntax="full")
    assert found.docnos == engine.search("heat AND flow", k=None, syntax="full").docnos
    assert len(found) < len(pipeline.search("heat AND flow", k=None))
    assert pipeline.parse("heat AND flow").node is None
    parsed = pipeline.parse("heat AND flow", "full")
    assert pipeline.parse(parsed) is parsed
    assert pipeline.search(parsed, k=None).docnos == found.docnos


def test_hits_show_the_words_of_the_query_or_of_its_expansion(engine):
    hits = Pipeline(engine, expansion=RM3()).search("heat", k=5)
    assert [term.text for term in hits.query.terms] == ["heat"]
    wider = hits.with_expanded_query()
    assert len(wider.query.terms) > 1
    assert wider.docnos == hits.docnos
    assert [hit.document for hit in wider] == [hit.document for hit in hits]
    assert sum(len(hit.snippet.marks) for hit in wider) > sum(len(hit.snippet.marks) for hit in hits)


# A model.


def test_a_model_orders_the_candidates_and_the_first_search_follows(engine):
    pipeline = Pipeline(engine, expansion=RM3(3), model=NameModel())
    first = engine.search("heat", k=None).docnos
    wider = engine.search(expand(engine, "heat", RM3(3)), k=4).docnos
    candidates = sorted({*first[:4], *wider})
    assert 4 < len(candidates) < len(first)
    assert pipeline.search("heat", k=3).docnos == candidates[:3]
    everything = pipeline.search("heat", k=None)
    assert everything.docnos == candidates + [docno for docno in first if docno not in candidates]
    n = len(candidates)
    assert everything.scores.tolist() == [*range(n, 0, -1), *(-float(i) for i in range(len(first) - n))]


def test_only_candidates_of_a_model_can_be_explained(engine):
    pipeline = Pipeline(engine, model=NameModel())
    hits = pipeline.search("heat", k=6)
    explained = pipeline.explain(hits, hits.docnos[:2])
    assert [(each.docno, each.score, each.found) for each in explained] == [
        (hit.docno, hit.score, True) for hit in hits[:2]
    ]
    message = f"{hits.docnos[4]} is not among the 4 documents that are re-ranked for this query: the 4 best$"
    with pytest.raises(SettingError, match=message):
        pipeline.explain(hits, hits.docnos)


def test_scores_of_a_tail_continue_the_list():
    assert tail_scores(np.array([3.0, 0.5]), 3).tolist() == [-0.5, -1.5, -2.5]
    assert tail_scores(np.zeros(0), 2).tolist() == [-1.0, -2.0]


# What is computed, and how often.


def test_a_plain_search_is_one_search(engine, work):
    hits = Pipeline(engine).search("heat flow", k=5)
    hits.search.explain(hits.docnos)
    assert work == {"searches": 1}


def test_explaining_the_hits_of_an_expanded_query_repeats_nothing(engine, work):
    pipeline = Pipeline(engine, expansion=RM3())
    hits = pipeline.search("heat flow", k=5)
    assert work == {"searches": 2, "estimations": 1}
    again = pipeline.explain(hits, hits.docnos)
    assert [each.score for each in again] == pytest.approx(hits.scores.tolist())
    assert all(hits.search.finds(docno) for docno in hits.docnos)
    assert work == {"searches": 2, "estimations": 1}


def test_more_hits_need_one_deeper_search_and_fewer_need_none(engine, work):
    pipeline = Pipeline(engine, expansion=RM3())
    hits = pipeline.search("heat flow", k=5)
    more = pipeline.search(hits, k=20)
    assert more.docnos[:5] == hits.docnos
    assert work == {"searches": 3, "estimations": 1}
    assert pipeline.search(more, k=7).docnos == more.docnos[:7]
    assert work == {"searches": 3, "estimations": 1}


def test_a_search_that_found_all_is_not_made_again(engine, work):
    pipeline = Pipeline(engine)
    hits = pipeline.search("heat", k=1000)
    assert len(hits) < 1000
    assert pipeline.search(hits, k=None).docnos == hits.docnos
    assert pipeline.search(hits, k=2000).docnos == hits.docnos
    assert work == {"searches": 1}


@pytest.mark.parametrize("k", [2, 6, 9, 40, None])
@pytest.mark.parametrize("n_candidates", [1, 4, 20])
def test_a_model_needs_two_searches_however_many_hits_are_wanted(engine, work, k, n_candidates):
    pipeline = Pipeline(engine, expansion=RM3(documents=7), model=NameModel(n_candidates))
    hits = pipeline.search("heat flow", k=k)
    candidates = hits.search.retrieval.reranked.documents.docnos
    pipeline.explain(hits, [docno for docno in hits.docnos if docno in candidates])
    assert work == {"searches": 2, "estimations": 1}


def test_a_query_that_finds_nothing_is_searched_once(engine, work):
    assert len(Pipeline(engine, expansion=RM3(), model=NameModel()).search("unheard", k=None)) == 0
    assert work == {"searches": 1, "estimations": 1}


def test_hits_of_another_pipeline_are_searched_again(engine):
    hits = Pipeline(engine).search("heat AND flow", k=5, syntax="full", filters=["year=1991"])
    other = Pipeline(engine, Dirichlet())
    expected = other.search("heat AND flow", k=5, syntax="full", filters=["year=1991"])
    assert other.search(hits, k=5).docnos == expected.docnos
    assert other.search(hits, k=5).scores.tolist() == expected.scores.tolist()


@pytest.mark.parametrize("expansion", [None, RM3()])
@pytest.mark.parametrize("model", [None, NameModel()])
def test_a_search_knows_whether_it_finds_a_document(engine, expansion, model):
    pipeline = Pipeline(engine, expansion=expansion, model=model)
    everything = set(pipeline.search("heat AND flow", k=None, syntax="full").docnos)
    for k in (None, 3, 1000):
        hits = pipeline.search("heat AND flow", k=k, syntax="full")
        assert {docno for docno in engine.snapshot.docnos() if hits.search.finds(docno)} == everything
    assert 3 < len(everything) < len(engine)


# Work that is shared with another pipeline.


def test_the_same_first_search_and_the_same_expansion_are_shared(engine, work):
    search = Pipeline(engine, expansion=RM3()).start("heat flow")
    search.hits(30)
    assert work == {"searches": 2, "estimations": 1}
    query = engine.parse("heat flow")
    same = search.for_pipeline(Pipeline(engine, BM25(), expansion=RM3()), query)
    same.expanded(10)
    assert work == {"searches": 2, "estimations": 1}
    other = search.for_pipeline(Pipeline(engine, expansion=RM3(terms=3)), query)
    assert len(other.expanded_query.terms) < len(search.expanded_query.terms)
    assert work == {"searches": 2, "estimations": 2}


@pytest.mark.parametrize(
    "make",
    [
        lambda engine: Pipeline(engine, BM25(k1=2)).start("heat flow"),
        lambda engine: Pipeline(engine, stream="title").start("heat flow"),
        lambda engine: Pipeline(engine).start("heat flow", filters=["year=1991"]),
        lambda engine: Pipeline(engine).start("heat AND flow", syntax="full"),
        lambda engine: Pipeline(engine).start("heat"),
    ],
    ids=["scorer", "stream", "filters", "operators", "query"],
)
def test_a_search_that_differs_is_not_shared(engine, make):
    search = make(engine)
    search.first(10)
    reference, query = Pipeline(engine, expansion=RM3()), engine.parse("heat flow")
    found = search.for_pipeline(reference, query)
    assert found.first(10).scores.tolist() == engine.search("heat flow").scores.tolist()
    assert found.expanded_query == reference.start(query).expanded_query


# Mistakes.


def test_what_a_pipeline_cannot_do_is_refused(engine):
    with pytest.raises(SettingError, match="k is 0, expected 1 or more"):
        Pipeline(engine).search("heat", k=0)
    with pytest.raises(SettingError, match="unknown stream 'titel'"):
        Pipeline(engine, stream="titel")
    with pytest.raises(SettingError, match="unknown query syntax 'fulll'"):
        Pipeline(engine).search("heat", syntax="fulll")
    search = Pipeline(engine).start("heat")
    assert isinstance(search, PipelineSearch)
    with pytest.raises(SettingError, match="no expansion"):
        _ = search.relevance_model
    with pytest.raises(SettingError, match="no model"):
        _ = search.reranked


def test_a_pipeline_is_part_of_the_public_interface():
    assert searchlab.Pipeline is Pipeline
