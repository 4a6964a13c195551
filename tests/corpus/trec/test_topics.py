import pytest

from searchlab.corpus import TOPIC_FORMATS, ReadingNotes, read_topics
from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError
from searchlab.records import Topic

TREC = "<top><num>1<title>crime<desc>Find crime.</top><top><num>2<title>heat<narr>Hot.</top>"


def test_two_columns_are_qid_and_text(write):
    path = write("topics.tsv", "007\twing  flow\n\n 8 \theat\n")
    topics = read_topics(path)
    assert topics == [Topic("007", "wing flow"), Topic("8", "heat")]
    assert [topic.location for topic in topics] == [f"{path}:1", f"{path}:3"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("no tab", "expected 2 columns separated by a tab, found 1"),
        ("1\ta\tb", "expected 2 columns separated by a tab, found 3"),
        ("\ta", "expected a qid, found an empty one"),
        ("1 2\ta", "expected a qid without blanks, found '1 2'"),
        ("2\t ", "expected a text for topic 2, found none"),
    ],
)
def test_a_malformed_line_is_named_with_its_number(write, message, line, complaint):
    path = write("topics.tsv", f"1\tx\n{line}\n")
    assert message(RecordError, read_topics, path) == f"{path}:2: {complaint}"


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ('\n {"qid": 1, "query": "x"}', "jsonl"),
        ("<top><num>1<title>x</top>", "trec"),
        ("<?xml version='1.0'?><topics><TOP ><num>1<title>x</TOP></topics>", "trec"),
        ("\n.I 1\n.W\nx", "smart"),
        ("\r\n1\tx", "tsv"),
    ],
)
def test_the_content_tells_the_format(write, content, format):
    path = write("topics", content)
    assert read_topics(path) == read_topics(path, format=format) == [Topic("1", "x")]
    assert read_topics(write("topics.gz", content)) == [Topic("1", "x")]


def test_a_repeated_qid_names_both_locations(write, message):
    path = write("topics.tsv", "7\tx\n8\ty\n7\tz\n")
    assert message(DuplicateError, read_topics, path) == f"{path}:3: topic 7 occurs already at {path}:1"


def test_the_text_is_made_of_the_chosen_parts(write):
    path = write("topics", TREC)
    assert read_topics(path, fields=("title", "desc")) == [
        Topic("1", "crime Find crime."),
        Topic("2", "heat", {"narr": "Hot."}),
    ]
    assert read_topics(path, fields="text") == read_topics(path, fields=["title"]) == read_topics(path)


def test_a_topic_without_the_chosen_part_is_malformed(write, message):
    path = write("topics", TREC)
    complaint = message(RecordError, read_topics, path, fields="desc")
    assert complaint == f"{path}:1: expected a text for topic 2, found only title, narr"


def test_names_of_parts_are_shown_on_one_line(write, message):
    path = write("topics", '{"qid": "a", "b\\u2028c": "x"}\n')
    assert message(RecordError, read_topics, path) == f"{path}:1: expected a text for topic a, found only b c"
    assert message(SettingError, read_topics, path, fields="d").endswith("; there is: b c, query, text")


def test_an_unknown_part_is_refused_with_the_parts_that_there_are(write, message):
    path = write("topics", TREC)
    complaint = message(SettingError, read_topics, path, fields=("title", "des"))
    assert complaint == "unknown topic part 'des' (did you mean desc?); there is: desc, narr, text, title"


def test_a_file_without_topics_is_refused(write, message):
    path = write("topics", "\n")
    assert message(SourceError, read_topics, path) == f"{path}: holds no topics"
    assert message(SourceError, read_topics, path, format="trec") == f"{path}: holds no topics"


def test_what_cannot_be_topics_is_refused(write, message, tmp_path):
    path = write("topics.txt", "just words")
    expected = f"{path}: unknown format, suffix .txt; expected one of jsonl, smart, trec, tsv (see --format)"
    assert message(SourceError, read_topics, path) == expected
    assert message(SourceError, read_topics, tmp_path) == f"{tmp_path}: expected a file, found a folder"
    missing = tmp_path / "none"
    assert message(SourceError, read_topics, missing) == f"{missing}: no such file or folder"
    assert "there is: jsonl, smart, trec, tsv" in message(SettingError, read_topics, path, format="csv")


def test_reading_topics_is_noted(write):
    path = write("topics", b"1\tcaf\xe9\n2\tx")
    notes = ReadingNotes()
    assert read_topics(path, notes=notes)[0].text == "café"
    assert (notes.n_files, notes.bytes_read, notes.bytes_total) == (
        1,
        path.stat().st_size,
        path.stat().st_size,
    )
    assert notes.latin1_lines == {str(path): 1}


def test_every_format_is_described():
    assert TOPIC_FORMATS
    assert all(format.description for format in TOPIC_FORMATS.values())


def test_topics_may_be_numbered_by_their_order(write, message):
    path = write("topics", ".I 001\n.W\na\n.I 004\n.W\nb\n.I 004\n.W\nc\n")
    assert [(topic.qid, topic.text) for topic in read_topics(path, topic_ids="ordinal")] == [
        ("1", "a"),
        ("2", "b"),
        ("3", "c"),
    ]
    assert "topic 004 occurs already" in message(DuplicateError, read_topics, path)
    assert message(SettingError, read_topics, path, topic_ids="ordinals") == (
        "unknown rule for topic ids 'ordinals' (did you mean ordinal?); there is: ordinal, written"
    )
