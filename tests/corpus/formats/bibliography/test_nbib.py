import pytest

from searchlab.corpus import read_documents
from searchlab.errors import RecordError
from searchlab.records import Document

NBIB = """
PMID- 11
OWN - NLM
TI  - Wings in
      slipstreams.
LID - S1 [pii]
LID - 10.1/x [doi]
AB  - An abstract
      of two lines.
FAU - Ting, Yi Li
AU  - Ting YL
FAU - Doe, J
MH  - Humans
MH  - *Wings/physiology
OT  - flow
DP  - 1958 Jan-Feb
TA  - J Ae Scs
JT  - Journal of Aeroscience
PT  - Journal Article
PT  - Review
IS  - 1234-5678 (Print)
IS  - 8765-432X (Electronic)
AD  - Institute of Wings, Athens.
AD  - Institute of Wings, Athens.
VI  - 7
IP  - 2 Pt 1
PG  - 11-9
PMC - PMC99
LA  - eng
PL  - Greece

PMID- 12
AU  - Roe R
TA  - Short
DP  - in press
"""


def test_citations_of_medline_are_read_by_their_tags(write):
    path = write("a.nbib", NBIB)
    first, second = read_documents(path)
    assert first == Document(
        "11",
        "Wings in slipstreams.",
        "An abstract of two lines.",
        {
            "authors": ["Ting, Yi Li", "Doe, J"],
            "keywords": ["flow"],
            "mesh": ["Humans", "*Wings/physiology"],
            "types": ["journal article", "Review"],
            "issn": ["1234-5678", "8765-432X"],
            "affiliations": ["Institute of Wings, Athens."],
            "journal": "Journal of Aeroscience",
            "journal_abbreviation": "J Ae Scs",
            "year": 1958,
            "date": "1958 Jan-Feb",
            "volume": "7",
            "issue": "2 Pt 1",
            "pages": "11-9",
            "doi": "10.1/x",
            "pmid": "11",
            "pmcid": "PMC99",
            "language": "eng",
            "place": "Greece",
        },
    )
    assert second == Document("12", fields={"authors": ["Roe R"], "journal": "Short", "year": "in press", "pmid": "12"})
    assert (first.location, second.location) == (f"{path}:2", f"{path}:32")


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("TI  - x", 1, "expected a line 'PMID- …', found 'TI  - x'"),
        ("PMID- 1\nwords", 2, "expected a line such as 'TI  - …', found 'words'"),
        ("PMID- 1\nPMID-", 2, "expected a docno, found an empty one"),
        ("PMID- 1 2", 1, "expected a docno without blanks, found '1 2'"),
    ],
)
def test_a_malformed_citation_of_medline_is_named_with_its_line(write, message, content, line, complaint):
    path = write("a", content)
    assert message(RecordError, read_documents, path, format="nbib") == f"{path}:{line}: {complaint}"
