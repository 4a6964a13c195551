"""Archives are read as folders, without unpacking, and within limits."""

import gzip
import struct
import tarfile
import time
from typing import Any

import pytest

from benchmarks.folder_files import documents as files
from benchmarks.folder_files.troubles import encrypted_entry, tar_file
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.archives import unpacking
from searchlab.errors import SourceError

FILES = {
    "a.txt": b"Title\ntext",
    "papers/b.pdf": files.pdf([["Cats"], ["Dogs"]]),
    "papers/c.jsonl": b'{"id": "j1", "text": "x"}\n{"id": "j2", "text": "y"}\n',
    "d.docx": files.docx(["Birds"]),
    "e.txt.gz": gzip.compress(b"Packed\ntext"),
    "f.xlsx": files.xlsx({"S": [["title"], ["Fish"]]}),
}
DOCNOS = ["a.txt", "d.docx", "e.txt.gz", "f.xlsx#row-1", "j1", "j2", "papers/b.pdf"]


PACKERS: dict[str, Any] = {
    "zip": files.zipped,
    "tar": tar_file,
    "old tar": lambda entries: tar_file(entries, format=tarfile.USTAR_FORMAT),
    "tar.gz": lambda entries: gzip.compress(tar_file(entries)),
}


def expected(archive: str) -> list[str]:
    return sorted(docno if docno in ("j1", "j2") else f"{archive}/{docno}" for docno in DOCNOS)


@pytest.mark.parametrize("packer", PACKERS)
def test_an_archive_is_read_as_a_folder_is(tmp_path, packer):
    (tmp_path / "my papers").write_bytes(PACKERS[packer](FILES))
    notes = ReadingNotes()
    documents = list(read_documents(tmp_path / "my papers", notes=notes))
    assert sorted(document.docno for document in documents) == expected("my_papers")
    assert (notes.n_files, notes.n_documents, notes.skipped) == (6, 7, [])
    assert notes.bytes_read == notes.bytes_total
    [pdf] = [document for document in documents if document.docno.endswith(".pdf")]
    assert (pdf.body, pdf.location) == ("Cats\fDogs", f"{tmp_path}/my papers/papers/b.pdf")
    # Nothing was unpacked.
    assert [path.name for path in tmp_path.iterdir()] == ["my papers"]


@pytest.mark.parametrize("outer", PACKERS)
@pytest.mark.parametrize("inner", PACKERS)
def test_an_archive_may_be_in_an_archive(tmp_path, outer, inner):
    (tmp_path / "o").write_bytes(PACKERS[outer]({"i": PACKERS[inner](FILES), "last.txt": b"x\ny"}))
    docnos = sorted(document.docno for document in read_documents(tmp_path / "o"))
    assert docnos == sorted([*expected("o/i"), "o/last.txt"])


def test_too_many_archives_within_each_other_are_refused(tmp_path):
    content = files.zipped({"x.txt": "x"})
    for _ in range(unpacking.MAX_DEPTH):
        content = files.zipped({"a.zip": content, "b.txt": "text"})
    (tmp_path / "o.zip").write_bytes(content)
    notes = ReadingNotes()
    docnos = [document.docno for document in read_documents(tmp_path / "o.zip", notes=notes, strict=False)]
    assert docnos == ["o.zip/a.zip/a.zip/b.txt", "o.zip/a.zip/b.txt", "o.zip/b.txt"]
    assert [(skipped.path, skipped.reason) for skipped in notes.skipped] == [
        (
            f"{tmp_path}/o.zip/a.zip/a.zip/a.zip",
            "expected at most 3 archives within each other, found more",
        )
    ]


def test_names_of_entries_are_only_names(tmp_path):
    names = ["../../up.txt", "/etc/x.txt", "C:\\dir\\y.txt", "a\nb\x1b[31m.txt", ".hidden", "__MACOSX/a.txt"]
    (tmp_path / "z.zip").write_bytes(files.zipped(dict.fromkeys(names, "Some text")))
    documents = list(read_documents(tmp_path / "z.zip"))
    assert [document.docno for document in documents] == [
        "z.zip/../../up.txt",
        "z.zip//etc/x.txt",
        "z.zip/C:/dir/y.txt",
        "z.zip/a_b_[31m.txt",
    ]
    assert all(document.location.isprintable() for document in documents)
    assert [path.name for path in tmp_path.iterdir()] == ["z.zip"]


def test_links_in_a_tar_file_are_named_and_not_followed(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar_file({"a.txt": b"text"}, links=("one", "two")))
    notes = ReadingNotes()
    assert [document.docno for document in read_documents(tmp_path / "a.tar", notes=notes)] == ["a.tar/a.txt"]
    assert [(skipped.path, skipped.reason) for skipped in notes.skipped] == [
        (f"{tmp_path}/a.tar/one", "not a regular file"),
        (f"{tmp_path}/a.tar/two", "not a regular file"),
    ]


@pytest.fixture
def read_folder(tmp_path):
    """The docnos in the folder, and what was noted."""

    def read() -> tuple[list[str], dict[str, str]]:
        notes = ReadingNotes()
        docnos = [document.docno for document in read_documents(tmp_path, notes=notes, strict=False)]
        assert notes.bytes_read == notes.bytes_total
        return docnos, {skipped.path.removeprefix(f"{tmp_path}/"): skipped.reason for skipped in notes.skipped}

    return read


@pytest.mark.parametrize("packer", PACKERS)
def test_a_truncated_archive_is_named_and_what_can_be_read_is(write, read_folder, packer):
    content = PACKERS[packer]({"a.txt": b"text", "b.txt": bytes(range(32, 127)) * 3000})
    write("z", b"text")
    path = write("a.bin", content)
    path.write_bytes(content[: len(content) // 2])
    docnos, skipped = read_folder()
    assert docnos[-1] == "z"
    assert list(skipped) == (["a.bin"] if packer == "zip" else ["a.bin/b.txt"]) or "a.bin" in skipped
    assert any("damaged" in reason for reason in skipped.values())


def test_an_encrypted_entry_is_named_and_the_others_read(write, read_folder):
    write("z.zip", encrypted_entry())
    docnos, skipped = read_folder()
    assert docnos == ["z.zip/open.txt"]
    assert skipped == {"z.zip/secret.txt": "encrypted, it can be read only with a password"}


def test_strict_reading_stops_at_an_encrypted_entry(write, message):
    path = write("z.zip", encrypted_entry())
    said = message(SourceError, read_documents, path)
    assert said == f"{path}/secret.txt: encrypted, it can be read only with a password"


def test_damaged_entries_are_named_and_the_others_read(write, read_folder):
    content = bytearray(files.zipped({"a.txt": "A text", "c.pdf": files.pdf([["x"]]), "d.txt": "D text"}))
    # A byte of the data of each.
    for name in (b"a.txt", b"c.pdf"):
        content[content.index(name) + len(name) + 2] ^= 0xFF
    write("z.zip", bytes(content))
    docnos, skipped = read_folder()
    assert docnos == ["z.zip/d.txt"]
    assert set(skipped) == {"z.zip/a.txt", "z.zip/c.pdf"}
    assert all(reason.startswith("damaged entry") for reason in skipped.values())


@pytest.mark.parametrize("packer", ["zip", "tar.gz"])
def test_a_bomb_is_stopped_and_named(monkeypatch, write, read_folder, packer):
    monkeypatch.setattr(unpacking, "FREE_MB", 1)
    monkeypatch.setattr(unpacking, "MAX_RATIO", 2)
    write("z.txt", "text")
    blanks = b" " * (8 * 2**20)
    write("b.bin", PACKERS[packer]({"a.txt": b"text", **{f"{number}.txt": blanks for number in range(5)}}))
    docnos, skipped = read_folder()
    assert docnos == ["b.bin/a.txt", "z.txt"]
    problem = "unpacks to more than 2 times the size of its archive, and 1 MB; the rest was not read"
    assert skipped == {
        "b.bin/0.txt": problem,
        "b.bin": f"{problem}; only 1 of its documents could be read",
    }


def test_an_archive_of_too_many_entries_is_read_up_to_the_limit(monkeypatch, write, read_folder):
    monkeypatch.setattr(unpacking, "MAX_ENTRIES", 3)
    write("z.zip", files.zipped({f"{number}.txt": "text" for number in range(10)}))
    docnos, skipped = read_folder()
    assert docnos == ["z.zip/0.txt", "z.zip/1.txt", "z.zip/2.txt"]
    reason = "has more than 3 entries; the rest of it was not read; only 3 of its documents could be read"
    assert skipped == {"z.zip": reason}


def test_headers_of_a_tar_file_cannot_fill_the_memory(write, read_folder):
    write("z.txt", "text")
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 2**32
    write("a.tar", header.tobuf(tarfile.GNU_FORMAT) + bytes(2**21))
    docnos, skipped = read_folder()
    assert docnos == ["z.txt"]
    assert skipped["a.tar"] == "damaged archive (a header of more than 1,048,576 bytes)"


def test_many_headers_that_refer_to_the_next_one_end_soon(write, read_folder):
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 0
    write("a.tar", header.tobuf(tarfile.USTAR_FORMAT) * 20_000 + bytes(1024))
    write("z.txt", "text")
    start = time.process_time()
    docnos, skipped = read_folder()
    assert time.process_time() - start < 5
    assert (docnos, list(skipped)) == (["z.txt"], ["a.tar"])


def test_entries_that_claim_too_much_hold_no_memory(write, read_folder):
    content = bytearray(files.zipped({"a.pdf": files.pdf([["Cats"]]), "b.txt": "text"}))
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<L", 0xFFFFFFF0)
    write("z.zip", bytes(content))
    docnos, skipped = read_folder()
    assert docnos == ["z.zip/a.pdf", "z.zip/b.txt"] or list(skipped) == ["z.zip/a.pdf"]


def test_an_empty_archive_holds_no_documents(write, message):
    path = write("z.zip", files.zipped({}))
    assert message(SourceError, read_documents, path) == f"{path}: holds no documents"


def test_a_format_can_be_chosen_for_the_entries(write):
    path = write("z.zip", files.zipped({"a.txt": '{"id": 1, "text": "x"}'}))
    assert [document.docno for document in read_documents(path, format="jsonl")] == ["1"]
    [document] = read_documents(write("a.docx", files.docx(["x"])), format="docx")
    assert document.docno == "a.docx"
