import os
import stat

import pytest

from searchlab.atomic_file import open_atomic
from searchlab.errors import SettingError, WriteFailed


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
