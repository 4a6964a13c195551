"""Topics, judgments and runs from files, dicts, lists and DataFrames."""

from collections import namedtuple

import pytest

import searchlab
from searchlab.corpus import Qrels, Run
from searchlab.corpus.values.conversion import make_grades, make_qrels, make_rankings, make_run, make_topics
from searchlab.errors import DuplicateError, RecordError, SearchlabError, SettingError
from searchlab.records import Ranking, Topic

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TOPICS = [Topic("7", "heat flow"), Topic("x", "wings")]
Query = namedtuple("Query", ["query_id", "text"])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "topics.tsv").write_text("7\theat flow\nx\twings\n")
    (tmp_path / "qrels.txt").write_text("7 0 a 1\n7 0 b 0\n")
    (tmp_path / "run.txt").write_text("7 Q0 b 1 2.5 t\n7 Q0 a 2 1.5 t\n")
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        {"7": "heat flow", "x": "wings"},
        {7: " heat\n flow ", "x": "wings"},
        [("7", "heat flow"), ("x", "wings")],
        [(7, "heat flow"), ["x", "wings"]],
        [Query("7", "heat flow"), Query("x", "wings")],
        [{"qid": 7, "query": "heat flow"}, {"query_id": "x", "text": "wings"}],
        iter(TOPICS),
        TOPICS,
        [TOPICS[0], ("x", "wings")],
        pd.DataFrame({"qid": ["7", "x"], "query": ["heat flow", "wings"]}),
        pd.DataFrame({"query_id": ["7", "x"], "text": ["heat flow", "wings"]}, index=[5, 5]),
        pl.DataFrame({"qid": ["7", "x"], "query": ["heat flow", "wings"], "note": [None, None]}),
    ],
)
def test_topics_of_every_kind_are_the_same(given):
    assert make_topics(given) == TOPICS


def test_topics_are_read_from_a_file_by_its_path(files):
    assert make_topics(files / "topics.tsv") == make_topics(str(files / "topics.tsv")) == TOPICS


def test_texts_are_numbered_from_1():
    assert make_topics(["wings", "heat flow"]) == [Topic("1", "wings"), Topic("2", "heat flow")]
    assert make_topics(pd.DataFrame({"qid": [1], "query": ["wings"]})) == [Topic("1", "wings")]


def test_the_other_columns_of_topics_are_fields():
    frame = pd.DataFrame({"qid": ["7"], "query": ["heat"], "narr": ["about heat"], "year": [1990]})
    assert make_topics(frame) == [Topic("7", "heat", {"narr": "about heat", "year": "1990"})]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (3, "topics is a value of type int, expected a file, a dict {qid: text}, a DataFrame, or a list of Topics"),
        (b"1\ta", "topics is a value of type bytes, expected a file"),
        ([3], "topic 1 is a value of type int, expected a file, a dict"),
        ([("1", "a", "b")], "topic 1 is 3 values, expected"),
        (["a", None], "topic 2 is a value of type NoneType, expected"),
        ({"1": None}, "topics: expected a text for topic 1, found none"),
        ({"1": 2.5, "a b": "x"}, "topics: expected a qid without blanks, found 'a b'"),
        (
            [("1", object())],
            "topic 1: expected text, a number, a date, a list or a dict as query, found",
        ),
        (pd.DataFrame({"qid": ["1", None], "query": ["a", "b"]}), "row 2: expected a qid (one of qid, query_id,"),
        (pd.DataFrame({"qid": [1.5], "query": ["a"]}), "row 1: qid is 1.5 of type float, expected text or"),
        (pd.DataFrame({"qid": ["1"], "words": ["a"]}), "row 1: expected a text for topic 1, found only words"),
        ([("1", "a"), (1, "b")], "topic 2: topic 1 occurs already at topic 1"),
    ],
)
def test_what_is_no_topic_is_named(given, complaint):
    with pytest.raises(SearchlabError) as caught:
        make_topics(given)
    assert str(caught.value).startswith(complaint)
    assert isinstance(caught.value, SettingError | RecordError | DuplicateError)


@pytest.mark.parametrize(
    "given",
    [
        {"7": {"a": 1, "b": 0}},
        Qrels({"7": {"a": 1, "b": 0}}),
        [("7", "a", 1), (7, "b", 0)],
        iter([["7", "a", True], ["7", "b", False]]),
        pd.DataFrame({"qid": [7, 7], "docno": ["a", "b"], "label": [1, 0]}),
        pl.DataFrame({"query_id": ["7", "7"], "doc_id": ["a", "b"], "relevance": [1, 0]}),
    ],
)
def test_judgments_of_every_kind_are_the_same(given, files):
    assert make_qrels(given) == make_qrels(str(files / "qrels.txt")) == {"7": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    "given",
    [
        {"7": {"a": 1.5, "b": 2.5}},
        Run.from_dict({"7": {"a": 1.5, "b": 2.5}}),
        [("7", "a", 1.5), (7, "b", 2.5)],
        [Ranking("7", ["a", "b"], [1.5, 2.5])],
        pd.DataFrame({"qid": [7, 7], "docno": ["a", "b"], "score": [1.5, 2.5], "rank": [1, 0]}),
    ],
)
def test_runs_of_every_kind_are_the_same(given, files):
    expected = [Ranking("7", ["b", "a"], [2.5, 1.5])]
    assert list(make_run(given)) == list(make_run(files / "run.txt")) == expected
    assert searchlab.evaluate_run(files / "qrels.txt", given, "P@1").means == {"P@1": 0.0}


def test_rankings_are_passed_on_as_they_are():
    unsorted = [Ranking("7", ["a", "b"], [1.5, 2.5])]
    assert make_rankings(unsorted) is unsorted
    assert make_rankings(iter(unsorted)) == unsorted
    assert list(make_rankings({"7": {"a": 1.5, "b": 2.5}})) == [Ranking("7", ["b", "a"], [2.5, 1.5])]


def test_grades_of_features_may_be_any_numbers(files):
    halves = {"7": {"a": 0.5}}
    assert make_grades(halves) is halves
    assert make_grades(files / "qrels.txt") == {"7": {"a": 1, "b": 0}}


def test_an_evaluation_has_the_name_of_its_run(files):
    assert searchlab.evaluate_run(files / "qrels.txt", files / "run.txt", "AP").name == "run"
    run = Run.from_dict({"7": {"a": 1.5}}, name="mine")
    assert searchlab.evaluate_run({"7": {"a": 1}}, run, "AP").name == "mine"
    assert searchlab.evaluate_run({"7": {"a": 1}}, run, "AP", name="ours").name == "ours"


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: make_qrels(None), "qrels is a value of type NoneType, expected a file, Qrels, a dict"),
        (lambda: make_qrels([("1", "a")]), "item 1 is 2 values, expected a file, Qrels, a dict"),
        (lambda: make_qrels(["1 0 a 1"]), "item 1 is a value of type str, expected a file, Qrels"),
        (lambda: make_run(3.5), "run is a value of type float, expected a file, a Run, a dict"),
        (lambda: make_run([Ranking("1", ["a"], [1]), 3]), "item 1 is a value of type Ranking, expected"),
    ],
)
def test_what_is_neither_is_named_with_its_type(call, complaint):
    with pytest.raises(SettingError) as caught:
        call()
    assert str(caught.value).startswith(complaint)


def test_values_of_ranx_and_ir_measures_are_taken():
    run = searchlab.make_run({"2": {"b": 1.0}, "10": {"a": 3.0, "b": 2.0}})
    qrels = Qrels.from_dict({"2": {"b": 1}, "10": {"a": 0}})
    pytest.importorskip("ir_measures")
    assert searchlab.make_run(run.to_ir_measures()) == run
    assert searchlab.make_qrels(qrels.to_ir_measures()) == qrels
    pytest.importorskip("ranx")
    assert searchlab.make_run(run.to_ranx()) == searchlab.Run.from_ranx(run.to_ranx()) == run
    assert searchlab.make_qrels(qrels.to_ranx()) == qrels


def test_runs_are_equal_in_any_order_of_topics():
    one = {"1": {"a": 1.0}, "2": {"b": 1.0}}
    run = searchlab.make_run(one)
    assert searchlab.make_run(dict(reversed(one.items()))) == run
    assert searchlab.make_run({"2": {"b": 1.0}, "1": {"a": 2.0}}) != run
    assert searchlab.make_run({"2": {"b": 1.0}}) != run


def test_a_whole_number_is_the_qid_of_a_run():
    run = searchlab.make_run({1: {"a": 1.0}})
    assert run[1] == run["1"]
    assert 1 in run and 2 not in run and True not in run
    with pytest.raises(KeyError, match="topic '2' is not in run"):
        run[2]


@pytest.mark.parametrize("read", [searchlab.Run.read, searchlab.Qrels.read, searchlab.read_topics])
@pytest.mark.parametrize("wrong", [None, 5])
def test_reading_what_is_no_path_is_our_error(read, wrong):
    with pytest.raises(SettingError, match="expected the path of a file"):
        read(wrong)


def test_results_of_ir_measures_are_records():
    with pytest.raises(SettingError, match="found a int, expected records with query_id"):
        searchlab.Run.from_ir_measures(5)


def test_ids_that_are_floats_or_an_index_are_refused_with_the_remedy():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    floats = pd.DataFrame({"qid": [1.0, 2.0], "query": ["a", "b"], "docno": ["a", "b"], "score": [1, 2]})
    remedy = r"expected text or a whole number \(pandas makes .*: astype\('Int64'\)"
    with pytest.raises(SearchlabError, match=f"row 1: qid is 1.0 of type float, {remedy}"):
        searchlab.make_topics(floats)
    with pytest.raises(SearchlabError, match=f"row 1: qid is '1.0' of type float, {remedy}"):
        searchlab.make_run(floats)
    for make in (searchlab.make_topics, searchlab.make_run, searchlab.make_qrels):
        with pytest.raises(
            SearchlabError, match=r"expected also: .*\(qid is its index: call its method reset_index\(\)"
        ):
            make(floats.set_index("qid"))
        with pytest.raises(SearchlabError, match=r"type LazyFrame, expected .* \(call its method collect\(\) first\)"):
            make(pl.LazyFrame({"qid": ["1"]}))
