"""Fields are found by word, value, number and date, and their texts are read in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.documents.digest import digest
from searchlab.indexing.storage.field_columns import GAP
from searchlab.indexing.storage.field_values import parse_date
from searchlab.records import Document
from tests.hypothesis_profiles import examples

DOCUMENTS = [
    Document("c", "heat flow", "wings in flow", {"mesh": ["Lung Neoplasms", "Mice"], "year": 1988, "source": "Lancet"}),
    Document("a", "", "lung", {"mesh": ["Mice, Nude"], "year": "1990", "seen": "1990-03-01", "source": "The LANCET"}),
    Document("b", "prison cell", "", {"year": 1989.5, "seen": ["1988-12-31", "2001/2/3"], "nested": {"x": [1, "two"]}}),
]


@pytest.fixture(scope="module")
def columns(build):
    snapshot = Snapshot(build(DOCUMENTS))
    yield snapshot.shards[0].columns
    snapshot.close()


def names(columns, docs):
    return "".join(columns.docnos[int(doc)] for doc in docs)


def test_the_names_of_fields_are_sorted(columns):
    assert list(columns.fields.names) == ["mesh", "nested", "seen", "source", "year"]


def test_a_word_of_a_field_is_found_with_its_frequency(columns):
    text = columns.text("mesh")
    docs, tfs = text.postings(text.find("mice"))
    assert (names(columns, docs), tfs.tolist()) == ("ac", [1, 1])
    assert text.find("lancet") == -1
    assert text.stream.lengths.tolist() == [2, 0, 3]
    assert text.stream.uniques.tolist() == [2, 0, 3]
    assert columns.text("heat") is None


def test_words_of_fields_are_not_words_of_the_texts(columns):
    assert columns.terms.find("mice") == -1
    assert columns.terms.find("1988") == -1


def test_a_value_is_found_but_for_case(columns):
    assert names(columns, columns.fields.with_value("source", "LANCET ")) == "c"
    assert names(columns, columns.fields.with_value("source", "the  lancet")) == "a"
    assert names(columns, columns.fields.with_value("mesh", "mice")) == "c"
    assert names(columns, columns.fields.with_value("nested", "two")) == "b"
    assert names(columns, columns.fields.with_value("year", "1989.5")) == "b"
    assert names(columns, columns.fields.with_value("year", "Lancet")) == ""
    assert names(columns, columns.fields.with_value("absent", "Lancet")) == ""


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(1988, 1990, "abc"), (1988, 1989, "c"), (1989.5, 1989.5, "b"), (1991, np.inf, ""), (-np.inf, np.inf, "abc")],
)
def test_numbers_are_found_between_bounds(columns, low, high, found):
    assert names(columns, columns.fields.between_numbers("year", low, high)) == found


def test_dates_are_found_between_bounds(columns):
    between = columns.fields.between_dates
    assert names(columns, between("seen", parse_date("1988-12-31"), parse_date("1990-02-28"))) == "b"
    assert names(columns, between("seen", parse_date("1990-02"), parse_date("2001-02-03"))) == "ab"
    assert names(columns, between("mesh", -np.inf, np.inf)) == ""


def test_documents_that_have_a_field(columns):
    assert names(columns, columns.fields.having("mesh")) == "ac"
    assert names(columns, columns.fields.having("absent")) == ""


def test_the_terms_of_a_text_are_stored_in_order(columns):
    def terms_by_passage(name):
        text = columns.text(name)
        passages = text.passages
        words = ["|" if t == GAP else text.terms[int(t)].removeprefix(text.prefix) for t in passages.tokens]
        ranges = passages.select(np.arange(columns.n_docs))
        rows = zip(ranges.docs.tolist(), ranges.starts.tolist(), ranges.ends.tolist(), strict=True)
        return [(columns.docnos[doc], words[start:end]) for doc, start, end in rows]

    assert terms_by_passage("title") == [("a", []), ("b", ["prison", "cell"]), ("c", ["heat", "flow"])]
    assert terms_by_passage("body") == [("a", ["lung"]), ("b", []), ("c", ["wings", "in", "flow"])]
    assert terms_by_passage("both")[4:] == [("c", ["heat", "flow"]), ("c", ["wings", "in", "flow"])]
    assert terms_by_passage("mesh") == [("a", ["mice", "nude"]), ("c", ["lung", "neoplasms", "|", "mice"])]


def test_the_columns_hold_the_digests_of_the_documents(columns):
    assert [bytes(row) for row in columns.digests] == [digest(d) for d in sorted(DOCUMENTS, key=lambda d: d.docno)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(60))
@given(st.lists(st.dictionaries(st.text(max_size=6), json_values, max_size=4), min_size=1, max_size=6))
def test_any_fields_can_be_indexed_and_each_short_value_found(indexed, field_maps):
    documents = [Document(f"d{number}", "t", "", fields) for number, fields in enumerate(field_maps)]
    with indexed(documents) as folder:
        snapshot = Snapshot(folder)
        try:
            columns = snapshot.shards[0].columns
            for number, document in enumerate(documents):
                for name, value in document.fields.items():
                    if isinstance(value, str) and value and not {"\0"} & {*name, *value}:
                        assert number in columns.fields.with_value(name, value)
                    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15:
                        assert number in columns.fields.between_numbers(name, value, value)
        finally:
            snapshot.close()
