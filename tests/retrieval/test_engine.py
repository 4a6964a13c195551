"""Searches find what scoring every document finds, and explanations sum to scores."""

from concurrent.futures import ThreadPoolExecutor
from math import fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import SettingError
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.jelinek_mercer import JelinekMercer
from tests.hypothesis_profiles import examples
from tests.retrieval.reference import ALL_SCORERS, CLOSE, POSTING_SCORERS, Reference, random_documents

WORDS = ["a", "b", "c", "d", "e"]
corpora = st.builds(
    random_documents,
    seed=st.integers(0, 10**6),
    n_docs=st.integers(1, 60),
    words=st.integers(1, len(WORDS)).map(lambda n: WORDS[:n]),
    longest=st.sampled_from([1, 3, 12]),
)
queries = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=6).map(" ".join)


EXTREME = {
    "bm25": ["k1"],
    "bm25f": ["k1", "title", "body"],
    "dirichlet": ["mu"],
    "jm": ["lambda_"],
    "absolute": ["delta"],
    "two-stage": ["mu", "lambda_"],
}


def combinations():
    """Every scorer over every stream that it can search."""
    return [(s, stream) for s in ALL_SCORERS for stream in STREAMS if stream == "both" or not isinstance(s, BM25F)]


@settings(max_examples=examples(30))
@given(
    documents=corpora,
    query=queries,
    cut=st.integers(1, 60),
    words_per_shard=st.sampled_from([None, 40, 150]),
)
def test_a_search_finds_what_scoring_every_document_finds(indexed, documents, query, cut, words_per_shard):
    reference = Reference(documents)
    with indexed(documents, words_per_shard=words_per_shard) as folder:
        engines = [SearchEngine(folder, compiled=compiled) for compiled in (True, False)]
        for scorer, stream in combinations():
            scores = reference.scores(query, scorer, stream)
            for engine in engines:
                for k in (1, cut, None):
                    hits = engine.search(query, k=k, scorer=scorer, stream=stream)
                    reference.assert_found(hits, scores, k)


@settings(max_examples=examples(15))
@given(documents=corpora, query=queries, words_per_shard=st.sampled_from([None, 40]))
def test_the_parts_of_an_explanation_sum_to_the_score(indexed, documents, query, words_per_shard):
    with indexed(documents, words_per_shard=words_per_shard) as folder:
        engine = SearchEngine(folder)
        for scorer, stream in combinations():
            hits = engine.search(query, k=5, scorer=scorer, stream=stream)
            for docno, score in zip(hits.docnos, hits.scores, strict=True):
                explanation = engine.explain(query, docno, scorer=scorer, stream=stream)
                assert explanation.score == pytest.approx(score, abs=CLOSE, rel=CLOSE)
                assert fsum(part.amount for part in explanation.parts) == pytest.approx(explanation.score)
                counts = sorted(part.query_count or 0 for part in explanation.parts)
                assert counts == sorted(term.count for term in hits.query.terms)


@settings(max_examples=examples(15))
@given(documents=corpora, query=queries)
def test_a_score_depends_neither_on_k_nor_on_shards(indexed, documents, query):
    found = {}
    for words_per_shard in (None, 60):
        with indexed(documents, words_per_shard=words_per_shard) as folder:
            engine = SearchEngine(folder)
            for scorer, stream in combinations():
                for k in (1, 3, 10, None):
                    hits = engine.search(query, k=k, scorer=scorer, stream=stream)
                    ranking = list(zip(hits.docnos, hits.scores.tolist(), strict=True))
                    whole = found.setdefault((scorer, stream), {}).setdefault("whole", [])
                    if len(ranking) > len(whole):
                        assert ranking[: len(whole)] == whole
                        whole[:] = ranking
                    assert ranking == whole[: len(ranking)]
    assert found


@pytest.fixture(scope="module")
def engine(build):
    documents = [
        Document("flu", "Influenza", "Vaccines against influenza and the common cold."),
        Document("cold", "The common cold", "Colds are common."),
        Document("wing", "Supersonic wings", "Heat flow over a wing."),
        Document("none"),
    ]
    return SearchEngine(build(documents, settings=AnalysisSettings()))


@pytest.fixture(scope="module")
def twins(build):
    """Equal documents whose docnos stand in different shards."""
    names = ["b", "a", "é", "Z", "10", "9", "日", "aa"]
    documents = [Document(name, "", "same words") for name in names]
    return [
        SearchEngine(build(documents, words_per_shard=size), compiled=c) for size in (None, 3) for c in (True, False)
    ]


def test_equal_scores_stand_in_descending_byte_order_of_their_docnos(twins):
    for engine in twins:
        for k in (1, 3, 7, 8, None):
            assert engine.search("same", k=k).docnos == ["日", "é", "b", "aa", "a", "Z", "9", "10"][:k]


def test_each_repeat_of_a_query_word_counts(engine):
    single, double = (engine.search(query, k=None) for query in ("wing cold", "wing cold wing"))
    scores = {hits.query.text: dict(zip(hits.docnos, hits.scores, strict=True)) for hits in (single, double)}
    assert double.docnos[0] == "wing"
    assert scores["wing cold wing"]["wing"] == pytest.approx(2 * scores["wing cold"]["wing"])
    assert scores["wing cold wing"]["cold"] == pytest.approx(scores["wing cold"]["cold"])
    assert [(term.text, term.count) for term in double.query.terms] == [("wing", 2), ("cold", 1)]


@pytest.mark.parametrize("query", ["", "   ", "the and of", "!?", "unheard unseen", "the unheard", "\ud800"])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("scorer", POSTING_SCORERS)
def test_a_query_without_known_words_finds_nothing(engine, query, compiled, scorer):
    other = SearchEngine(engine.snapshot.folder, compiled=compiled)
    hits = other.search(query, scorer=POSTING_SCORERS[scorer]())
    assert list(hits) == []
    assert (hits.docnos, len(hits.scores), hits.query.terms) == ([], 0, ())


def test_a_query_tells_which_of_its_words_no_document_has(engine):
    query = engine.parse("the unheard wings unseen unheard")
    assert [term.text for term in query.terms] == ["wing"]
    assert query.unknown == ("unheard", "unseen")


def test_a_word_that_only_another_stream_has_is_unknown(engine):
    assert engine.parse("supersonic", stream="body").unknown == ("supersonic",)
    assert engine.search("supersonic", stream="title").docnos == ["wing"]
    assert engine.search("supersonic", stream="body").docnos == []


@pytest.mark.parametrize("k", [0, -1])
def test_fewer_results_than_one_are_refused(engine, k):
    with pytest.raises(SettingError, match=f"k is {k}, expected 1 or more"):
        engine.search("wing", k=k)


def test_more_results_than_documents_may_be_asked_for(engine):
    assert engine.search("wing", k=10**12).docnos == ["wing"]


def test_an_unknown_stream_is_refused_with_a_list(engine):
    with pytest.raises(SettingError, match=r"unknown stream 'titel'.*title.*there is: body, both, title"):
        engine.search("wing", stream="titel")


def test_bm25f_searches_both_fields_or_none(engine):
    with pytest.raises(SettingError, match="bm25f weighs the fields itself: expected stream both, found title"):
        engine.search("wing", scorer=BM25F(), stream="title")


@pytest.mark.parametrize("compiled", [True, False])
def test_bm25f_finds_title_words_that_weigh_nothing_last_and_with_score_zero(engine, compiled):
    other = SearchEngine(engine.snapshot.folder, compiled=compiled)
    hits = other.search("supersonic heat influenza", scorer=BM25F(title=0))
    assert [docno for docno, score in zip(hits.docnos, hits.scores, strict=True) if score > 0] == ["wing", "flu"]
    assert other.search("supersonic", scorer=BM25F(title=0)).scores.tolist() == [0.0]


def test_hits_carry_rank_score_document_and_snippet(engine):
    hits = engine.search("cold vaccines")
    first = hits[0]
    assert (first.rank, first.docno, first.title) == (1, "flu", "Influenza")
    assert first.score == hits.scores[0]
    assert first.document == engine.document("flu")
    assert first.snippet.marked("[", "]") == "[Vaccines] against influenza and the common [cold]."
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[-1].docno == hits.docnos[-1]
    with pytest.raises(IndexError):
        hits[2]


def test_hits_can_be_sliced_as_every_sequence(engine):
    hits = engine.search("common cold wing", k=None)
    assert [hit.docno for hit in hits[:2]] == hits.docnos[:2]
    assert [hit.rank for hit in hits[1:]] == [2, 3]


def test_an_explanation_names_each_term_and_what_it_adds(engine):
    scorer = JelinekMercer()
    parts = engine.explain("wing cold wing unheard", "wing", scorer=scorer).parts
    assert [(part.label, part.query_count, part.raw) for part in parts] == [("wing", 2, 2), ("cold", 1, 0)]
    # By hand: flu has 5 terms, cold 4, wing 5 (two of them wing): P(wing|C) = 2/14, and twice ln(½·2/5 + ½·2/14).
    assert parts[0].amount == pytest.approx(2 * log(0.5 * 2 / 5 + 0.5 * 2 / 14))


def test_the_parts_of_an_explanation_are_ordered_by_size(engine):
    explanation = engine.explain("common wing cold wing", "wing", scorer=BM25())
    assert [part.label for part in explanation.parts] == ["wing", "common", "cold"], "equal ones as in the query"
    assert [part.amount for part in explanation.parts][1:] == [0, 0]


def test_an_explanation_is_written_as_json(engine):
    score = engine.explain("wing", "wing").score
    assert engine.explain("wing", "wing").to_json() == {
        "docno": "wing",
        "score": score,
        "found": None,
        "parts": [{"label": "wing", "amount": score, "raw": 2, "query_count": 1, "meaning": "", "how": []}],
    }


def test_an_unknown_document_cannot_be_explained_or_read(engine):
    for call in (lambda: engine.explain("wing", "nobody"), lambda: engine.document("nobody")):
        with pytest.raises(SettingError, match="holds no document 'nobody'"):
            call()


@pytest.mark.parametrize("value", [5e-324, 1.7e308])
@pytest.mark.parametrize(
    ("name", "setting"),
    [(n, s) for n, names in EXTREME.items() for s in names],
)
def test_an_extreme_setting_is_refused_or_gives_finite_scores(engine, name, setting, value):
    try:
        scorer = POSTING_SCORERS[name](**{setting: value})
    except SettingError as error:
        assert setting.rstrip("_") in str(error)
        return
    hits = engine.search("cold wing", scorer=scorer, k=None)
    assert len(hits) == 3
    assert np.isfinite(hits.scores).all()


def test_threads_may_share_an_engine(build):
    documents = random_documents(7, 60, WORDS, 12)
    engine = SearchEngine(build(documents, words_per_shard=150))
    asked = [f"{one} {two}" for one in WORDS for two in WORDS] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: engine.search(query, k=5).docnos, asked))
    assert found == [engine.search(query, k=5).docnos for query in asked]


def test_bm25_over_the_body_by_hand(build):
    # N = 2, avgdl = 3; x: df 2, idf = ln(1 + 0.5/2.5) = ln 1.2; y: df 1, idf = ln(1 + 1.5/1.5) = ln 2.
    # |d| = 2: norm = 1.2·(0.25 + 0.75·2/3) = 0.9; |d| = 4: norm = 1.2·(0.25 + 0.75·4/3) = 1.5.
    engine = SearchEngine(build([Document("short", "", "x y"), Document("long", "", "x x x z")]))
    hits = engine.search("x y", scorer=BM25(), stream="body")
    assert hits.docnos == ["short", "long"]
    short = log(1.2) * 2.2 / (1 + 0.9) + log(2) * 2.2 / (1 + 0.9)
    long = log(1.2) * 3 * 2.2 / (3 + 1.5)
    assert hits.scores.tolist() == pytest.approx([short, long], rel=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_query_of_another_index_finds_nothing_in_an_empty_one(build, compiled):
    folder = build([Document("d1", "", "heat flow")])
    query = SearchEngine(folder).parse("heat")
    searchlab.delete(folder, ["d1"])
    assert len(SearchEngine(folder, compiled=compiled).search(query)) == 0
