"""Plans of imports: topics that are known, new ones, documents that are not in the index."""

import pytest

from searchlab.judgments.exchange.import_plan import describe_import, plan_import
from searchlab.judgments.exchange.judgment_tables import read_judgment_table
from searchlab.judgments.judgment_store import JudgmentStore

DOCUMENTS = {"d1": "d1", "d2": "d2", "10.1000/x": "d3"}


@pytest.fixture
def store(tmp_path):
    with JudgmentStore(tmp_path / "it.judgments.sqlite") as store:
        yield store


def plan(store, content, topic_set="mine"):
    return plan_import(store, topic_set, read_judgment_table(content), DOCUMENTS.get)


def test_known_queries_keep_their_topics_and_new_ones_get_free_numbers(store):
    store.add_topic("mine", "Heart failure", "1")
    found = plan(store, b"query,docid,rating\nheart  FAILURE,d1,2\nlymphoma,d2,1\nlymphoma,10.1000/x,0\nasthma,,\n")
    assert [(topic.qid, topic.text) for topic in found.topics] == [
        ("1", "Heart failure"),
        ("2", "lymphoma"),
        ("3", "asthma"),
    ]
    assert found.grades == {"1": {"d1": 2}, "2": {"d2": 1, "d3": 0}}
    assert found.n_judgments == 3


def test_what_cannot_be_added_is_listed_and_the_rest_is(store):
    store.add_topic("mine", "heart failure", "7")
    found = plan(
        store, b"qid,query,docid,rating\n1,lymphoma,nowhere,1\n7,other words,d1,1\n8,,d1,1\na b,x,d1,1\n2,y,d1,1\n"
    )
    assert [(each.line, each.problem.split(",")[0]) for each in found.unread] == [
        (2, "the document 'nowhere' is not in the index"),
        (3, "the set has another topic with the qid '7'"),
        (4, "no topic of the set has the qid '8': import the topics first"),
        (5, found.unread[3].problem.split(",")[0]),
    ]
    assert found.grades == {"2": {"d1": 1}}


def test_a_line_of_separators_is_no_topic(store):
    found = plan(store, b"query,docid,rating\nlymphoma,d1,2\n;;;,,\n--,d1,1\n")
    assert [topic.text for topic in found.topics] == ["lymphoma"]
    assert [(each.line, each.problem) for each in found.unread] == [
        (3, "the query has no words"),
        (4, "the query has no words"),
    ]


def test_what_else_of_a_file_is_not_imported_is_remarked(store):
    found = plan(store, b"query,docid,rating,who\nlymphoma,d1,2,ann\nlymphoma,d1,1,bob\nlymphoma,d1,1,cy\n")
    assert found.grades == {"1": {"d1": 1}}
    assert found.remarks == (
        "1 line gives a document another grade: the last counts.",
        "The column 'who' is not used.",
    )
    several = plan(store, b"query,docid,rating,who,when\nx,d1,2,,\nx,d1,1,,\nx,d1,0,,\n").remarks
    assert several == (
        "2 lines give a document another grade: the last counts.",
        "The columns 'who', 'when' are not used.",
    )
    assert plan(store, b"lymphoma,d1,2\nlymphoma,d1,2\n").remarks == ()


def test_an_import_is_said_in_a_sentence_and_repeating_it_adds_nothing(store):
    content = b"query,docid,rating\nlymphoma,d1,2\nlymphoma,d2,0\nasthma,d9,1\n"
    for sentence in (
        "1 topic, 2 judgments added; 1 line not understood",
        "0 topics, 0 judgments added; 3 entries were there already; 1 line not understood",
    ):
        planned = plan(store, content)
        added = store.import_judgments("mine", planned.topics, planned.grades, judge="ann")
        assert describe_import(added, len(planned.unread)) == sentence
    added = store.import_judgments("mine", planned.topics, {}, judge="ann")
    assert describe_import(added, 0) == "0 topics, 0 judgments added; 1 entry was there already"
