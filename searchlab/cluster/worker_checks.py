"""What is checked of workers before they are given work: their versions, and the files that they see.

Equal digits need equal code, and work on files needs the same files: both are asked of every worker at once, and the
first that differs is named.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from searchlab import __version__
from searchlab.blas_threads import describe_blas
from searchlab.errors import ClusterError, name_some
from searchlab.extensions import load_extensions, registered_versions

# Packages whose version may change a digit or a text, or the meaning of a message between processes.
PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "numba", "nltk", "whoosh-reloaded", "lightgbm", "dask", "distributed"),
    *("pypdfium2", "striprtf", "py3langid", "charset-normalizer", "zstandard", "orjson", "cvxopt", "threadpoolctl"),
    "joblib",
)
# Files of searchlab on which results depend: code, the built-in model, and whatever other data comes to lie beside it.
CODE_SUFFIXES = (".py", ".json", ".txt", ".csv", ".toml")
INSTALL = "install searchlab[cluster] there"

# Calls a function in every worker, and returns results, or exceptions, by the workers' addresses.
AskAll = Callable[..., Mapping[str, Any]]


def describe_versions(extensions: Sequence[str] = ()) -> dict[str, str]:
    """The versions of this process by name, after loading extensions, and hashes of what these register."""
    load_extensions(extensions)
    return installed_versions() | {f"{kind} {name}": digest for kind, name, digest in registered_versions()}


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
    """A hash of all modules and data of searchlab: two working copies may have one version."""
    package = Path(__file__).parents[1]
    examples = package / "examples"  # which are there if searchlab was installed, not in a working copy
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(path for path in package.rglob("*") if path.suffix in CODE_SUFFIXES):
        if path.is_relative_to(examples):
            continue
        content = path.read_bytes()
        found.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def check_versions(ask_all: AskAll, extensions: Sequence[str]) -> None:
    """Raise ClusterError unless all workers have the versions of this process."""
    here = describe_versions()
    for worker, there in _answers(ask_all, describe_versions, extensions):
        if different := different_version(here, there):
            raise ClusterError(f"worker {worker} {different}")


def check_matrix_products(ask_all: AskAll) -> str:
    """What differs in the libraries of matrix products, in one line; they may give other last bits of sums."""
    here = describe_blas()
    for worker, there in _answers(ask_all, describe_blas):
        if there != here:
            return (
                f"worker {worker} multiplies matrices by {there}, the client by {here}: "
                "the last digits of trained models, semantic spaces and topic models may differ"
            )
    return ""


def different_version(client: Mapping[str, str], worker: Mapping[str, str]) -> str:
    """What differs first between the versions of a client and those of a worker, as what is said of the worker.

    The worker may have more, such as extensions of a client before.
    """
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
    _compare(ask_all, describe_files, paths)


def _compare(ask_all: AskAll, describe: Callable[[Iterable[str]], dict[str, str]], paths: Iterable[Path]) -> None:
    """Raise ClusterError unless all workers describe these paths as this process does."""
    listed = [str(path.absolute()) for path in paths]
    here = describe(listed)
    for worker, there in _answers(ask_all, describe, listed):
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
        if isinstance(answer, BaseException) and (lacking := missing_module(answer)):
            raise ClusterError(f"worker {name_some(failed)}: {lacking}; {INSTALL}")
        if isinstance(answer, BaseException):
            raise ClusterError(f"worker {worker}: {answer}")
    return answers


def missing_module(error: BaseException) -> str:
    """What an error says of a package that is not installed, if it says so; Dask may send it as the text of another."""
    found = re.search(r"No module named '[\w.]+'", str(error))
    return found[0] if found else ""
