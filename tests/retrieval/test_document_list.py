"""Lists of documents are taken from hits, cut, and joined without duplicates."""

import pytest

from searchlab.records import Document
from searchlab.retrieval.document_list import NO_DOCUMENTS, DocumentList
from searchlab.retrieval.engine import SearchEngine


@pytest.fixture(scope="module")
def engine(build):
    return SearchEngine(build([Document(name, "", f"red {name}") for name in "abcde"], words_per_shard=4))


def as_pairs(documents: DocumentList) -> list[tuple[str, tuple[int, int]]]:
    locations = zip(documents.shards.tolist(), documents.docs.tolist(), strict=True)
    return list(zip(documents.docnos, locations, strict=True))


def test_documents_of_hits_are_in_their_order_with_their_locations(engine):
    documents = DocumentList.of(engine.search("red", k=3))
    assert as_pairs(documents) == [(docno, engine.snapshot.locate(docno)) for docno in ("e", "d", "c")]


def test_a_union_adds_the_documents_that_are_not_there(engine):
    first, other = (DocumentList.of(engine.search(text, k=3)) for text in ("red", "c a e"))
    assert set(other.docnos) == {"a", "c", "e"}
    both = first.union(other)
    assert both.docnos == ("e", "d", "c", "a")
    assert as_pairs(both) == [(docno, engine.snapshot.locate(docno)) for docno in both.docnos]
    assert NO_DOCUMENTS.union(first).docnos == first.docnos
    assert first.union(NO_DOCUMENTS).docnos == first.docnos


def test_some_rows_are_taken(engine):
    documents = DocumentList.of(engine.search("red")).take([3, 0])
    assert as_pairs(documents) == [(docno, engine.snapshot.locate(docno)) for docno in ("b", "e")]
    assert len(documents.take([])) == len(NO_DOCUMENTS) == 0
