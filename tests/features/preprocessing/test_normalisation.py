"""Normalisation: worked by hand, against loops, as plain JSON, and explained."""

import json
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.normalisation import (
    NORMALISATIONS,
    QueryMinMax,
    QueryRank,
    QueryZScore,
    Standard,
    make_normalisation,
    mean_ranks,
    normalisation_from_json,
)
from tests.hypothesis_profiles import examples

NAN = float("nan")
QIDS = ["1", "1", "1", "2", "2"]


def table_of(*columns, names=None, qids=QIDS) -> FeatureTable:
    names = names or [f"f{number}" for number in range(1, len(columns) + 1)]
    return FeatureTable(names, qids, [f"d{n}" for n in range(len(qids))], np.array(columns, dtype=float).T)


@st.composite
def tables(draw, undefined=True) -> FeatureTable:
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    n_features = draw(st.integers(1, 3))
    numbers = st.sampled_from([0.0, 1.0, -1.5, 0.1, 7.25]) | st.floats(-1e6, 1e6)
    cell = numbers | st.just(NAN) if undefined else numbers
    cells = draw(st.lists(cell, min_size=sum(sizes) * n_features, max_size=sum(sizes) * n_features))
    qids = [str(query) for query, size in enumerate(sizes) for _ in range(size)]
    return table_of(*np.reshape(cells, (n_features, -1)), qids=qids)


def each_column(table: FeatureTable):
    """Every query and feature, one at a time: rows, column and values."""
    for _, rows in table.queries():
        for number in range(table.n_features):
            yield rows, number, table.values[rows, number].tolist()


def test_min_max_by_hand():
    normalised = QueryMinMax().transform(table_of([2, 4, 3, 7, 7], [NAN, 0, 10, NAN, NAN]))
    assert normalised.column("f1").tolist() == [0, 1, 0.5, 0, 0]
    np.testing.assert_array_equal(normalised.column("f2"), [NAN, 0, 1, NAN, NAN])


def test_z_score_by_hand():
    # 1, 2, 3: mean 2, deviation √(2/3).
    normalised = QueryZScore().transform(table_of([1, 2, 3, 0.1, 0.1], [NAN, 4, 8, NAN, 9]))
    assert normalised.column("f1").tolist() == pytest.approx([-math.sqrt(1.5), 0, math.sqrt(1.5), 0, 0])
    np.testing.assert_allclose(normalised.column("f2"), [NAN, -1, 1, NAN, 0])


def test_ranks_by_hand():
    # 5 5 9: ranks 1.5, 1.5, 3 of three. A single value, or equal ones, become ½.
    normalised = QueryRank().transform(table_of([5, 9, 5, 7, 7], [NAN, 3, 2, NAN, 1], [1, 2, 3, 4, 0]))
    assert normalised.column("f1").tolist() == [0.25, 1, 0.25, 0.5, 0.5]
    np.testing.assert_array_equal(normalised.column("f2"), [NAN, 1, 0, NAN, 0.5])
    assert normalised.column("f3").tolist() == [0, 0.5, 1, 1, 0]


def test_standardisation_by_hand_takes_its_numbers_from_training():
    fitted = Standard().fit(table_of([1, 1, 1, 3, 3], [2, 2, 2, 2, 2], [NAN, NAN, NAN, 0, 2]))
    assert fitted.means == pytest.approx((1.8, 2, 1))
    assert fitted.deviations == pytest.approx((math.sqrt(0.96), 0, 1))
    later = fitted.transform(table_of([1.8] * 5, [9] * 5, [0, 3, NAN, 1, 1]))
    np.testing.assert_allclose(later.values.T, [[0] * 5, [0] * 5, [-1, 2, NAN, 0, 0]], atol=1e-12)


def test_standardisation_needs_the_features_of_training():
    fitted = Standard().fit(table_of([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]))
    with pytest.raises(SettingError, match=r"features differ from those of training \(f2\), expected the same"):
        fitted.transform(table_of([1, 2, 3, 4, 5]))
    with pytest.raises(SettingError, match="expected fit before transform"):
        Standard().transform(table_of([1, 2, 3, 4, 5]))
    with pytest.raises(SettingError, match="found no rows to learn means from"):
        Standard().fit(table_of([1, 2, 3, 4, 5]).only([]))


def test_none_leaves_values_unchanged():
    table = table_of([1, NAN, 3, 4, 5])
    assert make_normalisation("none").fit(table).transform(table).equals(table)


def loop_minmax(column):
    low, high = min(column), max(column)
    return [(x - low) / (high - low) if high > low else 0 for x in column]


def loop_zscore(column):
    mean, deviation = statistics.fmean(column), statistics.pstdev(column)
    return [(x - mean) / deviation if min(column) < max(column) else 0 for x in column]


def loop_rank(column):
    n = len(column)
    ranks = [sum(y < x for y in column) + (sum(y == x for y in column) + 1) / 2 for x in column]
    return [(rank - 1) / (n - 1) if n > 1 else 0.5 for rank in ranks]


@pytest.mark.parametrize(
    ("name", "loop"), [("query-minmax", loop_minmax), ("query-zscore", loop_zscore), ("query-rank", loop_rank)]
)
@given(table=tables())
@settings(max_examples=examples(40))
def test_normalisations_are_those_of_a_loop(name, loop, table):
    normalised = make_normalisation(name).transform(table)
    for rows, number, column in each_column(table):
        defined = [value for value in column if not math.isnan(value)]
        if defined and 0 < max(defined) - min(defined) < max(1e-300, 1e-9 * max(map(abs, defined))):
            continue  # too small to divide by, or dominated by the rounding of the loop
        expected = iter(loop(defined) if defined else [])
        for value, found in zip(column, normalised.values[rows, number].tolist(), strict=True):
            assert (
                math.isnan(found) if math.isnan(value) else found == pytest.approx(next(expected), rel=1e-6, abs=1e-6)
            )


@pytest.mark.parametrize("name", NORMALISATIONS)
@given(table=tables())
@settings(max_examples=examples(40))
def test_every_normalisation_survives_json_and_explains_itself(name, table):
    fitted = make_normalisation(name).fit(table)
    again = normalisation_from_json(json.loads(json.dumps(fitted.to_json())))
    assert again == fitted
    normalised = fitted.transform(table)
    assert again.transform(table).equals(normalised)
    assert np.array_equal(np.isnan(normalised.values), np.isnan(table.values))
    row = table.n_rows // 2
    for number, meaning in enumerate(fitted.explain(table, row)):
        assert meaning.feature == table.names[number]
        np.testing.assert_equal(meaning.raw, table.values[row, number])
        np.testing.assert_equal(meaning.normalised, normalised.values[row, number])
        assert meaning.text
        assert (meaning.scale is None) == (name == "query-rank")


@pytest.mark.parametrize("name", sorted(set(NORMALISATIONS) - {"query-rank"}))
@given(table=tables())
@settings(max_examples=examples(40))
def test_scale_and_shift_give_the_normalised_values_from_the_raw_ones(name, table):
    fitted = make_normalisation(name).fit(table)
    affine = fitted.affine(table)
    sizes = np.diff(table.group_offsets)
    found = table.values * np.repeat(affine.scale, sizes, axis=0) + np.repeat(affine.shift, sizes, axis=0)
    size = np.abs(np.repeat(affine.shift, sizes, axis=0)) + 1
    expected = fitted.transform(table).values
    assert (np.isnan(expected) | (np.abs(found - expected) <= 1e-9 * size)).all()


def test_explanations_describe_the_computation_of_a_value():
    table = table_of([2, 4, 3, 7, 7], [NAN, 0, 10, NAN, NAN])
    first, second = QueryMinMax().explain(table, 2)
    assert (first.text, first.scale, first.shift) == ("(3 - 2) / 2, by smallest value and range of the query", 0.5, -1)
    assert second.normalised == 1
    assert QueryMinMax().explain(table, 3)[0].text == "constant, by smallest value and range of the query"
    assert QueryMinMax().explain(table, 0)[1].text == "undefined"
    assert [meaning.text for meaning in QueryRank().explain(table, 0)] == [
        "rank 1 of 3 in the query, from the smallest up",
        "undefined",
    ]
    assert make_normalisation("none").explain(table, 0)[0].text == "as it is"
    with pytest.raises(SettingError, match="row is 5, expected 0 to 4"):
        QueryRank().explain(table, 5)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(SettingError, match=r"unknown normalisation 'minmax'.*query-minmax"):
        make_normalisation("minmax")
    with pytest.raises(SettingError, match="has 1 means and 0 deviations, expected 2 of each"):
        normalisation_from_json({"name": "standard", "names": ["a", "b"], "means": [1]})


def test_a_range_too_small_to_divide_by_counts_as_constant():
    table = table_of([0, 5e-324, 0, 1, 1])
    for name in ("query-minmax", "query-zscore"):
        assert make_normalisation(name).transform(table).column("f1").tolist() == [0] * 5
        assert np.isfinite(make_normalisation(name).affine(table).scale).all()


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_a_table_without_rows_stays_empty(name):
    table = table_of([1, 2, 3, 4, 5])
    empty = table.only([])
    assert make_normalisation(name).fit(table).transform(empty).n_rows == 0


def test_ranks_come_with_the_number_of_defined_values():
    ranks, counts = mean_ranks(np.array([[2.0, NAN], [2.0, 1.0], [1.0, 5.0]]))
    np.testing.assert_array_equal(ranks, [[2.5, NAN], [2.5, 1], [1, 2]])
    assert counts.tolist() == [3, 2]
