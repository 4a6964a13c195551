"""DataFrames in and out: their columns, their rows, and what our values become."""

import math
import subprocess
import sys

import numpy as np
import pytest

import searchlab
from searchlab import dataframes
from searchlab.dataframes import column, is_dataframe, make_dataframe, rows
from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.records import Document

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_dataframe_is_recognised(make):
    assert is_dataframe(make({"a": [1]}))
    assert not is_dataframe(make({"a": [1]})["a"])
    assert not any(map(is_dataframe, [{"a": [1]}, None, pl.LazyFrame({"a": [1]})]))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_are_numbers_or_objects_with_none_for_what_is_missing(make):
    frame = make({"n": [1, 2], "x": [0.5, math.nan], "s": ["a", None], "f": [True, False]})
    assert (column(frame, "n").dtype.kind, column(frame, "n").tolist()) == ("i", [1, 2])
    assert column(frame, "x").dtype == np.float64
    assert column(frame, "s").dtype == object
    assert column(frame, "s").tolist() == ["a", None]
    assert column(frame, "f").tolist() == [True, False]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_rows_come_in_pieces_and_whole_numbers_stay_whole(make, monkeypatch):
    monkeypatch.setattr(dataframes, "ROWS_AT_ONCE", 2)
    frame = make({"a": [1, None, 3], "b": ["x", None, "z"], "c": [0.5, 1.5, 2.0]})
    found = list(rows(frame))
    assert [row["b"] for row in found] == ["x", None, "z"]
    assert [row["c"] for row in found] == [0.5, 1.5, 2.0]
    assert [repr(row["a"]) for row in found] == ["1", "None", "3.0" if make is pd.DataFrame else "3"]


@pytest.mark.parametrize("polars", [False, True])
def test_what_is_made_has_the_values_given(polars):
    frame = make_dataframe({"a": np.array(["x", "y"], object), "b": np.array([1.5, 2.5]), "c": [1, 2]}, polars=polars)
    assert type(frame) is (pl.DataFrame if polars else pd.DataFrame)
    assert list(rows(frame)) == [{"a": "x", "b": 1.5, "c": 1}, {"a": "y", "b": 2.5, "c": 2}]


@pytest.fixture(scope="module")
def engine(build):
    documents = [Document("a", "Wings", "heat", {"year": 1999}), Document("b", "", "heat heat flow")]
    return searchlab.open(build(documents))


@pytest.mark.parametrize("polars", [False, True])
def test_hits_become_a_dataframe_with_the_fields_on_request(engine, polars):
    hits = engine.search("heat")
    frame = hits.to_dataframe(polars=polars)
    assert list(frame.columns) == ["rank", "docno", "score", "title"]
    assert list(frame["docno"]) == hits.docnos
    assert list(frame["score"]) == hits.scores.tolist()
    assert list(frame["rank"]) == [1, 2]
    frame = hits.to_dataframe(["year", "title"], polars=polars)
    assert list(frame.columns) == ["rank", "docno", "score", "title", "year"]
    years = {row["docno"]: row["year"] for row in rows(frame)}
    assert years == {"a": 1999, "b": None}
    assert list(engine.search("zebra").to_dataframe(polars=polars).columns) == ["rank", "docno", "score", "title"]


@pytest.mark.parametrize("polars", [False, True])
def test_an_evaluation_becomes_its_means_or_a_row_for_each_topic(polars):
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    run = {"1": {"a": 2.0}, "2": {"a": 2.0, "b": 1.0}}
    evaluation = searchlab.evaluate_run(qrels, run, ["AP", "P@1"], name="mine")
    assert list(rows(evaluation.to_dataframe(polars=polars))) == [{"system": "mine", "AP": 0.75, "P@1": 0.5}]
    assert list(rows(evaluation.to_dataframe(per_topic=True, polars=polars))) == [
        {"qid": "1", "AP": 1.0, "P@1": 1.0},
        {"qid": "2", "AP": 0.5, "P@1": 0.0},
    ]


@pytest.mark.parametrize("polars", [False, True])
def test_a_comparison_becomes_a_row_for_each_pair_and_measure(polars):
    qrels = {str(q): {"a": 1, "b": 0} for q in range(4)}
    scores = {"x": {"a": 1.0}, "y": {"b": 2.0, "a": 1.0}}
    runs = {name: {str(q): found for q in range(4)} for name, found in scores.items()}
    evaluations = [searchlab.evaluate_run(qrels, run, "AP", name=name) for name, run in runs.items()]
    (row,) = rows(searchlab.compare_evaluations(evaluations).to_dataframe(polars=polars))
    assert {key: row[key] for key in ("measure", "name_a", "name_b", "mean_a", "mean_b", "difference")} == {
        "measure": "AP",
        "name_a": "y",
        "name_b": "x",
        "mean_a": 0.5,
        "mean_b": 1.0,
        "difference": -0.5,
    }
    assert (row["wins"], row["ties"], row["losses"], row["low"], row["high"]) == (0, 0, 4, -0.5, -0.5)
    assert row["p"] == pytest.approx(0.125)  # all four signs equal: 2 of 2⁴ assignments
    assert not row["significant"]


@pytest.mark.parametrize("polars", [False, True])
def test_a_feature_table_becomes_its_columns(polars):
    table = FeatureTable(["bm25", "tf"], ["7", "7"], ["a", "b"], [[1, 2], [3, math.nan]], [0, 2])
    frame = table.to_dataframe(polars=polars)
    assert list(frame.columns) == ["qid", "docno", "relevance", "bm25", "tf"]
    found = [list(frame[name]) for name in ("qid", "docno", "relevance", "bm25")]
    assert found == [["7", "7"], ["a", "b"], [0, 2], [1, 3]]
    assert math.isnan(frame["tf"][1])
    assert list(table.with_grades(None).to_dataframe(polars=polars).columns) == ["qid", "docno", "bm25", "tf"]
    with pytest.raises(SettingError, match="a feature is called docno, as another column of the DataFrame"):
        FeatureTable(["docno"], ["7"], ["a"], [[1]]).to_dataframe(polars=polars)


def test_neither_library_is_loaded_before_a_dataframe_is_made():
    script = (
        "import sys, searchlab; run = searchlab.make_run({'1': {'a': 2.0}});"
        "searchlab.evaluate_run({'1': {'a': 1}}, run, 'AP')._repr_html_(); searchlab.make_topics(['a']);"
        "print({'pandas', 'polars', 'ranx', 'ir_measures'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"


@pytest.mark.parametrize("polars", [False, True])
def test_hits_have_typed_columns_and_known_fields(build, polars):
    pytest.importorskip("polars" if polars else "pandas")
    with searchlab.open(build([Document("a", "T", "heat", {"year": 1990})])) as engine:
        found, none = engine.search("heat", 5), engine.search("unheard")
        frame = found.to_dataframe("year", polars=polars)
        assert list(frame["year"]) == [1990]
        empty = none.to_dataframe(polars=polars)
        columns = ["rank", "docno", "score", "title"]
        assert [empty[name].dtype for name in columns] == [frame[name].dtype for name in columns]
        with pytest.raises(SettingError, match=r"unknown field 'yaer' \(did you mean year"):
            found.to_dataframe(["yaer"], polars=polars)
        with pytest.raises(SettingError, match="fields is 5, expected the name of a field"):
            found.to_dataframe(5, polars=polars)
        with pytest.raises(IndexError, match="position is 99, but there are 1 hits"):
            found[99]
