import errno
import fcntl
import os
import stat
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexLocked, WriteFailed
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage import lock
from searchlab.indexing.storage.layout import IN_USE, UNCOMMITTED_MANIFEST, WRITER_LOCK
from searchlab.indexing.storage.lock import writer_lock
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine

SETTINGS = AnalysisSettings()
NEW = [Document("new", "", "word")]


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def previous(build, tmp_path):
    """An existing index whose one document is named `old`."""
    return build([Document("old", "", "word")], folder=tmp_path / "index", settings=SETTINGS)


def test_a_second_writer_sees_who_the_first_is(previous):
    before = files_below(previous)
    with writer_lock(previous), pytest.raises(IndexLocked, match=f"being written by process {os.getpid()} "):
        build_index(lambda: NEW, previous, SETTINGS, jobs=1)
    assert files_below(previous) == before
    assert [hit.docno for hit in SearchEngine(previous).search("word")] == ["old"]


def test_another_process_that_writes_is_named_and_its_death_frees_the_index(previous):
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from searchlab.indexing.storage.lock import writer_lock
        with writer_lock(Path({str(previous)!r})):
            print("held", flush=True)
            input()
        """
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(IndexLocked, match=f"process {holder.pid} .* try again later"):
            build_index(lambda: NEW, previous, SETTINGS, jobs=1)
    finally:
        holder.kill()
        holder.communicate()
    assert build_index(lambda: NEW, previous, SETTINGS, jobs=1).n_docs == 2
    assert (previous / WRITER_LOCK).read_bytes() == b""


def test_a_path_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(WriteFailed, match="taken: cannot be written"):
        build_index(lambda: NEW, tmp_path / "taken", SETTINGS, jobs=1)
    assert (tmp_path / "taken").read_text() == "mine"


def test_links_in_place_of_the_files_of_a_writer_are_not_followed(previous, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (previous / UNCOMMITTED_MANIFEST).symlink_to(victim)
    assert build_index(lambda: NEW, previous, SETTINGS, jobs=1).n_docs == 2
    assert not (previous / UNCOMMITTED_MANIFEST).is_symlink()
    (previous / WRITER_LOCK).unlink()
    (previous / WRITER_LOCK).symlink_to(victim)
    with pytest.raises(WriteFailed, match=r"writer\.lock: cannot be written \(a symbolic link, expected a file\)"):
        build_index(lambda: NEW, previous, SETTINGS, jobs=1)
    assert victim.read_text() == "precious"


def test_a_pipe_in_place_of_the_lock_is_refused(previous):
    (previous / WRITER_LOCK).unlink()
    os.mkfifo(previous / WRITER_LOCK)
    with pytest.raises(WriteFailed, match="a pipe or a device, expected a file"):
        build_index(lambda: NEW, previous, SETTINGS, jobs=1)


@pytest.mark.parametrize("is_old", [False, True])
def test_only_the_owner_can_open_the_lock_of_writers(previous, is_old):
    lock = previous / WRITER_LOCK
    if is_old:  # as earlier versions made it
        lock.chmod(0o644)
        build_index(lambda: NEW, previous, SETTINGS, jobs=1)
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def refuse_locks(monkeypatch, code, name=""):
    """Let flock fail on files with this name."""
    flock = fcntl.flock

    def refuse(descriptor, operation):
        if Path(f"/proc/self/fd/{descriptor}").readlink().name.endswith(name):
            raise OSError(code, os.strerror(code))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux names open files")
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EACCES])
def test_an_error_of_the_lock_is_named_and_is_no_reason_to_rebuild(previous, tmp_path, monkeypatch, code):
    refuse_locks(monkeypatch, code)
    for folder in (previous, tmp_path / "new"):
        with pytest.raises(WriteFailed) as caught:
            build_index(lambda: NEW, folder, SETTINGS, jobs=1)
        reason = f"{folder}/{WRITER_LOCK}: cannot be written (no lock: {os.strerror(code)}); the index is unchanged"
        assert str(caught.value) == reason
    assert not (tmp_path / "new").exists()
    # Reading needs no lock.
    assert [hit.docno for hit in SearchEngine(previous).search("word")] == ["old"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux names open files")
def test_a_shard_that_cannot_be_locked_is_left_and_named(previous, monkeypatch):
    (old,) = previous.glob("shard-*")
    refuse_locks(monkeypatch, errno.ENOLCK, IN_USE)
    summary = build_index(lambda: NEW, previous, SETTINGS, jobs=1, rebuild=True)
    assert summary.warnings == (
        f"{old}: a leftover that cannot be locked (No locks available); the next run tries again",
    )
    monkeypatch.undo()
    assert merge(previous).warnings == ()
    assert not old.exists()


@pytest.mark.parametrize("kind", [fcntl.LOCK_SH, fcntl.LOCK_EX], ids=["shared", "exclusive"])
def test_a_stranger_who_locks_shards_stops_neither_readers_nor_writers(previous, kind):
    (old,) = previous.glob("shard-*")
    with (old / IN_USE).open() as stranger:
        fcntl.flock(stranger, kind)
        with closing(Snapshot(previous)) as before:
            assert list(before.docnos()) == ["old"]
        assert build_index(lambda: NEW, previous, SETTINGS, jobs=1).n_docs == 2
        assert merge(previous).warnings == ()
        with closing(Snapshot(previous)) as after:
            assert sorted(after.docnos()) == ["new", "old"]
        assert old.exists()  # left for a later writer
    merge(previous)
    assert not old.exists()


def test_an_interrupt_while_a_new_index_is_locked_leaves_no_folder(tmp_path, monkeypatch):
    def interrupt(folder, descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(lock, "_is_lock_of", interrupt)
    with pytest.raises(KeyboardInterrupt), lock.writer_lock(tmp_path / "new"):
        pass
    assert not (tmp_path / "new").exists()
