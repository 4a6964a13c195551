import io
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError, WriteFailed
from searchlab.records import Document, Ranking, Topic
from searchlab.retrieval.batch import new_file, search_topics, write_run
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.language_models import Dirichlet


def written(rankings, tag="searchlab"):
    file = io.StringIO()
    write_run(file, rankings, tag)
    return file.getvalue()


def test_a_run_has_a_line_for_each_document_found():
    rankings = [Ranking("7", ["b", "a"], [1.5, -0.25]), Ranking("8", [], []), Ranking("q9", ["é"], [1e-07])]
    assert written(rankings, "mine") == "7 Q0 b 1 1.5 mine\n7 Q0 a 2 -0.25 mine\nq9 Q0 é 1 1e-07 mine\n"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_scores_are_read_back_as_the_same_numbers(scores):
    text = written([Ranking("1", [f"d{number}" for number in range(len(scores))], scores)])
    assert [float(line.split()[4]) for line in text.splitlines()] == scores


@pytest.mark.parametrize("tag", ["", "two words", "tab\tbed", "line\n"])
def test_a_tag_is_one_word(tag):
    with pytest.raises(SettingError, match=r"tag is .*, expected a word without blanks"):
        written([Ranking("1", ["a"], [1.0])], tag)


def test_topics_are_searched_in_their_order(build):
    engine = SearchEngine(build([Document("a", "", "red"), Document("b", "", "red blue")]))
    topics = [Topic("2", "blue"), Topic("1", "red"), Topic("3", "unknown")]
    rankings = list(search_topics(engine, iter(topics), k=5, scorer=Dirichlet(10), stream="body"))
    assert [ranking.qid for ranking in rankings] == ["2", "1", "3"]
    assert [ranking.docnos for ranking in rankings] == [["b"], ["a", "b"], []]
    assert rankings[1].scores == engine.search("red", scorer=Dirichlet(10), stream="body").scores.tolist()
    # Scores are plain numbers, which print as such.
    assert {type(score) for ranking in rankings for score in ranking.scores} == {float}
    assert written(rankings).count("\n") == 3


def test_a_new_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("old")
    with new_file(path) as file:
        file.write("new é\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == "new é\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SettingError])
def test_a_failure_in_the_middle_leaves_no_file(tmp_path, error):
    with pytest.raises(error), new_file(tmp_path / "run.txt") as file:
        file.write("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_the_middle_leaves_the_file_that_was_there(tmp_path):
    (tmp_path / "run.txt").write_text("old")
    with pytest.raises(ValueError, match="stop"), new_file(tmp_path / "run.txt") as file:
        file.write("half")
        raise ValueError("stop")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("place", ["nowhere/run.txt", "folder", ".", ""])
def test_a_file_that_cannot_be_written_is_named(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(WriteFailed, match=f"^{place or '.'}: cannot be written"), new_file(place) as file:
        file.write("x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_or_a_device_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        with new_file(path) as file:
            file.write("through\n")
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reader, 100) == b"through\n"
    finally:
        os.close(reader)
