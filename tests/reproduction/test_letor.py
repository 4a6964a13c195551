"""LETOR experiments: tests on held-out queries, values of each query, and the report."""

import json

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.dialects import DIALECTS
from searchlab.report import plots
from searchlab.report.content import Figure, Paragraph, Table
from searchlab.reproduction.letor import (
    DEFAULT_RANKERS,
    EQ_21,
    MEASURES,
    FoldData,
    make_recipes,
    read_data,
    recorded_measures,
    reproduce,
    results_of,
    with_relevance,
)
from searchlab.reproduction.letor_report import letor_report
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.paper_sections import choose_shown_queries
from searchlab.reproduction.paper_reports.published import ORDRANK_MINUTES, ORDRANK_PRECISIONS, DatasetSize
from searchlab.training.recipe import Recipe

# The first feature orders good queries by their grades, and bad ones in reverse.
GOOD = [(2, 0.9), (1, 0.5), (0, 0.1)]
BAD = [(0, 0.9), (1, 0.5), (2, 0.1)]


def write_part(path, queries):
    rng = np.random.default_rng(len(queries))
    lines = []
    for qid, rows in queries.items():
        for number, (grade, value) in enumerate(rows):
            noise, hint = rng.random(), grade / 4 + rng.random()
            lines.append(f"{grade} qid:{qid} 1:{value} 2:{noise:.3f} 3:{hint:.3f} #docid = {qid}-{number}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two folds of eight queries; one has a good test query, the other a good and two bad ones."""
    home = tmp_path_factory.mktemp("folds")
    good = {f"g{number}": GOOD for number in range(4)}
    rest = {f"h{number}": GOOD + [(0, 0.2)] * number for number in range(2)}
    bad = {f"b{number}": BAD for number in range(2)}
    write_part(home / "Fold1" / "train.txt", good | bad)
    write_part(home / "Fold1" / "vali.txt", {"h0": rest["h0"]})
    write_part(home / "Fold1" / "test.txt", {"h1": rest["h1"]})
    write_part(home / "Fold2" / "train.txt", {qid: good[qid] for qid in ("g0", "g1", "g2")} | {"h1": rest["h1"]})
    write_part(home / "Fold2" / "vali.txt", {"h0": rest["h0"]})
    write_part(home / "Fold2" / "test.txt", {"g3": good["g3"]} | bad)
    return home


@pytest.fixture(scope="module")
def data(folder):
    return read_data(folder)


@pytest.fixture(scope="module")
def results(data):
    names = ["rsvm", "rsvm-ir", "mhr", "ordrank", "single"]
    return reproduce(data, names, recipe=Recipe(n_folds=0), n_jobs=1)


@pytest.fixture(scope="module")
def first_feature(folder):
    """The ranker by the first feature alone, whose values can be worked out by hand."""
    return reproduce(folder, ["single"], recipe=Recipe("single", {"feature": 0}), n_jobs=1)["single"]


def test_the_value_of_each_query_is_recorded(first_feature):
    assert first_feature.qids == ["h1", "g3", "b0", "b1"]
    assert first_feature.values("NDCG@1").tolist() == [1, 1, 0, 0]
    assert first_feature.values("P@2").tolist() == [1, 1, 0.5, 0.5]
    # A bad query has its relevant documents at ranks 2 and 3; only the one of grade 2 counts for Cao et al.
    assert first_feature.values("MAP")[2] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert first_feature.values(EQ_21)[2] == pytest.approx(1 / 3)
    # Grades 0, 1, 2 in this order: .7232 by LETOR's discount, .5869 by eq. 20.
    assert first_feature.values("NDCG@3")[2] == pytest.approx(0.7232, abs=5e-5)
    assert first_feature.values("NDCG@3 (eq. 20)")[2] == pytest.approx(0.5869, abs=5e-5)


def test_means_are_taken_over_the_queries_of_a_fold_and_then_over_folds(first_feature):
    # 1 of 1 query in one fold, 1 of 3 in the other: not 2 of 4.
    assert first_feature.mean("NDCG@1") == pytest.approx((1 + 1 / 3) / 2)
    assert [fold.measures["NDCG@1"] for fold in first_feature.folds] == pytest.approx([1, 1 / 3])


def test_json_has_means_and_folds_and_not_the_values_of_queries(first_feature):
    record = json.loads(json.dumps(first_feature.to_json()))
    times = {"train_seconds", "choose_seconds", "pairs", "gap"}
    assert set(record) == {"ranker", "recipe", *MEASURES, *times, "folds"}
    assert [set(fold) for fold in record["folds"]] == [{"fold", "tried", "chosen", "averaged", *MEASURES, *times}] * 2
    assert record["NDCG@1"] == pytest.approx(2 / 3)
    assert record["recipe"]["label"] == record["ranker"] == "single"
    assert set(MEASURES) < set(recorded_measures(None, 2))


def test_every_ranker_is_trained_by_both_recipes_unless_they_are_the_same(results):
    assert list(results) == ["rsvm", "rsvm, tuned", "rsvm-ir", "rsvm-ir, tuned", "mhr", "ordrank", "single"]
    assert [fold.n_averaged for fold in results["rsvm"].folds] == [1, 1]
    assert [fold.n_averaged for fold in results["rsvm, tuned"].folds] == [5, 5]
    assert {len(fold.chosen) for fold in results["mhr"].folds} == {1}
    assert results["rsvm-ir, tuned"].to_json()["recipe"] == {
        "name": "tuned",
        "label": "rsvm-ir, tuned",
        "powers": True,
        "n_best": 5,
        "tau_depth": 1,
    }


def test_the_results_of_a_recipe_go_by_the_names_of_rankers(results):
    paper, tuned = (results_of(results, name) for name in ("paper", "tuned"))
    assert list(paper) == list(tuned) == ["rsvm", "rsvm-ir", "mhr", "ordrank", "single"]
    assert paper["rsvm"] is results["rsvm"]
    assert tuned["rsvm"] is results["rsvm, tuned"]
    assert paper["mhr"] is tuned["mhr"] is results["mhr"]


def test_the_paper_recipe_is_one_c_on_the_features_as_given(data, results):
    # By hand: the best single C on the validation set, on three features without powers.
    from searchlab.rankers.estimators.ranksvm import RankSVM
    from searchlab.training.validation import ValidationMeasure

    train, valid, _ = data.tables[0]
    preprocessor = Recipe("rsvm", name="paper").preprocessor.fit(train)
    prepared, aside = preprocessor.transform(train), preprocessor.transform(valid)
    assert prepared.n_features == 3
    means = {}
    for C in results["rsvm"].folds[0].tried:
        fitted = RankSVM(C=C).fit(prepared.values, prepared.grades, prepared.qids)
        scores = fitted.predict(aside.values, aside.qids)
        means[C] = np.mean(ValidationMeasure("AP").per_query(valid, scores))
    assert len(means) == 16
    assert results["rsvm"].folds[0].chosen == (max(means, key=lambda C: means[C]),)


def test_a_fold_without_a_validation_set_chooses_on_parts_of_its_training_queries(data, tmp_path):
    whole = [(train, None, test) for train, _, test in data.tables]
    in_memory = FoldData(data.names, tuple(whole))
    assert in_memory.chosen_on == "parts of the training queries, held out in turn"
    assert in_memory.whole.n_queries == 7
    assert data.chosen_on == "the validation set of each fold"
    found = reproduce(in_memory, ["rsvm"], recipe_names=["paper"], n_jobs=1)
    assert list(found) == ["rsvm"]
    assert [len(fold.tried) for fold in found["rsvm"].folds] == [16, 16]
    assert found["rsvm"].qids == ["h1", "g3", "b0", "b1"]
    for part in ("train", "test"):
        write_part(tmp_path / f"{part}.txt", {f"{part}{number}": GOOD for number in range(4)})
    assert read_data(tmp_path).tables[0][1] is None


def test_folds_without_tables_are_refused(data):
    with pytest.raises(SettingError, match="folds have 2 names and 1 tables, expected as many of each"):
        FoldData(data.names, data.tables[:1])
    with pytest.raises(SettingError, match="0 names and 0 tables"):
        FoldData((), ())


def test_relevance_from_a_grade_holds_for_map_and_precision_alone(folder):
    recipe = Recipe("single", {"feature": 0})
    found = reproduce(folder, ["single"], recipe=recipe, relevant_from=2, n_jobs=1)["single"]
    # A bad query has its document of grade 2 at rank 3.
    assert found.values("MAP")[2] == found.values(EQ_21)[2] == pytest.approx(1 / 3)
    assert found.values("P@5").tolist() == [0.2] * 4
    assert found.values("NDCG@1").tolist() == [1, 1, 0, 0]
    assert found.recipe.measure == "AP(rel=2)"
    assert with_relevance("P@5", 3) == "P(rel=3)@5"
    assert with_relevance("AP(rel=1)", 3) == "AP(rel=1)"
    assert with_relevance("nDCG@10", 3) == "nDCG@10"
    # Without it, definitely relevant is the highest grade, whatever that is.
    assert recorded_measures(None, 5)[EQ_21] == "AP(rel=5)"
    assert recorded_measures(None, 5)["MAP"] == "AP"
    with pytest.raises(SettingError, match="relevant_from is 0, expected a grade from 1"):
        reproduce(folder, ["single"], relevant_from=0)


def test_what_is_given_makes_one_recipe_of_two():
    both = make_recipes(Recipe(powers=False, n_best=1), ["rsvm", "rankboost"], ["paper", "tuned"])
    assert list(both) == ["rsvm", "rankboost"]
    assert list(make_recipes(Recipe(), ["rsvm", "rankboost"], ["tuned"])) == ["rsvm, tuned", "rankboost"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_recorded_measures_exist_in_every_dialect(folder, dialect):
    recipe = Recipe("single", {"feature": 0}, dialect=dialect)
    found = reproduce(folder, ["single"], recipe=recipe, n_jobs=1)["single"]
    assert found.values("NDCG@1").tolist() == [1, 1, 0, 0]
    assert found.values(EQ_21).tolist() == pytest.approx([1, 1, 1 / 3, 1 / 3])
    # Only in LETOR 4.0 a list of three documents has no NDCG@5.
    assert found.values("NDCG@5")[1] == (0 if dialect == "letor4" else 1)


def test_the_whole_table_has_every_row_once(data):
    assert data.whole.n_queries == 8
    assert data.whole.n_rows == 8 * 3 + 1


def test_a_query_in_two_tables_of_a_fold_is_refused(folder, tmp_path):
    for part in ("train", "vali", "test"):
        write_part(tmp_path / f"{part}.txt", {"a": GOOD, part: GOOD})
    with pytest.raises(SettingError, match="query a is in the train and validation sets"):
        read_data(tmp_path)


def test_an_unknown_ranker_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(SettingError, match=r"unknown ranker 'rvsm' \(did you mean rsvm"):
        reproduce(tmp_path / "nowhere", ["rvsm"])
    assert "linear" not in DEFAULT_RANKERS


@pytest.fixture(scope="module")
def report(results, data):
    return letor_report(results, data, Recipe(), name="folds")


@pytest.fixture
def undrawn(monkeypatch):
    """Skip plotting, which is slow."""
    monkeypatch.setattr(plots, "_draw_svg", lambda *arguments, **options: "<svg/>")


def blocks_of(report, kind):
    return {block.name: block for section in report.sections for block in section.blocks if isinstance(block, kind)}


def texts_of(report):
    return [block.text for section in report.sections for block in section.blocks if isinstance(block, Paragraph)]


def test_the_report_has_the_figures_and_tables_of_the_papers(report, results):
    assert set(blocks_of(report, Figure)) == {
        *("figure-1a", "figure-1b", "figure-1c", "figure-2", "figure-4", "figure-5", "figure-6", "ndcg-at-n"),
        *("ordrank-1", "ordrank-2", "ordrank-3", "ordrank-4"),
    }
    tables = blocks_of(report, Table)
    assert set(tables) == {
        *("rankers", "names", "recipes", "claims", "directions", "claim-rsvm-ir", "claim-ordrank"),
        *("figure-2", "figure-4", "figure-4-tuned", "figure-5", "table-2", "table-2-tuned", "table-3"),
        *("cost-sensitive-1", "ordrank-2", "table-ii", "table-iii"),
    }
    assert tables["rankers"].rows[0][:2] == ("rsvm", results["rsvm"].mean("MAP"))
    assert any(text.startswith("BM25 and LMIR are not shown: the names of the features") for text in texts_of(report))
    # 8 queries: 7 with 3 pairs, and h1 with 1·1 + 1·2 + 1·2 = 5.
    assert [row[:2] for row in tables["figure-5"].rows] == [("3–3", 7), ("5–5", 1)]
    assert "8 queries, 25 rows, 3 features" in report.facts["data"]


def test_the_report_says_what_the_recipes_do_and_what_was_tried(report):
    tables = blocks_of(report, Table)
    recipes = {row[0]: row[2] for row in tables["names"].rows}
    assert recipes["rsvm-ir"] == "no powers, one value of C, τ from NDCG@1"
    assert recipes["rsvm, tuned"] == "powers of the features, average over the 5 best values of C"
    assert "The two recipes are one and the same for mhr, ordrank, single." in tables["rankers"].note
    assert "rsvm of the same recipe" in tables["rankers"].note
    assert [row[0] for row in tables["recipes"].rows] == ["rsvm", "rsvm-ir"]
    assert "1.78, 3.16, 5.62, 10, 17.8," in report.facts["settings tried"]
    assert "feature of single = 0, 1, 2" in report.facts["settings tried"]
    assert report.facts["relevant"] == "grades from 1 on in MAP and P@n; grade 2 alone in MAP (eq. 21)"
    assert report.facts["settings chosen by"] == "AP on the validation set of each fold"
    assert any("(5 in each fold of rsvm (tuned), rsvm-ir (tuned)) is certified" in text for text in texts_of(report))
    assert "Ranking SVM for IR: accuracy (recipe paper)" in [section.title for section in report.sections]


def test_a_report_of_the_tuned_recipe_alone_says_so(results, data, undrawn):
    tuned = {label: result for label, result in results.items() if result.recipe.name == "tuned"}
    report = letor_report(tuned, data, Recipe(), name="folds", relevant_from=2)
    titles = [section.title for section in report.sections]
    assert "OrdRank (Sun et al.; recipe tuned)" in titles
    assert "The two recipes" not in titles
    assert report.facts["relevant"] == "grades from 2 on, in MAP, P@n and MAP (eq. 21)"
    assert "(tuned) has the best MAP" in report.summary


def test_published_numbers_are_not_shown_beside_other_data(report, results):
    tables = blocks_of(report, Table)
    assert report.facts["recognised as"] == "none of the published datasets"
    assert len(tables["rankers"].rows) == len(results)
    assert len(tables["table-ii"].rows) == 3
    assert "p in the paper" not in tables["table-2"].columns
    assert tables["table-iii"].columns[-1] == "mean, s"
    assert not any("taken for" in text for text in texts_of(report))


def test_published_numbers_are_shown_if_the_sizes_are_those_of_ohsumed(results, data, monkeypatch, undrawn):
    sizes = DatasetSize("LETOR 3.0 OHSUMED", 8, 25, 3)
    monkeypatch.setattr(published, "OHSUMED", sizes)
    report = letor_report(results, data, Recipe(), name="folds")
    tables = blocks_of(report, Table)
    assert tables["rankers"].rows[len(results)][:3] == ("RankSVM (LETOR)", 0.4334, 0.4958)
    assert tables["table-ii"].rows[3:][0] == ("rsvm (paper)", *ORDRANK_PRECISIONS["rsvm"])
    assert [row[-1] for row in tables["table-2"].rows if row[:2] == ("rsvm", "NDCG@1")] == ["0.0391"]
    # The paper has five trials, these are two: its minutes are not shown.
    assert tables["table-iii"].columns[-1] == "mean, s"
    assert any("because it has 8 queries, 25 rows and 3 features" in text for text in texts_of(report))
    assert "in LETOR's table" in report.summary


def test_only_exactly_these_sizes_are_recognised(data):
    assert DatasetSize("x", 8, 25, 3).matches(data.whole)
    for wrong in ((7, 25, 3), (8, 24, 3), (8, 25, 2)):
        assert not DatasetSize("x", *wrong).matches(data.whole)


def test_published_means_follow_from_the_published_trials():
    means = {name: sum(map(np.mean, minutes.values())) for name, minutes in ORDRANK_MINUTES.items()}
    assert means == pytest.approx({"rsvm": 1521.56, "mhr": 536.98, "ordrank": 334.47}, abs=0.01)


def test_rankers_that_were_not_tried_are_left_out(results, data, undrawn):
    queries = choose_shown_queries(data.whole, ["g0", "b0"])
    report = letor_report({"mhr": results["mhr"]}, data, Recipe(), queries, name="folds")
    assert set(blocks_of(report, Figure)) == {
        *("figure-1a", "figure-1b", "figure-1c", "figure-2", "figure-6"),
        *("ordrank-1", "ordrank-2", "ordrank-3", "ordrank-4"),
    }
    assert "claims" not in blocks_of(report, Table)
    assert any(
        text.startswith("Two queries, query g0 with 3 pairs and query b0 with 3 pairs.") for text in texts_of(report)
    )
