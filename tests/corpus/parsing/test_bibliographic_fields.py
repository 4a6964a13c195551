import pytest

from searchlab.corpus.parsing.bibliographic_fields import LISTS, TEXTS, bibliographic_fields, split_serial_numbers
from searchlab.corpus.parsing.dates import iso_date, year_of
from searchlab.corpus.parsing.publication_types import PUBLICATION_TYPES, find_type, name_types


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2008-05-12", "2008-05-12"),
        ("2008/05/12/", "2008-05-12"),
        ("2008/5//", "2008-05"),
        ("2008///", "2008"),
        ("2008 May 12", "2008-05-12"),
        ("2008 Sept", "2008-09"),
        ("12 May 2008", "2008-05-12"),
        ("May 12, 2008", "2008-05-12"),
        ("May 12", "2008-05-12"),
        ("2008-05-12T10:00:00Z", "2008-05-12"),
        # What does not say one date clearly stays.
        ("Jan-Feb", "2008 Jan-Feb"),
        ("Spring 2008", "Spring 2008"),
        ("05/12/2008", "05/12/2008"),
        ("2008-13-01", "2008-13-01"),
        ("2008-05/2009-01", "2008-05/2009-01"),
        ("12 May 12 2008", "12 May 12 2008"),
        ("", ""),
    ],
)
def test_a_date_is_in_iso_form_where_it_is_clear(written, expected):
    assert iso_date(written, 2008) == expected


def test_a_year_is_a_number_or_the_text():
    assert (year_of("c 1958."), year_of("in press"), year_of("12345"), year_of("")) == (1958, "in press", "12345", "")


def test_every_type_has_one_name_and_one_code_of_ris():
    assert len(PUBLICATION_TYPES) > 50
    for codes in ("name", "ris"):
        assert len({getattr(kind, codes) for kind in PUBLICATION_TYPES}) == len(PUBLICATION_TYPES)
    for kind in PUBLICATION_TYPES:
        # A name must lead back to its type, or an export would change it; codes of other formats may be shared.
        assert find_type(kind.name) is find_type(kind.ris) is kind


def test_types_are_named_the_same_whatever_the_format():
    for written in ("JOUR", "article", "article-journal", "Journal Article", "Article"):
        assert name_types([written]) == ["journal article"]
    assert name_types(["Review", "JOUR", "Journal Article", "GEN", "misc"]) == ["journal article", "Review"]


def test_identifiers_have_one_form():
    fields = bibliographic_fields(
        {"C1": ["a", " "], "C2": ["a", "b"], "year": ["no"], "title": ["no"]},
        doi="https://doi.org/10.1/X",
        pmid="PMID: 12",
        pmcid="pmc7 (free)",
        pages="1 – 2",
        year="",
        date="2008 May",
    )
    assert fields == {
        "year": 2008,
        "date": "2008-05",
        "pages": "1-2",
        "doi": "10.1/X",
        "pmid": "12",
        "pmcid": "PMC7",
        "C1": "a",
        "C2": ["a", "b"],
    }
    assert not set(LISTS) & set(TEXTS)
    with pytest.raises(KeyError, match="colour"):
        bibliographic_fields(colour="red")


def test_issns_and_isbns_are_told_apart():
    written = ["1234-5678 (Print) 8765432x", "978-1-4028-9462-6", "ISBN 0-306-40615-2 (pbk)", "none", "1234-5678"]
    assert split_serial_numbers(written) == (
        ["1234-5678", "8765-432X", "none"],
        ["978-1-4028-9462-6", "0-306-40615-2"],
    )
