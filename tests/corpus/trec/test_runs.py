import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchlab.corpus import ReadingNotes
from searchlab.corpus.parsing.identifiers import is_column, require_columns
from searchlab.corpus.trec.runs import read_run, write_run
from searchlab.errors import DuplicateError, RecordError, SearchlabError, SettingError, SourceError
from searchlab.records import Ranking

WORDS = st.text("abXY019-é", min_size=1, max_size=5)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("name", ["run", "run.gz"])
def test_documents_are_ordered_by_score_then_docno_and_ranks_mean_nothing(write, name):
    # By hand: 2.5 comes first although its rank is 9; of the ties, "b" follows "a" in bytes, and "é" both.
    path = write(name, "7 Q0 a 1 1.5 x\n7 Q0 é 2 1.5 x\r\n\n7\tQ0\tc\t9\t25e-1\tx\n7 Q0 b one 1.5 x\n")
    assert list(read_run(path)) == [Ranking("7", ["c", "é", "b", "a"], [2.5, 1.5, 1.5, 1.5])]


def test_interleaved_topics_come_together_in_the_order_of_their_first_lines(write):
    path = write("run", "2 Q0 a 1 3 x\n1 Q0 a 1 -1 x\n2 Q0 b 2 4 x\n")
    assert list(read_run(path)) == [Ranking("2", ["b", "a"], [4.0, 3.0]), Ranking("1", ["a"], [-1.0])]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 Q0 b 1 2", "expected 6 columns, found 5"),
        ("1 Q0 b 1 2 x y", "expected 6 columns, found 7"),
        ("1 Q0 b 1 high x", "expected a finite number as score, found 'high'"),
        ("1 Q0 b 1 nan x", "expected a finite number as score, found 'nan'"),
        ("1 Q0 b 1 1e999 x", "expected a finite number as score, found '1e999'"),
        ("1 Q0 b 1 1_0 x", "expected a finite number as score, found '1_0'"),
    ],
)
def test_a_malformed_line_is_named_with_its_number_or_passed_over(write, message, line, complaint):
    path = write("run", f"1 Q0 a 1 2.0 x\n{line}\n")
    assert message(RecordError, read_run, path) == f"{path}:2: {complaint}"
    notes = ReadingNotes()
    assert list(read_run(path, strict=False, notes=notes)) == [Ranking("1", ["a"], [2.0])]
    assert [str(error) for error in notes.bad_records] == [f"{path}:2: {complaint}"]


def test_a_document_that_is_found_twice_names_both_locations(write, message):
    path = write("run", "1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n1 Q0 a 2 2 x\n")
    assert message(DuplicateError, read_run, path) == f"{path}:3: document a of topic 1 occurs already at {path}:1"


def test_what_holds_no_results_is_refused(write, message, tmp_path):
    path = write("run", "\n")
    assert message(SourceError, read_run, path) == f"{path}: holds no results"
    assert message(SourceError, read_run, tmp_path) == f"{tmp_path}: expected a file, found a folder"


def test_reading_is_noted(write):
    notes = ReadingNotes()
    path = write("run", "1 Q0 a 1 2 x\n")
    read_run(path, notes=notes)
    assert (notes.n_files, notes.bytes_read, notes.bytes_total) == (1, 13, 13)


@given(found=st.dictionaries(WORDS, st.dictionaries(WORDS, FLOATS, min_size=1), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(tmp_path, found):
    rankings = []
    for qid, scores in found.items():
        docnos = sorted(scores, key=lambda docno: (scores[docno], docno.encode()), reverse=True)
        rankings.append(Ranking(qid, docnos, [scores[docno] for docno in docnos]))
    file = io.StringIO()
    write_run(file, rankings)
    path = tmp_path / "run"
    path.write_text(file.getvalue(), encoding="utf-8")
    assert list(read_run(path)) == rankings


@given(content=st.binary(max_size=100) | st.lists(st.sampled_from([b"1 ", b"\t", b"\n", b"a ", b"\xff"])).map(b"".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_bytes_raise_only_our_errors(tmp_path, content):
    path = tmp_path / "run"
    path.write_bytes(content)
    for strict in (True, False):
        try:
            rankings = read_run(path, strict=strict)
        except SearchlabError as error:
            assert "\n" not in str(error)
            assert strict or not isinstance(error, RecordError)
        else:
            assert rankings
            assert all(len(ranking.docnos) == len(ranking.scores) > 0 for ranking in rankings)


def as_written(rankings, tag="searchlab"):
    file = io.StringIO()
    write_run(file, rankings, tag)
    return file.getvalue()


def test_a_run_has_a_line_for_each_document_found():
    rankings = [Ranking("7", ["b", "a"], [1.5, -0.25]), Ranking("8", [], []), Ranking("q9", ["é"], [1e-07])]
    assert as_written(rankings, "mine") == "7 Q0 b 1 1.5 mine\n7 Q0 a 2 -0.25 mine\nq9 Q0 é 1 1e-07 mine\n"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_scores_are_read_back_as_the_same_numbers(scores):
    text = as_written([Ranking("1", [f"d{number}" for number in range(len(scores))], scores)])
    assert [float(line.split()[4]) for line in text.splitlines()] == scores


@pytest.mark.parametrize("tag", ["", "two words", "tab\tbed", "line\n"])
def test_a_tag_is_one_word(tag):
    with pytest.raises(SettingError, match=r"tag is .*, expected a word without blanks"):
        as_written([Ranking("1", ["a"], [1.0])], tag)


FORGED = [
    "a\n1 Q0 forged 1 9.9 it",
    "a b",
    "a\tb",
    "",
    " ",
    "a\r",
    "a\x0b",
    "a\x85",
    "a\u2028b",
    "a\u00a0b",
    "\x1b[2J",
    "\ufeff",
]


@pytest.mark.parametrize("name", FORGED)
def test_names_that_would_forge_a_column_or_a_line_are_not_written(name):
    for ranking, kind in ((Ranking("1", ["x", name], [2.0, 1.0]), "docno"), (Ranking(name, ["x"], [1.0]), "qid")):
        with pytest.raises(
            SettingError, match=f"^{kind} is .*, expected a word without blanks and control characters$"
        ):
            as_written([ranking])
    with pytest.raises(SettingError, match=r"^tag is "):
        as_written([], name)


@given(st.lists(st.text(max_size=4), max_size=4))
def test_names_are_checked_together_as_one_by_one(names):
    try:
        require_columns("docno", names)
    except SettingError:
        assert not all(map(is_column, names))
    else:
        assert all(map(is_column, names))
