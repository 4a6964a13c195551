"""What is checked of workers before they are given work: their versions, and the files that they see.

Equal digits need equal code, and work on files needs the same files: both are asked of every worker at once, and the
first that differs is named.
"""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from searchlab import __version__
from searchlab.errors import ClusterError, name_some
from searchlab.extensions import load_extensions, registered_versions

# Packages whose version may change a digit, or the meaning of a message between processes.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "nltk", "whoosh-reloaded", "lightgbm", "dask", "distributed")

# Calls a function in every worker, and returns results, or exceptions, by the workers' addresses.
AskAll = Callable[..., Mapping[str, Any]]


def describe_versions(extensions: Sequence[str] = ()) -> dict[str, str]:
    """The versions of this process by name, after loading extensions."""
    load_extensions(extensions)
    return installed_versions() | {"extensions": str(registered_versions())}


@cache
def installed_versions() -> dict[str, str]:
    """The versions that stay the same while a process runs; looking them up takes as long as a search."""
    versions = {"Python": ".".join(platform.python_version_tuple()[:2]), "searchlab": __version__}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "missing"
    versions["searchlab's code"] = code_digest()
    return versions


@cache
def code_digest() -> str:
    """A hash of all modules of searchlab: two working copies may have one version."""
    package = Path(__file__).parents[1]
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        found.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def check_versions(ask_all: AskAll, extensions: Sequence[str]) -> None:
    """Raise ClusterError unless all workers have the versions of this process."""
    here = describe_versions()
    for worker, there in _answers(ask_all, describe_versions, extensions):
        if different := different_version(here, there):
            raise ClusterError(f"worker {worker} {different}")


def different_version(client: Mapping[str, str], worker: Mapping[str, str]) -> str:
    """What differs first between the versions of a client and those of a worker, as what is said of the worker."""
    for name, expected in client.items():
        if worker.get(name) != expected:
            return f"has {name} {worker.get(name)}, expected {expected} as the client has"
    return ""


def describe_worker() -> str:
    """The address of the worker that runs in this process."""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # a task that a test calls
        return f"process {os.getpid()}"


def check_sources(ask_all: AskAll, paths: Iterable[Path]) -> None:
    """Raise ClusterError unless all workers see these files and folders, as large as they are here."""
    listed = [str(path.absolute()) for path in paths]
    here = describe_files(listed)
    for worker, there in _answers(ask_all, describe_files, listed):
        for path, expected in here.items():
            if there[path] != expected:
                found = f"finds {path} to be {there[path]}, expected {expected} as here"
                raise ClusterError(f"worker {worker} {found}; it must lie on storage that all workers see")


def describe_files(paths: Iterable[str]) -> dict[str, str]:
    """Each path with what is there, in a few words."""
    found = {}
    for path in paths:
        try:
            status = Path(path).stat()
        except OSError as error:
            found[path] = f"unreadable ({error.strerror})"
        else:
            found[path] = "a folder" if Path(path).is_dir() else f"a file of {status.st_size} bytes"
    return found


def check_folder(ask_all: AskAll, folder: Path) -> None:
    """Raise ClusterError unless all workers see the files that this process writes into a folder, and the reverse."""
    token = secrets.token_hex(8)
    folder = folder.absolute()  # workers have other current folders
    probe = folder / f".probe-{token}"
    try:
        probe.write_text(token)
        for worker, answer in _answers(ask_all, answer_probe, str(folder), token):
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


def _answers(ask_all: AskAll, function: Callable[..., Any], *arguments: Any) -> Iterable[tuple[str, Any]]:
    """The answers of all workers, in the order of their addresses; an exception is raised as ClusterError."""
    answers = sorted(ask_all(function, *arguments).items())
    failed = [worker for worker, answer in answers if isinstance(answer, BaseException)]
    for worker, answer in answers:
        if isinstance(answer, ModuleNotFoundError):
            raise ClusterError(f"worker {name_some(failed)}: {answer}; install searchlab[cluster] there")
        if isinstance(answer, BaseException):
            raise ClusterError(f"worker {worker}: {answer}")
    return answers
