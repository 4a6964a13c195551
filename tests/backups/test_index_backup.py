"""Backups of an index: complete and verified, consistent while others write, and restored whole or not at all."""

import errno
import json
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import searchlab
from searchlab.backups.backup_files import backups_of, read_backup_record
from searchlab.backups.index_backup import create_backup, list_backups, restore_backup
from searchlab.errors import IndexCorrupt, IndexLocked, IndexMissing, SettingError, WriteFailed
from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space
from searchlab.indexing.checking.index_doctor import examine
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage import lock
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.json_records import json_checksum
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.records import Document
from searchlab.web.state.open_indexes import OpenIndexes
from tests.judgments.damaged_judgments import fill, read_everything

DOCUMENTS = [Document(f"d{number}", f"title {number}", f"heat flow over wings {number % 7}") for number in range(40)]


@pytest.fixture
def folder(build, tmp_path):
    """An index of several shards, with a deletion, a semantic space, judgments and models."""
    folder = build(DOCUMENTS, folder=tmp_path / "it", words_per_shard=60)
    build_space(folder, dims=2)
    searchlab.delete(folder, ["d7"])
    fill(judgments_file(folder), n_acts=30)
    (tmp_path / "it.model.json").write_text("{}")
    (tmp_path / "it.searches.json").write_text("{}")
    (tmp_path / "it.models").mkdir()
    (tmp_path / "it.models" / "mine.json").write_text('{"a": 1}')
    (tmp_path / "it.models" / "history" / "mine").mkdir(parents=True)
    (tmp_path / "it.models" / "history" / "mine" / "20261118-120000.json").write_text('{"a": 0}')
    (tmp_path / "it.ranker.json").write_text('{"system": "model:mine"}')
    return folder


def state(folder: Path) -> object:
    """All that an index, its judgments and its models say."""
    snapshot = Snapshot(folder)
    try:
        documents = list(snapshot.documents())
        space = SemanticSpace.open(snapshot, verify=True)
        sizes = space.record.files
    finally:
        snapshot.close()
    beside = [folder.with_name(f"it.{part}.json") for part in ("searches", "model", "ranker")]
    models = [*beside, *sorted(folder.with_name("it.models").rglob("*.json"))]
    generation = read_index_manifest(folder).generation
    return (
        generation,
        documents,
        sizes,
        read_everything(judgments_file(folder)),
        [path.read_text() for path in models],
    )


def entries(home: Path) -> list[str]:
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))


def remove_all(folder: Path) -> None:
    for path in folder.parent.glob("it*"):
        if path != backups_of(folder):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_a_restored_backup_is_the_same(folder):
    before = state(folder)
    record = create_backup(folder, "first")
    assert record.parts == ("index", "judgments.sqlite", "searches.json", "model.json", "models", "ranker.json")
    assert record.n_docs == 39
    assert [name for name, _ in list_backups(folder)] == ["first"]
    assert read_backup_record(backups_of(folder) / "first") == record
    remove_all(folder)
    assert restore_backup(folder, "first")[1] is None
    assert state(folder) == before
    assert examine(folder).healthy
    assert entries(folder.parent)[0] == "it"
    assert not any(name.startswith(".") for name in entries(folder.parent))


def test_files_that_never_change_are_hard_links_and_all_others_copies(folder):
    record = create_backup(folder, "first")
    backup = backups_of(folder) / "first"
    for name in record.files:
        linked = (backup / name).stat().st_nlink > 1
        assert linked == (name.startswith("index/") and Path(name).name not in ("manifest.json", "in-use")), name
    create_backup(folder, "second", link=False)
    assert all((backups_of(folder) / "second" / name).stat().st_nlink == 1 for name in record.files if "in-use" in name)
    shards = list((backups_of(folder) / "second").rglob("columns"))
    assert shards
    assert not any(path.samefile(folder / path.parent.name / "columns") for path in shards)


def test_without_hard_links_files_are_copied(folder, monkeypatch):
    def no_links(source, target):
        raise OSError(errno.EXDEV, "Invalid cross-device link", str(source), None, str(target))

    monkeypatch.setattr(os, "link", no_links)
    before = state(folder)
    create_backup(folder, "first")
    remove_all(folder)
    restore_backup(folder, "first")
    assert state(folder) == before


def test_an_index_alone_is_backed_up_too(build, tmp_path):
    folder = build(DOCUMENTS[:3], folder=tmp_path / "it")
    assert create_backup(folder, "first").parts == ("index",)
    fill(judgments_file(folder), n_acts=5)
    judged = read_everything(judgments_file(folder))
    restore_backup(folder, "first", force=True)
    # What the backup does not have stays as it is.
    assert read_everything(judgments_file(folder)) == judged


def test_an_existing_index_is_replaced_only_by_force_and_judgments_are_kept(folder):
    before = state(folder)
    create_backup(folder, "first")
    searchlab.delete(folder, ["d1", "d2"])
    with JudgmentStore(judgments_file(folder)) as store:
        store.judge("trials", "q0", "later", judge="ann", grade=1)
        later = store.grades("trials")
    changed = state(folder)
    with pytest.raises(SettingError, match="it: exists already; --force replaces it"):
        restore_backup(folder, "first")
    assert state(folder) == changed
    _, kept = restore_backup(folder, "first", force=True)
    assert state(folder) == before
    with JudgmentStore(kept) as store:
        assert store.grades("trials") == later


def test_judgments_alone_are_not_overwritten_either(folder):
    create_backup(folder, "first")
    shutil.rmtree(folder)
    with pytest.raises(SettingError, match=r"it\.judgments\.sqlite: exists already"):
        restore_backup(folder, "first")
    assert not folder.exists()


def test_names_are_checked(folder):
    create_backup(folder, "first")
    with pytest.raises(SettingError, match="there is a backup of this name already"):
        create_backup(folder, "first")
    for name in ("", ".", "..", "a/b", ".hidden", "a b"):
        with pytest.raises(SettingError, match="the name of the backup is"):
            create_backup(folder, name)
    with pytest.raises(SettingError, match=r"unknown backup 'frist' \(did you mean first\?\); there is: first"):
        restore_backup(folder, "frist")
    with pytest.raises(IndexMissing):
        create_backup(folder.with_name("none"), "first")
    with pytest.raises(SettingError, match="no backup here"):
        restore_backup(folder.with_name("none"), "first")


def test_every_damaged_or_missing_file_of_a_backup_is_named(folder):
    record = create_backup(folder, "first", link=False)
    before = state(folder)
    backup = backups_of(folder) / "first"
    for name, (size, _) in record.files.items():
        path = backup / name
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if size else b"x")
        with pytest.raises(IndexCorrupt, match=f"{path.name}: not what was written"):
            restore_backup(folder, "first", force=True)
        path.unlink()
        with pytest.raises(IndexCorrupt, match=f"{path.name}: missing"):
            restore_backup(folder, "first", force=True)
        path.write_bytes(content)
    assert state(folder) == before
    restore_backup(folder, "first", force=True)


def test_a_damaged_or_hostile_record_is_refused(folder):
    create_backup(folder, "first")
    path = backups_of(folder) / "first" / "backup.json"
    good = path.read_text()
    record = json.loads(good)
    hostile = record | {"files": record["files"] | {"index/../../../evil": [0, 0]}}
    del hostile["checksum"]
    hostile["checksum"] = json_checksum(hostile)
    for content, problem in [
        (good.replace('"n_docs": 39', '"n_docs": 40'), "checksum does not match"),
        (good[:-20], "damaged"),
        ("[" * 100_000, "damaged"),
        ("[]", "damaged"),
        (json.dumps(hostile), "expected the name of a file within the folder"),
    ]:
        path.write_text(content)
        with pytest.raises(IndexCorrupt, match=problem):
            restore_backup(folder, "first", force=True)
        ((name, error),) = list_backups(folder)
        assert name == "first"
        assert isinstance(error, IndexCorrupt)


def test_a_damaged_index_is_not_backed_up(folder):
    (path, *_) = sorted(path for path in folder.glob("shard-*/whoosh/*") if path.stat().st_size)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(IndexCorrupt, match=f"{path.name}: not what was written"):
        create_backup(folder, "first")
    assert not backups_of(folder).exists()


def test_a_shard_outside_the_index_is_refused(build, tmp_path):
    folder = build(DOCUMENTS[:3], folder=tmp_path / "home" / "it")
    manifest = read_index_manifest(folder)
    (shard,) = manifest.shards
    (folder / shard.name).rename(tmp_path / shard.name)
    (folder / "manifest.json").write_text(
        json.dumps(replace(manifest, shards=(replace(shard, name=f"../../{shard.name}"),)).to_json())
    )
    before = entries(tmp_path)
    with pytest.raises(IndexCorrupt):
        create_backup(folder, "first")
    assert entries(tmp_path) == before


@pytest.mark.parametrize("n_written", [0, 1, 5])
def test_a_full_disk_leaves_nothing_half_made(folder, monkeypatch, n_written):
    create_backup(folder, "first")
    before, present = state(folder), entries(folder.parent)
    copyfile = shutil.copyfile
    left = [n_written]

    def fill_disk(source, target):
        left[0] -= 1
        if left[0] < 0:
            Path(target).write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        return copyfile(source, target)

    monkeypatch.setattr(shutil, "copyfile", fill_disk)
    with pytest.raises(WriteFailed, match="No space left on device"):
        create_backup(folder, "second", link=False)
    left[0] = n_written
    with pytest.raises(WriteFailed, match="No space left on device"):
        restore_backup(folder, "first", force=True)
    monkeypatch.undo()
    assert [name for name in entries(folder.parent) if "writer.lock" not in name] == [
        name for name in present if "writer.lock" not in name
    ]
    assert state(folder) == before


@pytest.mark.parametrize("failing", ["it", "it.judgments.sqlite", "it.model.json", "it.models", "it.ranker.json"])
def test_a_restore_that_fails_at_the_last_step_is_taken_back(folder, monkeypatch, failing):
    create_backup(folder, "first")
    searchlab.delete(folder, ["d1"])
    before = state(folder)
    rename, left = Path.rename, [failing]

    def fail(self, target):
        if left == [Path(target).name] and ".restored" in self.parent.name:
            left.clear()
            raise OSError(errno.EIO, "Input/output error", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(WriteFailed, match="Input/output error"):
        restore_backup(folder, "first", force=True)
    monkeypatch.undo()
    assert state(folder) == before
    assert not list(folder.parent.glob(".*"))


def test_an_index_that_is_being_written_is_not_replaced(folder):
    create_backup(folder, "first")
    before = state(folder)
    with writer_lock(folder), pytest.raises(IndexLocked):
        restore_backup(folder, "first", force=True)
    assert state(folder) == before


@pytest.mark.parametrize("name", ["semantic", "topics/plsa"])
def test_an_artefact_that_is_being_written_prevents_a_restore(folder, name):
    create_backup(folder, "first")
    before = state(folder)
    with writer_lock(folder / name), pytest.raises(IndexLocked, match=f"{name}: being written by process"):
        restore_backup(folder, "first", force=True)
    assert state(folder) == before


def test_an_index_that_is_being_made_is_not_replaced(folder):
    create_backup(folder, "first")
    shutil.rmtree(folder)
    # A writer has locked the folder of a new index, and has not committed anything yet.
    with writer_lock(folder), pytest.raises(IndexLocked):
        restore_backup(folder, "first", force=True)
    remove_all(folder)
    assert restore_backup(folder, "first")[0].n_docs == 39


def test_a_writer_that_waits_for_the_lock_of_a_replaced_index_locks_the_new_one(folder, monkeypatch):
    create_backup(folder, "first")
    lock_file, replaced = lock._lock, []

    def restore_first(descriptor, home):
        if not replaced:
            replaced.append(descriptor)
            restore_backup(folder, "first", force=True)
        lock_file(descriptor, home)

    with writer_lock(folder):  # so that there is a lock file to be opened
        pass
    monkeypatch.setattr(lock, "_lock", restore_first)
    with writer_lock(folder), pytest.raises(IndexLocked), writer_lock(folder):
        pass
    assert replaced


def test_open_readers_keep_their_state_during_a_restore(folder):
    create_backup(folder, "first")
    searchlab.delete(folder, ["d1", "d2"])
    with searchlab.open(folder) as engine, JudgmentStore(judgments_file(folder)) as store:
        before = [(hit.docno, hit.score, hit.title) for hit in engine.search("heat wings", k=50)]
        store.judge("trials", "q0", "before", judge="ann", grade=1)
        _, kept = restore_backup(folder, "first", force=True)
        # The files of this state are removed, but open.
        assert [(hit.docno, hit.score, hit.title) for hit in engine.search("heat wings", k=50)] == before
        assert len(before) == 37
        assert engine.document("d30") == DOCUMENTS[30]
        # Judgments are read and written where they are now.
        assert "before" not in store.grades("trials")["q0"]
        store.judge("trials", "q0", "after", judge="ann", grade=1)
    with JudgmentStore(judgments_file(folder)) as store:
        assert "after" in store.grades("trials")["q0"]
    with JudgmentStore(kept) as store:
        assert "before" in store.grades("trials")["q0"]
    with searchlab.open(folder) as engine:
        assert engine.snapshot.n_docs == 39


def test_a_server_goes_on_with_its_state_and_then_with_the_restored_one(folder):
    create_backup(folder, "first")
    searchlab.delete(folder, ["d1", "d2"])
    indexes = OpenIndexes([folder])
    served = indexes.get()
    assert served.engine.snapshot.n_docs == 37
    restore_backup(folder, "first", force=True)
    assert len(served.engine.search("heat", k=50)) == 37
    assert indexes.get().engine.snapshot.n_docs == 39


def test_links_and_pipes_in_a_backup_are_not_followed(folder, tmp_path):
    create_backup(folder, "first", link=False)
    before = state(folder)
    path = backups_of(folder) / "first" / "model.json"
    for replacing in (lambda: path.symlink_to(tmp_path / "it.model.json"), lambda: os.mkfifo(path)):
        path.unlink()
        replacing()
        with pytest.raises(IndexCorrupt, match=r"model\.json: not a file; use another backup"):
            restore_backup(folder, "first", force=True)
    assert state(folder) == before


def test_what_cannot_be_taken_back_is_named(folder, monkeypatch):
    create_backup(folder, "first")
    rename = Path.rename

    def fail(self, target):
        if ".restored" in self.parent.name or ".replaced" in self.parent.name:
            raise OSError(errno.ENOTEMPTY, "Directory not empty", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(WriteFailed, match=r"Directory not empty\); what was replaced is in (\S+)") as refused:
        restore_backup(folder, "first", force=True)
    replaced = Path(str(refused.value).partition("is in ")[2].partition(";")[0])
    assert read_index_manifest(replaced / "index").n_docs == 39


def test_backups_during_updates_and_judging_are_one_state_each(build, tmp_path):
    folder = build(DOCUMENTS, folder=tmp_path / "it", words_per_shard=60)
    stop = threading.Event()
    failures: list[BaseException] = []

    def repeat(work):
        number = 0
        try:
            while not stop.is_set():
                number += 1
                work(number)
        except BaseException as error:
            failures.append(error)

    def update(number):
        # Every commit replaces both documents: a state has the same number in both.
        pair = [Document(name, "pair", f"pair {number}") for name in ("left", "right")]
        build(pair, folder=folder, rebuild=False)

    def judge(number):
        with JudgmentStore(judgments_file(folder)) as store:
            store.add_topic("trials", "heat flow", "q0")
            store.import_judgments("trials", [], {"q0": {f"a{number}": 1, f"b{number}": 1}}, judge="ann")

    update(0)
    judge(0)
    threads = [threading.Thread(target=repeat, args=(work,)) for work in (update, judge)]
    for thread in threads:
        thread.start()
    try:
        names = [f"backup-{number}" for number in range(8)]
        for name in names:
            create_backup(folder, name)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    generations = set()
    for name in names:
        restored = tmp_path / name / "it"
        restored.parent.mkdir()
        backups_of(folder).rename(backups_of(restored))
        generations.add(restore_backup(restored, name)[0].generation)
        backups_of(restored).rename(backups_of(folder))
        snapshot = Snapshot(restored)
        assert snapshot.document("left").body == snapshot.document("right").body
        assert snapshot.n_docs == len(DOCUMENTS) + 2
        snapshot.close()
        assert examine(restored).healthy
        with JudgmentStore(judgments_file(restored)) as store:
            judged = store.grades("trials")["q0"]
            left, right = ({docno[1:] for docno in judged if docno.startswith(side)} for side in "ab")
            assert left == right
    assert len(generations) > 1
