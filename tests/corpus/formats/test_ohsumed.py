import pytest

from searchlab.corpus import read_documents
from searchlab.errors import RecordError
from searchlab.records import Document

DOCUMENTS = """.I 1
.U
87049087
.S
Am J Emerg Med 8703; 4(6):491-5
.M
Allied Health Personnel/*; Electric
Countershock/*; Human.
.T
Some patients.
.P
JOURNAL ARTICLE.
.W
Patients were
observed.
.A
Stults KR; Brown DD.
.I 2
.U
87049088
"""
FIELDS = {
    "source": "Am J Emerg Med 8703; 4(6):491-5",
    "mesh": ["Allied Health Personnel/*", "Electric Countershock/*", "Human"],
    "type": "JOURNAL ARTICLE",
    "authors": ["Stults KR", "Brown DD"],
}


def test_the_docno_is_the_medline_number(write):
    path = write("ohsumed.87", DOCUMENTS)
    first, second = read_documents(path)
    body = "Patients were\nobserved."
    assert first == Document("87049087", "Some patients.", body, {**FIELDS, "sequence": "1"})
    assert second == Document("87049088", fields={"sequence": "2"})
    assert (first.location, second.location) == (f"{path}:1", f"{path}:18")


def test_by_another_name_of_the_format_the_docno_is_the_number_in_the_sequence(write):
    first, second = read_documents(write("ohsumed.87", DOCUMENTS), format="ohsumed-i")
    assert first.docno == "1"
    assert first.fields == {**FIELDS, "medline": "87049087"}
    assert second == Document("2", fields={"medline": "87049088"})


@pytest.mark.parametrize(
    ("record", "format", "complaint"),
    [
        (".I 3\n.T\nx", "ohsumed", "expected a .U with the docno, found none"),
        (".I 3\n.U\n1\n2", "ohsumed", r"expected a docno without blanks, found '1\n2'"),
        (".I\n.U\n1", "ohsumed-i", "expected a name after .I, found none"),
    ],
)
def test_a_record_without_its_name_is_malformed(write, message, record, format, complaint):
    path = write("ohsumed.87", DOCUMENTS + record)
    assert message(RecordError, read_documents, path, format=format) == f"{path}:21: {complaint}"
