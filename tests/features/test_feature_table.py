"""Feature tables: grouping, selection, concatenation, and refusal of malformed parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import DuplicateError, RecordError, SettingError
from searchlab.features.feature_table import FeatureTable, concat

NAN = float("nan")


def small() -> FeatureTable:
    return FeatureTable(
        ["bm25", "tf"], ["7", "7", "8"], ["a", "b", "a"], [[1, 2], [3, NAN], [5, 6]], [0, 2, 1], ["x", "", "y z"]
    )


def test_a_table_knows_its_size_and_its_queries():
    table = small()
    assert (table.n_rows, table.n_features, table.n_queries) == (3, 2, 2)
    assert table.query_ids == ["7", "8"]
    assert list(table.queries()) == [("7", slice(0, 2)), ("8", slice(2, 3))]
    assert table.group_offsets.tolist() == [0, 2, 3]
    assert table.column("tf").tolist()[::2] == [2.0, 6.0]
    assert not table.was_regrouped
    assert repr(table) == "FeatureTable(3 rows, 2 features, 2 queries)"


def test_interleaved_queries_are_regrouped_in_the_order_of_their_first_rows():
    values = [[1], [2], [3], [4]]
    table = FeatureTable("f", ["2", "1", "2", "1"], ["a", "b", "c", "d"], values, [1, 2, 3, 4], ["i", "j", "k", "l"])
    assert table.was_regrouped
    assert table.qids.tolist() == ["2", "2", "1", "1"]
    assert table.docnos.tolist() == ["a", "c", "b", "d"]
    assert table.values.ravel().tolist() == [1, 3, 2, 4]
    assert table.grades.tolist() == [1, 3, 2, 4]
    assert table.comments.tolist() == ["i", "k", "j", "l"]
    assert table.group_offsets.tolist() == [0, 2, 4]


def test_the_arrays_cannot_be_written_to_and_those_given_still_can():
    values = np.zeros((1, 1))
    table = FeatureTable("f", ["1"], ["a"], values, [1])
    for array in (table.values, table.grades, table.qids, table.docnos):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    values[0, 0] = 2


def test_grades_are_whole_numbers_if_all_of_them_are():
    assert FeatureTable("f", ["1", "1"], ["", ""], [[0], [0]], [1.0, 2.0]).grades.dtype == np.int64
    assert FeatureTable("f", ["1", "1"], ["", ""], [[0], [0]], [1.0, 0.5]).grades.tolist() == [1.0, 0.5]
    assert FeatureTable("f", ["1"], [""], [[0]]).grades is None


def test_columns_are_chosen_by_name_and_in_the_order_asked_for():
    chosen = small().select(["tf", "bm25"])
    assert chosen.names == ("tf", "bm25")
    assert chosen.values[0].tolist() == [2, 1]
    assert chosen.docnos.tolist() == ["a", "b", "a"]
    with pytest.raises(SettingError, match=r"^unknown feature 'bm2' \(did you mean bm25\?\); there is: bm25, tf$"):
        small().select(["bm2"])
    with pytest.raises(SettingError, match="unknown feature 'x'"):
        small().column("x")


def test_values_and_grades_can_be_replaced():
    table = small()
    assert table.with_values(table.values * 2).column("bm25").tolist() == [2, 6, 10]
    assert table.with_values([[1], [2], [3]], ["new"]).names == ("new",)
    assert table.with_grades([3, 3, 3]).grades.tolist() == [3, 3, 3]
    assert table.with_grades(None).grades is None


def test_a_table_with_other_values_equals_a_new_table_of_them():
    first = FeatureTable("f", ["2", "1", "2"], ["a", "b", "c"], [[1], [2], [3]], [1, 2, 3], ["i", "j", "k"])
    own, names = np.arange(6.0).reshape(3, 2), ["g", "h"]
    other = first.with_values(own, names)
    made = FeatureTable(names, first.qids, first.docnos, own, first.grades, first.comments)
    assert other.equals(made)
    assert other.group_offsets.tolist() == made.group_offsets.tolist()
    assert (first.was_regrouped, other.was_regrouped, made.was_regrouped) == (True, False, False)
    assert first.names == ("f",)
    assert first.values.tolist() == [[1], [3], [2]]
    with pytest.raises(ValueError, match="read-only"):
        other.values[0] = 1
    own[0] = 7


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ([[1], [2]], None, r"^values have the shape \(2, 1\), expected \(3, 2\)$"),
        (np.zeros((3, 2)), ["f"], r"^values have the shape \(3, 2\), expected \(3, 1\)$"),
        (np.zeros((3, 2)), ["f", "f"], "two features are called f"),
        ([[0, 0], [0, np.inf], [0, 0]], None, r"^row 2 \(query 7, document b\): feature tf is inf, expected a finite"),
    ],
)
def test_other_values_that_do_not_fit_are_refused(values, names, message):
    with pytest.raises((SettingError, RecordError), match=message):
        small().with_values(values, names)


def test_rows_are_chosen_by_query():
    table = small()
    assert table.only(["8", "7"]).equals(table)
    assert table.only({"8"}).docnos.tolist() == ["a"]
    assert table.only([]).n_rows == 0
    with pytest.raises(SettingError, match=r"^query '9' has no rows; there are 2 queries$"):
        table.only(["7", "9"])


def test_tables_are_concatenated_even_within_a_query():
    table = small()
    parts = [table.rows(slice(0, 1)), table.rows(slice(2, 3)), table.rows(slice(1, 2))]
    assert concat(parts).equals(table)
    assert concat(parts).was_regrouped
    assert concat([table]).equals(table)


@pytest.mark.parametrize(
    ("others", "complaint"),
    [
        ([], "found no tables to concatenate, expected at least one"),
        ([small(), small().select(["bm25"])], "tables differ in their features (tf), expected the same"),
        (
            [small(), small().select(["tf", "bm25"])],
            "tables differ in their features (another order), expected the same",
        ),
        ([small(), small().with_grades(None)], "some tables have grades and some have none, expected all or none"),
    ],
)
def test_tables_that_do_not_fit_are_not_concatenated(others, complaint):
    with pytest.raises(SettingError) as caught:
        concat(others)
    assert str(caught.value) == complaint


def test_a_pair_that_occurs_twice_is_refused():
    with pytest.raises(DuplicateError) as caught:
        FeatureTable("f", ["1", "2", "1"], ["a", "a", "a"], np.zeros((3, 1)))
    assert str(caught.value) == "row 2 (query 1, document a): occurs already as row 1, expected once"
    assert FeatureTable("f", ["1", "1"], ["", ""], np.zeros((2, 1))).n_rows == 2


def test_infinite_values_are_refused_by_feature_and_row_and_undefined_ones_are_not():
    with pytest.raises(RecordError) as caught:
        FeatureTable(["f", "g"], ["1", "1"], ["a", ""], [[NAN, 0], [0, -np.inf]])
    place = "row 2 (query 1, document without a docno)"
    assert str(caught.value) == (f"{place}: feature g is -inf, expected a finite number, or NaN where it is undefined")
    assert np.isnan(FeatureTable("f", ["1"], ["a"], [[NAN]]).values).all()
    with pytest.raises(RecordError, match="grade is nan, expected a finite number"):
        FeatureTable("f", ["1"], ["a"], [[0]], [NAN])


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ((["a b"], ["1"], [""], [[0]]), "feature is called 'a b', expected a word without blanks"),
        ((["a", "a"], ["1"], [""], [[0, 0]]), "two features are called a, expected distinct names"),
        ((["a"], ["1 2"], [""], [[0]]), "qid is '1 2', expected a word without blanks"),
        ((["a"], [""], [""], [[0]]), "qid is '', expected a word without blanks"),
        ((["a"], ["1"], [], [[0]]), "docnos have the shape (0,), expected (1,)"),
        ((["a"], ["1"], ["d"], [[0, 1]]), "values have the shape (1, 2), expected (1, 1)"),
        ((["a"], ["1"], ["d"], [[0]], [1, 2]), "grades have the shape (2,), expected (1,)"),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(parts, complaint):
    with pytest.raises(SettingError) as caught:
        FeatureTable(*parts)
    assert str(caught.value) == complaint


def test_equality_compares_every_part_with_nan_equal_to_nan():
    table = small()
    assert table.equals(small())
    others = [table.with_values(table.values + 1), table.with_grades([0, 0, 0]), table.with_grades(None)]
    others += [table.only(["7"]), table.with_values(table.values, ["f", "g"])]
    others += [FeatureTable(table.names, table.qids, table.docnos, table.values, table.grades)]
    assert not any(table.equals(other) for other in others)


def test_a_table_may_be_empty():
    table = FeatureTable(["f"], [], [], np.empty((0, 1)))
    assert (table.n_rows, table.n_queries, list(table.queries())) == (0, 0, [])


@given(st.lists(st.sampled_from("1234"), max_size=30))
def test_grouping_is_a_stable_sort_by_first_appearance(qids):
    table = FeatureTable(["row"], qids, [""] * len(qids), np.arange(len(qids), dtype=float)[:, np.newaxis])
    first = list(dict.fromkeys(qids))
    expected = sorted(range(len(qids)), key=lambda row: first.index(qids[row]))
    assert table.column("row").tolist() == expected
    assert table.query_ids == first
    assert table.was_regrouped == (expected != list(range(len(qids))))
    assert [(qid, set(table.qids[rows])) for qid, rows in table.queries()] == [(qid, {qid}) for qid in first]


def test_a_notebook_shows_the_first_rows_and_features():
    names = [f"f{number}" for number in range(10)]
    table = FeatureTable(names, ["1"] * 12, [f"<d{row}>" for row in range(12)], np.full((12, 10), np.nan), [1] * 12)
    html = table._repr_html_()
    assert "12 rows, 10 features, 1 queries" in html
    assert "… and 2 more rows and 2 more features" in html
    assert "&lt;d9&gt;" in html and "d10" not in html
    assert "f7" in html and "f8" not in html and "nan" not in html
