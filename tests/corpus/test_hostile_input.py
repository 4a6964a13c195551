"""Any bytes give records or a SearchlabError, and in linear time."""

import gzip
import time
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchlab.corpus import DOCUMENT_FORMATS, TOPIC_FORMATS, read_documents, read_topics
from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.runs import read_run
from searchlab.errors import InputError, RecordError, SearchlabError, SourceError
from searchlab.records import Document, Topic

DOCUMENTS = {
    "jsonl": b'{"id": "a", "title": ["x"], "body": "caf\xc3\xa9 \\ud800", "n": {"m": [1.5]}}\n{"id": 2}\n',
    "trec": b"<DOC>\n<DOCNO> a </DOCNO><DATE>1990</DATE><HEAD>x &amp; y</HEAD>\n<TEXT>a < b</TEXT>\n</DOC>\n",
    "smart": b".I 1\n.T\ntitle\n.A\nauthor\n.W\ntext .\n.X\n1 2 3\n.I 2\n.W\nmore\n",
    "ohsumed": b".I 1\n.U\n870\n.S\nJ Med\n.M\nA/*; B.\n.T\ntitle\n.P\nART.\n.W\ntext\n.A\nX Y; Z.\n.I 2\n.U\n871\n",
    "ohsumed-i": b".I 1\n.U\n870\n.M\nA/*; B.\n.I 2\n.W\ntext\n",
    "nbib": b"PMID- 1\nTI  - On\n      wings\nAB  - \xe9\nFAU - A, B\nDP  - 1999\nLID - 10.1/x [doi]\n\nPMID- 2\n",
    "ris": b"TY  - JOUR\nID  - a\nTI  - x\nmore\nPY  - 1999/1\nKW  - k\nER  - \nTY  - BOOK\nER  - \n",
    "bibtex": b'@string{j = "J" # {x}}\n@a{k, title = {A {\\"o} \\alpha $x$}, author="A and B", year=1 # j}\n@b{l}\n',
    "csv": b'id,title,text,n\n1,"a ""b""\nc",x,3\n2,,"",\n',
    "tsv": b'docno\tbody\n1\t"x\ty"\n2\tcaf\xe9\n',
    "html": b"<!doctype html><head><title>T</title></head><h1>H</h1><p a='>'>x &amp; y<script>a<b</script>\xe9<br>z",
    "pubmed": b"<?xml version='1.0'?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>"
    b"<ArticleTitle>T<i>x</i> &#233;</ArticleTitle><Abstract><AbstractText Label='L'>a</AbstractText></Abstract>"
    b"<AuthorList><Author><LastName>A</LastName></Author></AuthorList></Article></MedlineCitation></PubmedArticle>"
    b"<PubmedArticle><MedlineCitation><PMID>2</PMID></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "markdown": b"---\ntitle: x\nk: v\n---\n# H *i* #\n**a** [l](u) `c` <b>\xe9</b>\n```\ncode\n```\nS\n===\n> - q\n",
    "text": b"Title\n\nbody \xe9 of text\r\nand more\n",
}
# Formats that are recognised by their suffix need one.
NAMES = {"csv": "file.csv", "tsv": "file.tsv", "html": "file.html", "markdown": "file.md"}
TOPICS = {
    "jsonl": b'{"qid": "a", "query": "x", "n": [1]}\n{"qid": 2, "title": "y"}\n',
    "trec": b"<top>\n<num> Number: 301\n<title> crime &lt; law\n<desc> Description:\nfind\n</top>\n",
    "smart": b".I 1\n.W\nwhat\n.I 2\n.T\na\n.W\nb\n.B\nc\n",
    "tsv": b"1\twing flow\n2\theat\n",
}
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
    max_examples=50,
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
    read_both(path, topic_format, data.draw(st.sampled_from([None, *DOCUMENT_FORMATS])))


@pytest.mark.parametrize("format", DOCUMENT_FORMATS)
@given(data=st.data())
@MANY
def test_mutated_documents_never_surprise_a_reader(tmp_path, format, data):
    path = tmp_path / NAMES.get(format, "file")
    path.write_bytes(data.draw(mutations(DOCUMENTS[format])))
    read_both(path, None, data.draw(st.sampled_from([None, format])))


@pytest.mark.parametrize("format", DOCUMENT_FORMATS)
def test_truncated_documents_never_surprise_a_reader(tmp_path, format):
    path = tmp_path / NAMES.get(format, "file")
    for length in range(1, len(DOCUMENTS[format])):
        path.write_bytes(DOCUMENTS[format][:length])
        read_both(path, None, format)


@pytest.mark.parametrize("format", DOCUMENT_FORMATS)
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


@pytest.mark.parametrize("format", DOCUMENT_FORMATS)
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
