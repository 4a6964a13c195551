"""Whatever the bytes are: records or a SearchlabError, and soon."""

import gzip
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchlab.corpus import DOCUMENT_FORMATS, TOPIC_FORMATS, read_documents, read_topics
from searchlab.errors import SearchlabError
from searchlab.records import Document, Topic

DOCUMENTS = {
    "jsonl": b'{"id": "a", "title": ["x"], "body": "caf\xc3\xa9 \\ud800", "n": {"m": [1.5]}}\n{"id": 2}\n',
    "trec": b"<DOC>\n<DOCNO> a </DOCNO><DATE>1990</DATE><HEAD>x &amp; y</HEAD>\n<TEXT>a < b</TEXT>\n</DOC>\n",
    "smart": b".I 1\n.T\ntitle\n.A\nauthor\n.W\ntext .\n.X\n1 2 3\n.I 2\n.W\nmore\n",
    "text": b"Title\n\nbody \xe9 of text\r\nand more\n",
}
TOPICS = {
    "jsonl": b'{"qid": "a", "query": "x", "n": [1]}\n{"qid": 2, "title": "y"}\n',
    "trec": b"<top>\n<num> Number: 301\n<title> crime &lt; law\n<desc> Description:\nfind\n</top>\n",
    "smart": b".I 1\n.W\nwhat\n.I 2\n.T\na\n.W\nb\n.B\nc\n",
    "tsv": b"1\twing flow\n2\theat\n",
}
PIECES = [b"<DOC>", b"</DOC>", b"<top>", b"<num>", b".I ", b".W\n", b"{", b'"', b"\\u", b"\t", b"&#", b"<!--"]
MANY = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def mutations(seed: bytes) -> st.SearchStrategy[bytes]:
    """`seed` with a few stretches replaced by bytes or by pieces of syntax."""
    inserted = st.binary(max_size=4) | st.sampled_from(PIECES)
    edit = st.tuples(st.integers(0, len(seed)), st.integers(0, 9), inserted)

    def apply(edits):
        content = seed
        for start, length, piece in edits:
            content = content[:start] + piece + content[start + length :]
        return content

    return st.lists(edit, min_size=1, max_size=4).map(apply)


def read_both(path, format, document_format):
    """What the readers of documents and topics make of the file, or their errors."""
    for read, chosen in [(read_documents, document_format), (read_topics, format)]:
        try:
            records = list(read(path, format=chosen))
        except SearchlabError as error:
            assert "\n" not in str(error)
            continue
        assert records
        for record in records:
            assert isinstance(record, Document | Topic)
            # What cannot be encoded could not be indexed.
            assert repr(record).isprintable()
            name = record.docno if isinstance(record, Document) else record.qid
            assert name.encode() and len(name.split()) == 1


@pytest.mark.parametrize("packed", [False, True])
@given(data=st.data())
@MANY
def test_random_bytes_never_surprise_a_reader(tmp_path, packed, data):
    content = data.draw(st.binary(max_size=300) | st.lists(st.sampled_from(PIECES)).map(b"".join))
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(content) if packed else content)
    topic_format = data.draw(st.sampled_from([None, *TOPIC_FORMATS]))
    read_both(path, topic_format, data.draw(st.sampled_from([None, *DOCUMENT_FORMATS])))


@pytest.mark.parametrize("format", DOCUMENT_FORMATS)
@given(data=st.data())
@MANY
def test_mutated_documents_never_surprise_a_reader(tmp_path, format, data):
    path = tmp_path / "file"
    path.write_bytes(data.draw(mutations(DOCUMENTS[format])))
    read_both(path, None, data.draw(st.sampled_from([None, format])))


@pytest.mark.parametrize("format", TOPIC_FORMATS)
@given(data=st.data())
@MANY
def test_mutated_topics_never_surprise_a_reader(tmp_path, format, data):
    path = tmp_path / "file"
    path.write_bytes(data.draw(mutations(TOPICS[format])))
    read_both(path, data.draw(st.sampled_from([None, format])), None)


@given(data=st.data())
@MANY
def test_mutated_gzip_never_surprises_a_reader(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data.draw(mutations(gzip.compress(DOCUMENTS["jsonl"], mtime=0))))
    read_both(path, None, None)


@pytest.mark.parametrize("format", ["trec", "smart", "jsonl", "text"])
@pytest.mark.parametrize("unit", [b"<", b"<a", b"<a>", b"<!--", b"<?", b"</a>", b"&#1", b".I", b"\r", b"{", b"[", b" "])
def test_hostile_repetition_costs_no_more_than_linear_time(write, format, unit):
    content = {"trec": b"<DOC><DOCNO>1</DOCNO>%s</a></DOC>", "jsonl": b'{"id": 1, "body": %s'}.get(format, b"%s")
    path = write("file", content % (unit * 50_000))
    outside = write("outside", unit * 50_000)
    began = time.perf_counter()
    read_both(path, None, format)
    read_both(outside, None, format)
    assert time.perf_counter() - began < 3
