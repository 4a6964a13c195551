"""Files that the workers of a cluster see: work on files needs the same ones, and the first that differs is named."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from searchlab.cluster.worker_answers import AskAll, ask_workers, describe_worker
from searchlab.errors import ClusterError


def check_sources(ask_all: AskAll, paths: Iterable[Path]) -> None:
    """Raise ClusterError unless all workers see these files and folders, as large as they are here."""
    _compare(ask_all, describe_files, paths)


def _compare(ask_all: AskAll, describe: Callable[[Iterable[str]], dict[str, str]], paths: Iterable[Path]) -> None:
    """Raise ClusterError unless all workers describe these paths as this process does."""
    listed = [str(path.absolute()) for path in paths]
    here = describe(listed)
    for worker, there in ask_workers(ask_all, describe, listed):
        for path, expected in here.items():
            if there[path] != expected:
                raise ClusterError(f"worker {worker} {_other_file(path, there[path], expected)}")


def describe_files(paths: Iterable[str]) -> dict[str, str]:
    """Each path with what is there, in a few words."""
    found = {}
    for path in paths:
        try:
            status = Path(path).stat()
        except OSError as error:
            found[path] = f"unreadable ({error.strerror})"
        else:
            found[path] = "a folder" if stat.S_ISDIR(status.st_mode) else f"a file of {status.st_size} bytes"
            if not os.access(path, os.R_OK):
                found[path] += " without leave to read it"
    return found


def require_files(expected: Mapping[str, str]) -> None:
    """In a worker: raise ClusterError unless it finds files as the client does, which has described them."""
    for path, found in describe_files(expected).items():
        if found != expected[path]:
            raise ClusterError(f"worker {describe_worker()} {_other_file(path, found, expected[path])}")


def _other_file(path: str, found: str, expected: str) -> str:
    return f"finds {path} to be {found}, expected {expected} as here; it must lie on storage that all workers see"


def check_contents(ask_all: AskAll, paths: Iterable[Path]) -> None:
    """Raise ClusterError unless all workers find the same content in these small files as there is here."""
    _compare(ask_all, describe_contents, paths)


def describe_contents(paths: Iterable[str]) -> dict[str, str]:
    """Each path with what is in the file, as a checksum."""
    found = {}
    for path in paths:
        try:
            checksum = hashlib.blake2b(Path(path).read_bytes(), digest_size=8).hexdigest()
        except OSError as error:
            found[path] = f"unreadable ({error.strerror})"
        else:
            found[path] = f"a file with the checksum {checksum}"
    return found


def check_folder(ask_all: AskAll, folder: Path) -> None:
    """Raise ClusterError unless all workers see the files that this process writes into a folder, and the reverse."""
    token = secrets.token_hex(8)
    folder = folder.absolute()  # workers have other current folders
    probe = folder / f".probe-{token}"
    try:
        probe.write_text(token)
        for worker, answer in ask_workers(ask_all, answer_probe, str(folder), token):
            reply = folder / answer["reply"] if answer["reply"] else None
            if reply is None or not reply.exists():
                problem = answer["problem"] or "what it writes there is not seen here"
                raise ClusterError(
                    f"worker {worker}: {folder} is not the same folder there ({problem}); "
                    "the index must lie on storage that all workers see"
                )
    finally:
        for path in folder.glob(f".probe-{token}*"):
            with suppress(OSError):
                path.unlink()


def answer_probe(folder: str, token: str) -> dict[str, str]:
    """A worker's answer to a probe: the file that it wrote as a reply, or what is wrong."""
    probe = Path(folder) / f".probe-{token}"
    try:
        if probe.read_text() != token:
            return {"reply": "", "problem": "another file is there"}
        reply = probe.with_name(f"{probe.name}-{secrets.token_hex(4)}")
        reply.write_text(token)
    except OSError as error:
        return {"reply": "", "problem": error.strerror or str(error)}
    return {"reply": reply.name, "problem": ""}
