import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchlab.corpus import ReadingNotes
from searchlab.corpus.trec.qrels import Qrels, read_qrels
from searchlab.errors import DuplicateError, RecordError, SearchlabError, SourceError

WORDS = st.text("abcXYZ019.-_é", min_size=1, max_size=6)


@pytest.mark.parametrize(
    "content",
    [
        "2 0 b 1\n2 0 a 0\n\n1 Q0 b -2\n",
        "2\t0\tb\t1\r\n2\t0\ta\t0\r\n1 \t 0  b  -2",
        "\ufeff2 b 1\n2 a 0\n1 b -2\n",
        "query-id\tcorpus-id\tscore\n2\tb\t1\n2\ta\t+0\n1\tb\t-2\n",
    ],
)
@pytest.mark.parametrize("name", ["qrels", "qrels.gz"])
def test_each_format_gives_the_same_judgments_in_the_order_of_the_file(write, content, name):
    qrels = read_qrels(write(name, content))
    assert qrels == {"2": {"b": 1, "a": 0}, "1": {"b": -2}}
    assert list(qrels) == ["2", "1"]
    assert list(qrels["2"]) == ["b", "a"]
    assert (len(qrels), qrels.n_judgments) == (2, 3)


def test_judgments_cannot_be_altered(write):
    qrels = read_qrels(write("qrels", "1 0 a 1"))
    assert isinstance(qrels, Qrels)
    with pytest.raises(TypeError):
        qrels["1"]["a"] = 2
    with pytest.raises(TypeError):
        qrels.grades["2"] = {}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 0 b", "expected 4 columns (qid, iteration, docno, grade), found 3"),
        ("1 0 b 1 x", "expected 4 columns (qid, iteration, docno, grade), found 5"),
        ("1 0 b 1.5", "expected a whole number as grade, found '1.5'"),
        ("1 0 b one", "expected a whole number as grade, found 'one'"),
        ("1 0 b 1234567890", "expected a whole number as grade, found '1234567890'"),
    ],
)
def test_a_malformed_line_is_named_with_its_number_or_passed_over(write, message, line, complaint):
    path = write("qrels", f"1 0 a 1\n\n{line}\n1 0 c 0\n")
    assert message(RecordError, read_qrels, path) == f"{path}:3: {complaint}"
    notes = ReadingNotes()
    assert read_qrels(path, strict=False, notes=notes) == {"1": {"a": 1, "c": 0}}
    assert [str(error) for error in notes.bad_records] == [f"{path}:3: {complaint}"]


def test_a_first_line_of_no_format_is_reported_with_both_layouts(write, message):
    path = write("qrels", "1 a\n")
    expected = "expected 3 columns (qid, docno, grade) or 4 columns (qid, iteration, docno, grade), found 2"
    assert message(RecordError, read_qrels, path) == f"{path}:1: {expected}"


def test_a_pair_may_be_repeated_with_its_grade_but_not_with_another(write, message):
    assert read_qrels(write("qrels", "1 0 a 1\n1 0 b 1\n1 1 a 1\n")) == {"1": {"a": 1, "b": 1}}
    path = write("qrels", "1 0 a 1\n2 0 a 0\n1 0 a 0\n")
    expected = f"{path}:3: document a of topic 1 has the grade 0, but 1 at {path}:1"
    assert message(DuplicateError, read_qrels, path) == expected


@pytest.mark.parametrize("content", ["", "\n \n", "query-id\tcorpus-id\tscore\n"])
def test_a_file_without_judgments_is_refused(write, message, content):
    path = write("qrels", content)
    assert message(SourceError, read_qrels, path) == f"{path}: holds no judgments"


def test_what_is_not_a_file_is_refused(tmp_path, message, write):
    assert message(SourceError, read_qrels, tmp_path) == f"{tmp_path}: expected a file, found a folder"
    assert message(SourceError, read_qrels, tmp_path / "x") == f"{tmp_path / 'x'}: no such file or folder"
    cut = write("cut", b"\x1f\x8b\x08\x00")
    assert message(SourceError, read_qrels, cut).startswith(f"{cut}: damaged gzip file")


def test_reading_is_noted(write):
    path = write("qrels", b"1 0 caf\xe9 1\n")
    notes = ReadingNotes()
    assert read_qrels(path, notes=notes) == {"1": {"café": 1}}
    assert (notes.n_files, notes.bytes_read, notes.bytes_total) == (1, 11, 11)
    assert notes.latin1_lines == {str(path): 1}


@given(judged=st.dictionaries(WORDS, st.dictionaries(WORDS, st.integers(-9, 9), min_size=1), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(tmp_path, judged):
    lines = [f"{qid} 0 {docno} {grade}\n" for qid, grades in judged.items() for docno, grade in grades.items()]
    path = tmp_path / "qrels"
    path.write_text("".join(lines), encoding="utf-8")
    assert read_qrels(path) == judged


@given(
    content=st.binary(max_size=100) | st.lists(st.sampled_from([b"1", b" ", b"\t", b"\n", b"a", b"\xff"])).map(b"".join)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_bytes_raise_only_our_errors(tmp_path, content):
    path = tmp_path / "qrels"
    path.write_bytes(content)
    for strict in (True, False):
        try:
            qrels = read_qrels(path, strict=strict)
        except SearchlabError as error:
            assert "\n" not in str(error)
            assert strict or not isinstance(error, RecordError)
        else:
            assert all(len(name.split()) == 1 for qid in qrels for name in [qid, *qrels[qid]])


@pytest.mark.parametrize("zeros", ["0 0", "0\t0.000000"])
def test_judgments_of_smart_list_the_relevant_documents(tmp_path, zeros):
    path = tmp_path / "CISI.REL"
    path.write_text(f"     1     28\t{zeros}\n     1     35\t{zeros}\n\n     2      7\t{zeros}\n")
    assert {qid: dict(judged) for qid, judged in read_qrels(path).items()} == {"1": {"28": 1, "35": 1}, "2": {"7": 1}}
