"""The signing secret survives a restart, and is used only if no other user can read it."""

import os
from types import SimpleNamespace

import pytest

from searchlab.web import server
from searchlab.web.middleware.signing_secret import SECRET_BYTES, load_signing_secret, signing_secret_file


@pytest.fixture
def path(tmp_path):
    return signing_secret_file(tmp_path / "it")


def test_it_is_made_once_for_its_owner_alone(path):
    secret = load_signing_secret(path)
    assert (path.name, len(secret), path.stat().st_mode & 0o777) == ("it.secret", SECRET_BYTES, 0o600)
    assert load_signing_secret(path) == secret
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_could_read_or_write_is_not_used(path, mode, caplog):
    secret = load_signing_secret(path)
    path.chmod(mode)
    assert load_signing_secret(path) != secret
    assert load_signing_secret(path) != load_signing_secret(path)
    assert "it.secret is not used" in caplog.text


def test_links_and_files_of_another_length_are_not_used(path):
    path.write_bytes(b"short")
    path.chmod(0o600)
    assert len(load_signing_secret(path)) == SECRET_BYTES
    assert path.read_bytes() == b"short"
    path.unlink()
    other = path.with_name("other")
    other.write_bytes(b"x" * SECRET_BYTES)
    other.chmod(0o600)
    path.symlink_to(other)
    assert load_signing_secret(path) != b"x" * SECRET_BYTES


def test_a_pipe_is_not_used_and_does_not_stop_the_server(path):
    os.mkfifo(path, 0o600)
    assert len(load_signing_secret(path)) == SECRET_BYTES


def test_without_a_folder_to_write_to_one_is_drawn(tmp_path):
    secret = load_signing_secret(tmp_path / "none" / "it.secret")
    assert len(secret) == SECRET_BYTES


def test_a_server_that_is_started_again_signs_with_the_same_secret(tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr(server, "run_server", lambda *arguments, secret, **options: used.append(secret))
    indexes = SimpleNamespace(names=("it",), folder=lambda: tmp_path / "it")
    for _ in range(2):
        server.serve(SimpleNamespace(indexes=indexes, uploads=None, limits=None, close=lambda: None))  # type: ignore[arg-type]
    assert used[0] == used[1] == (tmp_path / "it.secret").read_bytes()
