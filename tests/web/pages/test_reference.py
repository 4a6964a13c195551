"""References: how a document is cited, which links are safe, and which fields are left."""

import pytest

from searchlab.web.pages.reference import refer_to, web_host

ARTICLE = {
    "authors": ["Smith, Jane", "Jones, Karl", "Ruiz, Pablo", "Wang, Li"],
    "journal": "The Lancet",
    "journal_abbreviation": "Lancet",
    "year": 1988,
    "date": "1988-03-01",
    "volume": "12",
    "issue": "3",
    "pages": "45-67",
    "doi": "10.1016/S0140-6736(88)1",
    "pmid": "3045678",
    "keywords": ["lymphoma"],
}


def test_an_article_is_cited_with_its_place_in_the_journal():
    reference = refer_to("a1", ARTICLE)
    assert (reference.authors, reference.n_more_authors) == (("Smith, Jane", "Jones, Karl", "Ruiz, Pablo"), 1)
    assert (reference.journal, reference.year, reference.place) == ("The Lancet", "1988", "12(3):45\u201367")
    assert reference.others == (("keywords", ["lymphoma"]),)
    assert reference.is_cited
    assert not reference.docno_is_linked


def test_identifiers_are_links():
    doi, pmid = refer_to("a1", ARTICLE).links
    assert (doi.words, doi.address) == (
        "DOI 10.1016/S0140-6736(88)1",
        "https://doi.org/10.1016/S0140-6736%2888%291",
    )
    assert (pmid.words, pmid.address) == ("PMID 3045678", "https://pubmed.ncbi.nlm.nih.gov/3045678/")
    (pmc,) = refer_to("a1", {"pmcid": "PMC12"}).links
    assert pmc.address == "https://pmc.ncbi.nlm.nih.gov/articles/PMC12/"


def test_a_pmid_or_accession_that_is_the_docno_is_shown_once():
    assert refer_to("3045678", ARTICLE).docno_is_linked
    assert refer_to("77", {"accession": "77", "kind": "x"}).others == (("kind", "x"),)


def test_the_number_of_pages_has_its_word():
    reference = refer_to("a.pdf", {"n_pages": 3, "kind": "pdf"})
    assert (reference.length, reference.others) == ("3 pages", (("kind", "pdf"),))
    assert refer_to("a.pdf", {"n_pages": 1}).length == "1 page"


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "//evil.example"),
        *("file:///etc/passwd", "https:", "https:///x", "http://[", "https://a.example/\u202ex", "https://a b.example"),
        *("https://a.example\\@b.example", "vbscript:x", ""),
    ],
)
def test_only_web_addresses_are_links(address):
    assert refer_to("d", {"urls": [address]}).links == ()


def test_a_web_address_is_shown_by_its_host():
    assert web_host("https://user@Example.org:8080/a?b#c") == "example.org"
    (link,) = refer_to("d", {"urls": ["https://example.org/a", "https://example.org/b"]}).links
    assert (link.words, link.address) == ("example.org", "https://example.org/a")


@pytest.mark.parametrize("doi", ["10.1/x", "10.1016/a b", "javascript:10.1016/x", "x" * 300, 7, None, {"a": 1}])
def test_what_is_no_doi_stays_a_field(doi):
    reference = refer_to("d", {"doi": doi})
    assert reference.links == ()
    assert reference.others == (("doi", doi),)


def test_hostile_values_are_left_as_they_are():
    fields = {"authors": {"a": 1}, "journal": ["x" * 400], "year": True, "n_pages": "3", "volume": None}
    reference = refer_to("d", fields)
    assert not reference.authors
    assert not reference.journal
    assert dict(reference.others)["authors"] == {"a": 1}
    assert dict(reference.others)["year"] is True
