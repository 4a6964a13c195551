"""Feature files: worked by hand, against a slow reader, from hostile bytes, and round trips."""

import gzip
import io
import math
import random
import struct
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from searchlab.corpus import ReadingNotes
from searchlab.corpus.reading_context import ReadingContext
from searchlab.errors import DuplicateError, RecordError, SearchlabError, SettingError, SourceError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.letor import letor_files, row_buffer
from searchlab.features.letor.letor_files import read_letor, write_letor
from tests.hypothesis_profiles import examples

SOME = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
NAN = float("nan")
LETOR3 = (
    b"0 qid:1 1:5.000000 2:3.465736 3:NULL #docid = 244338\n"
    b"2 qid:1 1:3.000000 2:2.079442 3:-0.5 #docid = 143821\n"
    b"1 qid:20 1:0 2:1e-3 3:.5 #docid = 244338\n"
)


@pytest.fixture
def reading(tmp_path):
    """Read bytes or text as a feature file."""

    def read(content: bytes | str, **options) -> FeatureTable:
        path = tmp_path / "features.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_letor(path, **options)

    return read


@pytest.fixture
def complaint(reading, tmp_path):
    """The message of the error that reading raises, without the path."""

    def catch(error_class, content: bytes | str, **options) -> str:
        with pytest.raises(error_class) as caught:
            reading(content, **options)
        assert type(caught.value) is error_class
        return str(caught.value).replace(str(tmp_path / "features.txt"), "FILE")

    return catch


def test_letor_3_by_hand(reading):
    table = reading(LETOR3)
    expected = FeatureTable(
        ["f1", "f2", "f3"],
        ["1", "1", "20"],
        ["244338", "143821", "244338"],
        [[5, 3.465736, NAN], [3, 2.079442, -0.5], [0, 0.001, 0.5]],
        [0, 2, 1],
    )
    assert table.equals(expected)
    assert table.grades.dtype == np.int64
    assert table.comments is None


def test_letor_4_keeps_the_rest_of_the_comment(reading):
    table = reading(
        "2 qid:10032 1:0.056537 2:0 #docid = GX029-35 inc = 0.0119881 prob = 0.139842\n0 qid:10032 1:1 2:1\n"
    )
    assert table.docnos.tolist() == ["GX029-35", ""]
    assert table.comments.tolist() == ["inc = 0.0119881 prob = 0.139842", ""]


@pytest.mark.parametrize(
    ("comment", "docno", "rest"),
    [
        ("#docid = X", "X", None),
        ("# docno=X inc=1 prob=.5", "X", "inc=1 prob=.5"),
        ("#DocID   =\tX#1  \r", "X#1", None),
        ("# docid = ", "", "docid ="),
        ("#doc id = X", "", "doc id = X"),
        ("# mydocid = X", "", "mydocid = X"),
        ("# docids = X", "", "docids = X"),
        ("#", "", None),
        ("#docid", "", "docid"),
        ("#docno=é", "é", None),
    ],
)
def test_the_docno_is_found_in_the_comment(reading, comment, docno, rest):
    table = reading(f"1 qid:1 1:2{comment}\n0 qid:1 1:3\n")
    assert table.docnos.tolist() == [docno, ""]
    assert (table.comments is None) if rest is None else (table.comments.tolist() == [rest, ""])


def test_comments_blank_lines_line_ends_and_a_byte_order_mark_are_skipped(reading):
    content = b"\xef\xbb\xbf# made by hand\n\n  \t\r\n1\tqid:a  1:2\t2:3  \r\n# not a row\n   0 qid:a 1:4 2:5#c"
    table = reading(content)
    assert table.values.tolist() == [[2, 3], [4, 5]]
    assert table.qids.tolist() == ["a", "a"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1.0),
        ("-1.50", -1.5),
        ("+2.", 2.0),
        (".25", 0.25),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("-0", -0.0),
        ("NULL", NAN),
        ("null", NAN),
        ("nan", NAN),
        ("-NaN", NAN),
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
        ("5e-324", 5e-324),
        ("1e-400", 0.0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("9007199254740993", 9007199254740992.0),
        ("0e999999999999", 0.0),
    ],
)
def test_numbers_in_all_spellings(reading, written, value):
    found = reading(f"0 qid:1 1:{written}\n").values[0, 0]
    assert math.isnan(found) if math.isnan(value) else struct.pack("d", found) == struct.pack("d", value)


def spellings() -> st.SearchStrategy[str]:
    exponents = st.integers(-340, 300).map("e{}".format) | st.just("")
    digits = st.text("0123456789", min_size=1, max_size=25)
    composed = st.builds("{}{}.{}{}".format, st.sampled_from(["", "-", "+"]), digits, digits, exponents)
    floats = st.floats(allow_nan=False, allow_infinity=False)
    return composed | floats.map(repr) | floats.map("{:.6g}".format) | st.integers(-(10**20), 10**20).map(str)


@given(written=st.lists(spellings().filter(lambda word: math.isfinite(float(word))), min_size=1, max_size=40))
@SOME
def test_every_decimal_equals_pythons_float(tmp_path, written):
    path = tmp_path / "numbers"
    path.write_text(f"{written[0]} qid:1 " + " ".join(f"{n}:{word}" for n, word in enumerate(written, start=1)))
    table = read_letor(path)
    assert table.values.tobytes() == np.array([[float(word) for word in written]]).tobytes()
    assert table.grades[0] == float(written[0])


def test_ties_between_two_floats_go_to_the_even_one(reading):
    # Exactly between neighbours: 2^53 + 1 and so on; the digits decide, or the tie rule.
    rng = random.Random(7)
    words = []
    for _ in range(2_000):
        number = rng.getrandbits(52) | 1 << 52
        words += [f"{2 * number + 1}e{rng.choice([0, 0, 1, 5])}", f"{2 * number + 1}.{'0' * rng.randrange(4)}1"]
    row = " ".join(f"{n}:{word}" for n, word in enumerate(words, start=1))
    found = reading(f"0 qid:1 {row}\n").values[0]
    assert found.tolist() == [float(word) for word in words]


def test_features_left_out_are_zero_or_undefined_by_choice(reading):
    content = "0 qid:1 1:1 3:3\n0 qid:1 2:2\n0 qid:1 4:4\n0 qid:1\n"
    expected = np.array([[1, 0, 3, 0], [0, 2, 0, 0], [0, 0, 0, 4], [0, 0, 0, 0]], dtype=float)
    assert reading(content).values.tolist() == reading(content, missing="zero").values.tolist() == expected.tolist()
    undefined = np.where(expected == 0, NAN, expected)
    np.testing.assert_array_equal(reading(content, missing="nan").values, undefined)
    with pytest.raises(SettingError, match="unknown rule for missing features 'none'"):
        reading(content, missing="none")


def test_a_dense_file_has_one_dimension(complaint, reading):
    content = "0 qid:1 1:1 2:2\n# x\n0 qid:1 1:1 2:2 3:3\n"
    expected = "FILE:3: expected 2 features, as the rows before have, found 3"
    assert complaint(RecordError, content) == expected
    cut_off = "0 qid:1 1:1 2:2\n0 qid:1 1:1"
    assert complaint(RecordError, cut_off) == "FILE:2: expected 2 features, as the rows before have, found 1"
    assert reading(cut_off, missing="nan").values[0].tolist() == [1, 2]


def test_names_come_from_the_file_or_the_caller(reading, complaint):
    content = "#names: bm25 tf\n0 qid:1 1:1 2:2\n# names: a b\n"
    assert reading(content).names == ("bm25", "tf")
    assert reading(content, names=["x", "y"]).names == ("x", "y")
    assert reading("# names are not given\n0 qid:1 1:1\n").names == ("f1",)
    sparse = "# names: a b c\n0 qid:1 2:2\n"
    assert reading(sparse).values.tolist() == [[0, 2, 0]]
    assert complaint(RecordError, "# names: a\n" + LETOR3.decode()) == (
        "FILE:2: expected 1 features, as they are named, found 3"
    )
    assert complaint(RecordError, "# names: a b c d\n" + LETOR3.decode()) == (
        "FILE:2: expected 4 features, as they are named, found 3"
    )
    assert complaint(RecordError, "\n# names: a a\n0 qid:1 1:2\n") == (
        "FILE:2: expected distinct names of features, found ' a a'"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x qid:1 1:2", "expected a number as label, found 'x'"),
        ("NULL qid:1 1:2", "expected a number as label, found 'NULL'"),
        ("qid:1 1:2", "expected a number as label, found 'qid:1'"),
        ("1e qid:1 1:2", "expected a number as label, found '1e'"),
        ("1e999 qid:1 1:2", "expected a finite number as label, found '1e999'"),
        ("1", "expected a qid (qid:…) after the label, found none"),
        ("1 #docid = 3", "expected a qid (qid:…) after the label, found none"),
        ("1 1:2", "expected a qid (qid:…) after the label, found '1:2'"),
        ("1 qid: 1:2", "expected a qid (qid:…) after the label, found 'qid:'"),
        ("1 QID:1 1:2", "expected a qid (qid:…) after the label, found 'QID:1'"),
        ("1 qid:1 0:2", "expected feature numbers from 1 on, found 0"),
        ("1 qid:1 2:2 1:1", "expected ascending feature numbers, found 1 after 2"),
        ("1 qid:1 2:2 2:1", "expected ascending feature numbers, found 2 after 2"),
        ("1 qid:1 -1:2", "expected a feature number, a colon and a value, found '-1:2'"),
        ("1 qid:1 x", "expected a feature number, a colon and a value, found 'x'"),
        ("1 qid:1 :2", "expected a feature number, a colon and a value, found ':2'"),
        ("1 qid:1 1", "expected a feature number, a colon and a value, found '1'"),
        ("1 qid:1 10001:2", "expected feature numbers up to 10000, found '10001'"),
        (f"1 qid:1 {'9' * 5000}:2", f"expected feature numbers up to 10000, found '{'9' * 40}…'"),
        ("1 qid:1 1: 2:3", "expected a finite number or NULL as feature 1, found ''"),
        ("1 qid:1 1:abc", "expected a finite number or NULL as feature 1, found 'abc'"),
        ("1 qid:1 1:2 2:1.2.3", "expected a finite number or NULL as feature 2, found '1.2.3'"),
        ("1 qid:1 1:inf", "expected a finite number or NULL as feature 1, found 'inf'"),
        ("1 qid:1 1:1_0", "expected a finite number or NULL as feature 1, found '1_0'"),
        ("1 qid:1 1:1e400", "expected a finite number as feature 1, found '1e400'"),
        ("1 qid:1 1:nanny", "expected a finite number or NULL as feature 1, found 'nanny'"),
        ("1 qid:1 1:2\x0b2:3", "expected a finite number or NULL as feature 1, found '2\\x0b2:3'"),
    ],
)
@pytest.mark.parametrize("rows_before", [0, 3])
def test_a_malformed_line_is_named_with_its_number(complaint, line, expected, rows_before):
    before = "# a comment\n" + "0 qid:1 1:0.5\n" * rows_before
    assert complaint(RecordError, f"{before}{line}\n0 qid:1 1:2\n") == f"FILE:{rows_before + 2}: {expected}"


def test_a_pair_that_occurs_twice_names_both_lines(complaint):
    content = "0 qid:1 1:2 #docid = a\n\n0 qid:2 1:2 #docid = a\n0 qid:1 1:3 #docid = a\n"
    assert complaint(DuplicateError, content) == "FILE:4: document a of query 1 occurs already at FILE:1"


def test_interleaved_queries_are_regrouped(reading):
    table = reading("0 qid:1 1:1\n1 qid:2 1:2\n2 qid:1 1:3\n")
    assert table.was_regrouped
    assert table.qids.tolist() == ["1", "1", "2"]
    assert table.grades.tolist() == [0, 2, 1]
    assert not reading(LETOR3).was_regrouped


@pytest.mark.parametrize("content", ["", "\n \n", "# names: a\n", "# x"])
def test_a_file_without_rows_is_refused(complaint, content):
    assert complaint(SourceError, content) == "FILE: holds no rows"


def test_files_without_features_are_refused(complaint, tmp_path):
    assert complaint(SourceError, "1 qid:1\n0 qid:1\n") == "FILE: holds no features"
    for path, reason in [(tmp_path, "expected a file, found a folder"), (tmp_path / "x", "no such file or folder")]:
        with pytest.raises(SourceError) as caught:
            read_letor(path)
        assert str(caught.value) == f"{path}: {reason}"


def test_a_tiny_file_does_not_allocate_all_memory(complaint):
    content = "0 qid:1 1:1\n" * 40_000 + "0 qid:1 10000:1\n" + "0 qid:1 1:1\n" * 10
    assert complaint(SourceError, content) == (
        "FILE: found 40000 rows with almost no values for 10000 features, expected values for more of them"
    )


def test_a_line_without_end_is_refused(complaint, monkeypatch):
    monkeypatch.setattr(letor_files, "ReadingContext", partial(ReadingContext, max_record_mb=1))
    assert complaint(RecordError, b"1 qid:1 1:1\n" + b"1" * (2 << 20)) == (
        "FILE:2: expected a record of at most 1 MB, found a longer one"
    )


def test_packed_files_and_windows_1252_are_read_and_noted(tmp_path):
    path = tmp_path / "features.gz"
    path.write_bytes(gzip.compress(LETOR3 + b"0 qid:20 1:1 2:1 3:1 #docid = caf\xe9\x80\n0 qid:\xc3\xa9 1:1 2:1 3:1\n"))
    notes = ReadingNotes()
    table = read_letor(path, notes=notes)
    assert table.docnos.tolist()[-2:] == ["café€", ""]
    assert table.query_ids == ["1", "20", "é"]
    size = path.stat().st_size
    assert (notes.n_files, notes.bytes_read, notes.bytes_total) == (1, size, size)
    assert notes.latin1_lines == {str(path): 1}


def test_words_with_blanks_of_other_scripts_are_refused(complaint):
    expected = "FILE:1: expected a docno without blanks, found 'a\\xa0b'"
    assert complaint(RecordError, "0 qid:1 1:1 #docid = a\u00a0b\n") == expected
    assert complaint(RecordError, "0 qid:\u2003 1:1\n") == "FILE:1: expected a qid, found an empty one"


def slow_read(content: str):
    """Rows by a slow, simple reader: label, qid, values by number, docno, comment."""
    for line in content.split("\n"):
        data, _, comment = line.partition("#")
        if not data.strip():
            continue
        label, qid, *pairs = data.split()
        values = {int(pair.split(":")[0]): pair.split(":")[1] for pair in pairs}
        numbers = {number: NAN if word.lower() in ("null", "nan") else float(word) for number, word in values.items()}
        words = comment.split()
        named = words[:2] == ["docid", "="] and len(words) > 2
        docno = words[2] if named else ""
        yield float(label), qid.removeprefix("qid:"), numbers, docno, " ".join(words[3:] if named else words)


@st.composite
def files(draw) -> str:
    blank = st.sampled_from([" ", " ", " ", "  ", "\t"])
    number = st.sampled_from(["0", "1", "0.5", "-3.25", "NULL", "nan", "1e-7", "0.30000000000000004"])
    number |= st.floats(-1e9, 1e9).map(repr) | st.floats(0, 1).map("{:.6f}".format)
    lines = []
    for row in range(draw(st.integers(1, 12))):
        columns = draw(st.lists(st.integers(1, 9), unique=True).map(sorted))
        words = [
            draw(st.sampled_from(["0", "1", "2", "0.5", "-1"])),
            "qid:" + draw(st.sampled_from(["1", "22", "q-é"])),
        ]
        words += [f"{column}:{draw(number)}" for column in columns]
        line = draw(blank).join(words)
        line += draw(st.sampled_from(["", " ", f" #docid = d{row}", f"#docid = é{row} inc = 1", " # so it is"]))
        lines.append(line + draw(st.sampled_from(["", "\r"])))
        lines += draw(st.lists(st.sampled_from(["", "# a comment 1:2", " \r", "#\t"]), max_size=2))
    # With a gap in one row, the rows may differ in length.
    return "\n".join([*lines, "0 qid:1 9:1"]) + draw(st.sampled_from(["", "\n"]))


@given(content=files(), block=st.sampled_from([1, 7, 64, 2**18]), rows=st.sampled_from([1, 2, 8192]))
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_compiled_reader_agrees_with_a_slow_one(tmp_path, content, block, rows):
    path = tmp_path / "features"
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letor_files, "BLOCK_BYTES", block)
        patch.setattr(row_buffer, "ROWS_AT_ONCE", rows)
        table = read_letor(path, missing="nan")
    expected = list(slow_read(content))
    width = max(max(values, default=0) for _, _, values, _, _ in expected)
    slow = FeatureTable(
        [f"f{number}" for number in range(1, width + 1)],
        [qid for _, qid, _, _, _ in expected],
        [docno for _, _, _, docno, _ in expected],
        [[values.get(number, NAN) for number in range(1, width + 1)] for _, _, values, _, _ in expected],
        [label for label, *_ in expected],
        comments if any(comments := [comment for *_, comment in expected]) else None,
    )
    assert table.equals(slow)
    assert table.was_regrouped == slow.was_regrouped


@st.composite
def tables(draw) -> FeatureTable:
    n_rows, n_features = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    cells = st.floats(allow_infinity=False) | st.just(NAN)
    values = draw(st.lists(cells, min_size=n_rows * n_features, max_size=n_rows * n_features))
    word = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="#"), min_size=1, max_size=5)
    labels = st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300)
    comments = draw(
        st.none() | st.lists(st.sampled_from(["", "inc = 1 prob = .5", "é"]), min_size=n_rows, max_size=n_rows)
    )
    return FeatureTable(
        draw(st.lists(word, unique=True, min_size=n_features, max_size=n_features)),
        draw(st.lists(word, min_size=n_rows, max_size=n_rows)),
        draw(st.lists(word | st.just(""), unique_by=lambda name: name or object(), min_size=n_rows, max_size=n_rows)),
        np.reshape(values, (n_rows, n_features)),
        draw(st.lists(labels, min_size=n_rows, max_size=n_rows)),
        comments if comments and any(comments) else None,
    )


@given(table=tables(), null=st.booleans())
@example(table=FeatureTable("ab", ["1"], ["x#y"], [[-0.0, 5e-324]], [1]), null=True)
@SOME
def test_a_table_is_read_back_to_the_last_bit(tmp_path, table, null):
    path = tmp_path / "features"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write_letor(file, table, null=null)
    again = read_letor(path)
    assert again.equals(table)
    defined = ~np.isnan(table.values)
    assert again.values[defined].tobytes() == table.values[defined].tobytes()


def test_writing_by_hand():
    table = FeatureTable(
        ["bm25", "tf"], ["7", "7"], ["a", ""], [[0.1, NAN], [2, -1e-9]], [2, 0], ["inc = 1", "as it is"]
    )
    file = io.StringIO()
    write_letor(file, table)
    rows = "2 qid:7 1:0.1 2:nan #docid = a inc = 1\n0 qid:7 1:2.0 2:-1e-09 #as it is\n"
    assert file.getvalue() == "# names: bm25 tf\n" + rows
    file = io.StringIO()
    write_letor(file, table.with_grades(None), header=False)
    assert file.getvalue() == rows.replace("2 qid", "0 qid")
    file = io.StringIO()
    write_letor(file, table, header=False, null=True)
    assert file.getvalue() == rows.replace("nan", "NULL")
    file = io.StringIO()
    write_letor(file, FeatureTable(["f1"], ["1"], [""], [[1]], [0.5]))
    assert file.getvalue() == "0.5 qid:1 1:1.0\n"


def test_scikit_learn_reads_what_is_written(tmp_path):
    table = FeatureTable(
        ["bm25", "nan_share", "tf"],
        ["7", "7", "12"],
        ["a#1", "", "c"],
        [[0.1, NAN, 0.0], [2, -1e-9, 5e-324], [NAN, NAN, 1e300]],
        [2, 0, 1],
        ["inc = 1", "3:5 as it is", ""],
    )
    path = tmp_path / "features.txt"
    with path.open("w", encoding="utf-8") as file:
        write_letor(file, table)
    values, grades, qids = load_svmlight_file(str(path), query_id=True)
    np.testing.assert_array_equal(values.toarray(), table.values)
    assert (grades.tolist(), qids.tolist()) == ([2, 0, 1], [7, 7, 12])
    with path.open("w", encoding="utf-8") as file:
        write_letor(file, table, null=True)
    with pytest.raises(ValueError, match="NULL"):
        load_svmlight_file(str(path))


@pytest.mark.parametrize(("qid", "docno", "word"), [("a#b", "x", "qid 'a#b'"), ("a", "x y", "docno 'x y'")])
def test_words_that_could_not_be_read_back_are_not_written(qid, docno, word):
    file = io.StringIO()
    with pytest.raises(SettingError) as caught:
        write_letor(file, FeatureTable("f", [qid], [docno], [[1]], [0]))
    assert str(caught.value).startswith(f"{word} cannot be written to a feature file")
    assert not file.getvalue()


PIECES = [
    b"1",
    b"2",
    b" ",
    b" qid:",
    b"qid:1 ",
    b":",
    b"1:",
    b"2:",
    b".",
    b"e",
    b"-",
    b"NULL",
    b"#",
    b"docid = ",
    b"\n",
]
PIECES += [b"\r", b"\t", b"\0", b"\xff", b"\xc3\xa9", b"# names: ", b"999999999", b"inf", b"0 qid:1 1:2\n"]


@given(content=st.binary(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_bytes_raise_only_our_errors(tmp_path, content):
    path = tmp_path / "features"
    path.write_bytes(content)
    for missing in (None, "nan"):
        try:
            table = read_letor(path, missing=missing)
        except SearchlabError as error:
            assert "\n" not in str(error)
        else:
            assert table.n_rows
            assert all(len(name.split()) == 1 for name in [*table.qids, *filter(None, table.docnos)])


@given(data=st.data())
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_raise_only_our_errors(tmp_path, data):
    place, length = data.draw(st.integers(0, len(LETOR3))), data.draw(st.integers(0, 9))
    piece = data.draw(st.binary(max_size=4) | st.sampled_from(PIECES))
    path = tmp_path / "features"
    path.write_bytes(LETOR3[:place] + piece + LETOR3[place + length :])
    with suppress(SearchlabError):
        assert read_letor(path).n_rows
