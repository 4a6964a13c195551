"""Are judgments taken down for topics and queries, pooled blindly, undone, counted, brought in and out?"""

import json
from dataclasses import replace

import pytest

from searchlab.corpus.collection import Collection
from searchlab.errors import SettingError
from searchlab.judgments.judgment_store import judgments_file
from searchlab.records import Document
from searchlab.web.api import collection_topics, measure, pool
from searchlab.web.api import judge as judge_api
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import read_body
from searchlab.web.http_errors import Failure, NotFound
from searchlab.web.state.result_cache import Memory
from tests.web.judged_app import judge_topics, make_desk, title_documents


@pytest.fixture(scope="module")
def folder(build):
    return build(title_documents())


@pytest.fixture
def desk(folder):
    """A desk without judgments."""
    made = make_desk(folder)
    yield made
    made.close()
    for path in folder.parent.glob(f"{judgments_file(folder).name}*"):
        path.unlink()


def judge(desk, id, grade, judge="ann", **more):
    return judge_api.judge(desk, index=None, id=id, grade=grade, judge=judge, **more)


def refused(status, function, *arguments, **settings):
    with pytest.raises(Failure) as failure:
        function(*arguments, **settings)
    assert failure.value.status == status
    return failure.value.message


# Sets and topics.


def test_without_judgments_there_are_no_sets_and_no_file_is_made(desk, folder):
    assert judge_api.sets(desk, index=None) == {"index": "it", "sets": [], "own": None}
    assert not judgments_file(folder).exists()


def test_topics_are_added_and_counted(desk):
    first = judge_api.add_topic(desk, index="it", set="mine", text="w1", qid="")
    assert first == {"index": "it", "set": "mine", "qid": "1", "text": "w1"}
    assert judge_api.add_topic(desk, index=None, set="mine", text="w2", qid="B")["qid"] == "B"
    judge(desk, "1-good0", 2, set="mine", topic="1")
    judge(desk, "1-bad4", 0, set="mine", topic="1", judge="bob")
    assert judge_api.topics(desk, index=None, set="mine")["topics"] == [
        {"qid": "1", "text": "w1", "n_judged": 2, "n_relevant": 1},
        {"qid": "B", "text": "w2", "n_judged": 0, "n_relevant": 0},
    ]
    assert judge_api.sets(desk, index=None)["sets"] == [
        {
            "name": "mine",
            "n_topics": 2,
            "n_judged_topics": 1,
            "n_judgments": 2,
            "n_relevant": 1,
            "judges": ["ann", "bob"],
        }
    ]


def test_what_is_not_there_is_not_found(desk):
    assert "no set of topics 'none'" in refused(404, judge_api.topics, desk, index=None, set="none")
    assert "no index 'none'" in refused(404, judge_api.sets, desk, index="none")
    judge_topics(desk, n_topics=1)
    assert "no topic '7'" in refused(404, judge, desk, "1-good0", 1, set="mine", topic="7")
    assert "no document 'none'" in refused(404, judge, desk, "none", 1, set="mine", topic="0")
    assert "no topic '7'" in refused(404, pool.pool, desk, index=None, set="mine", topic="7")
    assert desk.store(None).sets()[0].n_judgments == 4


def test_a_topic_needs_words(desk):
    assert "empty" in refused(400, judge_api.add_topic, desk, index=None, set="mine", text=" ", qid="")


# Judging.


def test_a_judgment_is_taken_down_changed_and_taken_back(desk):
    judge_topics(desk, n_topics=1, judge="other")
    place = {"set": "mine", "topic": "0"}
    said = judge(desk, "0-good0", 2, note="clear", **place)
    assert said == {"set": "mine", "qid": "0", "id": "0-good0", "grade": 2, "note": "clear", "n_judged": 1}
    assert judge(desk, "0-good0", 1, **place) | {"n_judged": 1} == said | {"grade": 1}
    assert judge(desk, "0-good1", 0, **place)["n_judged"] == 2
    found = judge_api.judgments(desk, index=None, set="mine", topic="0", judge="ann")["judgments"]
    assert [(each["id"], each["grade"], each["note"]) for each in found] == [
        ("0-good0", 1, "clear"),
        ("0-good1", 0, ""),
    ]
    assert list(found[0]) == ["qid", "id", "judge", "grade", "note", "when"]
    assert judge(desk, "0-good0", None, **place)["n_judged"] == 1
    assert len(judge_api.judgments(desk, index=None, set="mine")["judgments"]) == 4 + 1


def test_a_query_that_is_judged_becomes_a_topic(desk):
    said = judge(desk, "3-good0", 1, query="w3 things")
    assert (said["set"], said["qid"]) == ("searches", "1")
    assert judge(desk, "3-good1", 1, query=" W3  Things ")["qid"] == "1"
    assert judge(desk, "3-good1", 1, query="w4")["qid"] == "2"


def test_a_query_that_is_a_topic_already_is_judged_there(desk):
    judge_topics(desk)
    assert judge(desk, "3-good0", 1, query="w3")["set"] == "mine"


def test_taking_back_what_was_never_said_makes_no_topic(desk):
    assert "nothing was judged" in refused(404, judge, desk, "3-good0", None, query="w3")
    assert desk.store(None).sets() == []


@pytest.mark.parametrize(
    "place", [{}, {"set": "mine"}, {"topic": "1"}, {"set": "mine", "topic": "1", "query": "w1"}], ids=str
)
def test_it_has_to_be_clear_what_is_judged_for(desk, place):
    assert "expected either set and topic, or query" in refused(400, judge, desk, "1-good0", 1, **place)


def test_who_judges_has_a_name(desk):
    assert "expected the name of who judges" in refused(400, judge, desk, "1-good0", 1, judge=" ", query="w1")
    assert "expected the name of who judges" in refused(400, judge_api.undo, desk, index=None, judge="")


def test_the_last_judgment_is_undone(desk):
    judge(desk, "1-good0", 1, query="w1")
    judge(desk, "1-good0", 2, query="w1")
    judge(desk, "1-good1", 2, query="w1", judge="bob")
    undone = judge_api.undo(desk, index=None, judge="ann")["undone"]
    assert (undone["set"], undone["qid"], undone["id"], undone["grade"]) == ("searches", "1", "1-good0", 2)
    assert desk.store(None).grades("searches") == {"1": {"1-good0": 1, "1-good1": 2}}
    assert judge_api.undo(desk, index=None, judge="ann")["undone"]["grade"] == 1
    assert judge_api.undo(desk, index=None, judge="ann") == {"undone": None}


def test_judges_are_compared(desk):
    for judged, other in ((0, 0), (1, 1), (2, 2), (3, 1)):
        judge(desk, f"0-good{judged}" if judged < 3 else "0-bad3", min(judged, 2), query="w0")
        judge(desk, f"0-good{judged}" if judged < 3 else "0-bad3", other, query="w0", judge="bob")
    (pair,) = judge_api.agreement(desk, index=None, set="searches")["pairs"]
    assert (pair["judges"], pair["n"], pair["agreement"], pair["grades"]) == (["ann", "bob"], 4, 0.75, [0, 1, 2])
    assert pair["table"] == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    # By chance (1·1 + 1·2 + 2·1)/16 would agree.
    assert pair["kappa"] == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    json.dumps(pair)


# Pools.


def test_a_pool_is_what_any_ranker_finds(desk):
    judge_topics(desk, judge="other")
    found = pool.pool(desk, index=None, set="mine", topic="5", rankers=["bm25", "dirichlet+rm3"], depth=3, judge="a")
    opened = desk.shelf.get(None)
    expected = {docno for name in ("bm25", "dirichlet+rm3") for docno in opened.system(name).search("w5", k=3).docnos}
    assert {each["id"] for each in found["documents"]} == expected
    assert (found["n_pool"], found["n_judged"], found["at"]) == (len(expected), 0, 0)
    assert [each["name"] for each in found["rankers"]] == ["bm25", "dirichlet+rm3"]
    assert found["topic"] == {"qid": "5", "text": "w5"}
    document = next(each for each in found["documents"])
    assert list(document) == ["id", "title", "snippet", "fields", "grade", "note"]
    json.dumps(found)


def test_the_order_of_a_pool_says_nothing_of_ranks_and_stays(desk):
    judge_topics(desk, judge="other")
    settings = {"index": None, "set": "mine", "depth": 8, "judge": "ann"}

    def ids(topic, *rankers):
        found = pool.pool(desk, topic=topic, rankers=rankers, **settings)
        return [each["id"] for each in found["documents"]]

    ranked = {
        topic: desk.shelf.get(None).system("bm25").search(f"w{topic}", k=8).docnos for topic in map(str, range(9))
    }
    pools = {topic: ids(topic, "bm25") for topic in ranked}
    assert all(set(pools[topic]) == set(ranked[topic]) for topic in ranked)
    places = [pools[topic].index(ranked[topic][0]) for topic in ranked]
    assert len(set(places)) > 3
    assert ids("3", "bm25", "dirichlet") == ids("3", "dirichlet", "bm25")
    before, after = ids("3", "bm25"), ids("3", "bm25", "bm25+rm3")
    assert [docno for docno in after if docno in before] == before


def test_judging_a_pool_goes_on_where_it_was_left(desk):
    judge_topics(desk, judge="other")
    settings = {"index": None, "set": "mine", "topic": "5", "rankers": ["bm25"], "depth": 5, "judge": "ann"}
    first = pool.pool(desk, **settings)
    for place in (0, 1, 3):
        judge(desk, first["documents"][place]["id"], place % 3, set="mine", topic="5", note=f"n{place}")
    then = pool.pool(desk, **settings)
    assert [each["id"] for each in then["documents"]] == [each["id"] for each in first["documents"]]
    assert [each["grade"] for each in then["documents"]] == [0, 1, None, 0, None]
    assert [each["note"] for each in then["documents"]] == ["n0", "n1", "", "n3", ""]
    assert (then["n_judged"], then["at"]) == (3, 2)
    assert pool.pool(desk, **settings | {"judge": "bob"})["n_judged"] == 0
    for place in (2, 4):
        judge(desk, first["documents"][place]["id"], 0, set="mine", topic="5")
    assert pool.pool(desk, **settings)["at"] is None


def test_topics_are_plain_words_in_pools(build, tmp_path):
    documents = [Document("a", "cats not dogs"), Document("b", "dogs"), Document("c", "not year:1999")]
    desk = make_desk(build(documents))
    judge_api.add_topic(desk, index=None, set="s", text="cats NOT dogs", qid="1")
    found = pool.pool(desk, index=None, set="s", topic="1", rankers=["bm25"])
    assert {each["id"] for each in found["documents"]} == {"a", "b", "c"}
    title = next(each["title"] for each in found["documents"] if each["id"] == "a")
    assert title == {"text": "cats not dogs", "marks": [[0, 4], [5, 8], [9, 13]]}
    desk.close()


def test_a_topic_that_finds_nothing_has_an_empty_pool(desk):
    judge_api.add_topic(desk, index=None, set="s", text="unheard", qid="1")
    found = pool.pool(desk, index=None, set="s", topic="1", judge="ann")
    assert (found["documents"], found["n_pool"], found["at"]) == ([], 0, None)


def test_rankers_are_the_usual_ones_unless_they_are_named(desk):
    judge_topics(desk, n_topics=1)
    found = pool.pool(desk, index=None, set="mine", topic="0")
    assert [each["name"] for each in found["rankers"]] == ["bm25", "bm25+rm3"]
    many = [f"bm25:k1=0.{number}" for number in range(1, 10)]
    assert "9 are named" in refused(400, pool.pool, desk, index=None, set="mine", topic="0", rankers=many)
    with pytest.raises(SettingError, match="unknown scorer 'nosuch'"):
        pool.pool(desk, index=None, set="mine", topic="0", rankers=["nosuch"])


def test_a_ranking_is_searched_once(desk, monkeypatch):
    judge_topics(desk, n_topics=2)
    opened = desk.shelf.get(None)
    asked = []
    engine = opened.engine
    search = type(engine).search
    monkeypatch.setattr(type(engine), "search", lambda *a, **k: asked.append(1) or search(*a, **k))
    settings = {"index": None, "set": "mine", "topic": "1", "rankers": ["tfidf"], "depth": 4}
    first = pool.pool(desk, **settings)
    n = len(asked)
    assert n > 0
    assert pool.pool(desk, **settings) == first
    assert len(asked) == n
    assert len(pool.pool(desk, **settings | {"depth": 5})["documents"]) == 5
    assert len(asked) > n


# What to judge next.


def test_what_could_change_the_comparison_comes_first(desk):
    judge_topics(desk, n_topics=2, grades=lambda qid: {f"{qid}-good0": 1})
    rankers = {"left": "bm25", "right": "dirichlet"}
    found = pool.what_next(desk, index=None, set="mine", **rankers, measure="P@3", depth=8, n=20)
    assert (found["measure"], found["left"]["name"], found["right"]["name"]) == ("P@3", "bm25", "dirichlet")
    opened = desk.shelf.get(None)
    for qid in ("0", "1"):
        tops = [set(opened.system(name).search(f"w{qid}", k=3).docnos) for name in rankers.values()]
        swings = {each["id"]: each["swing"] for each in found["documents"] if each["qid"] == qid}
        for docno, swing in swings.items():
            # One that both have among their first three changes nothing; else P@3 by 1/3 in one of two topics.
            assert swing == pytest.approx(1 / 6 if (docno in tops[0]) != (docno in tops[1]) else 0)
        assert f"{qid}-good0" not in swings
    assert [each["swing"] for each in found["documents"]] == sorted(
        (each["swing"] for each in found["documents"]), reverse=True
    )
    first = found["documents"][0]
    assert first["text"] == f"w{first['qid']}"
    assert first["title"] in ("f3 f4", f"w{first['qid']} f2")


def test_a_measure_without_a_cutoff_looks_at_whole_rankings(desk):
    """Deeper than documents are proposed: what lies below them counts too, as where rankers are measured."""
    judge_topics(desk, n_topics=4, grades=lambda qid: {f"{qid}-good0": 1, f"{qid}-bad4": 1})
    left, right = "bm25", "bm25+rm3"
    measured = measure.measure(desk, index=None, set="mine", rankers=[left, right], measures=["AP"])
    means = {each["name"]: each["means"]["AP"] for each in measured["rankers"]}
    found = pool.what_next(desk, index=None, set="mine", left=left, right=right, measure="AP", depth=2)
    assert found["difference"] == pytest.approx(means[left] - means[right])
    assert means[left] != means[right]


def test_next_compares_two_rankers(desk):
    judge_topics(desk, n_topics=1)
    assert "two different" in refused(400, pool.what_next, desk, index=None, set="mine", left="bm25", right="bm25")
    assert "no set" in refused(404, pool.what_next, desk, index=None, set="none", left="bm25", right="jm")


# In and out.


def test_what_goes_out_comes_in_again(desk):
    judge_topics(desk, n_topics=2)
    qrels, topics = (
        function(desk, index=None, set="mine") for function in (judge_api.export_qrels, judge_api.export_topics)
    )
    assert topics == "0\tw0\n1\tw1\n"
    assert qrels.startswith("0 0 0-bad4 0\n0 0 0-good0 1\n")
    added = judge_api.import_(desk, index=None, set="again", topics=topics, qrels=qrels, judge="bob")
    assert added == {"index": "it", "set": "again", "n_topics": 2, "n_judgments": 8}
    assert desk.store(None).grades("again") == desk.store(None).grades("mine")
    assert judge_api.export_qrels(desk, index=None, set="again", judge="ann") == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"topics": "1\tone\n", "qrels": "1 0 d"}, "qrels:1"),
        ({"topics": "1\tone\n", "qrels": "2 0 d 1"}, "judgments for topics that are not in the set"),
        ({}, "nothing to import"),
        ({"topics": "1\tone\n", "own": True}, "own is for what came with the documents"),
        ({"topics": "1\tone\n", "judge": ""}, "judge is empty"),
    ],
)
def test_a_malformed_file_is_told_and_changes_nothing(desk, given, told):
    with pytest.raises((Failure, SettingError), match=told) as refusal:
        judge_api.import_(desk, index=None, set="s", **{"judge": "ann"} | given)
    assert getattr(refusal.value, "status", 400) == 400
    assert desk.store(None).sets() == []


@pytest.fixture
def collected(build, desk, tmp_path, monkeypatch):
    """The index was made from a collection with topics and judgments."""
    (tmp_path / "topics.tsv").write_text("1\tw1\n2\tw2\n")
    (tmp_path / "qrels.txt").write_text("1 0 1-good0 2\n1 0 elsewhere 1\n2 0 2-bad4 0\n9 0 1-good0 1\n")
    collection = Collection(tmp_path, tmp_path / "docs.jsonl", (tmp_path / "topics.tsv",), (tmp_path / "qrels.txt",))
    monkeypatch.setattr(
        collection_topics, "collections_of", lambda folder: [replace(collection, topics=()), collection]
    )
    monkeypatch.setattr(collection_topics, "_REMEMBERED", Memory(8))
    return tmp_path


def test_what_came_with_the_documents_is_offered_and_imported(desk, collected):
    assert judge_api.sets(desk, index=None)["own"] == {"n_topics": 2, "n_judgments": 3}
    added = judge_api.import_(desk, index=None, set="own", own=True)
    assert (added["n_topics"], added["n_judgments"]) == (2, 3)
    assert desk.store(None).grades("own") == {"1": {"1-good0": 2, "elsewhere": 1}, "2": {"2-bad4": 0}}
    assert desk.store(None).sets()[0].judges == ("collection",)


def test_a_collection_without_judgments_brings_topics(desk, collected, monkeypatch):
    (only_topics,) = collection_topics.collections_of(None)[1:]
    monkeypatch.setattr(collection_topics, "collections_of", lambda folder: [replace(only_topics, qrels=())])
    assert judge_api.sets(desk, index=None)["own"] == {"n_topics": 2, "n_judgments": 0}


def test_a_collection_that_cannot_be_read_offers_nothing(desk, collected):
    (collected / "qrels.txt").write_text("nonsense\n")
    assert judge_api.sets(desk, index=None)["own"] is None
    with pytest.raises(NotFound, match="have no topics"):
        judge_api.import_(desk, index=None, set="own", own=True)


# Entries of the API.


def entry(method, path) -> Endpoint:
    return next(each for each in judge_api.ENDPOINTS if (each.method, each.path) == (method, path))


def test_every_entry_takes_what_its_function_takes(desk):
    judge_topics(desk)
    given = {"id": "0-good0", "grade": None, "query": "w0", "judge": "ann"}
    asked = read_body(entry("POST", "/api/judgments").parameters, given)
    assert entry("POST", "/api/judgments").answer(desk, **asked)["grade"] is None
    assert asked["note"] is None
    for grade in (3, -1, "1", True):
        with pytest.raises(Failure, match="grade is"):
            read_body(entry("POST", "/api/judgments").parameters, given | {"grade": grade})
    with pytest.raises(Failure, match="grade is missing"):
        read_body(entry("POST", "/api/judgments").parameters, {"id": "x"})


def test_only_what_writes_is_posted():
    writes = {each.path for each in judge_api.ENDPOINTS if each.is_write}
    assert writes == {"/api/topics", "/api/judgments", "/api/judgments/undo", "/api/import"}
    assert {each.path for each in judge_api.ENDPOINTS if each.text} == {"/api/export/qrels", "/api/export/topics"}


# What is remembered.


class State:
    """Stands for one state of an index."""


def test_memory_forgets_what_was_not_asked_for_the_longest():
    memory, made = Memory(10), []

    def ask(key, weight, state=None):
        return memory.get(state or one, key, lambda: made.append(key) or (key, weight), lambda value: value[1])

    one, other = State(), State()
    ask("a", 4), ask("b", 4), ask("a", 4)
    assert made == ["a", "b"]
    ask("c", 4)
    assert len(memory) == 2
    ask("a", 4), ask("c", 4)
    assert made == ["a", "b", "c"]
    ask("b", 4)
    assert made == ["a", "b", "c", "b"]
    ask("huge", 11), ask("huge", 11)
    assert made[4:] == ["huge", "huge"]
    assert ask("c", 4, other) == ("c", 4)
    assert made[-1] == "c"


def test_memory_does_not_hold_on_to_states():
    import gc
    import weakref

    memory, state = Memory(10), State()
    memory.get(state, "a", lambda: 1)
    gone = weakref.ref(state)
    del state
    gc.collect()
    assert gone() is None
    assert memory.get(State(), "a", lambda: 2) == 2
