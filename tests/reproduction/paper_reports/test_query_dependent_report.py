"""The comparison of query-dependent rankers on LETOR folds: the same results as `reproduce`, and its report."""

import numpy as np
import pytest

from searchlab.features.feature_table import FeatureTable
from searchlab.report.content import Paragraph, Report, Section, Table
from searchlab.reproduction.letor import MEASURES, FoldData, reproduce
from searchlab.reproduction.paper_reports.query_dependent_report import (
    SYSTEMS,
    ComparedSystem,
    choose_compared_systems,
    compare_query_dependent,
    query_dependent_blocks,
)
from searchlab.training.recipe import Recipe

RECIPE = Recipe(name="paper", n_folds=0)


def some_table(seed, prefix, n_queries=5, size=12):
    """Queries of two grades, half of the documents relevant."""
    random = np.random.default_rng(seed)
    grades = random.permuted(np.tile(np.arange(size) % 2, (n_queries, 1)), axis=1).ravel()
    values = random.normal(size=(len(grades), 3)) + grades[:, None] * [0.8, 0.3, 0.0]
    qids = np.repeat([f"{prefix}{number}" for number in range(n_queries)], size)
    docnos = [f"d{row}" for row in range(len(grades))]
    return FeatureTable(["a", "b", "c"], qids, docnos, values, grades)


@pytest.fixture(scope="module")
def data():
    tables = [tuple(some_table(10 * fold + n, part) for n, part in enumerate("abc")) for fold in range(2)]
    return FoldData(("Fold1", "Fold2"), tuple(tables))


@pytest.fixture(scope="module")
def results(data):
    return compare_query_dependent(data, RECIPE)


def test_all_systems_are_measured_as_by_reproduce(data, results):
    assert [result.system for result in results] == list(SYSTEMS)
    by_name = {result.system.name: result for result in results}
    expected = reproduce(data, ["exponential", "rsvm", "rsvm-knn"], recipe=RECIPE, recipe_names=["paper"], n_jobs=1)
    for name, own in (("exponential", "exponential"), ("rsvm", "rsvm"), ("rsvm-knn", "rsvm-knn, offline-1")):
        for measure in MEASURES:
            assert by_name[own].means[measure] == pytest.approx(expected[name].mean(measure))
        assert by_name[own].chosen == tuple(fold.chosen[0] for fold in expected[name].folds)


def test_every_system_is_timed(results):
    for result in results:
        assert 0 < result.train_seconds <= 60
        assert 0 < result.test_seconds <= 60
        assert result.choose_seconds > 0
    by_name = {result.system.name: result for result in results}
    # A Ranking SVM for each test query takes longer than a product with its weights.
    assert by_name["rsvm-knn, online"].test_seconds > by_name["rsvm"].test_seconds


def test_on_two_grades_only_losses_by_grades_coincide(results):
    by_name = {result.system.name: result for result in results}
    assert by_name["rankboost-qd, losses by grades"].warnings == (
        "by grades, the losses of all categories coincide in all training queries: query categories have no effect",
    )
    by_positions = by_name["rankboost-qd, losses by positions"]
    assert by_positions.warnings == ()
    assert abs(by_positions.shares["navigational"] - 1 / 3) > 1e-3
    assert by_name["rankboost-qd, losses by grades"].shares == pytest.approx(dict.fromkeys(by_positions.shares, 1 / 3))


def test_blocks_show_accuracy_times_shares_and_warnings(data, results):
    blocks = query_dependent_blocks(results, data)
    # Table names are unique, as a report demands.
    Report("title", "lead", (Section("Query-dependent rankers", tuple(blocks)),))
    tables = {block.name: block for block in blocks if isinstance(block, Table)}
    accuracy, times, shares = (tables[f"query-dependent-{name}"] for name in ("accuracy", "times", "shares"))
    assert accuracy.rows[0] == (results[0].system.name, *results[0].means.values())
    assert [row[0] for row in times.rows] == [system.name for system in SYSTEMS]
    # Five test queries a fold.
    assert times.rows[0][4] == pytest.approx(1000 * results[0].test_seconds / 5)
    assert [row[0] for row in shares.rows] == ["rankboost-qd, losses by grades", "rankboost-qd, losses by positions"]
    paragraphs = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert "print no numbers" in paragraphs[0]
    assert paragraphs[1].startswith("rankboost-qd, losses by grades: by grades, the losses of all categories coincide")


def test_progress_counts_systems_and_folds(data):
    seen = []
    systems = [ComparedSystem("one", "single", {"feature": 0}), ComparedSystem("two", "single", {"feature": 1})]
    results = compare_query_dependent(data, RECIPE, systems, progress=lambda *step: seen.append(step))
    assert [step[1:] for step in seen] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert results[0].shares == {}
    assert "query-dependent-shares" not in [
        block.name for block in query_dependent_blocks(results, data) if isinstance(block, Table)
    ]


def test_systems_are_those_of_the_rankers_if_one_depends_on_the_query():
    assert [each.name for each in choose_compared_systems(["rsvm", "rsvm-knn"])] == [
        *("rsvm", "rsvm-knn, online", "rsvm-knn, offline-1", "rsvm-knn, offline-2"),
    ]
    assert choose_compared_systems(["rsvm", "rankboost"]) == []
    assert choose_compared_systems([]) == []
