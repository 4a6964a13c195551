"""Documents that are given as values: dicts, Documents, DataFrames, generators."""

import datetime
import weakref
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import searchlab
from searchlab.corpus.values.document_values import EXPECTED, split_sources
from searchlab.errors import SearchlabError, SettingError
from searchlab.records import Document

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

WINGS = Document("1", "Wings", "Heat flow", {"year": 1999})
CELLS = Document("b", "", "Cells")
COLUMNS = {"docno": ["1", "b"], "title": ["Wings", None], "text": ["Heat flow", "Cells"], "year": [1999, None]}


def read(sources, fields=None):
    paths, values = split_sources(sources, fields)
    assert paths == []
    return list(values.read())


@pytest.mark.parametrize(
    "given",
    [
        [WINGS, CELLS],
        [{"docno": 1, "title": "Wings", "body": "Heat flow", "year": 1999}, {"id": "b", "text": "Cells", "year": None}],
        iter([{"doc_id": "1", "title": "Wings", "abstract": "Heat flow", "year": np.int64(1999)}, CELLS]),
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
    ],
)
def test_documents_of_every_kind_are_the_same(given):
    found = read(given)
    assert found == [WINGS, CELLS]
    assert type(found[0].fields["year"]) is int


def test_values_become_plain_json():
    record = {
        "docno": "a",
        "day": datetime.date(2020, 1, 2),
        "time": pd.Timestamp("2020-01-02 03:04"),
        "moment": np.datetime64("2020-01-02"),
        "never": pd.NaT,
        "nothing": pd.NA,
        "nan": float("nan"),
        "not_a_time": np.datetime64("NaT"),
        "number": np.float32(0.5),
        "flag": np.bool_(True),
        "price": Decimal("2.5"),
        "tags": ("x", np.str_("y"), None),
        "vector": np.array([1, 2]),
        "nested": {"a": np.int8(3), 4: "\x00b"},
    }
    (document,) = read([record])
    assert document.fields == {
        "day": "2020-01-02",
        "time": "2020-01-02T03:04:00",
        "moment": "2020-01-02",
        "number": 0.5,
        "flag": True,
        "price": 2.5,
        "tags": ["x", "y", None],
        "vector": [1, 2],
        "nested": {"a": 3, "4": " b"},
    }
    assert {type(value) for value in document.fields.values()} == {str, float, bool, list, dict}


def test_fields_name_the_keys():
    fields = {"docno": "PMID", "title": "Article Title", "body": "Abstract"}
    record = {"PMID": 1, "Article Title": "Wings", "Abstract": "Heat flow", "title": "ignored", "year": 1999}
    assert read([record], fields) == [WINGS]
    assert read(pd.DataFrame([record]), fields) == [WINGS]


MANY: dict[str, Any] = {"docno": "a", "x": [[]]}
for _ in range(200):
    MANY["x"] = [MANY["x"]]

WRONG = [
    ([CELLS, 3], None, "document 2: expected a dict or a Document, found a value of type int"),
    ([CELLS, "b"], None, "document 2: expected a dict or a Document, found a value of type str"),
    ([{"title": "x"}], None, "document 1: expected a docno (one of docno, doc_id, docid, id, _id), found none"),
    ([{"docno": "a b"}], None, "document 1: expected a docno without blanks, found 'a b'"),
    ([{"docno": 1.5}], None, "document 1: docno is 1.5 of type float, expected text or a whole number (pandas makes"),
    (
        pd.DataFrame({"id": [1.0]}),
        None,
        "document 1: docno is 1.0 of type float, expected text or a whole number (pandas",
    ),
    (
        pl.LazyFrame({"docno": ["a"]}),
        None,
        f"{EXPECTED}; found a value of type LazyFrame, not a list of them (call its method collect() first)",
    ),
    (
        pd.Series(["a"]),
        None,
        f"{EXPECTED}; found a value of type Series, not a list of them (call its method to_frame() first)",
    ),
    (
        pd.DataFrame({"docno": ["a"], "text": ["b"]}).set_index("docno"),
        None,
        "the DataFrame has the columns text; expected also: a docno (docno is its index: call its method reset_index()",
    ),
    (
        pd.DataFrame({"pk": ["a"], "t": ["b"]}),
        {"pk": "id", "t": "title"},
        "fields names id, title, but the DataFrame has the columns pk, t; fields has the column of each name, "
        "as in fields={'docno': 'pk', 'title': 't'}",
    ),
    ([{"docno": "a", 3: "x"}], None, "document 1: expected text as the name of a field, found 3"),
    (
        [{"docno": "a", "x": {1, 2}}],
        None,
        "document 1: expected text, a number, a date, a list or a dict as x, found a",
    ),
    ([{"docno": "a", "x": float("inf")}], None, "document 1: expected a finite number as x, found inf"),
    ([MANY], None, "document 1: expected a plain value as x, found one nested too deeply"),
    ([Document("", "a")], None, "document 1: expected a docno, found an empty one"),
    ([Document("a", None)], None, "document 1: expected text as title, found a value of type NoneType"),
    ([Document("a", fields=None)], None, "document 1: expected a dict as fields, found a value of type NoneType"),
    (
        [{"docno": "a", "Titel": "x"}],
        {"title": "Title"},
        "fields: no document has Title, expected the keys of documents",
    ),
    (pd.DataFrame({"docno": ["a"]}), {"title": "Title"}, "fields names Title, but the DataFrame has the columns docno"),
    (
        {"docno": "a"},
        None,
        "expected files, folders, or documents: dicts, Documents or a DataFrame; found a value of type",
    ),
    (7, None, "expected files, folders, or documents: dicts, Documents or a DataFrame; found a value of type int"),
    ([CELLS], ["title"], "fields is ['title'], expected a dict of names and keys such as {'title': 'Title'}"),
    (["corpus", CELLS], None, "source 2 is a value of type Document, expected a path, as the first one"),
]


@pytest.mark.parametrize(("given", "fields", "complaint"), WRONG)
def test_a_bad_item_is_named_by_its_position(given, fields, complaint):
    with pytest.raises(SearchlabError) as caught:
        read(given, fields)
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


class Record(dict[str, Any]):
    """A dict that can be watched."""


def test_a_generator_is_streamed():
    living = []

    def generate():
        for number in range(100):
            record = Record(docno=number)
            living.append(weakref.ref(record))
            yield record

    _, values = split_sources(generate())
    for _ in values.read():
        # The first record is held since it was looked at, and the current one; none is in a cycle.
        assert sum(each() is not None for each in living) <= 3


@pytest.mark.parametrize("given", [[WINGS, CELLS], pd.DataFrame([{"docno": "1", "title": "Wings"}, {"docno": "b"}])])
def test_documents_are_indexed_and_searched(tmp_path, given):
    summary = searchlab.index(given, tmp_path / "mine", jobs=1)
    assert (summary.n_docs, summary.n_added) == (2, 2)
    assert [hit.docno for hit in searchlab.open(tmp_path / "mine").search("wing")] == ["1"]
    again = searchlab.index(iter([CELLS, Document("new", "Wing")]), tmp_path / "mine", jobs=1)
    assert (again.n_docs, again.n_added) == (3, 1)


def test_mistakes_leave_no_index(tmp_path):
    for given, options, complaint in [
        ([WINGS, {"docno": ""}], {}, "document 2: expected a docno, found an empty one"),
        ([WINGS, WINGS], {"on_duplicate": "error"}, "document 2: docno '1' was read already at document 1"),
        (iter([WINGS]), {"on_duplicate": "keep-last"}, "keep-last reads the documents twice, and an iterator"),
    ]:
        with pytest.raises(SearchlabError) as caught:
            searchlab.index(given, tmp_path / "mine", jobs=1, **options)
        assert str(caught.value).startswith(complaint)
        with pytest.raises(SearchlabError):
            searchlab.open(tmp_path / "mine")
    with pytest.raises(SearchlabError, match="folder is missing, expected one for documents that are given as values"):
        searchlab.index([WINGS])
    last = searchlab.index([WINGS, Document("1", "Cells")], tmp_path / "mine", jobs=1, on_duplicate="keep-last")
    assert (last.n_docs, last.n_duplicates) == (1, 1)


def test_an_index_with_a_name_is_ignored_beside_a_docno():
    frame = pd.DataFrame({"PMID": ["b"], "text": ["Cells"], "n": [1]}).set_index("n")
    assert read(frame, {"docno": "PMID"}) == [CELLS]


def test_no_sources_may_be_documents_as_well():
    with pytest.raises(SettingError, match="no sources: expected files or folders of documents, or documents"):
        searchlab.index([], "here")
