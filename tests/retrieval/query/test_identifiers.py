"""A query that is a DOI, a PMID or a docno finds the document that it identifies."""

import warnings

import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import QueryWarning
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.query.identifiers import MAX_DOCUMENTS, find_identified

DOCUMENTS = [
    Document("refs-1", "Shock", "A wave, measured in 1999.", {"doi": "10.1000/ABC.182", "pmid": "8617389"}),
    Document("refs-2", "Wave", "A shock.", {"doi": "https://doi.org/10.1000/other", "pmid": 77, "year": 1999}),
    Document("refs-3", "Wave again", "A shock.", {"doi": "doi:10.1000/other", "pmcid": "PMC99"}),
    Document("notes", "Plain", "notes on refs and on 10.1000"),
    Document("10.1000/named", "By its DOI", "text"),
    Document("8617390", "From PubMed", "text"),
]


@pytest.fixture(scope="module")
def engine(build):
    with SearchEngine(build(DOCUMENTS, settings=AnalysisSettings(), words_per_shard=8), compiled=False) as engine:
        yield engine


def found(engine, text, syntax="full"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        return set(engine.search(text, syntax=syntax).docnos)


@pytest.mark.parametrize(
    ("text", "docnos"),
    [
        ("10.1000/abc.182", {"refs-1"}),
        (" https://doi.org/10.1000/ABC.182 ", {"refs-1"}),
        ("http://dx.doi.org/10.1000/abc.182", {"refs-1"}),
        ("doi:10.1000/abc.182", {"refs-1"}),
        ("DOI 10.1000/abc.182", {"refs-1"}),
        ("10.1000/other", {"refs-2", "refs-3"}),
        ("doi:10.1000/named", {"10.1000/named"}),
        ("8617389", {"refs-1"}),
        ("PMID: 8617389", {"refs-1"}),
        ("pmid 77", {"refs-2"}),
        ("PMID: 8617390", {"8617390"}),
        ("pmc99", {"refs-3"}),
        ("refs-1", {"refs-1"}),
    ],
)
def test_an_identifier_finds_its_documents(engine, text, docnos):
    assert found(engine, text) == docnos


def test_how_an_identifier_was_understood_is_reported_unless_it_is_labelled(engine):
    with pytest.warns(QueryWarning, match="refs-1 is a docno: searched for the document that has it, not for words"):
        engine.search("refs-1", syntax="full")
    assert engine.parse("pmid:77", syntax="full").remarks == ()


def test_a_word_of_texts_is_searched_for_even_if_a_document_has_it_as_its_name(engine):
    query = engine.parse("notes", syntax="full")
    assert [term.text for term in query.terms] == ["note"]
    assert query.remarks == ("notes is also the docno of notes: docno:notes finds it",)


def test_words_and_plain_queries_are_no_identifiers(engine):
    assert find_identified(engine.snapshot, "shock wave") == find_identified(engine.snapshot, " ") == ("", [])
    assert find_identified(engine.snapshot, "10.1000/unknown") == ("", [])
    # In plain syntax, which topics have, an identifier is its words.
    assert "notes" in found(engine, "refs-1", "plain")


def test_a_deleted_document_is_not_identified(build):
    folder = build(DOCUMENTS)
    searchlab.delete(folder, ["refs-1", "8617390"])
    with SearchEngine(folder) as engine:
        assert [find_identified(engine.snapshot, text) for text in ("refs-1", "8617389", "8617390")] == [("", [])] * 3


def test_a_value_of_very_many_documents_identifies_none(build):
    for n_docs, kind in ((MAX_DOCUMENTS, "PMID"), (MAX_DOCUMENTS + 1, "")):
        folder = build(Document(f"d{number}", fields={"pmid": "0"}) for number in range(n_docs))
        with SearchEngine(folder) as engine:
            assert find_identified(engine.snapshot, "pmid 0")[0] == kind
