"""A large file gives the same records as a small one that is read line by line."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.corpus.trec import fast_lines
from searchlab.corpus.trec.fast_lines import read_plain_lines
from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.runs import read_run
from searchlab.errors import SearchlabError
from tests.hypothesis_profiles import examples

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-100, 100).map(lambda x: f"{x:.4f}"),
    st.integers(-(10**20), 10**20).map(str),
    st.tuples(st.integers(0, 10**20), st.integers(0, 23)).map(lambda parts: f"{Decimal(parts[0]).scaleb(-parts[1]):f}"),
    st.sampled_from(["0", "-0", "+1.50", ".5", "5.", "1e3", "1E-400", "000000000000000001.25", "0.1234567890123456"]),
    st.sampled_from(["", ".", "-", "1_0", "nan", "inf", "1e999", "0x1", "1.2.3", "--1", "1-", "+"]),
)
GRADES = st.sampled_from(["0", "1", "2", "-1", "+3", "007", "123456789", "1234567890", "1.0", "1e0", "x", "-"])
WORDS = st.sampled_from(["1", "2", "12", "a", "b", "c", "é", "d-1", "x\x00", "0"])
BLANKS = st.sampled_from([" ", "\t", "  ", " \t", "\x0b", "\u00a0", ""])
ENDS = st.sampled_from(["\n", "\n", "\r\n", " \n", "\r", "\n\n"])


def read(reader, path, large):
    """The records, or the error, of a file that is treated as large or as small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_lines, "MIN_FAST_BYTES", 0 if large else math.inf)
        try:
            found = reader(path)
        except SearchlabError as error:
            return type(error), str(error)
        return found if reader is read_run else {qid: dict(grades) for qid, grades in found.items()}


@st.composite
def files(draw, columns):
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        blank, end = draw(st.sampled_from([" "] * 20) | BLANKS), draw(ENDS)
        lines.append(blank.join(draw(column) for column in columns) + end)
    return "".join(lines).removesuffix("\n" if draw(st.booleans()) else "")


PLAIN = st.sampled_from(["1", "2", "12"])
DOCNOS = st.sampled_from([f"d{n}" for n in range(30)])


@settings(max_examples=examples(150))
@given(content=files([PLAIN, PLAIN, DOCNOS, PLAIN | WORDS, NUMBERS, PLAIN]))
def test_a_large_run_is_read_as_a_small_one(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "plain.run"
    path.write_bytes(content.encode())
    assert read(read_run, path, large=True) == read(read_run, path, large=False)


@settings(max_examples=examples(150))
@given(content=files([PLAIN, st.sampled_from(["0", "Q0"]), DOCNOS | WORDS, GRADES]))
def test_large_judgments_are_read_as_small_ones(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "plain.qrels"
    path.write_bytes(content.encode())
    assert read(read_qrels, path, large=True) == read(read_qrels, path, large=False)


@given(numbers=st.lists(NUMBERS.filter(lambda word: word not in ("", ".")), min_size=1))
def test_numbers_are_those_of_python_to_the_last_bit(numbers):
    content = "".join(f"1 Q0 d{n} 1 {word} x\n" for n, word in enumerate(numbers)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_lines, "MIN_FAST_BYTES", 0)
        lines = read_plain_lines(content, 6, docno_column=2, number_column=4)
    try:
        expected = [math.nan if "_" in word else float(word) for word in numbers]
    except ValueError:
        expected = [math.nan]
    if not all(map(math.isfinite, expected)):
        assert lines is None
    else:
        assert lines is not None
        assert [(x, math.copysign(1, x)) for x in lines.numbers.tolist()] == [
            (x, math.copysign(1, x)) for x in expected
        ]
        assert lines.docnos.strings() == [f"d{n}" for n in range(len(numbers))]


def test_the_compiled_reader_is_really_used(monkeypatch):
    content = b"1 Q0 b 1 2.5 x\r\n1 Q0 a 2 1 x\n2\tQ0  c 1 -3e2 x\n12 Q0 c 1 0.25 x\n1 Q0 c 9 0 x"
    assert read_plain_lines(content, 6, docno_column=2, number_column=4) is None  # it is small
    monkeypatch.setattr(fast_lines, "MIN_FAST_BYTES", 10)
    lines = read_plain_lines(content, 6, docno_column=2, number_column=4)
    assert lines is not None
    assert (lines.docnos.strings(), lines.numbers.tolist()) == (["b", "a", "c", "c", "c"], [2.5, 1, -300, 0.25, 0])
    assert lines.topics == [("1", 0), ("2", 2), ("12", 3), ("1", 4)]
    assert lines.bounds == [0, 2, 3, 4, 5]
    assert read_plain_lines(content, 5, docno_column=2, number_column=4) is None
    assert read_plain_lines(content, 6, docno_column=2, number_column=4, whole=True) is None


def test_a_topic_may_come_back_and_ties_are_sorted(tmp_path):
    path = tmp_path / "run"
    path.write_text(
        "1 Q0 a 1 2 x\n1 Q0 b 1 2 x\n2 Q0 z 1 1 x\n1 Q0 c 1 2 x\n1 Q0 d 1 3 x\n2 Q0 y 1 1 x\n2 Q0 zz 1 1 x\n"
    )
    found = read(read_run, path, large=True)
    assert found == read(read_run, path, large=False)
    assert [(ranking.qid, ranking.docnos) for ranking in found] == [
        ("1", ["d", "c", "b", "a"]),
        ("2", ["zz", "z", "y"]),
    ]


def test_what_is_wrong_in_a_large_file_is_named_by_its_line(tmp_path):
    path = tmp_path / "run"
    path.write_text("1 Q0 a 1 2 x\n1 Q0 b 2 nan x\n")
    assert read(read_run, path, large=True)[1] == f"{path}:2: expected a finite number as score, found 'nan'"
    path.write_text("1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n")
    assert read(read_run, path, large=True)[1] == f"{path}:2: document a of topic 1 occurs already at {path}:1"


def test_judgments_of_smart_in_a_single_line_without_end_are_read_alike(tmp_path):
    path = tmp_path / "CISI.REL"
    path.write_text("1 d1 0 0")
    assert read(read_qrels, path, large=True) == read(read_qrels, path, large=False) == {"1": {"d1": 1}}
