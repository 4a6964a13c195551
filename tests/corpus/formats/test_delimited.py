import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.formats import delimited
from searchlab.corpus.reading_notes import COLUMNS, MADE_DOCNO, ReadingEvent
from searchlab.errors import RecordError, SourceError
from searchlab.records import Document
from tests.hypothesis_profiles import examples


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_names_the_columns_whatever_separates_them(write, delimiter):
    rows = [["docno", "title", "abstract", "Year"], ["a", "First", "One.", "1999"], ["b", "", "Two.", ""]]
    path = write("docs.csv", "\n".join(delimiter.join(row) for row in rows))
    first, second = read_documents(path)
    assert first == Document("a", "First", "One.", {"year": 1999})
    assert second == Document("b", "", "Two.")
    assert (first.location, second.location) == (f"{path}:2", f"{path}:3")


def test_quoted_values_hold_separators_line_ends_and_quotes(write):
    path = write("docs.csv", 'id,text\n1,"a, ""b""\n\nc" \n2,"",\n3,5" pipe\n'.replace(",\n", "\n"))
    first, second, third = read_documents(path)
    assert first == Document("1", "", 'a, "b"\n\nc')
    assert (second, second.location) == (Document("2"), f"{path}:5")
    assert third == Document("3", "", '5" pipe')


def test_a_value_may_be_longer_than_the_module_csv_allows(write):
    path = write("docs.csv", f'id,text\n1,"{"word " * 100_000}"\n')
    [document] = read_documents(path)
    assert len(document.body) == 500_000 > csv.field_size_limit()


def test_capitals_do_not_matter_in_known_names_and_unnamed_columns_get_their_number(write):
    path = write("docs.tsv", "\t ID \tTITLE\tText\tNote\n0\t1\tt\tb\tn\n")
    assert list(read_documents(path)) == [Document("1", "t", "b", {"column_1": "0", "Note": "n"})]


def test_rows_without_any_value_are_passed_over(write):
    path = write("docs.csv", "\n\nid,text\n\n1,x\n , \n,\n2,y\n")
    documents = list(read_documents(path))
    assert [(document.docno, document.location) for document in documents] == [("1", f"{path}:5"), ("2", f"{path}:8")]


@pytest.mark.parametrize(
    ("rows", "line", "complaint"),
    [
        ("1,x,y", 2, "expected 2 columns, found 3 (separated by a comma)"),
        ('1,"x\ny\nz",3', 2, "expected 2 columns, found 3 (separated by a comma)"),
        ("1,x\n2", 3, "expected 2 columns, found 1 (separated by a comma)"),
        ('1,x\n2,"x\ny', 3, "expected a closing quote, found the end of the file"),
        ('1,"x"y', 2, "expected a comma after a closing quote, found 'y'"),
        (",x", 2, "expected a docno, found an empty one"),
        ("a b,x", 2, "expected a docno without blanks, found 'a b'"),
    ],
)
def test_a_malformed_row_is_named_with_the_line_where_it_begins(write, message, rows, line, complaint):
    path = write("docs.csv", f"id,text\n{rows}\n")
    assert message(RecordError, read_documents, path) == f"{path}:{line}: {complaint}"


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        ("query-id,corpus-id,score", "a table of judgments, not of documents"),
        ("id,7", "a table without a header line, found '7' in its first line"),
        ("id,text,text", "expected every column once, found 'text' more than once"),
        ('id,"te"xt', "expected a comma after a closing quote, found 'xt'"),
        ('id,"text', "expected a closing quote, found the end of the file"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_table_whose_header_cannot_be_used_is_refused(write, message, header, complaint, strict):
    path = write("docs.csv", f"{header}\n1,x\n")
    assert message(SourceError, read_documents, path, format="csv", strict=strict) == f"{path}:1: {complaint}"


# The header lines that the databases write, with one row each.
EXPORTS = {
    "PubMed": (
        "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,Create Date,PMCID,NIHMS ID,DOI",
        '11,Wings.,"Ting YL, Doe J.",c,Ting YL,J Ae,1958,d,,,10.1/x',
        Document(
            "11",
            "Wings.",
            "",
            {
                "authors": ["Ting YL", "Doe J"],
                "journal": "J Ae",
                "year": 1958,
                "doi": "10.1/x",
                "pmid": "11",
                "Citation": "c",
                "First Author": "Ting YL",
                "Create Date": "d",
            },
        ),
    ),
    "Scopus": (
        "Authors,Title,Year,Source title,DOI,Abstract,Author Keywords,EID",
        '"Ting, Y.; Doe, J.",Wings,1958,J Ae,,Flow.,wing; flow,2-s2.0-5',
        Document(
            "2-s2.0-5",
            "Wings",
            "Flow.",
            {
                "authors": ["Ting, Y.", "Doe, J."],
                "keywords": ["wing", "flow"],
                "journal": "J Ae",
                "year": 1958,
                "accession": "2-s2.0-5",
            },
        ),
    ),
    "Web of Science": (
        "Publication Type,Authors,Article Title,Source Title,Abstract,Publication Year,DOI,UT (Unique WOS ID)",
        'J,"Ting, Y",Wings,J AE,Flow.,1958,,WOS:0001',
        Document(
            "WOS:0001",
            "Wings",
            "Flow.",
            {
                "authors": ["Ting, Y"],
                "journal": "J AE",
                "year": 1958,
                "types": ["journal article"],
                "accession": "WOS:0001",
            },
        ),
    ),
    "Embase": (
        '"TITLE","AUTHOR NAMES","SOURCE","ABSTRACT","PUBLICATION YEAR","PUI","MEDLINE PMID"',
        '"Wings","Ting Y.; Doe J.","J Ae","Flow.","1958","L5","11"',
        Document(
            "L5",
            "Wings",
            "Flow.",
            {"authors": ["Ting Y.", "Doe J."], "journal": "J Ae", "year": 1958, "pmid": "11", "accession": "L5"},
        ),
    ),
}


@pytest.mark.parametrize("database", EXPORTS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_exports_of_databases_are_read(write, database, mark):
    header, row, expected = EXPORTS[database]
    assert list(read_documents(write("export.csv", f"{mark}{header}\r\n{row}\r\n"))) == [expected]


WOS_TABS = "PT\tAU\tTI\tSO\tAB\tPY\tDI\tUT\nJ\tTing, Y; Doe, J\tWings\tJ AE\tFlow.\t2008\t10.1/x\tWOS:1\n"


def test_the_tabs_of_web_of_science_are_a_table_though_the_file_is_named_txt(write):
    (document,) = read_documents(write("savedrecs.txt", "\ufeff" + WOS_TABS))
    assert (document.docno, document.title, document.body) == ("WOS:1", "Wings", "Flow.")
    assert (document.fields["authors"], document.fields["year"]) == (["Ting, Y", "Doe, J"], 2008)


@pytest.mark.parametrize(
    "text",
    [
        "Title\tAbstract\nno identifier\there\n",
        "id\tsize\nno text\t3\n",
        "id\ttitle\nA text in which only the first line\nhas tabs.\n",
        "id\ttitle\n",
        "1\t2\n3\t4\n",
    ],
)
def test_other_texts_with_tabs_stay_texts(write, text):
    (document,) = read_documents(write("notes.txt", text))
    assert document.docno == "notes.txt"


def test_a_row_without_an_identifier_is_named_by_its_file_and_number(write, tmp_path):
    # By hand: the second row has only a DOI, the third one with a blank, and the empty line is no row.
    write("a b.csv", "PMID,DOI,Title\n1,10.1/x,A\n,10.1/y,B\n\n,10.1 z,C\n")
    write("c.csv", "Name,Text\nx,words\n")
    notes = ReadingNotes()
    documents = list(read_documents(tmp_path, notes=notes))
    assert [document.docno for document in documents] == ["1", "10.1/y", "a_b.csv#row-3", "c.csv#row-1"]
    assert documents[3] == Document("c.csv#row-1", "", "words", {"Name": "x"})
    assert notes.n_events[MADE_DOCNO] == 2


def test_a_table_without_a_title_or_a_text_is_indexed_by_all_its_words_and_this_is_noted(write):
    class Listener(list[ReadingEvent]):
        add = list.append

    path = write("a.csv", "Patient;Finding;Age\nAnn;Lymphoma;57\n")
    notes = ReadingNotes(listener=Listener())
    [document] = read_documents(path, notes=notes)
    assert document == Document(
        "a.csv#row-1", "", "Ann\nLymphoma", {"Patient": "Ann", "Finding": "Lymphoma", "Age": "57"}
    )
    [guess] = [event for event in notes.listener if event.kind == COLUMNS]
    assert guess.location == f"{path}:1"
    assert guess.message.endswith("all that are no numbers are the text (found 'Patient, Finding, Age')")


def test_a_table_of_docnos_has_the_bibliographic_fields_by_their_names(write):
    path = write("a.csv", 'docno,title,Authors,pages,Type,note\n1,t,"A, B; C",1-2,x,\'=1\n')
    fields = {"authors": ["A, B", "C"], "pages": "1-2", "Type": "x", "note": "=1"}
    assert list(read_documents(path)) == [Document("1", "t", "", fields)]


def test_columns_are_what_the_caller_says(write, message):
    path = write("a.csv", "Key,Heading,Notes\nk1,Wings,Flow\n")
    fields = {"docno": "Key", "title": "Heading", "body": "Notes"}
    assert list(read_documents(path, fields=fields)) == [Document("k1", "Wings", "Flow")]
    expected = "fields: no table has the column Headline"
    assert message(SourceError, read_documents, path, fields=fields | {"year": "Headline"}) == expected


def test_a_quote_that_is_never_closed_costs_one_row_not_the_file(write, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_ROW_LENGTH", 1000)
    path = write("docs.csv", 'id,text\n1,"x\n' + "".join(f"{n},y\n" for n in range(2, 2000)))
    notes = ReadingNotes()
    documents = list(read_documents(path, notes=notes, strict=False))
    assert [document.docno for document in documents] == [str(n) for n in range(2, 2000)]
    [error] = notes.bad_records
    assert str(error) == f"{path}:2: expected a closing quote, found none in 1,000 characters"


def test_a_table_of_nothing_but_blanks_holds_no_documents(write, message):
    path = write("docs.csv", "\n \n")
    assert message(SourceError, read_documents, path, format="csv") == f"{path}: holds no documents"


values = st.text(st.sampled_from('ab,;"\n é'), max_size=8)


@given(rows=st.lists(st.tuples(values, values), min_size=1, max_size=5), delimiter=st.sampled_from(",;\t"))
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_the_module_csv_writes_is_read_back(tmp_path, rows, delimiter):
    file = io.StringIO(newline="")
    written = csv.writer(file, delimiter=delimiter)
    written.writerow(["docno", "text", "note"])
    written.writerows([number, *row] for number, row in enumerate(rows))
    path = tmp_path / "docs.csv"
    path.write_text(file.getvalue(), encoding="utf-8", newline="")
    documents = list(read_documents(path))
    # A field of nothing but blanks is none.
    expected = [(text, note if note.strip() else "") for text, note in rows]
    assert [(document.body, document.fields.get("note", "")) for document in documents] == expected
