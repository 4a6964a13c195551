"""Uploads: hostile paths, bounds, and the index that files become."""

import os
import threading
import time

import pytest

from searchlab.errors import SettingError
from searchlab.features.latent_semantics.semantic_space import SemanticSpace
from searchlab.indexing.snapshot import Snapshot
from searchlab.web.http_errors import HttpError
from searchlab.web.uploads import upload_store
from searchlab.web.uploads.upload_paths import check_upload_path
from searchlab.web.uploads.upload_records import INTERRUPTED, record_file
from searchlab.web.uploads.upload_store import Uploads
from tests.web.judged_app import rejected


@pytest.fixture
def uploads(tmp_path):
    made = Uploads(tmp_path / "uploads", tmp_path / "indexes")
    yield made
    made.close()


def add(uploads, name, path, content):
    """Receive a file and take it into an upload."""
    with uploads.receive(name, path, len(content)) as file:
        file.write_bytes(content)
        return uploads.add_file(name, path, file)


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
        add(uploads, "docs", path, b"x")
    assert getattr(error.value, "status", 400) == 400
    assert [each.name for each in uploads.folder.rglob("*") if each.is_file()] == ["docs.upload.json"]


def test_paths_keep_their_folders():
    assert check_upload_path("a/b c/e\u0301.pdf") == ("a", "b c", "é.pdf")


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", "a" * 41, ".x", "-x", "a b", "é"])
def test_a_name_that_is_no_name_of_an_index_is_refused(uploads, name):
    assert "expected at most 40 lower-case letters" in rejected(400, uploads.start, name)


def test_nothing_is_replaced(uploads):
    uploads.start("docs")
    add(uploads, "docs", "a.txt", b"first")
    assert "already" in rejected(409, add, uploads, "docs", "a.txt", b"second")
    rejected(409, add, uploads, "docs", "a.txt/b.txt", b"x")
    assert (uploads.folder / "docs" / "a.txt").read_bytes() == b"first"
    assert "choose another name" in rejected(409, uploads.start, "docs")
    (uploads.index_parent / "there").mkdir(parents=True)
    assert "choose another name" in rejected(409, uploads.start, "there")
    assert "there is no upload 'other'" in rejected(404, add, uploads, "other", "a.txt", b"x")


def test_a_file_that_was_not_stored_is_not_counted(uploads):
    uploads.start("docs")
    add(uploads, "docs", "a.txt", b"first")
    rejected(409, add, uploads, "docs", "a.txt", b"second")
    assert (uploads.describe("docs")["n_files"], uploads.describe("docs")["n_bytes"]) == (1, 5)


def test_files_that_are_still_being_stored_are_neither_indexed_nor_deleted(uploads, monkeypatch):
    refused = []

    def store(*_):
        refused.append(rejected(409, uploads.index, "docs"))
        refused.append(rejected(409, uploads.delete, "docs"))

    uploads.start("docs")
    monkeypatch.setattr(uploads, "_store", store)
    add(uploads, "docs", "a.txt", b"x")
    assert all("still being stored" in each for each in refused)
    assert len(refused) == 2


def test_the_index_of_an_upload_is_not_the_folder_of_uploads(tmp_path):
    uploads = Uploads(tmp_path / "uploads", tmp_path)
    assert "choose another name" in rejected(409, uploads.start, "uploads")


def test_the_number_of_uploads_that_are_indexed_at_a_time_is_bounded(uploads, monkeypatch):
    monkeypatch.setattr(upload_store, "MAX_INDEXING", 0)
    uploads.start("docs")
    add(uploads, "docs", "a.txt", b"x")
    assert "wait until one is done" in rejected(409, uploads.index, "docs")


def test_an_upload_that_is_deleted_while_all_are_listed_is_left_out(uploads, monkeypatch):
    for name in ("a", "b", "c"):
        uploads.start(name)
    describe = uploads.describe

    def describe_and_delete(name):
        if name == "a":
            uploads.delete("b")
        return describe(name)

    monkeypatch.setattr(uploads, "describe", describe_and_delete)
    assert [each["name"] for each in uploads.list()] == ["a", "c"]


def test_a_link_is_not_followed(uploads, tmp_path):
    uploads.start("docs")
    outside = tmp_path / "outside"
    (uploads.folder / "docs" / "a.txt").symlink_to(outside)
    rejected(409, add, uploads, "docs", "a.txt", b"x")
    assert not outside.exists()


def test_number_and_size_are_bounded(uploads, monkeypatch):
    monkeypatch.setattr(upload_store, "MEGABYTE", 1)
    for name, value in (("MAX_FILES", 3), ("MAX_FILE_MB", 4), ("MAX_UPLOAD_MB", 9), ("MAX_UPLOADS_MB", 10)):
        monkeypatch.setattr(upload_store, name, value)
    uploads.start("a")
    assert "expected at most 4 MB" in rejected(413, add, uploads, "a", "f", b"12345")
    add(uploads, "a", "f1", b"1234")
    add(uploads, "a", "f2", b"1234")
    assert "more than 9 MB" in rejected(413, add, uploads, "a", "f3", b"12")
    add(uploads, "a", "f3", b"1")
    assert "has 3 files" in rejected(413, add, uploads, "a", "f4", b"")
    uploads.start("b")
    assert "all uploads have more than 10 MB" in rejected(413, add, uploads, "b", "f", b"12")


def test_files_become_an_index_with_an_account(uploads, tmp_path):
    appeared = []
    uploads.on_index = appeared.append
    uploads.start("docs")
    assert "no files yet" in rejected(400, uploads.index, "docs")
    add(uploads, "docs", "notes/a.txt", b"Lymphoma of mice\n\nText about lymphoma.")
    add(uploads, "docs", "broken.pdf", b"%PDF-1.4 nothing")
    assert uploads.index("docs")["state"] == "indexing"
    rejected(409, uploads.index, "docs")
    rejected(409, uploads.delete, "docs")
    found = uploads.wait("docs", 60)
    assert found["state"] == "done", found["account"]
    assert "1 document" in found["account"]
    assert str(tmp_path) not in found["account"]
    assert any(event["location"].startswith("broken.pdf") for event in found["events"])
    assert appeared == [tmp_path / "indexes" / "docs"]
    # The built-in model can be used.
    assert SemanticSpace.open(Snapshot(appeared[0])).n_docs == 1
    assert "is complete" in rejected(409, add, uploads, "docs", "b.txt", b"x")
    assert uploads.delete("docs") == {"deleted": "docs"}
    # The files are deleted; the index and its account stay, after a restart, too.
    assert not (uploads.folder / "docs").exists()
    again = Uploads(uploads.folder, uploads.index_parent)
    for each in (uploads, again):
        assert [(one["name"], one["state"], one["n_files"]) for one in each.list()] == [("docs", "done", 0)]
        assert (each.indexes, each.describe("docs")["account"]) == ([tmp_path / "indexes" / "docs"], found["account"])


def test_an_upload_is_known_after_a_restart_and_counts(uploads, monkeypatch):
    uploads.start("docs")
    add(uploads, "docs", "a/b.txt", b"1234")
    again = Uploads(uploads.folder, uploads.index_parent)
    assert again.describe("docs") == uploads.describe("docs")
    assert [each["name"] for each in again.list()] == ["docs"]
    assert "choose another name" in rejected(409, again.start, "docs")
    monkeypatch.setattr(upload_store, "MEGABYTE", 1)
    monkeypatch.setattr(upload_store, "MAX_UPLOADS_MB", 5)
    again.start("more")
    assert "all uploads have more than 5 MB" in rejected(413, add, again, "more", "c", b"12")
    add(again, "docs", "c.txt", b"5")
    assert again.delete("docs") == {"deleted": "docs"}
    add(again, "more", "c", b"12")


def test_indexing_that_a_server_did_not_finish_has_failed_and_is_done_again(uploads, monkeypatch):
    uploads.start("docs")
    add(uploads, "docs", "a.txt", b"Lymphoma of mice")
    monkeypatch.setattr(threading.Thread, "start", lambda thread: None)  # the server is killed before it begins
    assert uploads.index("docs")["state"] == "indexing"
    monkeypatch.undo()
    again = Uploads(uploads.folder, uploads.index_parent)
    assert (again.describe("docs")["state"], again.describe("docs")["account"]) == ("failed", INTERRUPTED)
    assert again.indexes == []
    again.index("docs")
    assert again.wait("docs", 60)["state"] == "done"
    assert Uploads(uploads.folder, uploads.index_parent).indexes == [uploads.index_parent / "docs"]


@pytest.mark.parametrize(
    ("failure", "account"),
    [
        (SettingError("two indexes are called docs"), "two indexes are called docs"),
        (OSError(12, "Cannot allocate memory"), "the files cannot be indexed (Cannot allocate memory)"),
        (ZeroDivisionError("a defect"), "the files cannot be indexed: internal error; see the log of the server"),
    ],
)
def test_whatever_fails_an_upload_ends_as_failed_with_one_line(uploads, monkeypatch, failure, account):
    def fail(*_):
        raise failure

    monkeypatch.setattr(upload_store, "start_indexing", fail)
    uploads.start("docs")
    add(uploads, "docs", "a.txt", b"x")
    uploads.index("docs")
    ended = uploads.wait("docs", 60)
    assert (ended["state"], ended["account"]) == ("failed", account)
    assert Uploads(uploads.folder, uploads.index_parent).describe("docs")["account"] == account


def test_what_was_interrupted_or_given_up_is_swept(uploads, monkeypatch):
    uploads.start("docs")
    add(uploads, "docs", "a.txt", b"x")
    (uploads.folder / ".receiving").mkdir(exist_ok=True)
    left = uploads.folder / ".receiving" / "tmp1"
    left.write_bytes(b"half")
    Uploads(uploads.folder, uploads.index_parent)
    assert left.exists()
    long_ago = time.time() - 2 * 24 * 3600
    for path in (left, uploads.folder / "docs" / "a.txt", uploads.folder / "docs"):
        os.utime(path, (long_ago, long_ago))
    again = Uploads(uploads.folder, uploads.index_parent)
    assert again.list() == []
    assert [each.name for each in uploads.folder.rglob("*")] == [".receiving"]


def test_a_file_that_is_not_complete_leaves_nothing(uploads):
    uploads.start("docs")
    with pytest.raises(ConnectionError), uploads.receive("docs", "a.txt", 10) as file:
        file.write_bytes(b"half")
        raise ConnectionError
    assert list((uploads.folder / ".receiving").iterdir()) == []
    assert uploads.describe("docs")["n_files"] == 0


def test_files_are_received_a_few_at_a_time(uploads, monkeypatch):
    monkeypatch.setattr(upload_store, "MAX_RECEIVING", 1)
    uploads.start("docs")
    with uploads.receive("docs", "a.txt", 1):
        assert "1 files are being received" in rejected(503, add, uploads, "docs", "b.txt", b"x")
    add(uploads, "docs", "b.txt", b"x")


@pytest.mark.parametrize("record", ["", "[]", '{"format": "x"}', '{"format": "searchlab upload 1", "state": "odd"}'])
def test_an_upload_with_a_damaged_record_is_still_there(uploads, record):
    uploads.start("docs")
    record_file(uploads.folder, "docs").write_text(record)
    assert Uploads(uploads.folder, uploads.index_parent).describe("docs")["state"] == "receiving"
