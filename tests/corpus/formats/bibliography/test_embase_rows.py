from searchlab.corpus import ReadingNotes, read_documents
from searchlab.records import Document

EXPORT = """"TITLE","Wings, ""lift""
and drag"
"AUTHOR NAMES","Ting Y.","Doe J."
"SOURCE TITLE","Journal of Aeroscience"
"PUBLICATION YEAR","2008"
"VOLUME","7"
"ABSTRACT","Flow."
"AUTHOR KEYWORDS","wing","flow"
"EMTREE DRUG INDEX TERMS","air","water"
"MEDLINE PMID","18481234"
"PUI","L5"
"DOI","10.1/x"

"TITLE","Heat"
"""


def test_records_of_one_field_a_row_are_read_by_the_names_of_the_fields(write):
    path = write("records.csv", EXPORT)
    first, second = read_documents(path)
    assert first == Document(
        "L5",
        'Wings, "lift" and drag',
        "Flow.",
        {
            "authors": ["Ting Y.", "Doe J."],
            "keywords": ["wing", "flow"],
            "journal": "Journal of Aeroscience",
            "year": 2008,
            "volume": "7",
            "doi": "10.1/x",
            "pmid": "18481234",
            "accession": "L5",
            "EMTREE DRUG INDEX TERMS": "air; water",
        },
    )
    assert second == Document("records.csv#2", "Heat")
    assert (first.location, second.location) == (f"{path}:1", f"{path}:14")


def test_a_table_of_embase_with_a_header_line_is_a_table(write):
    path = write("a.csv", '"TITLE","AUTHOR NAMES"\n"SHOUTING","Ting Y."\n')
    assert [document.title for document in read_documents(path)] == ["SHOUTING"]


def test_a_record_with_a_bad_row_is_left_out_and_the_next_one_read(write):
    path = write("a.csv", '"TITLE","a"\n"PUI","L1"x\n"VOLUME","7"\n\n"TITLE","b"\n"PUI","L2"\n')
    notes = ReadingNotes()
    assert [document.docno for document in read_documents(path, notes=notes, strict=False)] == ["L2"]
    assert [str(error) for error in notes.bad_records] == [
        f"{path}:2: expected a comma after a closing quote, found 'x'"
    ]
