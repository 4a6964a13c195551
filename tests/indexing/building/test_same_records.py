import pytest

import searchlab
from searchlab.corpus.reading_notes import DUPLICATE, ReadingEvent, ReadingNotes
from searchlab.indexing.building.same_records import find_same_records
from searchlab.records import Document

WINGS = Document("1", "Of Wings: a review.", fields={"doi": "10.1/X", "year": 1958, "authors": ["Ting, Yi Li", "Doe"]})


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Document("2", fields={"doi": "https://doi.org/10.1/x"}), "DOI"),
        (Document("2", fields={"doi": "doi: 10.1/x"}), "DOI"),
        (
            Document("2", "of wings - A Review", fields={"year": "1958", "authors": "Ting YL; Roe"}),
            "title, year and first author",
        ),
        (Document("2", "Of Wings: a review.", fields={"year": 1959, "authors": ["Ting"]}), None),
        (Document("2", "Of Wings: a review.", fields={"year": 1958, "authors": ["Roe"]}), None),
        (Document("2", "Of Wings: a review.", fields={"year": 1958}), None),
        (Document("2", "Of Wings: a review."), None),
        (Document("2", fields={"doi": None, "pmid": "", "authors": []}), None),
    ],
)
def test_records_are_the_same_by_their_identifiers_or_by_title_year_and_author(other, reason):
    notes = ReadingNotes()
    assert list(find_same_records([WINGS, other], notes)) == [WINGS, other]
    assert notes.n_events[DUPLICATE] == (reason is not None)
    kept = list(find_same_records([WINGS, other], notes, leave_out=True))
    assert kept == ([WINGS] if reason else [WINGS, other])


def test_a_group_has_the_docno_of_its_first_record(tmp_path):
    class Listener(list[ReadingEvent]):
        add = list.append

    second = Document("2", fields={"doi": "10.1/x", "pmid": "7"})
    third = Document("3", fields={"pmid": "7"})
    notes = ReadingNotes(listener=Listener())
    list(find_same_records([WINGS, second, third], notes))
    assert [event.message for event in notes.listener] == [
        "2 has the same DOI as 1: kept",
        "3 has the same PMID as 1: kept",
    ]
    summary = searchlab.index([WINGS, second, third], tmp_path / "i", jobs=1, deduplicate=True)
    assert (summary.n_docs, summary.n_duplicates) == (1, 2)
