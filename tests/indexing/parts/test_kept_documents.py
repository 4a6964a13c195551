"""Which documents of all parts are kept: by hashes of docnos if all differ, else by the rules."""

from hashlib import blake2b

import pytest

from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.indexing.parts import kept_documents
from searchlab.indexing.parts.kept_documents import find_changed
from searchlab.indexing.parts.part_identities import Identities
from searchlab.records import Document


def pack(*documents):
    identities = Identities()
    for document in documents:
        identities.add(document)
    return identities.pack()


def test_identities_are_the_same_after_packing():
    documents = Document("a", "one", "two", {"doi": "10.1/x"}, "x:1"), Document("b\udc80", "", "three", {}, "x:2")
    packed = pack(*documents)
    found = packed.unpack()
    assert (found.docnos, found.locations) == (["a", "b\udc80"], ["x:1", "x:2"])
    assert len(found.contents) == 16 and found.keys.keys() == {0}
    assert len(packed) == len(packed.hashes) == 2
    # The same in every process, which Python's own hashes are not.
    expected = int.from_bytes(blake2b(b"a", digest_size=8).digest(), "little", signed=True)
    assert pack(documents[0]).hashes.tolist() == packed.hashes[:1].tolist() == [expected]


def test_distinct_docnos_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(kept_documents, "_keep_documents", None)
    parts = [pack(Document("a"), Document("b")), pack(), pack(Document("c"))]
    assert find_changed(parts, "error", ReadingNotes(), deduplicate=True) == {}


@pytest.mark.parametrize("within", [True, False])
def test_a_docno_that_is_there_twice_is_decided_about(within):
    first, second = Document("a", "x", location="f:1"), Document("a", "y", location="f:2")
    parts = [pack(first, second)] if within else [pack(Document("b"), first), pack(Document("c"), second)]
    notes = ReadingNotes()
    found = find_changed(parts, "keep-first", notes, deduplicate=False)
    assert found == ({0: ["a", None]} if within else {1: ["c", None]})
    assert notes.n_events.total() == 1


def test_records_of_one_publication_are_decided_about():
    parts = [pack(Document(docno, "x", docno, {"doi": "10.1/x"}, docno)) for docno in "ab"]
    assert find_changed(parts, "keep-all", ReadingNotes(), deduplicate=True) == {1: [None]}
