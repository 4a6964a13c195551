import pytest

from searchlab.corpus import read_documents
from searchlab.errors import RecordError
from searchlab.records import Document

EXPORT = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Ting, YL
   Doe, J
AF Ting, Yi Li
   Doe, Jo
TI Wings in
   slipstreams
SO JOURNAL OF AEROSCIENCE
LA English
DT Article; Proceedings Paper
DE wing; flow
ID FLIGHT
AB Flow.
C1 [Ting, Yi Li] Univ Athens, Greece.
   [Doe, Jo] Univ Rome, Italy.
CR Roe R, 1950, J AE
   Poe E, 1951, J AE
PU PRESS
PI LONDON
SN 1234-5678
EI 8765-4321
JI J. Ae.
PD MAY 12
PY 2008
VL 7
IS 2
BP 11
EP 19
DI 10.1/x
PM 18481234
UT WOS:0001
ER

PT B
TI Heat
AR e5
ER

EF
"""


@pytest.mark.parametrize("name", ["savedrecs.txt", "savedrecs.ciw", "savedrecs"])
def test_records_of_web_of_science_are_read_by_their_tags(write, name):
    path = write(name, "\ufeff" + EXPORT)
    first, second = read_documents(path)
    assert first == Document(
        "WOS:0001",
        "Wings in slipstreams",
        "Flow.",
        {
            "authors": ["Ting, Yi Li", "Doe, Jo"],
            "keywords": ["wing", "flow"],
            "types": ["journal article", "Proceedings Paper"],
            "issn": ["1234-5678", "8765-4321"],
            "affiliations": ["[Ting, Yi Li] Univ Athens, Greece.", "[Doe, Jo] Univ Rome, Italy."],
            "journal": "JOURNAL OF AEROSCIENCE",
            "journal_abbreviation": "J. Ae.",
            "year": 2008,
            "date": "2008-05-12",
            "volume": "7",
            "issue": "2",
            "pages": "11-19",
            "doi": "10.1/x",
            "pmid": "18481234",
            "accession": "WOS:0001",
            "publisher": "PRESS",
            "place": "LONDON",
            "language": "English",
            "ID": "FLIGHT",
            "CR": ["Roe R, 1950, J AE", "Poe E, 1951, J AE"],
        },
    )
    assert second == Document(f"{name}#2", "Heat", "", {"types": ["book"], "pages": "e5"})
    assert (first.location, second.location) == (f"{path}:3", f"{path}:36")


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("FN x\nVR 1.0\nTI x", 3, "expected a line 'PT …', found 'TI x'"),
        ("PT J\nPT B\nER", 1, "expected ER, found another PT at line 2"),
        ("PT J\nTI x", 1, "expected ER, found the end of the file"),
    ],
)
def test_a_malformed_record_is_named_with_its_line(write, message, content, line, complaint):
    path = write("a.txt", content)
    assert message(RecordError, read_documents, path, format="wos") == f"{path}:{line}: {complaint}"
