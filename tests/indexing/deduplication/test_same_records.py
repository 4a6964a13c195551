import tracemalloc

import pytest

import searchlab
from searchlab.corpus.reading_notes import DUPLICATE, ReadingEvent, ReadingNotes
from searchlab.indexing.deduplication.same_records import find_same_records
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
        # The same description counts only where the identifiers do not contradict it.
        (
            Document("2", "Of Wings: a review.", fields={"year": 1958, "authors": ["Ting"], "pmid": "7"}),
            "title, year and first author",
        ),
        (Document("2", "Of Wings: a review.", fields={"year": 1958, "authors": ["Ting"], "doi": "10.1/other"}), None),
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


@pytest.mark.parametrize(("same", "other"), [("doi", "pmid"), ("pmid", "doi")])
def test_records_that_share_one_identifier_and_differ_in_the_other_are_not_the_same(same, other):
    first, second, third = (
        Document(docno, "Of wings", "", {same: "10.1/same", other: value})
        for docno, value in (("1", "10.1/one"), ("2", "10.1/two"), ("3", "10.1/two"))
    )
    assert list(find_same_records([first, second, third], ReadingNotes(), leave_out=True)) == [first, second]


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


def test_a_citation_of_pubmed_is_the_same_record_in_every_format(tmp_path):
    (tmp_path / "a.nbib").write_text("PMID- 18481234\nTI  - Wings\n")
    (tmp_path / "b.ris").write_text("TY  - JOUR\nID  - ting\nTI  - On wings\nN1  - PMID: 18481234\nER  - \n")
    (tmp_path / "c.csv").write_text("EID,Title,PubMed ID\n2-s2.0-5,WINGS,18481234\n")
    article = "<PubmedArticle><MedlineCitation><PMID>18481234</PMID></MedlineCitation></PubmedArticle>"
    (tmp_path / "d.xml").write_text(f"<PubmedArticleSet>{article}</PubmedArticleSet>")
    notes = ReadingNotes()
    kept = find_same_records(searchlab.read_documents(tmp_path), notes, leave_out=True)
    assert [document.docno for document in kept] == ["18481234"]
    assert notes.n_events[DUPLICATE] == 3


def test_many_records_take_little_memory():
    documents = (
        Document(f"d{n}", f"T {n}", "", {"doi": f"10.1/{n}", "pmid": str(n), "year": 2000, "authors": ["A"]})
        for n in range(20_000)
    )
    tracemalloc.start()
    n_kept = sum(1 for _ in find_same_records(documents, ReadingNotes()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_kept == 20_000
    # A dict of these keys and docnos would take 6 MB.
    assert peak < 3_000_000
