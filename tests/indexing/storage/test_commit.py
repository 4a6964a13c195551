import errno
import os
import shutil

import pytest

from searchlab.atomic_file import sync_folder
from searchlab.errors import IndexCorrupt, WriteFailed
from searchlab.indexing.building import deletion
from searchlab.indexing.building.analysis_options import AnalysisOptions
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.merging import merge as merging
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage import commit
from searchlab.indexing.storage.commit import COMMITTED, UNCHANGED, UNKNOWN, CommittedState, remove_leftovers
from searchlab.indexing.storage.layout import MANIFEST, UNCOMMITTED_MANIFEST
from searchlab.records import Document

DOCUMENTS = [Document("a", "", "some words"), Document("b", "", "more words"), Document("c", "", "most words")]


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "index")


def fail(*arguments, **keywords):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some file")


def test_a_folder_that_cannot_be_synced_after_the_commit_is_a_warning(folder, monkeypatch):

    def sync_before_the_commit(path):
        if not (path / UNCOMMITTED_MANIFEST).exists():
            fail()
        sync_folder(path)

    monkeypatch.setattr(commit, "sync_folder", sync_before_the_commit)
    summary = delete(folder, ["a"])
    assert summary.warnings == (
        f"{folder}: the change was committed, but the folder cannot be synced (some file: No space left on device): "
        "a power failure could undo it",
    )
    assert list(Snapshot(folder).docnos()) == ["b", "c"]


def test_a_folder_that_cannot_be_synced_before_the_commit_leaves_the_index_unchanged(folder, monkeypatch):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.setattr(commit, "sync_folder", fail)
    with pytest.raises(WriteFailed, match=r"^some file: cannot be written \(No space .*\); the index is unchanged$"):
        delete(folder, ["a"])
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_merge_that_fails_after_the_commit_is_a_warning(folder, monkeypatch):
    monkeypatch.setattr(merging, "merge_small_shards", fail)
    summary = delete(folder, ["a", "b"])
    (warning,) = summary.warnings
    assert warning.startswith(f"{folder}: small shards were not merged (some file: No space left on device); ")
    assert "searchlab merge" in warning
    assert (summary.n_docs, summary.n_removed) == (1, 2)
    monkeypatch.undo()
    assert merging.merge(folder).n_deleted == 0


def test_leftovers_that_cannot_be_removed_are_a_warning(folder, monkeypatch):
    (old,) = folder.glob("shard-*")
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors=False: ignore_errors or fail())
    summary = build_index(lambda: DOCUMENTS[:1], folder, AnalysisOptions("none", "none"), jobs=1, rebuild=True)
    problem = "cannot be removed (some file: No space left on device); the next run tries again"
    assert summary.warnings == (f"{old}: a leftover that {problem}",)
    monkeypatch.undo()
    delete(folder, [])
    assert not old.exists()


def test_an_index_that_cannot_be_read_after_the_commit_is_an_error_that_says_so(folder, monkeypatch):
    def unreadable(*arguments):
        raise IndexCorrupt("columns: cannot be read (Input/output error)")

    monkeypatch.setattr(deletion, "summarise", unreadable)
    with pytest.raises(IndexCorrupt, match=r"cannot be read \(Input/output error\); the change was committed$"):
        delete(folder, ["a"])


def test_the_outcome_of_a_change_is_read_from_the_manifest(folder, tmp_path):
    before = CommittedState(folder)
    assert (before.outcome(), before.is_missing) == (UNCHANGED, False)
    delete(folder, ["a"])
    assert before.outcome() == COMMITTED
    nothing = CommittedState(tmp_path / "nowhere")
    assert (nothing.outcome(), nothing.is_missing) == (UNCHANGED, True)
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).mkdir()  # so that it cannot be read
    assert before.outcome() == UNKNOWN
    assert not CommittedState(folder).is_missing


def test_a_link_among_leftovers_is_removed_and_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("precious")
    (tmp_path / "shard-link").symlink_to(tmp_path / "elsewhere")
    assert remove_leftovers([tmp_path / "shard-link", tmp_path / "missing"]) == []
    assert [path.name for path in tmp_path.rglob("*")] == ["elsewhere", "file"]
