"""Scores computed elsewhere: read from files and values, joined by topic and document, NaN where there is none."""

from math import isnan, nan

import pytest

import searchlab
from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError
from searchlab.features.candidates import judged
from searchlab.features.descriptions import describe_feature
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import find_feature
from searchlab.features.user_defined.external_features import count_missing_scores
from searchlab.records import Document, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine

SCORES = {"1": {"a": 0.5, "b": -2.0}, "2": {"a": 1000.0}}
FILES = {
    "tabs": "1\ta\t0.5\n1\tb\t-2\n2\ta\t1e3\n",
    "blanks": "1 a 0.5\n1  b   -2\n\n2 a 1e3",
    "commas": "1,a,0.5\n1,b,-2\n2,a,1e3\n",
    "header": "qid,docno,neural\n1,a,0.5\n1,b,-2\n2,a,1e3\n",
    "other order": "\ufeffdocid\tscore\tquery_id\r\na\t0.5\t1\r\nb\t-2\t1\r\na\t1e3\t2\r\n",
    "quotes": '"query-id","corpus-id","score"\n"1","a","0.5"\n"1","b","-2"\n"2","a","1e3"\n',
    "run": "1 Q0 a 1 0.5 tag\n1 Q0 b 2 -2 tag\n2 Q0 a 1 1e3 tag\n",
}


@pytest.mark.parametrize("form", FILES)
def test_every_form_of_file_has_the_same_scores(tmp_path, form):
    path = tmp_path / "scores"
    path.write_text(FILES[form], encoding="utf-8", newline="")
    feature = searchlab.external_feature("neural", path)
    assert feature.scores == SCORES
    assert (feature.name, feature.source) == ("external.neural", str(path))


VALUES = {
    "mapping": SCORES,
    "triples": [("1", "a", 0.5), ("1", "b", -2), ("2", "a", 1000)],
    "triples of other types": ((1, "a", "0.5"), (1, "b", -2), (2, "a", 1000.0)),
    "rankings": [Ranking("1", ["a", "b"], [0.5, -2.0]), Ranking("2", ["a"], [1000.0])],
    "run": searchlab.Run.from_dict(SCORES),
}


@pytest.mark.parametrize("form", VALUES)
def test_every_form_of_value_has_the_same_scores_and_version(form):
    feature = searchlab.external_feature("neural", VALUES[form])
    assert feature.scores == SCORES
    assert feature.version == searchlab.external_feature("other", SCORES).version
    assert feature.version != searchlab.external_feature("other", {"1": {"a": 0.5}}).version


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("1 a 0.5\n1 b\n", RecordError, "scores:2: expected 3 columns, found 2"),
        ("1 a 0.5 x\n", RecordError, "scores:1: expected 3 columns, or the 6 of a run, found 4"),
        ("1 a high\n", RecordError, "scores:1: expected a number as score, found 'high'"),
        ("1 a inf\n", RecordError, "scores:1: score is inf, expected a finite number"),
        ("1 a 1\n1 b 2\n1 a 3\n", DuplicateError, "scores:3: document a of topic 1 has two scores, expected one"),
        ("qid docno score\n", SourceError, "scores: holds no scores"),
        ("", SourceError, "scores: holds no scores"),
    ],
)
def test_a_malformed_file_is_one_line_with_its_place(tmp_path, text, error, message):
    (tmp_path / "scores").write_text(text)
    with pytest.raises(error) as caught:
        searchlab.external_feature("neural", tmp_path / "scores")
    assert str(caught.value) == f"{tmp_path}/{message}"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (7, "external.neural: found int, expected a mapping, triples of qid, docno, score, rankings, or a DataFrame"),
        ([("1", "a")], "external.neural: found list, expected a mapping"),
        ({"1": [("a", 1)]}, "external.neural: topic 1 has a list, expected a dict"),
        ([(1.5, "a", 1)], "row 1: qid is '1.5' of type float, expected text or a whole number"),
        ({}, "external.neural: found no scores"),
        ([("1", "a", "x")], "external.neural, row 1: expected a number as score, found 'x'"),
    ],
)
def test_other_values_are_refused(scores, message):
    with pytest.raises(searchlab.SearchlabError, match=message):
        searchlab.external_feature("neural", scores)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "names", [("qid", "docno", "score"), ("query_id", "doc_id", "neural"), ("qid", "docno", "value")]
)
def test_a_dataframe_has_the_scores_under_known_names_or_that_of_the_feature(library, names):
    frames = pytest.importorskip(library)
    columns = dict(zip(names, [[1, 1, 2, 2], ["a", "b", "a", "b"], [0.5, -2, 1000, None]], strict=True))
    feature = searchlab.external_feature("neural", frames.DataFrame(columns))
    assert isnan(feature.scores["2"]["b"])  # type: ignore[index]
    assert {
        qid: {docno: score for docno, score in of.items() if score == score} for qid, of in feature.scores.items()
    } == SCORES
    with pytest.raises(SettingError, match="expected also: other or score or value"):
        searchlab.external_feature("other", frames.DataFrame({"qid": [1], "docno": ["a"], "x": [1]}))


@pytest.mark.parametrize("name", ["", "two words", "a,b", "a=b", None])
def test_a_name_is_a_word(name):
    with pytest.raises(SettingError, match=r"external feature is called .*, expected a word without blanks and commas"):
        searchlab.external_feature(name, SCORES)


@pytest.fixture(scope="module")
def engine(build):
    with SearchEngine(build([Document(docno, "t", "w") for docno in "abc"])) as opened:
        yield opened


TOPICS = [Topic("1", "w"), Topic("2", "t"), Topic("3", "w t")]


def make_table(engine, feature, topics=TOPICS):
    candidates = judged(engine, {topic.qid: dict.fromkeys("abc", 0) for topic in topics})
    return extract(engine, topics, candidates, ["doc.both.length", feature])


def test_scores_are_joined_by_topic_and_document(engine):
    table = make_table(engine, searchlab.external_feature("neural", SCORES))
    assert table.names == ("doc.both.length", "external.neural")
    expected = [0.5, -2, nan, 1000, nan, nan, nan, nan, nan]
    assert table.column("external.neural").tolist() == pytest.approx(expected, nan_ok=True)
    assert count_missing_scores(table) == {"external.neural": 6}
    assert count_missing_scores(table.select(["doc.both.length"])) == {}


def test_scores_of_other_topics_or_documents_are_refused(engine):
    message = "external.neural has no score for any of 9 pairs of topic and document, expected the qids and docnos"
    with pytest.raises(SettingError, match=message):
        make_table(engine, searchlab.external_feature("neural", {"q1": {"a": 1}, "1": {"A": 1}}))


def test_a_name_without_scores_is_refused_with_the_option():
    with pytest.raises(
        SettingError, match=r"external.neural is computed elsewhere: expected its scores, by --external neural=FILE"
    ):
        find_feature("external.neural")
    assert describe_feature("external.neural") == "neural, computed elsewhere"


def test_topics_must_have_scores_and_different_texts():
    feature = searchlab.external_feature("neural", SCORES)
    feature.check_topics(TOPICS[:2])
    with pytest.raises(SettingError, match=r"external.neural has no scores for topic 3, expected some for each topic"):
        feature.check_topics(TOPICS)
    with pytest.raises(SettingError, match="topics 1 and 2 have the same text, expected different ones"):
        feature.check_topics([Topic("1", "w"), Topic("2", "w")])
