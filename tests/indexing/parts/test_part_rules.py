"""Rules for duplicates over the documents of parts."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.indexing.building.build_options import BuildOptions
from searchlab.indexing.parts.part_rules import KnownHashes, decide
from searchlab.indexing.parts.process_worker import ReadPart, pack_identities
from searchlab.records import Document


@given(st.lists(st.lists(st.integers(-4, 40), max_size=9), max_size=12))
def test_numbers_that_were_added_are_known(parts):
    known, seen = KnownHashes(), set()
    for part in parts:
        are_new = len(set(part)) == len(part) and not seen & set(part)
        assert known.add(np.array(part, np.int64)) == are_new
        seen |= set(part)


def part_of(*documents, hashes=None) -> ReadPart:
    numbers = hashes or [hash(document.docno) for document in documents]
    return ReadPart(
        np.array(numbers),
        pack_identities(documents, [d.body.encode() for d in documents]),
        {},
        ReadingNotes(),
        [],
        Counter(),
    )


def changes_of(*parts, rule="keep-all") -> tuple[list[dict[int, str | None]], ReadingNotes]:
    notes, changes = ReadingNotes(), []
    decide(parts, lambda part, changed: changes.append(dict(changed)), notes, BuildOptions(rule, False, False, False))
    return changes, notes


def test_documents_are_kept_as_they_are_if_no_two_are_the_same():
    changes, notes = changes_of(part_of(Document("a"), Document("b")), part_of(), part_of(Document("c")))
    assert changes == [{}, {}, {}]
    assert not notes.n_events


def test_equal_hashes_of_different_docnos_change_nothing():
    changes, notes = changes_of(part_of(Document("a"), hashes=[7]), part_of(Document("b"), hashes=[7]))
    assert changes == [{}, {}]
    assert not notes.n_events


def test_a_copy_is_left_out_and_another_content_renamed():
    first = part_of(Document("a", body="x", location="f.jsonl:1"), Document("b", location="f.jsonl:2"))
    second = part_of(Document("c"), Document("a", body="x", location="f.jsonl:4"))
    third = part_of(Document("a", body="y", location="f.jsonl:5"))
    changes, notes = changes_of(first, second, third)
    assert changes == [{}, {1: None}, {0: "a~f.jsonl"}]
    assert [str(event.location) for event in [*notes.left_out, *notes.renamed]] == ["f.jsonl:4", "f.jsonl:5"]


def test_documents_of_one_part_are_compared_too():
    changes, _ = changes_of(part_of(Document("a", body="x"), Document("a", body="y")), rule="keep-first")
    assert changes == [{1: None}]
