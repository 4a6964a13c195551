"""The package is replaced by a fake module that gives named tuples and raises errors."""

import sys
from collections import namedtuple
from types import ModuleType

import pytest

from searchlab.corpus import ReadingNotes, read_documents, read_qrels, read_topics
from searchlab.errors import RecordError, SourceError
from searchlab.records import Document, Topic

Paper = namedtuple("Paper", "doc_id title abstract date parts raw")
Part = namedtuple("Part", "name text")
Query = namedtuple("Query", "query_id title description narrative")
Judgment = namedtuple("Judgment", "query_id doc_id relevance iteration")


class FakeDataset:
    def __init__(self, docs=None, queries=None, qrels=None):
        self.docs, self.queries, self.qrels = docs, queries, qrels

    def has_docs(self):
        return self.docs is not None

    def has_queries(self):
        return self.queries is not None

    def has_qrels(self):
        return self.qrels is not None

    def qrels_iter(self):
        return iter(self.qrels)

    def docs_iter(self):
        for item in self.docs:
            if isinstance(item, Exception):
                raise item
            yield item

    def queries_iter(self):
        return iter(self.queries)


@pytest.fixture
def datasets(monkeypatch):
    """The datasets of the fake package; a test adds its own here."""
    known = {}
    module = ModuleType("ir_datasets")
    module.load = known.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    return known


PAPER = Paper("p1", "Title", "Abstract.", 1999, [Part("a", "b\0c")], b"caf\xc3\xa9")


def test_documents_are_mapped_by_the_names_of_their_parts(datasets):
    datasets["cord19/covid"] = FakeDataset([PAPER, PAPER._replace(doc_id=7, title=None)])
    notes = ReadingNotes()
    first, second = read_documents("ir_datasets:cord19/covid", notes=notes)
    fields = {"date": 1999, "parts": [{"name": "a", "text": "b c"}], "raw": "café"}
    assert first == Document("p1", "Title", "Abstract.", fields)
    assert second == Document("7", "", "Abstract.", fields)
    assert second.location == "ir_datasets:cord19/covid:2"
    assert notes.n_documents == 2


def test_topics_are_mapped_too(datasets):
    datasets["x"] = FakeDataset(queries=[Query("1", "wing", "Find wings.", None)])
    assert read_topics("ir_datasets:x") == [Topic("1", "wing", {"description": "Find wings."})]
    assert read_topics("ir_datasets:x", fields="description") == [Topic("1", "Find wings.", {"title": "wing"})]


def test_judgments_are_read_too(datasets, message):
    datasets["x"] = FakeDataset(qrels=[Judgment("1", "p1", 2, "0"), Judgment("1", "p2", 0, "0")])
    assert dict(read_qrels("ir_datasets:x")["1"]) == {"p1": 2, "p2": 0}
    datasets["x"] = FakeDataset(docs=[])
    assert message(SourceError, read_qrels, "ir_datasets:x") == "ir_datasets:x: this dataset has no judgments"


def test_bad_records_of_a_dataset_are_treated_as_those_of_files(datasets, message):
    datasets["x"] = FakeDataset([PAPER._replace(doc_id="a b"), PAPER])
    complaint = "ir_datasets:x:1: expected a docno without blanks, found 'a b'"
    assert message(RecordError, read_documents, "ir_datasets:x") == complaint
    notes = ReadingNotes()
    assert len(list(read_documents("ir_datasets:x", strict=False, notes=notes))) == 1
    assert [str(error) for error in notes.bad_records] == [complaint]


@pytest.mark.parametrize("read", [read_documents, read_topics])
def test_without_the_package_the_error_says_how_to_install_it(monkeypatch, message, read):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    expected = 'ir_datasets:vaswani: needs the package ir-datasets: pip install "searchlab[datasets]"'
    assert message(SourceError, read, "ir_datasets:vaswani") == expected


@pytest.mark.parametrize("read", [read_documents, read_topics])
def test_a_dataset_that_the_package_does_not_know_is_refused_at_once(datasets, read):
    with pytest.raises(SourceError, match=r"^ir_datasets:y: cannot be read by ir_datasets \(KeyError: 'y'\)$"):
        read("ir_datasets:y")


@pytest.mark.parametrize(("read", "kind"), [(read_documents, "documents"), (read_topics, "topics")])
def test_a_dataset_without_what_is_asked_for_is_refused(datasets, message, read, kind):
    datasets["x"] = FakeDataset()
    assert message(SourceError, read, "ir_datasets:x") == f"ir_datasets:x: this dataset has no {kind}"
    datasets["x"] = FakeDataset([], [])
    assert message(SourceError, read, "ir_datasets:x") == f"ir_datasets:x: holds no {kind}"


def test_any_error_of_the_package_is_reported_on_one_line(datasets, message):
    datasets["x"] = FakeDataset([PAPER, OSError("no route\n  to host")])
    documents = read_documents("ir_datasets:x")
    assert next(documents).docno == "p1"
    expected = "ir_datasets:x: cannot be read by ir_datasets (OSError: no route to host)"
    assert message(SourceError, lambda: documents) == expected
    datasets["x"] = FakeDataset([RuntimeError()])
    assert message(SourceError, read_documents, "ir_datasets:x").endswith("(RuntimeError: no reason given)")
