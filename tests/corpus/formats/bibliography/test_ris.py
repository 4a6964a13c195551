import pytest

from searchlab.corpus import read_documents
from searchlab.errors import RecordError
from searchlab.records import Document

RIS = """TY  - JOUR
ID  - with blanks
AN  - acc:1
TI  - Wings
T1  - not this
N2  - An abstract
that goes on.
AU  - Ting, Y.
AU  - Doe, J.
PY  - 1958/01/02/
T2  - Aeroscience
KW  - wing
KW  - flow
DO  - 10.1/x
ER  - 

TY - BOOK
T1  - Heat
A1  - Roe, R.
Y1  - spring 1960
ER  -
"""


def test_references_of_ris_are_read_by_their_tags(write):
    path = write("a.ris", RIS)
    first, second = read_documents(path)
    assert first == Document(
        "acc:1",
        "Wings",
        "An abstract that goes on.",
        {
            "authors": ["Ting, Y.", "Doe, J."],
            "keywords": ["wing", "flow"],
            "types": ["journal article"],
            "journal": "Aeroscience",
            "year": 1958,
            "date": "1958-01-02",
            "doi": "10.1/x",
            "accession": "acc:1",
        },
    )
    assert second == Document(
        "a.ris#ris-2",
        "Heat",
        "",
        {"authors": ["Roe, R."], "types": ["book"], "year": 1960, "date": "spring 1960"},
    )
    assert (first.location, second.location) == (f"{path}:1", f"{path}:17")


def test_counts_of_an_export_of_ris_are_no_ids_of_papers(write, tmp_path):
    # By hand: a count gives way to a DOI, and without one carries the path of its file; an accession number stays.
    write("one.ris", "TY  - A\nID  - 1\nTI  - x\nER  - \nTY  - A\nID  - 2\nDO  - https://doi.org/10.1/x\nER  - \n")
    write("in/two b.ris", "TY  - A\nID  - 1\nTI  - y\nER  - \nTY  - A\nID  - 1234567\nER  - \nTY  - A\nER  - \n")
    docnos = [document.docno for document in read_documents(tmp_path)]
    assert docnos == ["in/two_b.ris#1", "1234567", "in/two_b.ris#ris-3", "one.ris#1", "10.1/x"]


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("\nTI  - x", 2, "expected a line 'TY  - …', found 'TI  - x'"),
        ("TY  - A\nTY  - B\nER  - ", 1, "expected ER, found another TY at line 2"),
        ("TY  - A\nTI  - x", 1, "expected ER, found the end of the file"),
    ],
)
def test_a_malformed_reference_of_ris_is_named_with_its_line(write, message, content, line, complaint):
    path = write("a", content)
    assert message(RecordError, read_documents, path, format="ris") == f"{path}:{line}: {complaint}"


DIALECTS = {
    "Zotero": (
        """TY  - JOUR
TI  - Wings
AU  - Ting, Yi Li
AU  - Doe, Jo
T2  - Journal of Aeroscience
J2  - J. Ae.
AB  - Flow.
DA  - 2008/05/12/
PY  - 2008
VL  - 7
IS  - 2
SP  - 11
EP  - 19
LA  - en
SN  - 1234-5678
DO  - 10.1/x
UR  - http://x.org
Y2  - 2020/01/01/
KW  - wing
N1  - First note
ER  - 
""",
        {
            "authors": ["Ting, Yi Li", "Doe, Jo"],
            "keywords": ["wing"],
            "types": ["journal article"],
            "issn": ["1234-5678"],
            "urls": ["http://x.org"],
            "notes": ["First note"],
            "journal": "Journal of Aeroscience",
            "journal_abbreviation": "J. Ae.",
            "year": 2008,
            "date": "2008-05-12",
            "volume": "7",
            "issue": "2",
            "pages": "11-19",
            "doi": "10.1/x",
            "language": "en",
            "Y2": "2020/01/01/",
        },
    ),
    "EndNote": (
        """TY  - CHAP
A2  - Roe, R.
AU  - Ting, Y.
AN  - 18481234
CY  - Berlin
PB  - Press
T2  - All of Wings
TI  - Wings
DA  - May 12
DP  - NLM
ET  - 2nd
PY  - 2008
SP  - 11-19
EP  - 19
SN  - 978-1-4028-9462-6 1234-5678 (Print)
C2  - PMC99
ID  - 1
ER  - 
""",
        {
            "authors": ["Ting, Y."],
            "editors": ["Roe, R."],
            "types": ["book section"],
            "issn": ["1234-5678"],
            "isbn": ["978-1-4028-9462-6"],
            "journal": "All of Wings",
            "year": 2008,
            "date": "2008-05-12",
            "pages": "11-19",
            "pmid": "18481234",
            "pmcid": "PMC99",
            "accession": "18481234",
            "publisher": "Press",
            "place": "Berlin",
            "edition": "2nd",
            "C2": "PMC99",
            "DP": "NLM",
        },
    ),
    "Scopus": (
        """TY  - CPAPER
AU  - Ting Y.
TI  - Wings
PY  - 2008
T2  - Proceedings of Wings
M3  - Conference paper
DB  - Scopus
C2  - 18481234
AD  - Athens
N1  - Cited By :12
L2  - http://y.org
UR  - http://x.org
ER  -
""",
        {
            "authors": ["Ting Y."],
            "types": ["conference paper"],
            "urls": ["http://x.org", "http://y.org"],
            "affiliations": ["Athens"],
            "notes": ["Cited By :12"],
            "journal": "Proceedings of Wings",
            "year": 2008,
            "pmid": "18481234",
            "database": "Scopus",
            "C2": "18481234",
        },
    ),
    "Embase": (
        """TY  - JOUR
T1  - Wings
A1  - Ting, Y.
AU  - Ting, Y.
Y1  - 2008///Spring
JF  - Journal of Aeroscience
JO  - J Ae
U2  - L5
ER  -
""",
        {
            "authors": ["Ting, Y."],
            "types": ["journal article"],
            "journal": "Journal of Aeroscience",
            "journal_abbreviation": "J Ae",
            "year": 2008,
            "date": "2008 Spring",
            "U2": "L5",
        },
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_dialects_of_ris_have_the_same_fields(write, dialect):
    content, fields = DIALECTS[dialect]
    [document] = read_documents(write("a.ris", content))
    assert (document.title, dict(document.fields)) == ("Wings", fields)


def test_lines_of_a_publisher_before_the_first_reference_are_no_records(write):
    path = write("a.ris", "Provider: Press\nContent:text/plain\n\nTY  - BOOK\nBT  - Heat\nAN  - 5\nER  - \n")
    assert list(read_documents(path)) == [Document("5", "Heat", "", {"types": ["book"], "accession": "5"})]
