"""Asking an engine: scorers and expansions by name, the number of matches, batches, and mistakes."""

from itertools import product

import numpy as np
import pytest

import searchlab
from searchlab.errors import QueryWarning, SearchlabError
from searchlab.indexing.building.deletion import delete
from searchlab.records import Document, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3, similar_query
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.registry import SCORERS
from tests.retrieval.reference import ALL_SCORERS, random_documents

WORDS = ["heat", "flow", "wing", "cell", "lift", "drag", "jet"]
PLAIN = ["heat flow", "wing", "cell cell drag", "unheard", "jet unheard", ""]
STRUCTURED = ['"heat flow"', "heat AND NOT wing", "+jet drag", "year:[1990 TO 1991]", "he* OR title:wing", "NOT cell"]


@pytest.fixture(scope="module")
def folder(build):
    """Sixty documents in several shards, some of which are deleted."""
    drawn = random_documents(seed=7, n_docs=60, words=WORDS, longest=6)
    documents = [Document(own.docno, own.title, own.body, {"year": 1990 + n % 3}) for n, own in enumerate(drawn)]
    made = build(documents, words_per_shard=80)
    delete(made, [own.docno for own in drawn[::7]])
    return made


@pytest.fixture(scope="module", params=[True, False], ids=["compiled", "numpy"])
def engine(folder, request):
    with SearchEngine(folder, compiled=request.param) as opened:
        assert len(opened.snapshot.shards) > 2
        yield opened


# Names.


def test_scorers_and_expansions_are_named_or_given(engine):
    expected = engine.search("heat flow", scorer=Dirichlet())
    assert engine.search("heat flow", scorer="dirichlet").scores.tolist() == expected.scores.tolist()
    assert engine.search("heat flow", scorer=None).docnos == engine.search("heat flow", scorer=BM25()).docnos
    wider = Pipeline(engine, Dirichlet(), expansion=RM3()).search("heat flow", k=7)
    for expansion in ("rm3", RM3()):
        hits = engine.search("heat flow", k=7, scorer="dirichlet", expansion=expansion)
        assert (hits.docnos, hits.scores.tolist()) == (wider.docnos, wider.scores.tolist())
    assert engine.explain("heat", expected.docnos[0], scorer="dirichlet") == engine.explain(
        "heat", expected.docnos[0], scorer=Dirichlet()
    )


# The number of matches.


@pytest.mark.parametrize("scorer", ALL_SCORERS, ids=repr)
@pytest.mark.parametrize("filters", [(), ("year=1991",)])
def test_the_number_of_matches_is_that_of_all_hits(engine, scorer, filters):
    for text, k in product(PLAIN, (1, 5, 1000)):
        everything = engine.search(text, k=None, scorer=scorer, filters=filters)
        hits = engine.search(text, k=k, scorer=scorer, filters=filters)
        assert hits.n_matches == everything.n_matches == len(everything)


@pytest.mark.parametrize("text", STRUCTURED)
def test_the_number_of_matches_of_a_structured_query(engine, text):
    everything = engine.search(text, k=None, syntax="full")
    assert 0 < len(everything) < len(engine)
    hits = engine.search(text, k=1, syntax="full")
    assert (len(hits), hits.n_matches, hits.take(slice(1)).n_matches) == (1, len(everything), len(everything))


def test_the_number_of_matches_of_a_pipeline_is_that_of_all_its_hits(engine):
    for text in PLAIN:
        pipeline = Pipeline(engine, expansion=RM3(3, 4))
        assert pipeline.search(text, k=2).n_matches == len(pipeline.search(text, k=None))
    hits = engine.retriever().search(similar_query(engine, engine.search("heat").docnos[0]), k=3)
    assert hits.without("nobody").n_matches == hits.n_matches


def test_counting_searches_nothing_again(engine, work):
    hits = engine.search("heat flow", k=2)
    assert hits.n_matches > 2
    assert work == {"searches": 1}


def test_documents_that_match_a_structured_query_are_counted_while_it_is_searched(engine, monkeypatch):
    expected = len(engine.search('"heat flow"', k=None, syntax="full"))
    hits = engine.search('"heat flow"', k=1, syntax="full")
    monkeypatch.setattr(engine, "_match_shards", None)
    assert (len(hits), hits.n_matches) == (1, expected)


# Norms.


@pytest.mark.parametrize("scorer", ALL_SCORERS, ids=repr)
def test_norms_are_the_same_before_and_after_they_are_sorted(folder, scorer):
    with SearchEngine(folder, compiled=False) as engine:
        bound = engine.reader.bind(scorer, "both")

        def read():
            for number, shard in enumerate(engine.snapshot.shards):
                docs = np.flatnonzero(shard.live) if shard.live is not None else np.arange(shard.columns.n_docs)
                biases = bound.biases_of(number, docs)
                yield bound.norms_of(number, docs).tolist(), None if biases is None else biases.tolist()

        before = bound.measure_norms(), list(read())
        assert len(set(before[1][0][0])) > 1 or before[0].low == before[0].high
        assert len(bound.norms.norm_codes) == sum(shard.columns.n_docs for shard in engine.snapshot.shards)
        assert (bound.measure_norms(), list(read())) == before


# Batches.


def test_a_batch_is_the_searches_one_by_one_to_the_last_bit(engine):
    topics = {str(number): text for number, text in enumerate(PLAIN[:-1] * 5)}
    for settings in ({}, {"scorer": "jm", "stream": "title"}, {"expansion": RM3(4, 5), "filters": ["year=1991"]}):
        run = engine.search_many(topics, k=8, **settings)
        hits = {qid: engine.search(text, k=8, **settings) for qid, text in topics.items()}
        assert list(run) == [Ranking(qid, found.docnos, found.scores.tolist()) for qid, found in hits.items()]


def test_a_batch_takes_topics_in_any_form(engine):
    expected = engine.search_many([Topic("1", "heat"), Topic("2", "flow wing")])
    assert expected.query_ids == ("1", "2")
    assert engine.search_many({"1": "heat", "2": "flow wing"}) == expected
    assert engine.search_many(["heat", "flow wing"], jobs=1) == expected
    assert len(engine.search_many([])) == 0


# Remarks.


def test_a_query_that_is_not_understood_is_a_warning_once_where_it_was_asked(engine):
    with pytest.warns(QueryWarning, match="""'"heat': a quotation mark is not closed: searched""") as caught:
        engine.search('"heat', syntax="full")
        engine.search('"heat', syntax="full", expansion="rm3")
    assert [warning.filename for warning in caught] == [__file__] * 2
    assert searchlab.QueryWarning is QueryWarning


# Mistakes.

MISTAKES = {
    "scorer=3": lambda e: e.search("heat", scorer=3),
    "scorer='bm52'": lambda e: e.search("heat", scorer="bm52"),
    "scorer=BM25": lambda e: e.search("heat", scorer=BM25),
    "expansion='rm4'": lambda e: e.search("heat", expansion="rm4"),
    "expansion=3": lambda e: e.search("heat", expansion=3),
    "k='10'": lambda e: e.search("heat", k="10"),
    "k=1.5": lambda e: e.search("heat", k=1.5),
    "k=True": lambda e: e.search("heat", k=True),
    "k=0": lambda e: e.search("heat", k=0),
    "query=None": lambda e: e.search(None),
    "query=3": lambda e: e.retriever().search(3),
    "query=bytes": lambda e: e.explain(b"heat", "a"),
    "parse": lambda e: e.parse(None),
    "stream='x'": lambda e: e.search("heat", stream="x"),
    "stream=3": lambda e: e.search("heat", stream=3),
    "syntax=3": lambda e: e.search("heat", syntax=3),
    "filters='year=1991'": lambda e: e.search("heat", filters="year=1991"),
    "filters=3": lambda e: e.search("heat", filters=3),
    "filters=[3]": lambda e: e.search("heat", filters=[3]),
    "filters=[year]": lambda e: e.retriever().search("heat", filters=["yaer=1991"]),
    "topics": lambda e: e.search_many(3),
    "jobs": lambda e: e.search_many({"1": "heat"}, jobs=0),
    "depth": lambda e: e.search_many({"1": "heat"}, k="all"),
    "retriever": lambda e: e.retriever("bm25", stream="x"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_our_error_in_one_line(engine, mistake):
    with pytest.raises(SearchlabError) as caught:
        MISTAKES[mistake](engine)
    assert "\n" not in str(caught.value)


def test_unknown_names_list_what_is_known(engine):
    with pytest.raises(SearchlabError, match=rf"did you mean bm25\?.*there is: {', '.join(sorted(SCORERS))}"):
        engine.search("heat", scorer="bm52")
    with pytest.raises(SearchlabError, match=r"unknown expansion 'rm4' \(did you mean rm3\?\); there is: rm3"):
        engine.search("heat", expansion="rm4")
