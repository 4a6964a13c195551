"""No input fills the memory: lines, records and files have limits, and what is over them is refused in one line."""

import gzip
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from searchlab.corpus import DOCUMENT_FORMATS, TOPIC_FORMATS, ReadingNotes, read_documents, read_qrels, read_run
from searchlab.corpus.extraction.formats import EXTRACTED_FORMATS
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.source_files import open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.text_files import read_text_file
from searchlab.corpus.trec import fast_lines
from searchlab.errors import RecordError, SettingError, SourceError

# Per format: documents 1 and 2, with %s in a text of the first, and whether this text may have line ends.
DOCUMENTS = {
    "jsonl": ('{"id": 1, "text": "%s"}\n{"id": 2, "text": "x"}\n', False),
    "json": ('[{"id": 1, "text": "%s"},\n{"id": 2, "text": "x"}]\n', False),
    "wos": ("FN x\nVR 1.0\nPT J\nUT 1\nAB %s\nER\nPT J\nUT 2\nER\nEF\n", True),
    "endnote": (
        "<xml><records><record><accession-num>1</accession-num><abstract>%s</abstract></record>\n"
        "<record><accession-num>2</accession-num></record></records></xml>",
        True,
    ),
    "embase": ('"TITLE","x"\n"PUI","1"\n"ABSTRACT","%s"\n\n"TITLE","y"\n"PUI","2"\n', True),
    "csv": ('id,text\n1,"%s"\n2,x\n', True),
    "tsv": ("id\ttext\n1\t%s\n2\tx\n", False),
    "trec": ("<DOC><DOCNO>1</DOCNO>\n%s</DOC>\n<DOC><DOCNO>2</DOCNO>x</DOC>\n", True),
    "smart": (".I 1\n.W\n%s\n.I 2\n.W\nx\n", True),
    "ohsumed": (".I 1\n.U\n1\n.W\n%s\n.I 2\n.U\n2\n.W\nx\n", True),
    "ohsumed-i": (".I 1\n.U\n7\n.W\n%s\n.I 2\n.W\nx\n", True),
    "nbib": ("PMID- 1\nAB  - %s\nPMID- 2\nAB  - x\n", True),
    "ris": ("TY  - A\nAN  - 1\nAB  - %s\nER  - \nTY  - A\nAN  - 2\nER  - \n", True),
    "bibtex": ("@a{1, abstract = {%s}}\n@a{2, title = {x}}\n", True),
    "pubmed": (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>%s</ArticleTitle>"
        "</Article></MedlineCitation></PubmedArticle>\n<PubmedArticle><MedlineCitation><PMID>2</PMID>"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
        True,
    ),
    "html": ("<html><p>%s", True),
    "markdown": ("# x\n%s", True),
    "text": ("%s", True),
}
WHOLE_FILES = {"html", "markdown", "text"}
LIMIT = 2**20 // 1024
MB = 1 / 1024


def long_texts(format: str) -> list[str]:
    """A text over the limit in one line and, if the format allows it, in several lines."""
    several = ("word " * 9 + "\n      ") * (LIMIT // 45 + 2)
    return ["y" * (LIMIT + 1), *([several] if DOCUMENTS[format][1] else [])]


def test_every_format_is_tried():
    assert {*DOCUMENTS, *EXTRACTED_FORMATS} == set(DOCUMENT_FORMATS)


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_record_within_the_limit_is_read(write, format):
    path = write("file", DOCUMENTS[format][0] % ("y" * (LIMIT // 2)))
    documents = list(read_documents(path, format=format, max_record_mb=MB))
    assert len(documents) == (1 if format in WHOLE_FILES else 2)
    assert "y" * (LIMIT // 2) in documents[0].title + documents[0].body


@pytest.mark.parametrize("format", sorted(set(DOCUMENTS) - WHOLE_FILES))
def test_a_record_over_the_limit_is_left_out_and_the_next_one_read(write, format):
    for text in long_texts(format):
        path = write("file", DOCUMENTS[format][0] % text)
        notes = ReadingNotes()
        documents = read_documents(path, format=format, notes=notes, strict=False, max_record_mb=MB)
        assert [document.docno for document in documents] == ["2"]
        assert notes.n_bad >= len(notes.bad_records) >= 1
        assert str(notes.bad_records[0]).startswith(f"{path}:")
        assert "found a longer one" in str(notes.bad_records[0]) or "found none in 1,024 characters" in str(
            notes.bad_records[0]
        )


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_record_over_the_limit_is_an_error_if_reading_is_strict(write, message, format):
    for text in long_texts(format):
        path = write("file", DOCUMENTS[format][0] % text)
        said = message(RecordError, read_documents, path, format=format, max_record_mb=MB)
        assert "expected a record of at most" in said or "found none in 1,024 characters" in said
        assert "\n" not in said


@pytest.mark.parametrize("format", TOPIC_FORMATS)
def test_topics_have_the_same_limit(write, format):
    long = "y" * (LIMIT + 1)
    content = {
        "jsonl": f'{{"qid": 1, "query": "{long}"}}\n',
        "trec": f"<top><num>1<title>\n{long}</top>\n",
        "smart": f".I 1\n.W\n{long}\n",
        "tsv": f"1\t{long}\n",
    }[format]
    with (
        open_source_file(single_file(write("file", content)), ReadingContext(ReadingNotes(), True, MB)) as opened,
        pytest.raises(RecordError, match="found a longer one"),
    ):
        list(TOPIC_FORMATS[format].read(opened))


def test_the_limit_counts_characters_without_the_line_end(write):
    # By hand: the line has exactly as many characters as allowed, and the next line is not skipped.
    head = '{"id": 1, "text": "'
    exact = head + "y" * (LIMIT - len(head) - 2) + '"}'
    assert len(exact) == LIMIT
    for line_end in ("\n", "\r\n"):
        path = write("file.jsonl", exact + line_end + '{"id": 2}' + line_end)
        assert [document.docno for document in read_documents(path, max_record_mb=MB)] == ["1", "2"]
        path = write("file.jsonl", " " + exact + line_end + '{"id": 2}' + line_end)
        assert [document.docno for document in read_documents(path, max_record_mb=MB, strict=False)] == ["2"]


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), 1e300])
def test_a_limit_that_is_none_is_refused(write, limit):
    with pytest.raises(SettingError, match="max_record_mb"):
        read_documents(write("a.txt", "x"), max_record_mb=limit)


READING = """
import resource, sys
from searchlab.corpus import read_documents, read_qrels, read_run, read_topics
from searchlab.errors import InputError
from searchlab.features.letor.letor_files import read_letor
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    found = {
        "documents": lambda path: list(read_documents(path, format="jsonl")),
        "topics": lambda path: read_topics(path, format="tsv"),
        "qrels": read_qrels,
        "run": read_run,
        "letor": read_letor,
    }[sys.argv[1]](sys.argv[2])
except InputError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("kind", ["documents", "topics", "qrels", "run", "letor"])
def test_a_small_gzip_file_of_one_endless_line_takes_little_memory(tmp_path, kind):
    # 1 GB in 1 MB on disk; before there was a limit, reading took more than all of it.
    path = tmp_path / "bomb.gz"
    member = gzip.compress(b"a" * 2**24, 9)
    path.write_bytes(member * 64)
    assert path.stat().st_size < 2 * 2**20
    ended = subprocess.run(
        [sys.executable, "-c", READING, kind, path],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30)),
        check=True,
    )
    said, megabytes = ended.stdout.splitlines()
    assert said == f"{path}:1: expected a record of at most 64 MB, found a longer one"
    assert int(megabytes) < 800


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_a_large_file_that_is_not_read_at_once_gives_the_same(write, monkeypatch, kind):
    line, read = {"run": ("1 Q0 d%d 1 %d x\n", read_run), "qrels": ("1 0 d%d %d\n", read_qrels)}[kind]
    path = write("file", "".join(line % (number, number % 3) for number in range(5000)))
    monkeypatch.setattr(fast_lines, "MIN_FAST_BYTES", 1)
    fast = read(path)
    monkeypatch.setattr(fast_lines, "MAX_FAST_BYTES", 1000)
    monkeypatch.setattr(fast_lines, "MAX_EXPANSION", 0)
    assert read(path) == fast


def test_named_pipes_sockets_and_devices_are_refused_at_once(tmp_path, message):
    os.mkfifo(tmp_path / "pipe")
    assert "a named pipe, expected a file" in message(SourceError, read_documents, [tmp_path / "pipe"])
    assert "a named pipe, expected a file" in message(SourceError, read_qrels, tmp_path / "pipe")
    assert "a named pipe, expected a file" in message(SourceError, read_text_file, tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket must be short
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        assert "a socket, expected a file" in message(SourceError, read_documents, [tmp_path / "socket"])
    assert "a device, expected a file" in message(SourceError, read_run, "/dev/zero")


def test_files_that_are_read_whole_have_a_limit(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("é" * 10, encoding="utf-8")
    assert read_text_file(path, max_bytes=20) == "é" * 10
    with pytest.raises(SourceError, match="expected a file of at most 0 MB, found a larger one"):
        read_text_file(path, max_bytes=19)
    with pytest.raises(SourceError, match="cannot be read"):
        read_text_file(tmp_path)


def test_xml_elements_are_not_nested_without_end(write, message):
    path = write("file.xml", "<PubmedArticleSet>" + "<a>" * 2000)
    assert "1,000 elements in each other" in message(RecordError, read_documents, path, format="pubmed")


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_reader_out_of_memory_or_stack_ends_in_one_line(write, monkeypatch, message, error):
    def fail(opened):
        raise error

    monkeypatch.setitem(DOCUMENT_FORMATS, "text", DOCUMENT_FORMATS["text"].__class__("", lambda opened: True, fail))
    path = write("a.txt", "x")
    assert message(SourceError, read_documents, path, format="text").startswith(f"{path}: ")
