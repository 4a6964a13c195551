"""Any bytes give records or a SearchlabError, and in linear time."""

import gzip
import time
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.attacks.fuzz_seeds import DOCUMENTS, NAMES, TOPICS
from searchlab.corpus import DOCUMENT_FORMATS, TOPIC_FORMATS, read_documents, read_topics
from searchlab.corpus.extraction.formats import EXTRACTED_FORMATS
from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.runs import read_run
from searchlab.errors import InputError, RecordError, SearchlabError, SourceError
from searchlab.records import Document, Topic
from tests.hypothesis_profiles import examples

# Binary documents are attacked in tests/corpus/extraction.
TEXT_FORMATS = [name for name in DOCUMENT_FORMATS if name not in EXTRACTED_FORMATS]
PIECES = [b"<DOC>", b"</DOC>", b"<top>", b"<num>", b".I ", b".W\n", b"{", b'"', b"\\u", b"\t", b"&#", b"<!--"]
PIECES += [
    b"\nPMID- ",
    b"\nTY  - ",
    b"\nER  - ",
    b"\n@a{",
    b"}",
    b" # ",
    b"= ",
    b"\\'",
    b",",
    b"\n",
    b"\0",
    b"\xff\xfe",
]
PIECES += [b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<PubmedArticle>", b"<PMID>", b"encoding='utf-7'", b"`", b"**", b"]("]
MANY = settings(
    max_examples=examples(50),
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


def read_lenient(path, format):
    return read_documents(path, format=format, strict=False)


def read_both(path, format, document_format):
    """The results of the readers of documents and topics for a file, or their errors."""
    for read, chosen in [(read_documents, document_format), (read_lenient, document_format), (read_topics, format)]:
        try:
            records = list(read(path, format=chosen))  # type: ignore[operator]
        except SearchlabError as error:
            assert "\n" not in str(error)
            assert read is not read_lenient or not isinstance(error, RecordError)
            continue
        assert records
        for record in records:
            assert isinstance(record, Document | Topic)
            # A text that cannot be encoded could not be indexed.
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
    read_both(path, topic_format, data.draw(st.sampled_from([None, *TEXT_FORMATS])))


@pytest.mark.parametrize("format", TEXT_FORMATS)
@given(data=st.data())
@MANY
def test_mutated_documents_never_surprise_a_reader(tmp_path, format, data):
    path = tmp_path / NAMES.get(format, "file")
    path.write_bytes(data.draw(mutations(DOCUMENTS[format])))
    read_both(path, None, data.draw(st.sampled_from([None, format])))


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_truncated_documents_never_surprise_a_reader(tmp_path, format):
    path = tmp_path / NAMES.get(format, "file")
    for length in range(1, len(DOCUMENTS[format])):
        path.write_bytes(DOCUMENTS[format][:length])
        read_both(path, None, format)


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_the_examples_are_sound(tmp_path, format):
    path = tmp_path / NAMES.get(format, "file")
    path.write_bytes(DOCUMENTS[format])
    found = list(read_documents(path, format=format))
    assert found
    assert format == "ohsumed-i" or list(read_documents(path)) == found


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


UNITS = [
    b"<",
    b"<a",
    b"<a>",
    b"<!--",
    b"<?",
    b"</a>",
    b"&#1",
    b".I",
    b"\r",
    b"{",
    b"[",
    b" ",
    b"<a '\"",
    b"<head>",
    b"<h1>",
]
UNITS += [
    b"<title>",
    b"</title",
    b"<script>",
    b"`",
    b"*a ",
    b" _a",
    b"[a](",
    b"![",
    b"# ",
    b"\n> ",
    b"~",
    b'"',
    b'\n1,"x',
    b'""',
]
UNITS += [
    b"\n@a{k,",
    b"@a{k}",
    b'a="#',
    b"}",
    b"\\'",
    b" and ",
    b"\nTY  - ",
    b"\nPMID- 1\n",
    b"\n      ",
    b"\0",
    b"\xe9",
    b"- ",
    b"\n---",
]
AROUND = {
    "trec": b"<DOC><DOCNO>1</DOCNO>%s</a></DOC>",
    "jsonl": b'{"id": 1, "body": %s',
    "csv": b'id,text\n1,"%s',
    "tsv": b"id\ttext\n%s",
    "nbib": b"PMID- 1\nTI  - %s",
    "ris": b"TY  - A\nTI  - %s",
    "bibtex": b"@a{k, title = {%s}, author = {%s",
    "pubmed": b"<PubmedArticleSet>%s",
}


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_hostile_repetition_costs_no_more_than_linear_time(write, format):
    for unit in UNITS:
        hostile = unit * 15_000
        for content in (AROUND.get(format, b"%s").replace(b"%s", hostile), hostile):
            path = write("file", content)
            began = time.process_time()
            with suppress(SourceError):
                assert sum(1 for _ in read_lenient(path, format))
            # A reader with quadratic time would need minutes; the slowest takes half a second.
            assert time.process_time() - began < 2, unit


@pytest.mark.parametrize("format", TOPIC_FORMATS)
def test_hostile_topics_cost_no_more_than_linear_time(write, format):
    for unit in UNITS:
        path = write("file", AROUND.get(format, b"%s").replace(b"%s", unit * 15_000))
        began = time.process_time()
        with suppress(InputError):
            assert read_topics(path, format=format)
        assert time.process_time() - began < 2, unit


MARK = "\ufeff"
MARKED = {
    "run, docno": (read_run, "1 Q0 a 1 2.0 x\n", f"1 Q0 {MARK}b 2 1.0 x\n"),
    "run, qid": (read_run, "1 Q0 a 1 2.0 x\n", f"{MARK}1 Q0 b 2 1.0 x\n"),
    "qrels, docno": (read_qrels, "1 0 a 1\n", f"1 0 {MARK}b 1\n"),
    "qrels, qid": (read_qrels, "1 0 a 1\n", f"{MARK}2 0 b 1\n"),
    "topics": (read_topics, "1\theat\n", f"{MARK}2\twing\n"),
}


@pytest.mark.parametrize(("read", "first", "second"), MARKED.values(), ids=MARKED)
@pytest.mark.parametrize("n_lines", [1, 5000])
def test_a_byte_order_mark_is_dropped_at_the_start_of_a_file_and_refused_elsewhere(
    tmp_path, read, first, second, n_lines
):
    path = tmp_path / "it.txt"
    path.write_text(MARK + first)
    marked = read(path)
    path.write_text(first)
    assert marked == read(path)
    many = "".join(first.replace("a", f"a{number}").replace("1\t", f"{number}x\t") for number in range(n_lines))
    path.write_text(many + second)
    with pytest.raises(RecordError, match=rf"it\.txt:{n_lines + 1}: expected a (qid|docno) without a byte order mark"):
        read(path)
