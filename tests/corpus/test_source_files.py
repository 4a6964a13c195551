import gzip
import os
import random
import time
import tracemalloc

import pytest

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.errors import SourceError
from searchlab.records import Document

HEX_DIGITS = random.Random(1).randbytes(1000).hex().encode()


def test_gzip_is_known_by_its_first_bytes_not_by_its_name(write):
    packed = gzip.compress(b'{"id": 1}')
    assert list(read_documents([write("a.jsonl", packed)])) == [Document("1")]
    assert list(read_documents([write("b.jsonl.gz", '{"id": 1}')])) == [Document("1")]


def test_members_of_a_gzip_file_follow_each_other(write):
    packed = gzip.compress(b'{"id": 1}\n{"id"') + gzip.compress(b": 2}\n")
    assert [document.docno for document in read_documents([write("a", packed)])] == ["1", "2"]


@pytest.mark.parametrize("keep", [2, 9, 30, -4])
def test_a_truncated_gzip_file_is_refused(write, message, keep):
    path = write("a", gzip.compress(HEX_DIGITS)[:keep])
    assert message(SourceError, read_documents, [path], format="text").startswith(f"{path}: damaged gzip file (")


@pytest.mark.parametrize("position", [2, 10, -8, -1])
def test_a_corrupt_gzip_file_is_refused(write, message, position):
    packed = bytearray(gzip.compress(b'{"id": 1}\n'))
    packed[position] ^= 0xFF
    path = write("a", bytes(packed))
    assert message(SourceError, read_documents, [path]).startswith(f"{path}: damaged gzip file (")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_one(write, end):
    path = write("a", end.join(['{"id": 1}', "", '{"id": 2}', ""]))
    assert [document.location for document in read_documents([path])] == [f"{path}:1", f"{path}:3"]


def test_a_byte_order_mark_is_no_text(write):
    [document] = read_documents([write("a.txt", "\ufeffTitle\nbody")])
    assert document.title == "Title"


def test_only_the_lines_that_are_not_utf8_are_read_as_latin1_and_the_file_is_noted(write):
    content = '{"id": 1, "body": "naïve"}\n'.encode() + '{"id": 2, "body": "naïve"}\n'.encode("latin-1") * 2
    path = write("a", content)
    notes = ReadingNotes()
    assert [document.body for document in read_documents([path], notes=notes)] == ["naïve"] * 3
    assert notes.latin1_lines == {str(path): 2}


def test_control_characters_become_spaces(write):
    path = write("a.txt", b"a\x00b\x1bc\x7fd\te\x0cf")
    [document] = read_documents([path], format="text")
    assert document.body == "a b c d\te f"


def test_a_line_of_many_megabytes_is_read_at_once(write):
    path = write("a.txt", b"word " * 4_000_000)
    began = time.perf_counter()
    [document] = read_documents([path])
    assert len(document.body) == 4_000_000 * 5 - 1
    assert time.perf_counter() - began < 5


def test_an_open_pipe_can_be_a_source():
    # As a shell passes <(command).
    readable, writable = os.pipe()
    with os.fdopen(writable, "w") as writer:
        writer.write('{"id": 1}\n{"id": 2}\n')
    try:
        assert [document.docno for document in read_documents([f"/dev/fd/{readable}"])] == ["1", "2"]
    finally:
        os.close(readable)


RECORDS = {
    "jsonl": b'{"id": "%d", "body": "%s"}\n',
    "trec": b"<DOC><DOCNO>%d</DOCNO>%s</DOC>\n",
    "smart": b".I %d\n.W\n%s\n",
}


@pytest.mark.parametrize("format", RECORDS)
@pytest.mark.parametrize("packed", [False, True])
def test_the_first_document_of_a_large_file_needs_only_its_beginning(tmp_path, format, packed):
    path = tmp_path / "large"
    record = RECORDS[format] % (1, HEX_DIGITS)
    # One gzip member a record, for a packed file that is large although it repeats itself.
    path.write_bytes((gzip.compress(record, 1) if packed else record) * 2000)
    notes = ReadingNotes()
    documents = read_documents([path], notes=notes)
    assert next(documents).docno == "1"
    assert notes.bytes_total == path.stat().st_size > 2_000_000
    assert notes.bytes_read <= 256 * 1024
    documents.close()  # type: ignore[attr-defined]


def test_a_sparse_file_of_a_gigabyte_yields_its_first_document_at_once(tmp_path):
    path = tmp_path / "sparse.jsonl"
    path.write_bytes(b'{"id": 1}\n' * 20_000)
    os.truncate(path, 2**30)
    notes = ReadingNotes()
    documents = read_documents([path], notes=notes)
    assert next(documents).docno == "1"
    assert notes.bytes_read <= 256 * 1024
    documents.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("format", RECORDS)
def test_reading_a_whole_file_holds_one_document_at_a_time(tmp_path, format):
    path = tmp_path / "large.gz"
    path.write_bytes(gzip.compress(RECORDS[format] % (1, HEX_DIGITS) * 5000, 1))
    tracemalloc.start()
    n_documents = sum(1 for _ in read_documents([path]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The file unpacks to ten megabytes; the buffers hold a few hundred kilobytes.
    assert n_documents == 5000
    assert peak < 2_000_000
