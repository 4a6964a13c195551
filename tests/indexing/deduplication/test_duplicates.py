import random
from functools import partial

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus.reading_notes import COPY, NEW_DOCNO, ReadingNotes
from searchlab.errors import DuplicateError, SettingError
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.deduplication import duplicates
from searchlab.indexing.deduplication.docno_table import DocnoTable
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES
from searchlab.indexing.snapshot import Snapshot
from searchlab.records import Document

SETTINGS = AnalysisSettings()


def test_a_duplicate_is_refused_with_both_locations(tmp_path):
    documents = [Document("a", location="x:1"), Document("b", location="x:2"), Document("a", location="y:9")]
    with pytest.raises(DuplicateError, match=r"^y:9: docno 'a' was read already at x:1; .*keep-first") as caught:
        build_index(lambda: documents, tmp_path / "i", SETTINGS, jobs=1)
    assert caught.value.location == "y:9"
    assert not (tmp_path / "i").exists()


def test_a_duplicate_is_refused_wherever_it_was_read(tmp_path):
    with pytest.raises(DuplicateError, match="docno 'a'"):
        build_index(lambda: [Document("a", "one"), Document("a", "two")], tmp_path / "i", SETTINGS, jobs=1)


@pytest.mark.parametrize(("rule", "kept"), [("keep-first", "one"), ("keep-last", "three")])
def test_of_duplicates_the_chosen_one_is_kept(tmp_path, rule, kept):
    documents = [Document("a", "one"), Document("b"), Document("a", "two"), Document("a", "three")]
    summary = build_index(lambda: documents, tmp_path / "i", SETTINGS, jobs=1, on_duplicate=rule)
    assert (summary.n_docs, summary.n_duplicates) == (2, 2)
    assert Snapshot(tmp_path / "i").document("a").title == kept


def test_an_unknown_rule_for_duplicates_is_refused(tmp_path):
    with pytest.raises(SettingError, match="'ignore'; there is: error, keep-all, keep-first"):
        build_index(list, tmp_path / "i", SETTINGS, on_duplicate="ignore")


def keep_all(documents):
    notes = ReadingNotes()
    kept = {document.docno: document.title for document in DUPLICATE_RULES["keep-all"](lambda: documents, notes)}
    return kept, notes


def test_unlike_documents_of_one_docno_are_all_kept_and_copies_once():
    # By hand: two is another paper, the second "one" a copy, three and four are in a file of the same name.
    documents = [
        Document("1", "one", location="in/a.ris:1"),
        Document("1", "two", location="in/b c.ris:1"),
        Document("1", "one", location="in/b c.ris:9"),
        Document("1", "two", location="in/d.ris:1"),
        Document("1", "three", location="in/b c.ris:20"),
        Document("1", "four", location="in/b c.ris:30"),
    ]
    kept, notes = keep_all(documents)
    assert kept == {"1": "one", "1~b_c.ris": "two", "1~b_c.ris~2": "three", "1~b_c.ris~3": "four"}
    assert (notes.n_events[COPY], notes.n_events[NEW_DOCNO]) == (2, 3)
    assert notes.renamed[0].message == "docno 1 has other content elsewhere: kept as 1~b_c.ris"
    assert keep_all(documents)[0] == kept


def test_no_content_is_lost_and_no_docno_used_twice_whatever_clashes():
    choose = random.Random(5)
    for names in [["1", "2", "3"], ["1", "1~a.ris", "1~a.ris~2"]] * 100:
        documents = [
            Document(choose.choice(names), choose.choice("xyz"), location=f"{choose.choice('ab')}.ris:{line}")
            for line in range(choose.randrange(1, 12))
        ]
        notes = ReadingNotes()
        kept = list(DUPLICATE_RULES["keep-all"](documents.copy, notes))
        assert len({document.docno for document in kept}) == len(kept)
        # A made docno can meet a real one with the same content, which is then a copy.
        n_distinct = len({(document.docno, document.title) for document in documents})
        assert len(kept) == n_distinct if "3" in names else 0 < len(kept) <= n_distinct
        assert len(kept) + notes.n_events[COPY] == len(documents)


def test_thousands_of_documents_of_one_docno_take_no_longer_than_others():
    kept, _ = keep_all([Document("1", str(number), location="a.ris:1") for number in range(20_000)])
    assert len(kept) == 20_000


def read_by_dict(documents, rule):
    """What a rule keeps and what it leaves out, by dicts of documents."""
    by_docno, kept, left_out = {}, [], []
    for document in documents:
        by_docno.setdefault(document.docno, []).append(document)
    for document in documents:
        group = by_docno[document.docno]
        chosen = {"keep-first": group[0], "keep-last": group[-1]}[rule]
        (kept if chosen is document else left_out).append(document)
    return kept, left_out


@pytest.fixture(params=["own hashes", "equal hashes"])
def hashes(request, monkeypatch):
    if request.param == "equal hashes":
        monkeypatch.setattr(duplicates, "DocnoTable", partial(DocnoTable, lambda docno: 7))


@pytest.mark.parametrize("rule", ["keep-first", "keep-last"])
def test_rules_keep_and_note_what_dicts_do_even_if_all_hashes_are_equal(rule, hashes):
    choose = random.Random(11)
    documents = [Document(f"d{choose.randrange(300)}", str(n), location=f"a:{n}") for n in range(500)]
    notes = ReadingNotes(max_kept=1000)
    kept, left_out = read_by_dict(documents, rule)
    assert list(map(id, DUPLICATE_RULES[rule](documents.copy, notes))) == list(map(id, kept))
    assert [event.location for event in notes.left_out] == [document.location for document in left_out]
    assert len(left_out) > 100


def test_only_equal_docnos_are_duplicates_even_if_all_hashes_are_equal(hashes):
    choose = random.Random(12)
    documents = [Document(f"d{choose.randrange(200)}", choose.choice("xy"), location=f"in/f{n}:1") for n in range(600)]
    kept, notes = keep_all(documents)
    distinct = {}
    for document in documents:
        distinct.setdefault((document.docno, document.title), document)
    assert notes.n_events[COPY] == len(documents) - len(distinct) > 100
    # The first content of a docno keeps it, another has the name of its file.
    assert kept == {
        docno if title == next(t for d, t in distinct if d == docno) else f"{docno}~{first.location[3:-2]}": title
        for (docno, title), first in distinct.items()
    }


@pytest.mark.parametrize(
    "locations", [["a:1", "a:2", "b:1", "a:3"], ["x.txt", "", "y:z.txt", "x.txt"], ["a.zip:b:1", "a.zip:b:2", ":", "7"]]
)
def test_the_location_of_the_first_document_is_named_whatever_it_looks_like(locations, hashes):
    documents = [Document(f"d{n}", location=location) for n, location in enumerate(locations)]
    for document, location in zip(documents, locations, strict=True):
        with pytest.raises(DuplicateError) as caught:
            list(DUPLICATE_RULES["error"]([*documents, Document(document.docno)].copy, ReadingNotes()))
        assert f"docno {document.docno!r} was read already at {location}; make" in str(caught.value)
