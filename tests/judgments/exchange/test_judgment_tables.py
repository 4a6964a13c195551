"""Tables, reference files and lists of queries: what is understood of them, line by line."""

import pytest

from benchmarks.folder_files import documents as files
from searchlab.errors import SettingError
from searchlab.judgments.exchange import judgment_tables
from searchlab.judgments.exchange.judgment_tables import JudgmentRow, parse_grade, read_judgment_table


def workbook(rows) -> bytes:
    """A workbook of one sheet."""
    return files.xlsx({"S": rows})


def test_quepids_table_is_understood():
    table = read_judgment_table(b'query,docid,rating\nlymphoma,d1,2\n"heart, failure",d2,0\n')
    assert table.kind == "table with the columns query, docid, rating"
    assert table.rows == (
        JudgmentRow(2, "lymphoma", "", ("d1",), 2),
        JudgmentRow(3, "heart, failure", "", ("d2",), 0),
    )
    assert table.unread == ()


@pytest.mark.parametrize(
    "content",
    [
        b"Query;Doc ID;Relevance\nlymphoma;d1;relevant\n",
        b"docno\trating\ttopic\nd1\t1\tlymphoma\n",
        "\ufeffquery,docid,rating\r\nlymphoma,d1,1.0\r\n".encode("utf-16"),
        "\ufeffQUERY,DOC,LABEL\nlymphoma,d1,Yes\n".encode(),
        b"lymphoma,d1,1\n",
        workbook([["query", "docid", "rating"], ["lymphoma", "d1", "1"]]),
    ],
)
def test_other_separators_names_and_encodings_are_understood(content):
    (row,) = read_judgment_table(content).rows
    assert (row.query, row.docnos, row.grade) == ("lymphoma", ("d1",), 1)


def test_lines_that_are_not_understood_are_listed_with_the_reason():
    table = read_judgment_table(b"query,docid,rating\na,d1,much\n,d2,1\nb,,1\nc,d3,\nd,d4,1\n\ne\n")
    assert [(each.line, each.problem) for each in table.unread] == [
        (2, "the grade is 'much', expected 0 to 9 or a word such as relevant"),
        (3, "no query"),
        (4, "a grade without a document"),
        (5, "a document without a grade"),
    ]
    assert [(row.line, row.query, row.grade) for row in table.rows] == [(6, "d", 1), (8, "e", None)]


def test_one_query_a_line_and_numbered_queries():
    assert [row.query for row in read_judgment_table("Größe, und\n\n  b  c \n".encode("cp1252")).rows] == [
        "Größe, und",
        "b c",
    ]
    table = read_judgment_table(b"q1\theart failure\nq2\tlymphoma\n")
    assert table.kind == "lines of qid, tab, query"
    assert [(row.qid, row.query) for row in table.rows] == [("q1", "heart failure"), ("q2", "lymphoma")]


def test_qrels_are_understood():
    table = read_judgment_table(b"1 0 d1 2\n1 0 d2 -1\n")
    assert table.kind == "TREC qrels"
    assert table.rows == (JudgmentRow(1, "", "1", ("d1",), 2), JudgmentRow(2, "", "1", ("d2",), 0))


def test_ris_records_have_their_judgment_in_notes():
    table = read_judgment_table(
        b"TY  - JOUR\nTI  - One\nID  - d1\nDO  - 10.1000/x\nN1  - query: heart\n failure\nN1  - grade: 2\nER  - \n"
        b"TY  - JOUR\nTI  - Two\nID  - d2\nN1  - Query: lymphoma; not relevant\nER  - \n"
        b"TY  - JOUR\nTI  - Three\nID  - d3\nER  - \n"
    )
    assert table.rows == (
        JudgmentRow(1, "heart failure", "", ("d1", "10.1000/x"), 2),
        JudgmentRow(9, "lymphoma", "", ("d2",), 0),
    )
    assert [(each.text, each.problem) for each in table.unread] == [("'Three'", "no query")]


@pytest.mark.parametrize(
    ("written", "grade"), [("2", 2), ("3.0", 3), (" Not  Relevant", 0), ("DEFINITELY", 2), ("yes", 1)]
)
def test_grades_are_numbers_or_words(written, grade):
    assert parse_grade(written) == grade


@pytest.mark.parametrize("written", ["", "-1", "10", "1.5", "nan", "inf", "1e400", "maybe"])
def test_what_is_no_grade_is_refused(written):
    with pytest.raises(ValueError, match=r".*"):
        parse_grade(written)


def test_a_line_with_an_endless_grade_is_not_understood_and_the_others_are():
    table = read_judgment_table(b"query,docid,rating\na,d1,inf\na,d2,1\n")
    assert [row.docnos for row in table.rows] == [("d2",)]
    assert [(each.line, each.problem.partition(",")[0]) for each in table.unread] == [(2, "the grade is 'inf'")]


def test_one_long_line_is_a_query():
    assert [len(row.query) for row in read_judgment_table(b"a" * 200_000).rows] == [200_000]


def test_the_length_of_a_reference_field_is_bounded():
    # Each further line copies the field: without a bound, the time would grow with the square of the lines.
    lines = (
        b"TY  - JOUR\nN1  - query: x\n"
        + b"y" * 100
        + b"\n"
        + (b"z" * 1000 + b"\n") * 20
        + b"ID  - d1\nN1  - grade: 1\n"
    )
    (row,) = read_judgment_table(lines).rows
    assert len(row.query) <= judgment_tables.MAX_CELL_LENGTH


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"PK\x03\x04 no workbook", "the workbook cannot be read"),
        (workbook([["a", "b"], ["c", "d"]]), "line 1: found 'a, b', expected columns such as query, docid, rating"),
        (b"query,x\n" + b"a" * 200_000 + b",b\n", "line 2: no row of a table"),
    ],
)
def test_a_file_that_is_not_understood_at_all_is_an_error(content, problem):
    with pytest.raises(SettingError, match=problem):
        read_judgment_table(content)


def test_the_number_of_lines_is_bounded(monkeypatch):
    monkeypatch.setattr(judgment_tables, "MAX_LINES", 2)
    with pytest.raises(SettingError, match="has 3 lines, expected at most 2"):
        read_judgment_table(b"a\nb\nc\n")
    with pytest.raises(SettingError, match="more than 2 rows"):
        read_judgment_table(workbook([["query"], ["a"], ["b"]]))
