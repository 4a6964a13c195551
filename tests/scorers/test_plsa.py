"""The language model over latent topics is its formula, for every document."""

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import searchlab
from searchlab.errors import IndexMissing, SettingError
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.building.indexer import build_index
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers import plsa
from searchlab.scorers.execution.dense_scoring import BLOCK_SIZE
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.plsa import PLSA, TopicModelScorer
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.scorers.word_topic_model import WTM
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model, save_topic_model
from tests.hypothesis_profiles import examples

TEXTS = ["car engine wheel road", "auto engine wheel road", "car road engine", "auto wheel road car car"]
TEXTS += ["fruit tree juice sweet", "apple tree juice sweet", "fruit sweet juice", "apple tree sweet", ""]


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def engine(build):
    """Nine documents, one of them empty, in several shards, with topics of both kinds."""
    documents = [Document(f"d{number}", "", text, {"half": number // 5}) for number, text in enumerate(TEXTS)]
    folder = build([*documents, Document("gone", "", "car car car")], words_per_shard=12)
    delete(folder, ["gone"])
    for method in ("plsa", "wtm"):
        build_topic_model(folder, method=method, n_topics=2)
    engine = SearchEngine(folder)
    assert len(engine.snapshot.shards) > 1
    return engine


def printed(engine, scorer, alpha, beta, query, docno):
    """ln P(Q|D) by the formula of the slide, topic by topic and word by word."""
    model = open_topic_model(engine.snapshot, scorer.topics)
    place, number = engine.snapshot.locate(docno)
    of_doc = model.topics_given_document(np.array([place]), np.array([number]))[0]
    text = engine.document(docno).body.split()
    everything = [word for other in TEXTS for word in other.split()]
    total = 0.0
    for word in query.split():
        of_term = model.term_given_topic([word])[0]
        p_doc = text.count(word) / len(text) if text else 0.0
        p_collection = everything.count(word) / len(everything)
        p = sum(
            (alpha * beta * of_term[k] + alpha * (1 - beta) * p_collection + (1 - alpha) * p_doc) * of_doc[k]
            for k in range(model.n_topics)
        )
        total += math.log(p)
    return total


@pytest.mark.parametrize("kind", [PLSA, WTM])
@pytest.mark.parametrize(("alpha", "beta"), [(0.7, 0.3), (1.0, 0.99), (0.2, 0.0), (0.01, 0.5)])
def test_every_document_scores_by_the_printed_formula(engine, kind, alpha, beta):
    scorer = kind(alpha, beta)
    for query in ("car", "car road car sweet", "engine juice"):
        hits = engine.search(query, k=None, scorer=scorer)
        assert sorted(hits.docnos) == [f"d{number}" for number in range(9)]
        assert (np.diff(hits.scores) <= 0).all()
        for docno, score in zip(hits.docnos, hits.scores, strict=True):
            assert score == pytest.approx(printed(engine, scorer, alpha, beta, query, docno), rel=1e-9)
            explanation = engine.explain(query, docno, scorer=scorer)
            assert explanation.score == pytest.approx(score, rel=1e-12)
            body = engine.document(docno).body.split()
            assert [part.raw for part in explanation.parts] == [body.count(part.label) for part in explanation.parts]


def test_topics_find_a_document_that_has_no_word_of_the_query(engine):
    hits = engine.search("auto", k=None, scorer=PLSA(0.7, 0.5))
    assert set(hits.docnos[:4]) == {"d0", "d1", "d2", "d3"}  # d0 and d2 have "car"
    assert set(hits.docnos[:2]) == {"d1", "d3"}


def test_without_topics_it_is_jelinek_mercer(engine):
    for query in ("car wheel", "sweet sweet tree"):
        hits = engine.search(query, k=None, scorer=PLSA(0.4, 0.0))
        expected = engine.search(query, k=None, scorer=JelinekMercer(0.4))
        scores = dict(zip(hits.docnos, hits.scores, strict=True))
        assert len(expected) < len(hits)
        for docno, score in zip(expected.docnos, expected.scores, strict=True):
            assert scores[docno] == pytest.approx(score, rel=1e-12)


@settings(max_examples=examples(30))
@given(
    words=st.lists(st.sampled_from(" ".join(TEXTS).split()), min_size=2, max_size=5),
    k=st.integers(1, 12),
    alpha=st.floats(0.01, 1),
    beta=st.floats(0, 0.99),
)
def test_the_k_best_are_the_first_of_all_and_a_tree_scores_the_same(engine, words, k, alpha, beta):
    query, scorer = " ".join(words), PLSA(alpha, beta)
    whole = engine.search(query, k=None, scorer=scorer)
    assert np.isfinite(whole.scores).all()
    assert engine.search(query, k=k, scorer=scorer).docnos == whole.docnos[:k]
    either = engine.search(" OR ".join(words), k=None, scorer=scorer, syntax="full")
    scores = dict(zip(whole.docnos, whole.scores, strict=True))
    assert len(either) == sum(bool(set(words) & set(text.split())) for text in TEXTS)
    for docno, score in zip(either.docnos, either.scores, strict=True):
        assert score == pytest.approx(scores[docno], rel=1e-12)


def test_compiled_or_not_scores_are_the_same(engine):
    other = SearchEngine(engine.snapshot.folder, compiled=False)
    for scorer in (PLSA(), WTM(0.9, 0.9)):
        hits, plain = (own.search("car tree juice", k=5, scorer=scorer) for own in (engine, other))
        assert hits.docnos == plain.docnos and hits.scores.tolist() == plain.scores.tolist()


def test_topics_that_are_not_kept_in_memory_give_the_same_scores(engine, monkeypatch):
    hits = engine.search("car tree", k=None, scorer=PLSA())
    monkeypatch.setattr(plsa, "MAX_CACHED_PROBABILITIES", 0)
    fresh = SearchEngine(engine.snapshot.folder).search("car tree", k=None, scorer=PLSA())
    assert fresh.docnos == hits.docnos and fresh.scores.tolist() == hits.scores.tolist()


def test_a_query_with_a_tree_finds_what_matches_and_filters_hold(engine):
    hits = engine.search("+car -engine", k=None, scorer=PLSA(), syntax="full")
    assert hits.docnos == ["d3"]
    pattern = engine.search("app* OR fruit", k=None, scorer=PLSA(), syntax="full")
    assert sorted(pattern.docnos) == ["d4", "d5", "d6", "d7"]
    assert np.isfinite(pattern.scores).all()
    half = engine.search("car", k=None, scorer=PLSA(), filters=["half=1"])
    assert sorted(half.docnos) == ["d5", "d6", "d7", "d8"]
    field = engine.search("car OR half:1", k=None, scorer=PLSA(), syntax="full")
    assert np.isfinite(field.scores).all() and "d8" in field.docnos


def test_a_query_without_known_words_finds_nothing(engine):
    assert engine.search("nowhere", scorer=PLSA()).docnos == []
    assert engine.search("", scorer=PLSA()).docnos == []


def test_a_stream_without_the_word_is_smoothed_by_what_there_is(engine):
    with pytest.raises(SettingError, match="unknown stream"):
        engine.search("car", scorer=PLSA(), stream="nowhere")
    assert engine.search("car", scorer=PLSA(), stream="title").docnos == []  # no title has a word
    assert len(engine.search("car", k=None, scorer=PLSA(), stream="body")) == 9


def test_documents_that_are_alike_have_equal_scores_and_stand_by_docno(build):
    n_docs = BLOCK_SIZE + 37
    folder = build(Document(f"{number:06}", "", "a b c a" if number % 3 else "c d") for number in range(n_docs))
    build_topic_model(folder, n_topics=7)
    engine = SearchEngine(folder)
    hits = engine.search("a d", k=None, scorer=PLSA(0.6, 0.7))
    assert len(set(hits.scores.tolist())) == 2
    kinds = np.array([int(docno) % 3 > 0 for docno in hits.docnos])
    for kind in (True, False):
        own = [docno for docno, other in zip(hits.docnos, kinds, strict=True) if other == kind]
        assert own == sorted(own, reverse=True)


def test_more_of_a_word_is_a_better_score_and_so_is_a_nearer_topic(build):
    texts = ["car road x y", "car car road x y", "road wheel x y", "fruit tree x y"] * 3
    folder = build([Document(f"d{number:02}", "", text) for number, text in enumerate(texts)])
    build_topic_model(folder, n_topics=2)
    hits = SearchEngine(folder).search("car", k=None, scorer=PLSA(0.6, 0.5))
    scores = dict(zip(hits.docnos, hits.scores, strict=True))
    assert scores["d01"] > scores["d00"] > scores["d02"] > scores["d03"]


def test_weights_that_were_trained_come_with_their_topics(build):
    folder = build([Document(f"d{number}", "", text) for number, text in enumerate(TEXTS)])
    model = build_topic_model(folder, n_topics=2)
    kept = save_topic_model(model, "mine", {}, 0.9, 0.1)
    assert PLSA().weights(model) == PLSA.defaults
    assert PLSA().weights(kept) == (0.9, 0.1)
    assert PLSA(beta=0.4).weights(kept) == (0.9, 0.4)
    engine = SearchEngine(folder)
    scores = [
        engine.search("car", scorer=own).scores.tolist()
        for own in (PLSA(topics="mine"), PLSA(0.9, 0.1), TopicModelScorer(model, 0.9, 0.1))
    ]
    assert scores[0] == pytest.approx(scores[1]) and scores[1] == scores[2]


def test_topics_at_hand_serve_their_own_index_alone(engine, build):
    other = SearchEngine(build([Document("a", "", "car")]))
    with pytest.raises(SettingError, match="topics of another index than"):
        other.search("car", scorer=TopicModelScorer(open_topic_model(engine.snapshot), 0.5, 0.5))


def test_an_index_without_topics_says_how_to_make_them(build):
    folder = build([Document("a", "", "car")])
    with pytest.raises(
        IndexMissing, match=r"no topic model 'plsa'; `searchlab topic-model -i .* --method plsa` makes one"
    ):
        SearchEngine(folder).search("car", scorer=PLSA())


def test_an_index_that_has_changed_since_is_searched_with_folded_in_topics(build):
    folder = build([Document(f"d{number}", "", text) for number, text in enumerate(TEXTS)])
    build_topic_model(folder, n_topics=2)
    build_index(lambda: iter([Document("new", "", "auto engine wheel road")]), folder, jobs=1)
    scores = {hit.docno: hit.score for hit in SearchEngine(folder).search("car", k=None, scorer=PLSA())}
    assert scores["new"] == pytest.approx(scores["d1"], abs=0.05)


def test_expansion_and_batches_take_dense_scorers_too(engine):
    topics = [searchlab.Topic("1", "auto"), searchlab.Topic("2", "juice")]
    rankings = list(searchlab.Pipeline(engine, WTM(), expansion=searchlab.RM3(documents=2)).run(topics, k=3))
    assert [len(ranking.docnos) for ranking in rankings] == [3, 3]


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *((PLSA, "alpha", value) for value in (0, -0.1, 1.1, math.nan, "x", True)),
        *((PLSA, "beta", value) for value in (-0.1, 1, 1.5, math.inf)),
        (WTM, "alpha", 0),
        (WTM, "beta", 1),
    ],
)
def test_a_setting_out_of_range_is_named(kind, name, value):
    with pytest.raises(SettingError, match=rf"^{kind.__name__}: {name} is {value!r}, expected a number from "):
        kind(**{name: value})


def test_dense_scorers_are_made_by_name_and_are_values():
    assert make_scorer("plsa", {"alpha": "0.5", "topics": "fine"}) == PLSA(0.5, None, "fine")
    assert make_scorer("wtm") == WTM() != PLSA()
    assert hash(PLSA(0.5)) == hash(PLSA(0.5))
    assert isinstance(make_scorer("bm25"), SCORERS["bm25"])
    assert {name for name, kind in SCORERS.items() if kind.needs_topic_model} == {"plsa", "wtm"}
    with pytest.raises(SettingError, match=r"unknown scorer 'plsaa' \(did you mean plsa\?\)"):
        make_scorer("plsaa")
    with pytest.raises(SettingError, match="unknown setting of plsa 'mu'; there is: alpha, beta, topics"):
        make_scorer("plsa", {"mu": "1"})
