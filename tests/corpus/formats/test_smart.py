import pytest

from searchlab.corpus import read_documents, read_topics
from searchlab.errors import RecordError
from searchlab.records import Document, Topic

DOCUMENTS = """
.I 1
.T
wing in a
slipstream .
.A
Ting-Yili
.B
j. ae. scs. 25, 1958, 324.
.W
  an experimental study
.Q
.W is not a marker here
of lift .
.I 002
.W \t
heat
.A
First, A.
.A
Second, B.
.K
keys
.N
note
.C
3.42
.X
1\t5\t1
.W
conduction
.I 3
"""


def test_the_parts_of_a_record_become_title_body_and_fields(write):
    path = write("cran.all", DOCUMENTS)
    first, second, third = read_documents([path])
    assert first == Document(
        "1",
        "wing in a\nslipstream .",
        "an experimental study\n.Q\n.W is not a marker here\nof lift .",
        {"authors": "Ting-Yili", "source": "j. ae. scs. 25, 1958, 324."},
    )
    assert second == Document(
        "002",
        "",
        "heat\nconduction",
        {"authors": "First, A.\nSecond, B.", "keywords": "keys", "note": "note", "categories": "3.42"},
    )
    assert third == Document("3")
    assert [document.location for document in (first, second, third)] == [
        f"{path}:2",
        f"{path}:15",
        f"{path}:32",
    ]


def test_words_before_the_first_marker_of_a_record_are_its_text(write):
    assert list(read_documents([write("d", ".I 1\nwords")])) == [Document("1", "", "words")]


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("\nwords\n.I 1", 2, "expected a line '.I …', found 'words'"),
        (".I 1\n.W\nx\n.I  \n", 4, "expected a name after .I, found none"),
        (".I 1\n.I", 2, "expected a name after .I, found none"),
        (".I 1 2", 1, "expected a docno without blanks, found '1 2'"),
    ],
)
def test_a_malformed_record_is_named_with_its_line(write, message, content, line, complaint):
    path = write("d", content)
    assert message(RecordError, read_documents, [path], format="smart") == f"{path}:{line}: {complaint}"


def test_topics_take_their_text_from_w_and_keep_the_rest(write):
    path = write("qry", ".I 001\n.W\nwhat similarity\nlaws .\n.I 2\n.T\na title\n.W\nthe text\n.B\n(JASIS)\n")
    assert read_topics(path) == [
        Topic("001", "what similarity laws ."),
        Topic("2", "the text", {"title": "a title", "source": "(JASIS)"}),
    ]


def test_a_topic_without_w_asks_for_its_title(write):
    assert read_topics(write("qry", ".I 1\n.T\na title\n")) == [Topic("1", "a title")]


def test_a_topic_without_any_text_is_malformed(write, message):
    path = write("qry", ".I 1\n.W\nx\n.I 2\n.W\n")
    assert message(RecordError, read_topics, path) == f"{path}:4: expected a text for topic 2, found none"
