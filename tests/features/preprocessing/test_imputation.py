"""Imputation: worked by hand, against loops, as plain JSON, and as LETOR did it."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import (
    IMPUTATIONS,
    LETOR_ZEROS,
    IndicatorImputation,
    QueryMinimumImputation,
    imputation_from_json,
    make_imputation,
)
from searchlab.features.preprocessing.normalisation import QueryMinMax
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


def test_the_query_minimum_replaces_undefined_values():
    imputed = make_imputation("query-minimum").transform(table_of([3, NAN, 2, NAN, -1], [NAN, NAN, NAN, 4, NAN]))
    assert imputed.values.T.tolist() == [[3, 2, 2, -1, -1], [0, 0, 0, 4, 4]]


def test_chosen_features_always_get_zero():
    imputation = QueryMinimumImputation(zeros=("f2", "other"))
    imputed = imputation.transform(table_of([3, NAN, 2, NAN, -1], [3, NAN, 2, NAN, -1]))
    assert imputed.values.T.tolist() == [[3, 2, 2, -1, -1], [3, 0, 2, 0, -1]]


def test_zero_replaces_undefined_values():
    assert make_imputation("zero").transform(table_of([3, NAN, 2, NAN, -1])).column("f1").tolist() == [3, 0, 2, 0, -1]


def test_indicators_are_added_for_features_undefined_in_training():
    training = table_of([3, NAN, 2, 1, 1], [1, 1, 1, 1, 1])
    imputation = make_imputation("indicator").fit(training)
    assert imputation == IndicatorImputation(("f1",))
    imputed = imputation.transform(training)
    assert imputed.names == ("f1", "f2", "f1?")
    assert imputed.values.T.tolist() == [[3, 2, 2, 1, 1], [1, 1, 1, 1, 1], [0, 1, 0, 0, 0]]
    # A feature that was always defined in training has no indicator, but is imputed.
    later = imputation.transform(table_of([1, 1, 1, 1, 1], [NAN, 5, 6, 7, 8]))
    assert later.values.T.tolist() == [[1] * 5, [5, 5, 6, 7, 8], [0] * 5]
    with pytest.raises(SettingError, match="expected fit before transform"):
        IndicatorImputation().transform(training)


def test_letors_query_level_values_are_reproduced_from_undefined_ones():
    # LETOR 3.0, OHSUMED, query 1: three documents' c and BM25 on the title in Feature-null, and their values in
    # QueryLevelNorm. By hand for BM25, whose minimum is 0: 18.428062 / 22.58068 = 0.816099. The other numbers are made
    # up.
    table = table_of(
        [5, 3, 2, 0, 0],
        [22.58068, 18.428062, 10.573272, NAN, 2.050146],
        [-36.717226, -42.142067, NAN, -50.0, -45.0],
        names=["f1", "f11", "f13"],
        qids=["1"] * 5,
    )
    normalised = QueryMinMax().transform(QueryMinimumImputation(LETOR_ZEROS).transform(table))
    assert np.round(normalised.values.T, 6).tolist() == [
        [1, 0.6, 0.4, 0, 0],
        [1, 0.816099, 0.468244, 0, 0.090792],
        [1, round(7.857933 / 13.282774, 6), 0, 0, round(5 / 13.282774, 6)],
    ]


@pytest.mark.parametrize("name", IMPUTATIONS)
@given(table=tables())
@settings(max_examples=examples(40))
def test_every_imputation_replaces_undefined_values_only(name, table):
    imputed = make_imputation(name).fit(table).transform(table)
    defined = ~np.isnan(table.values)
    assert np.array_equal(~np.isnan(imputed.values), defined) if name == "none" else np.isfinite(imputed.values).all()
    of_features = imputed.values[:, : table.n_features]
    assert np.array_equal(of_features[defined], table.values[defined])


@given(table=tables())
@settings(max_examples=examples(40))
def test_the_query_minimum_equals_that_of_a_loop(table):
    imputed = QueryMinimumImputation().transform(table)
    for rows, number, column in each_column(table):
        smallest = min((value for value in column if not math.isnan(value)), default=0.0)
        expected = [smallest if math.isnan(value) else value for value in column]
        assert imputed.values[rows, number].tolist() == expected


@pytest.mark.parametrize("name", IMPUTATIONS)
@given(table=tables())
@settings(max_examples=examples(40))
def test_every_imputation_survives_json(name, table):
    for imputation in (make_imputation(name), make_imputation(name).fit(table), QueryMinimumImputation(("f1",))):
        assert imputation_from_json(json.loads(json.dumps(imputation.to_json()))) == imputation


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(SettingError, match=r"unknown imputation 'min'.*indicator, letor, none, query-minimum, zero"):
        make_imputation("min")


def test_a_table_without_rows_stays_empty():
    empty = table_of([1, 2, 3, 4, 5]).only([])
    assert QueryMinimumImputation().transform(empty).n_rows == 0
