"""Pools hide which system found a document; the documents that matter most are judged first."""

import json

import pytest

from searchlab.errors import SettingError
from searchlab.records import Document
from searchlab.retrieval.pipeline import MIN_DEPTH
from searchlab.web.api.judging import pool
from searchlab.web.api.judging.judge import create_topic
from searchlab.web.api.measuring import measure
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import judge, judge_topics, make_app_state, rejected

# Pools


def test_a_pool_holds_the_best_documents_of_all_systems(state, app_state):
    judge_topics(app_state, judge="other")
    found = pool.build_pool(state, topic_set="mine", qid="5", systems=["bm25", "dirichlet+rm3"], depth=3, judge="a")
    index = state.index
    expected = {docno for name in ("bm25", "dirichlet+rm3") for docno in index.system(name).search("w5", k=3).docnos}
    assert {each["docno"] for each in found["documents"]} == expected
    assert (found["n_pooled"], found["n_judged"], found["first_unjudged"]) == (len(expected), 0, 0)
    assert [each["name"] for each in found["systems"]] == ["bm25", "dirichlet+rm3"]
    assert found["topic"] == {"qid": "5", "text": "w5"}
    document = next(each for each in found["documents"])
    assert list(document) == ["docno", "title", "snippet", "marks", "fields", "grade", "note"]
    json.dumps(found)


def test_the_order_of_a_pool_is_stable_and_does_not_reveal_ranks(state, app_state):
    judge_topics(app_state, judge="other")
    settings = {"topic_set": "mine", "depth": 8, "judge": "ann"}

    def docnos(qid, *systems):
        found = pool.build_pool(state, qid=qid, systems=systems, **settings)
        return [each["docno"] for each in found["documents"]]

    ranked = {topic: state.index.system("bm25").search(f"w{topic}", k=8).docnos for topic in map(str, range(9))}
    pools = {topic: docnos(topic, "bm25") for topic in ranked}
    assert all(set(pools[topic]) == set(ranked[topic]) for topic in ranked)
    positions = [pools[topic].index(ranked[topic][0]) for topic in ranked]
    assert len(set(positions)) > 3
    assert docnos("3", "bm25", "dirichlet") == docnos("3", "dirichlet", "bm25")
    before, after = docnos("3", "bm25"), docnos("3", "bm25", "bm25+rm3")
    assert [docno for docno in after if docno in before] == before


def test_judging_a_pool_can_be_resumed(state, app_state):
    judge_topics(app_state, judge="other")
    settings = {"topic_set": "mine", "qid": "5", "systems": ["bm25"], "depth": 5, "judge": "ann"}
    first = pool.build_pool(state, **settings)
    for position in (0, 1, 3):
        docno = first["documents"][position]["docno"]
        judge(state, docno, position % 3, topic_set="mine", qid="5", note=f"n{position}")
    then = pool.build_pool(state, **settings)
    assert [each["docno"] for each in then["documents"]] == [each["docno"] for each in first["documents"]]
    assert [each["grade"] for each in then["documents"]] == [0, 1, None, 0, None]
    assert [each["note"] for each in then["documents"]] == ["n0", "n1", "", "n3", ""]
    assert (then["n_judged"], then["first_unjudged"]) == (3, 2)
    assert pool.build_pool(state, **settings | {"judge": "bob"})["n_judged"] == 0
    for position in (2, 4):
        judge(state, first["documents"][position]["docno"], 0, topic_set="mine", qid="5")
    assert pool.build_pool(state, **settings)["first_unjudged"] is None


def test_topics_are_plain_words_in_pools(build):
    documents = [Document("a", "cats not dogs"), Document("b", "dogs"), Document("c", "not year:1999")]
    app_state = make_app_state(build(documents))
    state = RequestState(app_state)
    create_topic(state, topic_set="s", text="cats NOT dogs", qid="1")
    found = pool.build_pool(state, topic_set="s", qid="1", systems=["bm25"])
    assert {each["docno"] for each in found["documents"]} == {"a", "b", "c"}
    document = next(each for each in found["documents"] if each["docno"] == "a")
    assert (document["title"], document["marks"]["title"]) == ("cats not dogs", [[0, 4], [5, 8], [9, 13]])
    app_state.close()


def test_a_topic_that_finds_nothing_has_an_empty_pool(state):
    create_topic(state, topic_set="s", text="unheard", qid="1")
    found = pool.build_pool(state, topic_set="s", qid="1", judge="ann")
    assert (found["documents"], found["n_pooled"], found["first_unjudged"]) == ([], 0, None)


def test_systems_have_defaults(state, app_state):
    judge_topics(app_state, n_topics=1)
    found = pool.build_pool(state, topic_set="mine", qid="0")
    assert [each["name"] for each in found["systems"]] == ["bm25", "bm25+rm3"]
    many = [f"bm25:k1=0.{number}" for number in range(1, 10)]
    assert "9 names" in rejected(400, pool.build_pool, state, topic_set="mine", qid="0", systems=many)
    with pytest.raises(SettingError, match="unknown scorer 'nosuch'"):
        pool.build_pool(state, topic_set="mine", qid="0", systems=["nosuch"])


def test_a_ranking_is_searched_once_and_again_only_for_a_deeper_pool(state, monkeypatch):
    create_topic(state, topic_set="mine", text="f2", qid="1")
    searches = []
    engine = state.index.engine
    search = type(engine).search
    monkeypatch.setattr(type(engine), "search", lambda *a, **k: searches.append(1) or search(*a, **k))  # type: ignore[func-returns-value]
    settings = {"topic_set": "mine", "qid": "1", "systems": ["tfidf"], "depth": 4}
    first = pool.build_pool(state, **settings)
    n = len(searches)
    assert n > 0
    assert pool.build_pool(state, **settings) == first
    assert len(searches) == n
    # The first search went at least to `MIN_DEPTH`: the five best are among its hits.
    assert len(pool.build_pool(state, **settings | {"depth": 5})["documents"]) == 5
    assert len(searches) == n
    deeper = MIN_DEPTH + 1
    assert len(pool.build_pool(state, **settings | {"depth": deeper})["documents"]) == deeper
    assert len(searches) > n


# Documents to judge next


def test_documents_that_could_change_the_comparison_most_come_first(state, app_state):
    judge_topics(app_state, n_topics=2, grades=lambda qid: {f"{qid}-good0": 1})
    systems = {"left": "bm25", "right": "dirichlet"}
    found = pool.list_next_documents(state, topic_set="mine", **systems, measure="P@3", depth=8, n=20)
    assert (found["measure"], found["left"]["name"], found["right"]["name"]) == ("P@3", "bm25", "dirichlet")
    index = state.index
    for qid in ("0", "1"):
        tops = [set(index.system(name).search(f"w{qid}", k=3).docnos) for name in systems.values()]
        swings = {each["docno"]: each["swing"] for each in found["documents"] if each["qid"] == qid}
        for docno, swing in swings.items():
            # A document among the first three of both changes nothing; else P@3 changes by 1/3 in one of two topics.
            assert swing == pytest.approx(1 / 6 if (docno in tops[0]) != (docno in tops[1]) else 0)
        assert f"{qid}-good0" not in swings
    assert [each["swing"] for each in found["documents"]] == sorted(
        (each["swing"] for each in found["documents"]), reverse=True
    )
    first = found["documents"][0]
    assert first["text"] == f"w{first['qid']}"
    assert first["title"] in ("f3 f4", f"w{first['qid']} f2")


def test_a_measure_without_a_cutoff_looks_at_whole_rankings(state, app_state):
    """Documents below those proposed count, too, as in the measures of systems."""
    judge_topics(app_state, n_topics=4, grades=lambda qid: {f"{qid}-good0": 1, f"{qid}-bad4": 1})
    left, right = "bm25", "bm25+rm3"
    measured = measure.measure_systems(state, topic_set="mine", systems=[left, right], measures=["AP"])
    means = {each["name"]: each["means"]["AP"] for each in measured["systems"]}
    found = pool.list_next_documents(state, topic_set="mine", left=left, right=right, measure="AP", depth=2)
    assert found["difference"] == pytest.approx(means[left] - means[right])
    assert means[left] != means[right]


def test_two_different_systems_are_compared(state, app_state):
    judge_topics(app_state, n_topics=1)
    same, unknown = {"topic_set": "mine", "right": "bm25"}, {"topic_set": "none", "right": "jm"}
    assert "two different" in rejected(400, pool.list_next_documents, state, left="bm25", **same)
    assert "no topic set" in rejected(404, pool.list_next_documents, state, left="bm25", **unknown)
