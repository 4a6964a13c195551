"""Runs and judgments as values: from and to dicts, DataFrames, files, ranx and ir_measures."""

import gzip
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.corpus import Qrels, Run
from searchlab.errors import DuplicateError, RecordError, SearchlabError, SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.records import Ranking

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
# Topic 2 first, interleaved; of the equal scores "b" is before "a", as in trec_eval.
SCORES = {"2": {"a": 1.5, "b": 1.5, "c": 9.0}, "1": {"a": -1.0}}
RANKINGS = [Ranking("2", ["c", "b", "a"], [9.0, 1.5, 1.5]), Ranking("1", ["a"], [-1.0])]
GRADES = {"2": {"a": 1, "c": 0}, "1": {"z": -2}}
WORDS = st.text("abXY019-é", min_size=1, max_size=5)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(params=FRAMES)
def frame(request):
    """Make a DataFrame of either library."""
    return FRAMES[request.param]


def test_a_run_is_ordered_as_by_trec_eval_and_knows_its_columns():
    run = Run.from_columns(["2", "1", "2", "2"], ["a", "a", "b", "c"], [1.5, -1.0, 1.5, 9.0], name="mine")
    assert list(run) == RANKINGS
    assert (len(run), run.n_rows, run.query_ids) == (2, 4, ("2", "1"))
    assert run.qids.tolist() == ["2", "2", "2", "1"]
    assert run.docnos.tolist() == ["c", "b", "a", "a"]
    assert run.scores.tolist() == [9.0, 1.5, 1.5, -1.0]
    assert run.ranks.tolist() == [1, 2, 3, 1]
    assert run["1"] == RANKINGS[1]
    assert "1" in run
    assert "3" not in run
    assert repr(run) == "<Run mine: 2 topics, 4 documents>"
    with pytest.raises(KeyError, match="topic '3' is not in run mine; it has 2, 1"):
        run["3"]


def test_runs_with_the_same_rankings_are_equal_whatever_their_names():
    run = Run.from_dict(SCORES, name="one")
    assert run == Run.from_rankings(RANKINGS, name="another")
    assert run != Run.from_dict({**SCORES, "1": {"a": -2.0}})
    assert run != Run.from_dict({**SCORES, "1": {"b": -1.0}})
    assert run != Run.from_dict({**SCORES, "1": {}})
    assert run != RANKINGS
    with pytest.raises(TypeError):
        hash(run)


def test_a_topic_without_documents_is_kept_and_so_scores_nothing():
    rankings = [Ranking("3", [], []), *RANKINGS, Ranking("4", [], [])]
    run = Run.from_rankings(rankings)
    assert list(run) == rankings
    assert run == Run.from_dict({"3": {}, **SCORES, "4": {}})
    assert run.to_dict() == {"3": {}, "2": {"c": 9.0, "b": 1.5, "a": 1.5}, "1": {"a": -1.0}, "4": {}}
    assert (run["4"].docnos, run["2"].docnos) == ([], ["c", "b", "a"])
    assert len(Run.from_rankings([])) == 0
    qrels = {"3": {"a": 1}, "2": {"c": 1}}
    assert evaluate_run(qrels, run, "P@1").values.tolist() == [[0.0], [1.0]]


@given(scores=st.dictionaries(WORDS, st.dictionaries(WORDS, NUMBERS, min_size=1), min_size=1), polars=st.booleans())
def test_a_run_survives_dataframes_dicts_and_rankings(scores, polars):
    run = Run.from_dict(scores)
    expected = {
        qid: sorted(found, key=lambda docno: (found[docno], docno.encode()), reverse=True)
        for qid, found in scores.items()
    }
    assert {ranking.qid: ranking.docnos for ranking in run} == expected
    assert Run.from_dict(run.to_dict()) == run
    assert Run.from_rankings(run) == run
    assert Run.from_dataframe(run.to_dataframe(polars=polars)) == run


@pytest.mark.parametrize("polars", [False, True])
def test_a_run_becomes_a_dataframe_with_a_row_for_each_document(polars):
    found = Run.from_dict(SCORES).to_dataframe(polars=polars)
    assert type(found) is (pl.DataFrame if polars else pd.DataFrame)
    assert list(found.columns) == ["qid", "docno", "rank", "score"]
    assert [list(found[name]) for name in found.columns] == [
        ["2", "2", "2", "1"],
        ["c", "b", "a", "a"],
        [1, 2, 3, 1],
        [9.0, 1.5, 1.5, -1.0],
    ]


@pytest.mark.parametrize("qid", ["qid", "query_id", "q_id"])
@pytest.mark.parametrize("docno", ["docno", "doc_id", "docid"])
def test_columns_are_found_by_the_names_of_every_tool(frame, qid, docno):
    found = frame({qid: ["2", "1", "2", "2"], docno: ["a", "a", "b", "c"], "score": [1.5, -1.0, 1.5, 9.0]})
    assert list(Run.from_dataframe(found)) == RANKINGS
    for grade in ("relevance", "label", "rel", "score"):
        judged = frame({docno: ["a", "c", "z"], qid: ["2", "2", "1"], grade: [1, 0, -2]})
        assert Qrels.from_dataframe(judged) == GRADES


def test_the_docno_of_pyterrier_is_preferred_to_its_internal_number(frame):
    found = frame({"qid": ["1"], "docid": [17], "docno": ["a"], "rank": [0], "score": [2.0], "query": ["x"]})
    assert list(Run.from_dataframe(found)) == [Ranking("1", ["a"], [2.0])]
    assert Qrels.from_dataframe(frame({"qid": ["1"], "docno": ["a"], "label": [1], "score": [2.5]})) == {"1": {"a": 1}}


def test_whole_numbers_as_ids_become_text(frame):
    assert list(Run.from_dataframe(frame({"qid": [7], "docno": [10], "score": [1]}))) == [Ranking("7", ["10"], [1.0])]
    assert Run.from_dict({7: {np.int64(10): 1}}) == Run.from_dict({"7": {"10": 1.0}})
    assert Qrels.from_dict({7: {10: True}}) == {"7": {"10": 1}}
    assert Qrels.from_dataframe(frame({"qid": [7], "docno": [10], "relevance": [2.0]})) == {"7": {"10": 2}}


def test_nullable_and_categorical_columns_of_pandas_are_read():
    found = pd.DataFrame(
        {
            "qid": pd.Series([7, 7], dtype="Int64"),
            "docno": pd.Series(["a", "b"], dtype="category"),
            "score": pd.Series([1, 2.5], dtype="Float64"),
        }
    )
    assert list(Run.from_dataframe(found)) == [Ranking("7", ["b", "a"], [2.5, 1.0])]
    found["score"] = pd.Series([1, None], dtype="Float64")
    with pytest.raises(RecordError, match=r"^row 2: has no score, expected a finite number$"):
        Run.from_dataframe(found)


MISTAKES = [
    ({"qid": ["1"], "doc": ["a"], "Score": [1]}, "the DataFrame has the columns qid, doc, Score; expected also: "),
    (
        {"qid": [1.0, None], "docno": ["a", "b"], "score": [1.0, 2.0]},
        "row 1: qid is '1.0' of type float, expected text",
    ),
    ({"qid": ["1", None], "docno": ["a", "b"], "score": [1.0, 2.0]}, "row 2: has no qid"),
    (
        {"qid": ["1", "1"], "docno": ["a", "b c"], "score": [1.0, 2.0]},
        "row 2: expected a docno without blanks and control",
    ),
    ({"qid": ["1", "1"], "docno": ["a", ""], "score": [1.0, 2.0]}, "characters, found an empty one"),
    (
        {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, math.nan]},
        "row 2: score is nan, expected a finite number",
    ),
    (
        {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, math.inf]},
        "row 2: score is inf, expected a finite number",
    ),
    ({"qid": ["1", "1"], "docno": ["a", "b"], "score": ["1", "2"]}, "row 1: score is of type str, expected a finite"),
    (
        {"qid": ["1", "2", "1"], "docno": ["a"] * 3, "score": [1, 2, 3]},
        "row 3: document a of topic 1 occurs already as row 1",
    ),
]


@pytest.mark.parametrize(("columns", "complaint"), MISTAKES)
def test_what_is_wrong_in_a_dataframe_is_named_by_its_row(frame, columns, complaint):
    with pytest.raises(SearchlabError) as caught:
        Run.from_dataframe(frame(columns))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_of_floats_says_where_the_floats_may_come_from():
    with pytest.raises(RecordError, match=r"whole numbers beside missing values floats: astype\('Int64'\)"):
        Qrels.from_dataframe(pd.DataFrame({"qid": [1, None], "docno": ["a", "b"], "rel": [1, 1]}))


@pytest.mark.parametrize(
    ("grade", "complaint"),
    [
        (0.5, "row 1: relevance is 0.5, expected a whole number as grade"),
        (math.nan, "row 1: relevance is nan, expected a whole number as grade"),
        (10**9, "row 1: relevance is 1000000000.0, expected a whole number as grade"),
        ("1", "row 1: relevance is of type str, expected a whole number as grade"),
        (Decimal(1), "row 1: relevance is of type Decimal, expected a whole number as grade"),
        (None, "row 1: has no relevance, expected a whole number as grade"),
        (10**400, "a relevance is too large, expected a whole number as grade"),
    ],
)
def test_grades_are_whole_numbers(grade, complaint):
    with pytest.raises(SearchlabError) as caught:
        Qrels.from_dict({"1": {"a": grade}})
    assert str(caught.value) == complaint


def test_a_pair_may_be_repeated_with_its_grade_but_not_with_another(frame):
    columns = {"qid": ["1", "2", "1"], "docno": ["a", "a", "a"]}
    assert Qrels.from_dataframe(frame({**columns, "rel": [1, 0, 1]})) == {"1": {"a": 1}, "2": {"a": 0}}
    with pytest.raises(DuplicateError, match="row 3: document a of topic 1 has the grade 0, but 1 in an earlier row"):
        Qrels.from_dataframe(frame({**columns, "rel": [1, 0, 0]}))


LIST_OF_DOCNOS: dict[str, Any] = {"1": ["a"]}
TWICE = ["qid", "qid", "docno", "score"]
WRONG = [
    (lambda: Run.from_dict([1]), "run is of type list, expected a dict {qid: {docno: number}}"),
    (lambda: Qrels.from_dict(LIST_OF_DOCNOS), "qrels: topic 1 has a list, expected a dict {docno: number}"),
    (lambda: Run.from_dataframe({"qid": []}), "expected a DataFrame of pandas or polars, found a dict"),
    (lambda: Run.from_dataframe(pl.LazyFrame({"qid": []})), "found a LazyFrame (call its method collect() first)"),
    (lambda: Run.from_ranx(3), "expected a ranx.Run, found a int"),
    (lambda: Qrels.from_ranx(3), "expected a ranx.Qrels, found a int"),
    (lambda: Run.from_ir_measures([("1", "a", 2.0)]), "row 1: found a tuple without query_id, doc_id, score, expected"),
    (lambda: Run.from_columns(["1"], ["a", "b"], [1]), "the columns of a run differ in length: 1 qids, 2 docnos and 1"),
    (lambda: Qrels.from_columns(["1"], ["a"], []), "the columns of judgments differ in length: 1 qids, 1 docnos and 0"),
    (lambda: Run.from_rankings([Ranking("1", ["a"], [])]), "run: topic 1 has 1 docnos and 0 scores"),
    (lambda: Run.from_rankings(RANKINGS * 2), "run: topic 2 has two rankings"),
    (lambda: Run.from_dict({1: {"a": 1}, "1": {"a": 2}}), "row 2: document a of topic 1 occurs already as row 1"),
    (
        lambda: Run.from_dataframe(pd.DataFrame([[1, 1, "a", 2]], columns=["qid", "qid", "docno", "score"])),
        "two columns",
    ),
]


@pytest.mark.parametrize(("call", "complaint"), WRONG)
def test_a_wrong_value_is_named_with_its_type(call, complaint):
    with pytest.raises(SearchlabError) as caught:
        call()
    assert complaint in str(caught.value)


@pytest.mark.parametrize("name", ["bm25.run", "bm25.run.gz"])
def test_a_run_is_written_and_read(tmp_path, name):
    run = Run.from_dict(SCORES, name="mine")
    run.write(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    assert text.decode() == "2 Q0 c 1 9.0 mine\n2 Q0 b 2 1.5 mine\n2 Q0 a 3 1.5 mine\n1 Q0 a 1 -1.0 mine\n"
    assert Run.read(tmp_path / name) == run
    assert Run.read(tmp_path / name).name == "bm25"
    with pytest.raises(SettingError, match="tag is 'my run', expected a word without blanks"):
        run.write(tmp_path / "other", tag="my run")
    assert not (tmp_path / "other").exists()


def test_the_tag_is_the_name_without_blanks(tmp_path):
    Run.from_dict({"1": {"a": 2.0}}, name="BM25 + RM3").write(tmp_path / "it.run")
    assert (tmp_path / "it.run").read_text("utf-8").split()[-1] == "BM25+RM3"


@pytest.mark.parametrize("name", ["qrels", "qrels.gz"])
def test_judgments_are_written_and_read(tmp_path, name):
    Qrels.from_dict(GRADES).write(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    assert text == b"2 0 a 1\n2 0 c 0\n1 0 z -2\n"
    assert Qrels.read(tmp_path / name) == GRADES


def test_a_compressed_file_depends_only_on_its_content(tmp_path):
    for name in ("one.gz", "two.gz"):
        Qrels.from_dict(GRADES).write(tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


@pytest.mark.parametrize("polars", [False, True])
def test_judgments_become_a_dataframe_and_come_back(polars):
    qrels = Qrels.from_dict(GRADES)
    found = qrels.to_dataframe(polars=polars)
    assert list(found.columns) == ["qid", "docno", "relevance"]
    assert [list(found[name]) for name in found.columns] == [["2", "2", "1"], ["a", "c", "z"], [1, 0, -2]]
    assert Qrels.from_dataframe(found) == qrels == GRADES
    assert repr(qrels) == "<Qrels: 2 topics, 3 judgments>"
    assert Qrels.from_dict({"1": {}, **GRADES}).to_dict() == {"1": {"z": -2}, "2": {"a": 1, "c": 0}}


def test_values_of_ir_measures_come_and_go():
    ir_measures = pytest.importorskip("ir_measures")
    run, qrels = Run.from_dict(SCORES), Qrels.from_dict({"2": {"a": 1, "c": 0}, "1": {"z": 2}})
    assert run.to_ir_measures()[0] == ir_measures.ScoredDoc("2", "c", 9.0)
    assert qrels.to_ir_measures()[0] == ir_measures.Qrel("2", "a", 1)
    assert Run.from_ir_measures(run.to_ir_measures()) == run
    assert Qrels.from_ir_measures(iter(qrels.to_ir_measures())) == qrels
    assert Run.from_ir_measures(pd.DataFrame(run.to_ir_measures())) == run
    assert Qrels.from_ir_measures(pd.DataFrame(qrels.to_ir_measures())) == qrels
    measure = ir_measures.parse_measure("nDCG@10")
    theirs = ir_measures.calc_aggregate([measure], qrels.to_ir_measures(), run.to_ir_measures())[measure]
    assert evaluate_run(qrels, run, "nDCG@10").mean("nDCG@10") == pytest.approx(theirs, abs=1e-12)


@pytest.mark.filterwarnings("ignore")  # ranx's own
def test_values_of_ranx_come_and_go():
    ranx = pytest.importorskip("ranx")
    run, qrels = Run.from_dict(SCORES, name="mine"), Qrels.from_dict(GRADES)
    assert type(run.to_ranx()) is ranx.Run
    assert Run.from_ranx(run.to_ranx()) == run.from_dict({"1": SCORES["1"], "2": SCORES["2"]})  # ranx sorts topics
    assert Run.from_ranx(run.to_ranx()).name == "mine"
    assert Qrels.from_ranx(qrels.to_ranx()) == qrels
    assert Qrels.from_dataframe(qrels.to_ranx().to_dataframe()) == qrels
    assert Run.from_dataframe(run.to_ranx().to_dataframe()).to_dict() == run.to_dict()


def test_a_missing_library_is_named_with_the_extra_that_brings_it(monkeypatch):
    for name in ("pandas", "polars", "ranx", "ir_measures"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    run = Run.from_dict(SCORES)
    for call, library, remedy in [
        (run.to_dataframe, "pandas", "searchlab[dataframes]"),
        (lambda: run.to_dataframe(polars=True), "polars", "searchlab[dataframes]"),
        (run.to_ranx, "ranx", "ranx"),
        (run.to_ir_measures, "ir_measures", "ir-measures"),
    ]:
        with pytest.raises(SettingError) as caught:
            call()
        assert str(caught.value).startswith(f"{library} is not installed")
        assert str(caught.value).endswith(f"`pip install {remedy}`")
