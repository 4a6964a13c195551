"""The papers' sections of a report: loss, sign tests, cost-sensitive learning and OrdRank, for any number of grades."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_weights import rank_factors
from searchlab.report import plots
from searchlab.report.content import Figure, Paragraph, Table
from searchlab.reproduction.letor import FoldData, reproduce, results_of
from searchlab.reproduction.paper_reports import ordrank_report, published
from searchlab.reproduction.paper_reports.cost_sensitive_report import document_search, penalties
from searchlab.reproduction.paper_reports.hyperplanes import HyperplaneTime
from searchlab.reproduction.paper_reports.ordrank_report import ordrank_blocks, query_blocks, training_times
from searchlab.reproduction.paper_reports.paper_sections import ShownQueries, choose_shown_queries, paper_sections
from searchlab.reproduction.paper_reports.published import DatasetSize
from searchlab.reproduction.paper_reports.rsvm_ir_report import accuracy, losses, pair_groups, two_queries
from searchlab.reproduction.paper_reports.sign_test_table import sign_test_table
from searchlab.reproduction.retrieval_models import RetrievalModels, evaluate_feature
from searchlab.training.recipe import Recipe
from tests.reproduction.example_queries import QUERIES, table_of

GRADES = (5, 4, 3, 2, 1, 0)


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Skip plotting, which is slow, and keep what would be drawn."""
    drawn = {}

    def keep(kind):
        def record(*arguments, **options):
            drawn.setdefault(kind, []).append(arguments)
            return "<svg/>"

        return record

    for kind in ("bars", "curves", "function_curves", "scatter"):
        monkeypatch.setattr(plots, kind, keep(kind))
    return drawn


def six_grades(qids):
    """Queries with a document of each of six grades, the first feature mostly as the grades."""
    rng = np.random.default_rng(len(qids))
    return table_of(
        {qid: [(grade, [grade / 5 + rng.normal(0, 0.3), rng.random()]) for grade in GRADES] for qid in qids}
    )


@pytest.fixture(scope="module")
def data():
    parts = (["1", "2", "3", "4"], ["5", "6"], ["7", "8", "9"])
    return FoldData(("Fold1",), (tuple(six_grades(qids) for qids in parts),))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def results(data):
    names = ["rsvm", "rsvm-ir", "rsvm-ir-rank", "mhr", "ordrank", "svm"]
    return reproduce(data, names, recipe_names=["paper"], n_jobs=1)


@pytest.fixture(scope="module")
def retrieval(data):
    found = {"BM25": evaluate_feature(data, "f0", Recipe()), "LMIR": evaluate_feature(data, "f1", Recipe())}
    return RetrievalModels(found, "Two features.")


def blocks_of(blocks, kind):
    return {block.name: block for block in blocks if isinstance(block, kind)}


def test_all_sections_are_made_for_six_grades(data, results, retrieval):
    by_recipe = {"paper": results_of(results, "paper")}
    shown = choose_shown_queries(data.whole, ["1", "7"], "8")
    sections = paper_sections(by_recipe, retrieval, data.whole, [data.tables[0][0]], Recipe(), shown)
    blocks = [block for section in sections for block in section.blocks]
    figures, tables = blocks_of(blocks, Figure), blocks_of(blocks, Table)
    # The web data of Cao et al. have six grades: Figures 7 and 8 are Figures 4 and 5 for such data.
    assert "Figure 7" in figures["figure-4"].caption
    assert "Figure 8" in figures["figure-5"].caption
    assert {"cost-sensitive-4", "ordrank-1", "ordrank-2", "figure-1a"} <= set(figures)
    assert {"claims", "table-2", "table-3", "cost-sensitive-tests", "table-iii"} <= set(tables)
    assert [row[0] for row in tables["figure-4"].rows] == ["BM25", "LMIR", "rsvm", "rsvm-ir-rank", "rsvm-ir"]
    assert "query 8" in tables["table-3"].caption
    assert [row[:2] for row in tables["claims"].rows[-1:]] == [("Sun et al. (OrdRank)", "OrdRank > MHR > RSVM by MAP")]


def test_queries_are_the_users_else_the_papers_else_the_extremes(monkeypatch):
    table = table_of(QUERIES)
    assert choose_shown_queries(table) == ShownQueries(("b", "a"), "a", "a")
    assert choose_shown_queries(table, ["a", "c"], "b") == ShownQueries(("a", "c"), "b", "b")
    printed = table_of(dict.fromkeys(("9", "12", "43", "50"), QUERIES["a"]))
    monkeypatch.setattr(published, "OHSUMED", DatasetSize("x", 4, 16, 1))
    assert choose_shown_queries(printed) == ShownQueries(("12", "50"), "9", "43")
    assert choose_shown_queries(printed, query="12") == ShownQueries(("12", "50"), "12", "12")
    with pytest.raises(SettingError, match="query z is not in the folds, expected one of their 4 queries"):
        choose_shown_queries(table, query="z")
    with pytest.raises(SettingError, match="query d has no two documents of different grades"):
        choose_shown_queries(table, query="d")


def test_documents_of_the_second_query_are_hollow(undrawn):
    table = table_of({"a": QUERIES["a"], "b": QUERIES["b"]})
    blocks = two_queries(table, Recipe(), ("a", "b"))
    assert list(blocks_of(blocks, Figure)) == ["figure-1a", "figure-1b", "figure-1c", "figure-6"]
    groups, arrows = undrawn["scatter"][0]
    assert {name: len(points) for name, points in groups.items()} == {
        "query a, grade 2": 1,
        "query a, grade 1": 2,
        "query a, grade 0": 1,
        "query b, grade 2": 1,
        "query b, grade 1": 1,
        "query b, grade 0": 1,
    }
    assert arrows == {}


def test_the_hinge_loss_has_the_slopes_tau_times_mu(undrawn):
    table = table_of({"a": QUERIES["a"], "b": QUERIES["b"]})
    tau = rank_factors(table.group_offsets, table.grades)
    figure, slopes, text = losses(table, ("a", "b"))
    # a has 5 pairs and b 3: μ is 1 and 5/3.
    assert isinstance(slopes, Table)
    assert slopes.columns == ("grades", "τ", "τ·μ, query a", "τ·μ, query b")
    assert [row[0] for row in slopes.rows] == ["2 over 1", "2 over 0", "1 over 0"]
    for column, mu in ((1, 1), (2, 1), (3, 5 / 3)):
        expected = [tau[pair] * mu for pair in ((2, 1), (2, 0), (1, 0))]
        assert [row[column] for row in slopes.rows] == pytest.approx(expected)
    (functions,) = undrawn["function_curves"][0]
    assert len(functions) == 1 + 2 * 3
    margins, drawn = functions[f"query b, 2 over 1: {tau[2, 1] * 5 / 3:.3g}"]
    # At the margin −1 the hinge is 2.
    assert (margins[0], drawn[0]) == (-1, pytest.approx(2 * tau[2, 1] * 5 / 3))
    assert isinstance(text, Paragraph)
    assert "from 1 for query a with 5 pairs to 1.67 for query b with 3, in the median 1.33." in text.text
    assert isinstance(figure, Figure)


def test_without_two_queries_the_slopes_are_tau_alone(undrawn):
    _, slopes, _ = losses(table_of({"a": QUERIES["a"]}), None)
    assert isinstance(slopes, Table)
    assert slopes.columns == ("grades", "τ")
    assert len(undrawn["function_curves"][0][0]) == 4


def test_the_best_single_feature_stands_for_bm25_where_that_is_not_known(results, data):
    single = evaluate_feature(data, "f0", Recipe())
    for names, first in ((("single", "rsvm"), "single"), (("BM25", "single", "rsvm"), "BM25")):
        tried = {name: results["rsvm"] if name == "rsvm" else single for name in names}
        table = blocks_of(accuracy(tried, data.whole), Table)["figure-4"]
        assert [row[0] for row in table.rows] == [first, "rsvm"]


def test_queries_are_drawn_by_groups_of_pairs(undrawn, results, data):
    (_, table) = pair_groups(results, data.whole)
    # Six documents of six grades: 15 pairs, in groups of two.
    assert isinstance(table, Table)
    assert [row[:2] for row in table.rows] == [("14–15", 9)]
    (heights,) = undrawn["bars"][0]
    assert list(heights.values()) == [{"queries": 0.0}] * 7 + [{"queries": 9.0}]


def test_sign_tests_are_against_the_baselines_by_ndcg_at_1_and_5(results, retrieval):
    everything = {**results, **retrieval.results}
    (table,) = sign_test_table("rsvm-ir", everything, "t", "c", {"rsvm": 0.0391})
    assert isinstance(table, Table)
    assert [row[:2] for row in table.rows] == [
        (other, measure) for measure in ("NDCG@1", "NDCG@5") for other in ("BM25", "LMIR", "rsvm", "svm")
    ]
    assert all(better + equal + worse == 3 for _, _, better, equal, worse, *_ in table.rows)  # type: ignore[operator]
    assert [row[-1] for row in table.rows] == [None, None, "0.0391", None, None, None, None, None]
    assert sign_test_table("rsvm-ir-gd", everything, "t", "c") == []
    assert sign_test_table("rsvm-ir", {"rsvm-ir": results["rsvm-ir"]}, "t", "c") == []


def test_penalties_are_exact_and_simulated():
    table = table_of(QUERIES)
    (found,) = penalties(table)
    assert isinstance(found, Table)
    exact = rank_factors(table.group_offsets, table.grades)
    # Pairs of a, b and c: 2·1 + 1·1 of grades 2 and 1, 1 + 1 of 2 and 0, 2 + 1 + 9 of 1 and 0.
    assert [row[:2] for row in found.rows] == [("2 over 1", 3), ("2 over 0", 2), ("1 over 0", 12)]
    assert [row[3] for row in found.rows] == list(exact.values())
    assert [row[2] for row in found.rows] == pytest.approx(list(exact.values()), abs=0.03)


def test_cost_sensitive_learning_is_compared_with_its_baselines(undrawn, results, retrieval):
    blocks = document_search({**results, **retrieval.results})
    (accuracies,) = undrawn["bars"][0]
    assert list(accuracies["MAP (eq. 21)"]) == ["BM25", "LMIR", "svm", "rsvm", "rsvm-ir-rank"]
    assert isinstance(blocks[0], Paragraph)
    assert blocks[0].text.startswith(
        "The paper finds its method better than Ranking SVM by all measures; here, against"
    )
    assert document_search({"rsvm": results["rsvm"]}) == []


def test_a_query_is_drawn_under_each_hyperplane_of_adjacent_grades(undrawn):
    table = table_of(
        {"a": [(2, [1.0, 1.0]), (1, [0.0, 1.0]), (0, [0.0, 0.0])], "b": [(1, [1.0, 0.0]), (0, [0.0, 0.5])]}
    )
    blocks = query_blocks(table, Recipe(normalisation="none"), "a")
    (_, one), (_, two) = undrawn["scatter"]
    assert list(one) == ["RSVM"]
    assert list(two) == ["2 over 1", "1 over 0"]
    shares = blocks_of(blocks, Table)["ordrank-2"]
    # Hyperplane 2 over 1 is the first feature, which does not tell 1 from 0; 1 over 0 is the second.
    assert shares.rows[1:3] == (
        ("hyperplane 2 over 1", 1, 1, 0.5),
        ("hyperplane 1 over 0", 0.5, 1, 1),
    )
    assert shares.rows[0] == ("RSVM", 1, 1, 1)


def test_the_times_of_hyperplanes_are_side_by_side(data, results):
    text, table = training_times(results, [data.tables[0][0]], known=True)
    assert isinstance(table, Table)
    assert table.columns == ("", "hyperplane", "pairs", "Fold1, s", "mean, s")
    by_ranker = {name: [row for row in table.rows if row[0] == name] for name in ("rsvm", "mhr", "ordrank")}
    # 4 queries: 15 pairs each for RSVM and MHR, 5 of adjacent grades for OrdRank; and a row with the sum.
    assert [len(rows) for rows in by_ranker.values()] == [1, 15 + 1, 5 + 1]
    assert [rows[-1][2] for rows in by_ranker.values()] == [60, 60, 20]
    assert by_ranker["ordrank"][-1][1] == "sum"
    assert by_ranker["ordrank"][-1][3] == pytest.approx(np.sum([row[3] for row in by_ranker["ordrank"][:-1]]))
    assert isinstance(text, Paragraph)
    assert training_times({}, [], known=False) == []


def test_the_papers_minutes_are_shown_for_five_trials(data, results):
    five = {
        name: type(result)(result.recipe, result.folds * 5) for name, result in results.items() if name == "ordrank"
    }
    _, table = training_times(five, [data.tables[0][0]] * 5, known=True)
    assert isinstance(table, Table)
    assert table.columns[-1] == "minutes in the paper, mean"
    printed = {row[1]: row[-1] for row in table.rows}
    # Table III: 301.64 and 32.83 minutes, in sum 334.47. These data have six grades, the paper's had three.
    assert printed["1 over 0"] == pytest.approx(301.64, abs=0.01)
    assert printed["2 over 1"] == pytest.approx(32.83, abs=0.01)
    assert printed["3 over 2"] is None
    assert printed["sum"] == pytest.approx(334.47, abs=0.01)


def test_ordrank_says_whether_the_order_is_the_papers(results):
    blocks = ordrank_blocks(results, known=False)
    assert isinstance(blocks[0], Paragraph)
    assert blocks[0].text.startswith("The paper finds the order ordrank > mhr > rsvm by MAP; here the order is ")
    assert [row[0] for row in blocks_of(blocks, Table)["claim-ordrank"].rows] == ["rsvm", "mhr"]
    assert ordrank_blocks({}, known=False) == []


def test_a_c_that_was_given_is_the_c_that_is_timed(data, monkeypatch):
    given = reproduce(data, ["ordrank"], recipe=Recipe("ordrank", {"C": 0.25}), recipe_names=["paper"], n_jobs=1)
    timed = []

    def keep(table, pair, C):
        timed.append((pair, C, table.n_features))
        return HyperplaneTime(pair, 4, 0.5)

    monkeypatch.setattr(ordrank_report, "time_hyperplane", keep)
    training_times(given, [data.tables[0][0]], known=False)
    # One fit that loads compiled code, then a hyperplane for each two of six adjacent grades.
    assert timed == [(None, None, 2), *(((high, high - 1), 0.25, 2) for high in (5, 4, 3, 2, 1))]


def test_the_other_recipe_has_its_own_tables(data, retrieval):
    results = reproduce(data, ["rsvm", "rsvm-ir", "rsvm-ir-rank"], n_jobs=1)
    by_recipe = {name: results_of(results, name) for name in ("paper", "tuned")}
    shown = ShownQueries(None, "7", None)
    sections = paper_sections(by_recipe, retrieval, data.whole, [data.tables[0][0]], Recipe(), shown)
    tables = blocks_of([block for section in sections for block in section.blocks], Table)
    assert {"figure-4-tuned", "table-2-tuned", "cost-sensitive-tests", "cost-sensitive-tests-tuned"} <= set(tables)
    assert tables["figure-4-tuned"].rows[2][1:] == tuple(
        results["rsvm, tuned"].mean(measure) for measure in tables["figure-4-tuned"].columns[1:]
    )
    assert [row[0] for row in tables["table-3"].rows] == [
        *("BM25", "LMIR", "rsvm", "rsvm-ir", "rsvm-ir-rank"),
        *("rsvm, tuned", "rsvm-ir, tuned", "rsvm-ir-rank, tuned"),
    ]
    assert tables["claims"].columns[2:] == ("found, recipe paper", "found, recipe tuned")
