"""Stored fields as features: numbers and dates by hand, from the columns alone, and refusals."""

from math import log, nan

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.candidates import judged
from searchlab.features.descriptions import describe_feature
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import find_feature, make_feature_set
from searchlab.features.measuring.candidate_readings import find_greatest
from searchlab.features.user_defined.field_features import find_field_feature, list_field_features
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.storage.documents.stored_documents import StoredDocuments
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine

FIELDS = {
    "whole": {"year": 1999, "cited.by": 0},
    "text": {"year": " 2001 ", "cited.by": 7, "journal": "Lancet"},
    "day": {"year": "2024-07-02", "cited.by": -1},  # 183 of the 366 days are over
    "month": {"year": "2023/1", "cited.by": -0.5},
    "several": {"year": [1990, "2005", "1980-01-01"], "cited.by": 1e6},
    "words": {"year": "unknown", "journal": "1990 and later"},
    "none": {},
    "empty": {"year": None, "journal": ["", True]},
}
YEARS = {"whole": 1999, "text": 2001, "day": 2024.5, "month": 2023, "several": 2005}


@pytest.fixture(params=[None, 2], ids=["one shard", "many shards"])
def engine(request, build):
    documents = [Document(docno, "t", "w w", fields) for docno, fields in FIELDS.items()]
    with SearchEngine(build(documents, words_per_shard=request.param)) as opened:
        yield opened


def values(engine, *names):
    table = extract(engine, [Topic("1", "w")], judged(engine, {"1": dict.fromkeys(FIELDS, 0)}), names)
    return {name: dict(zip(table.docnos, table.column(name).tolist(), strict=True)) for name in table.names}


def expected(numbers):
    return pytest.approx({docno: numbers.get(docno, nan) for docno in FIELDS}, nan_ok=True, abs=1e-12)


def test_numbers_are_themselves_dates_are_years_and_anything_else_is_undefined(engine):
    assert values(engine, "field.year")["field.year"] == expected(YEARS)


def test_ages_are_relative_to_the_greatest_number_or_to_one_that_is_given(engine):
    found = values(engine, "field.year.age", "field.year.age-2030", "field.year.age-2000.5")
    for name, reference in (("", 2024.5), ("-2030", 2030), ("-2000.5", 2000.5)):
        assert found[f"field.year.age{name}"] == expected({docno: reference - year for docno, year in YEARS.items()})


def test_the_logarithm_is_of_one_more_and_undefined_below(engine):
    by_hand = {"whole": 0, "text": log(8), "month": log(0.5), "several": log(1_000_001)}
    assert values(engine, "field.cited.by.log")["field.cited.by.log"] == expected(by_hand)


def test_deleted_documents_are_not_the_newest(build):
    folder = build([Document(docno, "t", "w", fields) for docno, fields in FIELDS.items()], words_per_shard=3)
    delete(folder, ["day"])
    with SearchEngine(folder) as engine:
        assert find_greatest(engine, "year") == 2023


def test_no_stored_document_is_read(engine, monkeypatch):
    def refuse(self, number):
        raise AssertionError("a stored document was read")

    monkeypatch.setattr(StoredDocuments, "document", refuse)
    assert values(engine, "field.year")["field.year"]["whole"] == 1999
    with pytest.raises(AssertionError, match="a stored document was read"):
        engine.document("whole")


def test_a_field_that_cannot_be_a_feature_is_refused_with_those_that_exist(engine, build):
    with pytest.raises(
        SettingError, match=r"unknown field of \S+ 'yaer' \(did you mean year\?\); there is: cited\.by, "
    ):
        values(engine, "field.yaer.age")
    with pytest.raises(SettingError, match="field journal has no number or date in any document, expected some"):
        values(engine, "field.journal")
    with (
        SearchEngine(build([Document(docno, "t", "w") for docno in FIELDS])) as bare,
        pytest.raises(SettingError, match="no document has a field year, nor any other field"),
    ):
        values(bare, "field.year")


@pytest.mark.parametrize(
    ("name", "formula", "words"),
    [
        ("field.year", "year", "year of the document"),
        ("field.log", "log", "log of the document"),
        ("field.a.b.log", "ln(1 + a.b)", "a.b of the document (log)"),
        ("field.year.age", "greatest year in the index - year", "age by year"),
        ("field.year.age-2024", "2024 - year", "age by year"),
        ("field.year.log-3", "year.log-3", "year.log-3 of the document"),
    ],
)
def test_names_have_formulas_and_descriptions(name, formula, words):
    assert find_feature(name).formula == formula
    assert describe_feature(name) == words


@pytest.mark.parametrize("name", ["field", "field.", "fields.year", "field.a b", "own.field.year"])
def test_other_names_are_no_fields(name):
    assert find_field_feature(name) is None


def test_fields_are_combined_with_sets(engine):
    chosen = make_feature_set("table1, field.year,field.year")
    assert chosen.names == (*make_feature_set("table1").names, "field.year")
    assert chosen.name == "table1, field.year,field.year"
    assert make_feature_set(["table1", "field.year"]).names == chosen.names
    assert values(engine, *chosen.names)["field.year"]["whole"] == 1999


def test_an_index_lists_its_numeric_fields(engine):
    assert [feature.name for feature in list_field_features(engine.snapshot)] == ["field.cited.by", "field.year"]


def test_numbers_agree_with_the_stored_documents_of_many(build):
    random = np.random.default_rng(7)
    documents = [
        Document(f"d{number}", "t", "w", {"n": random.integers(-50, 50, size).tolist()} if size else {})
        for number, size in enumerate(random.integers(0, 4, 300).tolist())
    ]
    with SearchEngine(build(documents, words_per_shard=40)) as engine:
        candidates = judged(engine, {"1": {document.docno: 0 for document in documents}}).of("1")
        found = engine.snapshot.field_numbers("n", candidates.shards, candidates.docs)
        slow = [max(engine.document(docno).fields.get("n", []), default=nan) for docno in candidates.docnos]
    assert len(found) == 300
    np.testing.assert_array_equal(found, slow)
