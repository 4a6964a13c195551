"""Ranges of a file have the records of the whole file, with the same locations, wherever it is divided."""

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.document_parts import ReadingSettings, divide_sources, list_sources
from searchlab.corpus.file_ranges import FileRange, count_lines, find_lines, split_lines, split_trec_documents


def read_whole(path, **settings):
    notes = ReadingNotes()
    return list(read_documents(path, notes=notes, **{"strict": False, **settings})), notes


def read_parts(path, part_bytes, **settings):
    reading = ReadingSettings(**{"strict": False, **settings})
    notes = ReadingNotes()
    parts = divide_sources(list_sources([path], reading, notes), reading, notes, part_bytes)
    documents = []
    for part in parts:
        of_part = ReadingNotes()
        documents += [document for _, document in part.read(reading, of_part)]
        notes.absorb(of_part)
    return documents, notes, len(parts)


def assert_equal_in_parts(path, sizes, min_parts=3, **settings):
    expected, whole_notes = read_whole(path, **settings)
    assert expected
    most = 0
    for part_bytes in sizes:
        found, notes, n_parts = read_parts(path, part_bytes, **settings)
        assert found == expected
        assert list(map(str, notes.bad_records)) == list(map(str, whole_notes.bad_records))
        assert notes.latin1_lines == whole_notes.latin1_lines
        assert notes.bytes_read == notes.bytes_total
        most = max(most, n_parts)
    assert most >= min_parts


SIZES = [20, 33, 64, 100, 257, 1000]


def test_json_lines(tmp_path):
    lines = [f'{{"docno": "d{n}", "title": "t{n}", "body": "{"word " * (n % 7)}"}}' for n in range(40)]
    lines[5], lines[9], lines[20] = "", "not JSON", '{"title": "no docno"}'
    path = tmp_path / "docs.jsonl"
    path.write_bytes("\n".join(lines).encode() + b'\n{"docno": "latin", "body": "caf\xe9"}\r\n\r\n')
    assert_equal_in_parts(path, SIZES)


def test_lines_that_end_with_a_carriage_return_are_counted(tmp_path):
    path = tmp_path / "docs.jsonl"
    lines = [f'{{"docno": "d{n}"}}' + ("\r", "\n", "\r\n")[n % 3] for n in range(30)]
    path.write_bytes("".join(lines).encode() + b"bad\n")
    assert_equal_in_parts(path, SIZES)


def test_a_mark_at_the_beginning_is_no_part_of_the_first_record(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(b'{"docno": "d%d"}\n' % n for n in range(30)))
    assert_equal_in_parts(path, SIZES)


def test_a_range_that_begins_as_a_compressed_file_does_is_read_as_it_is(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b"".join(b'{"docno": "d%d"}\n\x1f\x8b\n' % n for n in range(20)))
    assert_equal_in_parts(path, [17, 18, 19, 100])


def test_trec_documents(tmp_path):
    records = [f"<DOC>\n<DOCNO> d{n} </DOCNO>\n<TEXT>\nwords of {n}\n</TEXT>\n</DOC>\n" for n in range(30)]
    records[3] = "stray words\n" + records[3]
    records[7] = records[7].replace("</DOC>\n", "")  # not closed
    records[11] = "<doc><docno>lower</docno>inline</doc><DOC><DOCNO>same-line</DOCNO>x</DOC>\n"
    records[15] = records[15].replace("words of", "</DOC> <DOC> in the text, words of")
    records[19] = "\n\n  \n" + records[19]
    path = tmp_path / "docs.trec"
    path.write_text("".join(records))
    assert_equal_in_parts(path, SIZES)


def test_markup_that_is_never_closed_hides_nothing_after_the_next_document(tmp_path):
    documents = [f"<DOC>\n<DOCNO>d{n}</DOCNO>\n</DOC>\n" for n in range(12)]
    documents[2] = "<unclosed\n" + documents[2]
    documents[9] = "stray\n" + documents[9]
    path = tmp_path / "docs.trec"
    path.write_text("".join(documents))
    assert_equal_in_parts(path, SIZES)
    assert [each.location for each in read_whole(path)[1].bad_records] == [f"{path}:29"]


def test_rows_that_are_too_long_divide_a_table_as_they_are_read(tmp_path):
    # The quote of row 20 would be closed by that of row 40, which begins a value of two lines, but for the limit.
    rows = [f"d{n},t,word" for n in range(60)]
    rows[20], rows[40] = 'd20,"never closed,x', 'd40,",first\nsecond",y'
    path = tmp_path / "docs.csv"
    path.write_text("docno,title,text\n" + "\n".join(rows) + "\n")
    assert_equal_in_parts(path, SIZES, max_record_mb=100 / 2**20)


@pytest.mark.parametrize("header", ["docno,title,text", "title,text"])
def test_tables_with_quoted_line_ends(tmp_path, header):
    draw = random.Random(3)
    rows = []
    for number in range(60):
        values = [f"d{number}"] if header.startswith("docno") else []
        values += ['"a, ""title"""', draw.choice(["plain", '"two\nlines"', '"\n\n"', '5" pipe', '"never closed', ""])]
        rows.append(",".join(values))
    rows[10], rows[30] = ",,", '"one", "after" quote,x'
    path = tmp_path / "docs.csv"
    path.write_text("\n" + header + "\n" + "\n".join(rows) + "\n")
    assert_equal_in_parts(path, SIZES)


def test_a_header_of_two_lines(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text('docno,"the\ntitle",text\n' + "".join(f'd{n},t,"x\r\ny{n}"\r\n' for n in range(40)))
    assert_equal_in_parts(path, SIZES)


def test_tab_separated_values_and_columns_by_name(tmp_path):
    path = tmp_path / "docs.tsv"
    path.write_text("number\tHeading\n" + "".join(f"{n}\ttitle {n}\n" for n in range(40)))
    assert_equal_in_parts(path, SIZES, fields={"docno": "number", "title": "Heading"})


@pytest.mark.parametrize("content", ["json", "gzip", "utf-16", "cyrillic"])
def test_files_whose_bytes_are_not_their_text_are_read_whole(tmp_path, content):
    text = "".join(f'{{"docno": "d{n}", "body": "Это проверка русского текста {n}"}}\n' for n in range(50))
    path = tmp_path / "docs.jsonl"
    encoded = {
        "json": ("[" + ",".join(text.splitlines()) + "]").encode(),
        "gzip": gzip.compress(text.encode()),
        "utf-16": text.encode("utf-16"),
        "cyrillic": text.encode("koi8-r"),
    }
    path.write_bytes(encoded[content])
    expected, _ = read_whole(path)
    found, _, n_parts = read_parts(path, 100)
    assert (found, n_parts) == (expected, 1)


def test_small_files_are_read_together(tmp_path):
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text("x" * 10)
    documents, _, n_parts = read_parts(tmp_path, 35)
    assert (len(documents), n_parts) == (10, 4)


def test_a_file_without_line_ends_is_one_range(tmp_path):
    path = tmp_path / "docs"
    path.write_bytes(b"x" * 100)
    assert split_lines(path, 10, 64) == [FileRange(0, 100)]
    assert split_trec_documents(path, 10, 64) == [FileRange(0, 100)]


@given(st.binary(max_size=60).map(lambda data: data.translate(bytes(b"\r\na"[n % 3] for n in range(256)))))
def test_lines_are_counted_as_python_reads_them(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_bytes(content)
    with path.open(newline=None) as file:
        lines = file.readlines()
    n_ends = sum(line.endswith("\n") for line in lines)
    assert count_lines(path, 0, len(content)) == n_ends


def test_lines_are_found_by_their_numbers(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"a\nbb\r\n\nccc")
    assert find_lines(path, [1, 2, 3, 4]) == [0, 2, 6, 7]
    assert find_lines(path, [5]) is None
    path.write_bytes(b"a\rb\n")
    assert find_lines(path, [1]) is None
