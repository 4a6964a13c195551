"""BM25 and language models taken from features."""

import numpy as np
import pytest

from searchlab.features.feature_table import FeatureTable
from searchlab.reproduction import retrieval_models
from searchlab.reproduction.letor import FoldData
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.published import DatasetSize
from searchlab.reproduction.retrieval_models import (
    BM25,
    LMIR,
    OHSUMED_FEATURES,
    evaluate_feature,
    evaluate_retrieval_models,
    find_retrieval_features,
)
from searchlab.training.recipe import Recipe

NAMES = ("letor.both.tf", "letor.both.bm25", "letor.both.dirichlet", "letor.both.jm", "letor.both.absolute")
# By feature: as the grades, as the grades, in reverse, as the grades except for a tie, undefined for the best document.
VALUES = {
    2: [0.0, 9.0, -3.0, -1.0, np.nan],
    1: [0.0, 5.0, -2.0, -1.0, -2.0],
    0: [0.0, 1.0, -1.0, -3.0, -1.0],
}


def make_table(qids, names=NAMES):
    rows = [(qid, grade) for qid in qids for grade in (0, 1, 2)]
    docnos = [f"{qid}-{grade}" for qid, grade in rows]
    values = [VALUES[grade][: len(names)] for _, grade in rows]
    return FeatureTable(names, [qid for qid, _ in rows], docnos, values, [grade for _, grade in rows])


@pytest.fixture
def data():
    return FoldData(("Fold1",), ((make_table(["a", "b"]), make_table(["c"]), make_table(["d", "e"])),))


def test_bm25_and_lmir_are_features_as_they_are(data):
    found = evaluate_retrieval_models(data, Recipe())
    assert list(found.results) == [BM25, LMIR]
    assert found.results[BM25].values("MAP").tolist() == [1, 1]
    # Jelinek-Mercer: the two relevant documents are tied before the third, in the order of the rows.
    assert found.results[LMIR].values("MAP").tolist() == [1, 1]
    assert found.results[LMIR].folds[0].top_grades == {"d": (1, 2, 0), "e": (1, 2, 0)}


def test_the_smoothing_is_the_best_on_the_training_set_of_the_first_fold(data):
    text = evaluate_retrieval_models(data, Recipe()).description
    # Dirichlet ranks 0, 1, 2: AP (1/2 + 2/3)/2 = .5833. Absolute discount: the undefined value becomes the minimum of
    # the query, a tie with grade 1 behind grade 0, so the same.
    assert "LMIR is the language model with Jelinek–Mercer smoothing, the feature letor.both.jm" in text
    assert "(Dirichlet .5833, Jelinek–Mercer 1.0000, absolute discount .5833)" in text
    assert text.startswith("BM25 is the feature letor.both.bm25.")


def test_one_feature_is_evaluated_with_undefined_values_imputed(data):
    result = evaluate_feature(data, "letor.both.absolute", Recipe(imputation="query-minimum"))
    assert result.folds[0].top_grades["d"] == (0, 1, 2)
    assert result.values("MAP").tolist() == pytest.approx([7 / 12, 7 / 12])


def test_relevance_from_a_grade_is_heeded(data):
    result = evaluate_feature(data, "letor.both.dirichlet", Recipe(), relevant_from=2)
    assert result.values("MAP").tolist() == pytest.approx([1 / 3, 1 / 3])


def test_files_without_names_are_known_by_the_size_of_ohsumed_alone(monkeypatch):
    numbered = FeatureTable([f"f{n}" for n in range(1, 46)], ["a", "a"], ["1", "2"], np.zeros((2, 45)), [1, 0])
    assert find_retrieval_features(numbered) is None
    monkeypatch.setattr(published, "OHSUMED", DatasetSize("x", 1, 2, 45))
    assert find_retrieval_features(numbered) is OHSUMED_FEATURES
    assert (OHSUMED_FEATURES.bm25, *OHSUMED_FEATURES.lmir.values()) == ("f41", "f43", "f44", "f45")


def test_where_the_features_are_not_known_the_description_says_why(data):
    unnamed = FoldData(data.names, tuple(tuple(part.select(NAMES[:2]) for part in parts) for parts in data.tables))
    found = evaluate_retrieval_models(unnamed, Recipe())
    assert found.results == {}
    assert "BM25 and LMIR are not shown: the names of the features do not tell" in found.description


def test_the_names_of_features_are_those_of_the_catalogue():
    from searchlab.features.catalogue import CATALOGUE

    assert len(retrieval_models.NAMED_FEATURES) == 2
    for each in retrieval_models.NAMED_FEATURES:
        assert {each.bm25, *each.lmir.values()} <= set(CATALOGUE)
    # LETOR's numbers and our names are the same features.
    named = retrieval_models.NAMED_FEATURES[0]
    letor = [name for name in CATALOGUE if name.startswith("letor.")]
    numbers = [int(number.removeprefix("f")) for number in (OHSUMED_FEATURES.bm25, *OHSUMED_FEATURES.lmir.values())]
    assert [letor[number - 1] for number in numbers] == [named.bm25, *named.lmir.values()]
