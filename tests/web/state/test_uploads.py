"""Uploads: hostile paths, bounds, and the index that files become."""

import time

import pytest

from searchlab.web.http_errors import HttpError
from searchlab.web.state import uploads as uploads_module
from searchlab.web.state.uploads import Uploads, check_upload_path
from tests.web.judged_app import rejected


@pytest.fixture
def uploads(tmp_path):
    made = Uploads(tmp_path / "uploads", tmp_path / "indexes")
    yield made
    made.close()


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "a/../../b", "..", "a//b", "./a", "a/.", ".ssh/key", "a/.hidden", "a\x00b", "a\nb"),
        *("a\\..\\b", "C:/x", "a/ b", "b /a", "x" * 201, "é" * 101, "/".join("a" * 21), "\u202etxt.exe", "a/\ud800"),
    ],
)
def test_a_path_that_could_leave_the_folder_is_refused(uploads, path):
    uploads.start("docs")
    with pytest.raises((HttpError, UnicodeEncodeError)) as error:
        uploads.add_file("docs", path, b"x")
    assert getattr(error.value, "status", 400) == 400
    assert [each for each in uploads.folder.rglob("*") if each.is_file()] == []


def test_paths_keep_their_folders():
    assert check_upload_path("a/b c/e\u0301.pdf") == ("a", "b c", "é.pdf")


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", "a" * 41, ".x", "-x", "a b", "é"])
def test_a_name_that_is_no_name_of_an_index_is_refused(uploads, name):
    assert "expected at most 40 lower-case letters" in rejected(400, uploads.start, name)


def test_nothing_is_replaced(uploads):
    uploads.start("docs")
    uploads.add_file("docs", "a.txt", b"first")
    assert "already" in rejected(409, uploads.add_file, "docs", "a.txt", b"second")
    rejected(409, uploads.add_file, "docs", "a.txt/b.txt", b"x")
    assert (uploads.folder / "docs" / "a.txt").read_bytes() == b"first"
    assert "choose another name" in rejected(409, uploads.start, "docs")
    (uploads.index_parent / "there").mkdir(parents=True)
    assert "choose another name" in rejected(409, uploads.start, "there")
    assert "there is no upload 'other'" in rejected(404, uploads.add_file, "other", "a.txt", b"x")


def test_a_file_that_was_not_stored_is_not_counted(uploads):
    uploads.start("docs")
    uploads.add_file("docs", "a.txt", b"first")
    rejected(409, uploads.add_file, "docs", "a.txt", b"second")
    assert (uploads.describe("docs")["n_files"], uploads.describe("docs")["n_bytes"]) == (1, 5)


def test_files_that_are_still_being_stored_are_neither_indexed_nor_deleted(uploads, monkeypatch):
    refused = []

    def store(*_):
        refused.append(rejected(409, uploads.index, "docs"))
        refused.append(rejected(409, uploads.delete, "docs"))

    uploads.start("docs")
    monkeypatch.setattr(uploads, "_store", store)
    uploads.add_file("docs", "a.txt", b"x")
    assert all("still being stored" in each for each in refused)
    assert len(refused) == 2


def test_the_index_of_an_upload_is_not_the_folder_of_uploads(tmp_path):
    uploads = Uploads(tmp_path / "uploads", tmp_path)
    assert "choose another name" in rejected(409, uploads.start, "uploads")


def test_the_number_of_uploads_that_are_indexed_at_a_time_is_bounded(uploads, monkeypatch):
    monkeypatch.setattr(uploads_module, "MAX_INDEXING", 0)
    uploads.start("docs")
    uploads.add_file("docs", "a.txt", b"x")
    assert "wait until one is done" in rejected(409, uploads.index, "docs")


def test_a_link_is_not_followed(uploads, tmp_path):
    uploads.start("docs")
    outside = tmp_path / "outside"
    (uploads.folder / "docs" / "a.txt").symlink_to(outside)
    rejected(409, uploads.add_file, "docs", "a.txt", b"x")
    assert not outside.exists()


def test_number_and_size_are_bounded(uploads, monkeypatch):
    monkeypatch.setattr(uploads_module, "MEGABYTE", 1)
    for name, value in (("MAX_FILES", 3), ("MAX_FILE_MB", 4), ("MAX_UPLOAD_MB", 9), ("MAX_UPLOADS_MB", 10)):
        monkeypatch.setattr(uploads_module, name, value)
    uploads.start("a")
    assert "expected at most 4 MB" in rejected(413, uploads.add_file, "a", "f", b"12345")
    uploads.add_file("a", "f1", b"1234")
    uploads.add_file("a", "f2", b"1234")
    assert "more than 9 MB" in rejected(413, uploads.add_file, "a", "f3", b"12")
    uploads.add_file("a", "f3", b"1")
    assert "has 3 files" in rejected(413, uploads.add_file, "a", "f4", b"")
    uploads.start("b")
    assert "all uploads have more than 10 MB" in rejected(413, uploads.add_file, "b", "f", b"12")


def test_files_become_an_index_with_an_account(uploads, tmp_path):
    appeared = []
    uploads.on_index = appeared.append
    uploads.start("docs")
    assert "no files yet" in rejected(400, uploads.index, "docs")
    uploads.add_file("docs", "notes/a.txt", b"Lymphoma of mice\n\nText about lymphoma.")
    uploads.add_file("docs", "broken.pdf", b"%PDF-1.4 nothing")
    assert uploads.index("docs")["state"] == "indexing"
    rejected(409, uploads.index, "docs")
    rejected(409, uploads.delete, "docs")
    deadline = time.monotonic() + 60
    while uploads.describe("docs")["state"] == "indexing":
        assert time.monotonic() < deadline
        uploads._uploads["docs"].process.wait(60)
    found = uploads.describe("docs")
    assert found["state"] == "done", found["account"]
    assert "1 document" in found["account"]
    assert str(tmp_path) not in found["account"]
    assert any(event["location"].startswith("broken.pdf") for event in found["events"])
    assert appeared == [tmp_path / "indexes" / "docs"]
    assert "is complete" in rejected(409, uploads.add_file, "docs", "b.txt", b"x")
    assert uploads.delete("docs") == {"deleted": "docs"}
    assert list(uploads.folder.iterdir()) == []
    assert (tmp_path / "indexes" / "docs").is_dir()
