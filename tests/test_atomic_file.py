import errno
import fcntl
import os
import secrets
import stat

import pytest

from searchlab import atomic_file
from searchlab.atomic_file import make_folders, open_atomic, sync_folder
from searchlab.errors import DurabilityWarning, SettingError, WriteFailed


def test_a_new_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("old")
    with open_atomic(path) as file:
        file.write("new é\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == "new é\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SettingError])
def test_a_failure_in_the_middle_leaves_no_file(tmp_path, error):
    with pytest.raises(error), open_atomic(tmp_path / "run.txt") as file:
        file.write("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_the_middle_leaves_the_file_that_was_there(tmp_path):
    (tmp_path / "run.txt").write_text("old")
    with pytest.raises(ValueError, match="stop"), open_atomic(tmp_path / "run.txt") as file:
        file.write("half")
        raise ValueError("stop")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("place", ["nowhere/run.txt", "folder", ".", ""])
def test_a_file_that_cannot_be_written_is_named(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(WriteFailed, match=f"^{place or '.'}: cannot be written"), open_atomic(place) as file:
        file.write("x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_or_a_device_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        with open_atomic(path) as file:
            file.write("through\n")
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reader, 100) == b"through\n"
    finally:
        os.close(reader)


def fail_with(code):
    def fail(*arguments):
        raise OSError(code, os.strerror(code))

    return fail


def test_a_file_is_synced_before_its_rename_and_its_folder_after_it(tmp_path, monkeypatch):
    path = tmp_path / "run.txt"
    events = []

    def note(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        events.append(("folder" if is_folder else "file", path.exists()))

    monkeypatch.setattr(os, "fsync", note)
    with open_atomic(path) as file:
        file.write("new")
    assert events == [("file", False), ("folder", True)]


def test_a_folder_that_cannot_be_synced_is_a_warning_because_the_file_is_written(tmp_path, monkeypatch):
    path = tmp_path / "run.txt"
    monkeypatch.setattr(atomic_file, "sync_folder", fail_with(errno.EIO))
    with (
        pytest.warns(DurabilityWarning, match=r"run\.txt: written, but its folder cannot be synced \(Input/out"),
        open_atomic(path) as file,
    ):
        file.write("new")
    assert path.read_text() == "new"


def test_a_file_that_cannot_be_synced_is_not_written(tmp_path, monkeypatch):
    (tmp_path / "run.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", fail_with(errno.ENOSPC))
    with pytest.raises(WriteFailed, match=r"cannot be written \(No space left"), open_atomic(tmp_path / "run.txt") as f:
        f.write("new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_rename_that_is_carried_out_and_reported_as_failed_counts_as_done(tmp_path, monkeypatch):
    replace = os.replace

    def replace_and_fail(source, target):
        replace(source, target)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", replace_and_fail)
    with open_atomic(tmp_path / "run.txt") as file:
        file.write("new")
    assert (tmp_path / "run.txt").read_text() == "new"


def test_file_systems_that_cannot_sync_folders_are_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", fail_with(errno.EINVAL))
    sync_folder(tmp_path)
    monkeypatch.setattr(os, "fsync", fail_with(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)


def test_the_next_writer_removes_what_a_killed_one_left_but_not_what_is_being_written(tmp_path):
    abandoned = tmp_path / ".run.txt.0badc0de.part"
    unrelated = [tmp_path / name for name in (".run.txt.notes.part", ".other.txt.0badc0de.part", "run.txt.part")]
    for path in (abandoned, *unrelated):
        path.write_text("half")
    being_written = tmp_path / ".run.txt.12345678.part"
    with being_written.open("w") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        with open_atomic(tmp_path / "run.txt") as file:
            file.write("new")
    assert set(tmp_path.iterdir()) == {tmp_path / "run.txt", being_written, *unrelated}


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    with open_atomic(tmp_path / "run.txt") as first:
        first.write("first")
        with open_atomic(tmp_path / "run.txt") as second:
            second.write("second")
        assert (tmp_path / "run.txt").read_text() == "second"
    assert (tmp_path / "run.txt").read_text() == "first"
    assert list(tmp_path.iterdir()) == [tmp_path / "run.txt"]


def test_a_link_with_the_name_of_the_temporary_file_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".run.txt.0badc0de.part").symlink_to(victim)
    monkeypatch.setattr(secrets, "token_hex", lambda n_bytes: "0badc0de")
    with pytest.raises(WriteFailed, match="File exists"), open_atomic(tmp_path / "run.txt") as file:
        file.write("new")
    assert victim.read_text() == "precious"


def test_new_folders_are_synced_into_their_parents(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(atomic_file, "sync_folder", synced.append)
    assert make_folders(tmp_path / "a" / "b")
    assert synced == [tmp_path, tmp_path / "a"]
    assert not make_folders(tmp_path / "a" / "b")
    monkeypatch.setattr(atomic_file, "sync_folder", fail_with(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        make_folders(tmp_path / "c")
    assert not (tmp_path / "c").exists()
