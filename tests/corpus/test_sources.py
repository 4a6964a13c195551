import gzip
import io
import os
import random
import sys
from pathlib import Path

import pytest

from searchlab.corpus import DOCUMENT_FORMATS, ReadingNotes, SkippedFile, read_documents, read_topics
from searchlab.corpus.reading_notes import HIDDEN, ReadingEvent
from searchlab.errors import RecordError, SettingError, SourceError
from searchlab.records import Document, Topic

KNOWN = ", ".join(sorted(DOCUMENT_FORMATS))


def docnos(*sources, **settings):
    return [document.docno for document in read_documents(sources, **settings)]


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.png", '\n {"id": 1}', "jsonl"),
        ("a.txt", '\ufeff{"id": 1}', "jsonl"),
        ("a.md", "\n<DOC>\n<DOCNO>1</DOCNO></DOC>", "trec"),
        ("a", "<?xml version='1.0'?>\n<!-- x --><ROOT a='b'>\n<doc ><docno>1</docno></doc></ROOT>", "trec"),
        ("a.xml", "<!DOCTYPE\nx><DOC><DOCNO>1</DOCNO></DOC>", "trec"),
        ("a.all", "\r\n.I 1\r\n.W\r\nx", "smart"),
        ("a", ".I1", "smart"),
        ("1.txt", "<DOCUMENT>", "text"),
        ("1.text", ".In the beginning", "text"),
        ("1", "[1]", "text"),
        ("1.TXT.gz", "words", "text"),
        ("a", ".I 1\n.U\n2\n.W\nx", "ohsumed"),
        ("a", ".I 1\n.W\n.U s\n", "smart"),
        ("a.nbib", "\nPMID- 1\nTI  - x", "nbib"),
        ("a.txt", "TY  - JOUR\nER  - ", "ris"),
        ("a.bib", "% made by hand\n@Article {key,\n title = {x}}", "bibtex"),
        ("a", "@string{a = {b}}\n@misc{key}", "bibtex"),
        ("a.csv.gz", "ID,Text\n1,x", "csv"),
        ("a.tsv", '"docno"\ttitle\n1\tx', "tsv"),
        ("a.txt", "<!DOCTYPE html><p>x", "html"),
        ("a", "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>\n<html lang='en'><p>x", "html"),
        ("a.HTM", "x", "html"),
        (
            "a.xml",
            "<?xml version='1.0'?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID>"
            "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
            "pubmed",
        ),
        ("a.md", "# x", "markdown"),
        ("a.markdown", "x", "markdown"),
    ],
)
def test_the_content_tells_the_format(write, name, content, format):
    path = write(name, content)
    assert list(read_documents([path])) == list(read_documents([path], format=format))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.rst", "# words", "unknown format, suffix .rst"),
        ("a.css", "@page { size: a4; margin: 0, 1 }", "unknown format, suffix .css"),
        ("a.csv", "query-id,corpus-id,score\n1,2,3", "a table of judgments, not of documents"),
        ("a.tsv", "1\t2\n3\t4", "a table without a header line, found '1' in its first line"),
        ("a.csv", 'id,"te"xt\n1,2', "expected a comma after a closing quote, found 'xt'"),
        ("a.csv", "id,text,text\n1,2,3", "expected every column once, found 'text' more than once"),
        ("a.md", "bin\0ary", "binary content"),
        ("a.html", "bin\0ary", "binary content"),
        ("a.txt", "bin\0ary", "binary content"),
        ("a.png", b"\x89PNG\r\n\0\0", "a picture"),
    ],
)
def test_a_file_of_no_known_format_is_skipped_in_a_folder_but_refused_by_itself(
    write, message, tmp_path, name, content, reason
):
    path = write(name, content)
    expected = f"{path}: {reason}; expected one of {KNOWN} (see --format)"
    assert message(SourceError, read_documents, [path]) == expected
    write("b.txt", "words")
    notes = ReadingNotes()
    assert docnos(tmp_path, notes=notes) == ["b.txt"]
    assert notes.skipped == [SkippedFile(str(path), reason)]


def test_a_folder_is_read_recursively_in_order_without_hidden_files(write, tmp_path):
    for name in ["b.txt", "a/z.txt", "a/b/c.txt", "c", ".git/x.txt", ".y.txt", "a/.z"]:
        write(name, "words")
    assert docnos(tmp_path) == ["a/b/c.txt", "a/z.txt", "b.txt", "c"]


@pytest.mark.parametrize("name", ["docs.jsonl", "documents.jsonl.gz", "corpus"])
def test_a_collection_folder_stands_for_its_documents_only(write, tmp_path, name):
    write(name, '{"id": 1}')
    write("topics.tsv", "1\tx")
    others = [write("more/a.txt", "words"), write("topics-long.tsv", "1\tx y")]
    notes = ReadingNotes()
    assert docnos(tmp_path, notes=notes) == ["1"]
    reason = f"set aside, {name} has the documents of this collection"
    assert notes.skipped == [SkippedFile(str(path), reason) for path in others]


def test_hidden_files_and_folders_are_noted_once_each(write, tmp_path):
    for name in ["b.txt", ".git/x.txt", ".git/y.txt", "a/.z"]:
        write(name, "text")

    class Listener(list[ReadingEvent]):
        add = list.append

    notes = ReadingNotes(listener=Listener())
    assert [document.docno for document in read_documents(tmp_path, notes=notes)] == ["b.txt"]
    hidden = [event.location for event in notes.listener if event.kind == HIDDEN]
    assert hidden == [str(tmp_path / name) for name in (".git", "a/.z")]


def test_notes_beside_a_file_called_documents_are_read_too(write, tmp_path):
    names = ["a.txt", "b.txt", "c.txt", "d.txt", "documents.txt", "e.txt"]
    for name in names:
        write(name, "words")
    assert docnos(tmp_path) == names


def test_two_collection_files_are_files_like_others(write, tmp_path):
    write("docs.jsonl", '{"id": 1}')
    write("corpus.txt", "words")
    write("deep/docs.txt", "words")
    assert docnos(tmp_path) == ["corpus.txt", "deep/docs.txt", "1"]


def test_an_unreadable_collection_file_is_refused_rather_than_skipped(write, message, tmp_path):
    write("topics.tsv", "1\tx")
    path = write("docs.rst", "words")
    assert message(SourceError, read_documents, [tmp_path]).startswith(f"{path}: unknown format, suffix .rst;")


def test_links_in_a_circle_end_and_dangling_links_and_pipes_are_noted(write, tmp_path):
    write("a/x.txt", "words")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    notes = ReadingNotes()
    assert docnos(tmp_path, notes=notes) == ["a/x.txt"]
    assert notes.skipped == [
        SkippedFile(str(tmp_path / "gone"), "a link to nothing"),
        SkippedFile(str(tmp_path / "pipe"), "not a regular file"),
        SkippedFile(str(tmp_path / "self"), "a link to nothing"),
    ]


@pytest.mark.parametrize("source", ["nowhere", "", "nul\0", "half\ud800"])
def test_a_missing_source_is_refused_before_any_document_is_drawn(source):
    with pytest.raises(SourceError, match="no such file or folder"):
        read_documents([source])


def test_a_path_through_a_file_is_a_missing_source(write):
    with pytest.raises(SourceError, match=r"a\.txt/b: no such file or folder"):
        read_documents([write("a.txt", "x") / "b"])


def test_a_folder_with_nothing_to_read_is_refused(write, message, tmp_path):
    assert message(SourceError, read_documents, [tmp_path]) == f"{tmp_path}: holds no documents"
    path = write("a.png", "\0")
    write("b.txt", "")
    expected = f"{tmp_path}: holds no documents; 2 of its files skipped, first {path} (binary content)"
    assert message(SourceError, read_documents, [tmp_path]) == expected


def test_an_error_of_the_system_is_reported_in_its_words(write, message, tmp_path, monkeypatch):
    path = write("a.txt", "words")

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert message(SourceError, read_documents, [tmp_path]) == f"{tmp_path}: Permission denied"
    monkeypatch.setattr("searchlab.corpus.source_files._CountedFile.readinto", lambda self, buffer: refuse(self))
    assert message(SourceError, read_documents, [path]) == f"{path}: Permission denied"


def test_a_name_that_is_too_long_is_reported_in_the_words_of_the_system(message):
    assert message(SourceError, read_documents, ["x" * 5000]).endswith("xx: File name too long")


def test_an_unknown_format_is_refused_with_the_known_ones(write, message):
    path = write("a.txt", "words")
    expected = f"unknown format 'jsonn' (did you mean json?); there is: {KNOWN}"
    assert message(SettingError, read_documents, [path], format="jsonn") == expected


def test_a_single_source_need_not_stand_in_a_list(write):
    path = write("a.txt", "words")
    assert [document.docno for document in read_documents(str(path))] == ["a.txt"]
    assert [document.docno for document in read_documents(path)] == ["a.txt"]


def test_names_that_are_not_utf8_become_docnos_that_can_be_written(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("words")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    [document] = read_documents([tmp_path])
    assert document.docno == "caf\ufffd.txt"
    assert document.location.encode()


def test_the_notes_count_what_was_read_and_skipped(write, tmp_path):
    sizes = [write(name, content).stat().st_size for name, content in [("a.txt", "words"), ("b.png", "\0" * 99)]]
    sizes.append(write("c", '{"id": 1}\n{"id": 2}').stat().st_size)
    notes = ReadingNotes()
    documents = read_documents([tmp_path], notes=notes)
    assert (notes.bytes_read, notes.bytes_total) == (0, sum(sizes))
    assert len(list(documents)) == 3
    assert (notes.n_files, notes.n_documents) == (2, 3)
    assert notes.bytes_read == notes.bytes_total


@pytest.fixture
def standard_input(monkeypatch):
    def give(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))

    return give


def test_a_hyphen_reads_json_lines_from_standard_input(standard_input, message):
    standard_input(b'{"id": 1}\n\n{"id": 2, "text": "x"}\n')
    notes = ReadingNotes()
    documents = list(read_documents("-", notes=notes))
    assert documents == [Document("1"), Document("2", "", "x")]
    assert [document.location for document in documents] == ["-:1", "-:3"]
    assert (notes.n_files, notes.bytes_read, notes.bytes_total) == (1, 34, 0)
    assert not sys.stdin.closed
    standard_input(b"words")
    complaint = "expected a JSON object, found invalid JSON (Expecting value at column 1)"
    assert message(RecordError, read_documents, Path("-")) == f"-:1: {complaint}"


def test_standard_input_may_be_of_another_format_packed_empty_or_closed(standard_input, message, monkeypatch):
    standard_input(b".I 1\n.W\nx")
    assert list(read_documents(["-"], format="smart")) == [Document("1", "", "x")]
    standard_input(gzip.compress(b'{"id": 1}'))
    assert docnos("-") == ["1"]
    standard_input(b"")
    assert message(SourceError, read_documents, "-") == "-: holds no documents"
    sys.stdin.close()
    assert message(SourceError, read_documents, "-") == "-: standard input is closed"
    monkeypatch.setattr(sys, "stdin", None)
    assert message(SourceError, read_documents, "-") == "-: standard input is closed"


def test_topics_can_come_from_standard_input(standard_input):
    standard_input(b"1\twing flow\n")
    assert read_topics("-") == [Topic("1", "wing flow")]


def test_a_file_that_is_called_hyphen_is_a_file(write, tmp_path, monkeypatch):
    write("-", '{"id": 7}')
    monkeypatch.chdir(tmp_path)
    assert docnos("./-") == docnos(".") == ["7"]


def test_every_format_is_described():
    assert DOCUMENT_FORMATS
    assert all(format.description for format in DOCUMENT_FORMATS.values())


def test_a_file_of_a_folder_that_cannot_be_read_stops_the_others_only_if_reading_is_strict(write, message, tmp_path):
    damaged = write(
        "a.jsonl", gzip.compress(b'{"id": 1}\n' + random.Random(1).randbytes(200_000).hex().encode())[:-9000]
    )
    write("b.txt", "words")
    notes = ReadingNotes()
    assert docnos(tmp_path, notes=notes, strict=False)[-1] == "b.txt"
    assert [(skipped.path, skipped.is_unreadable) for skipped in notes.skipped] == [(str(damaged), True)]
    assert notes.skipped[0].reason.startswith("damaged gzip file")
    assert not notes.is_complete
    assert message(SourceError, read_documents, [tmp_path]).startswith(f"{damaged}: damaged gzip file")


def test_a_folder_within_that_cannot_be_read_is_noted(write, message, tmp_path, monkeypatch):
    write("closed/a.txt", "words")
    write("b.txt", "words")
    iterate = Path.iterdir

    def refuse(self):
        if self.name == "closed":
            raise PermissionError(13, "Permission denied", str(self))
        return iterate(self)

    monkeypatch.setattr(Path, "iterdir", refuse)
    notes = ReadingNotes()
    assert docnos(tmp_path, notes=notes, strict=False) == ["b.txt"]
    reason = "a folder that cannot be read (Permission denied)"
    assert notes.skipped == [SkippedFile(str(tmp_path / "closed"), reason, is_unreadable=True)]
    assert message(SourceError, read_documents, [tmp_path]) == f"{tmp_path / 'closed'}: {reason}"
