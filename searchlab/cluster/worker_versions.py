"""Versions of the workers of a cluster: equal digits need equal code, and the first worker that differs is named."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from searchlab import __version__
from searchlab.blas_threads import describe_blas
from searchlab.cluster.worker_answers import AskAll, ask_workers
from searchlab.errors import ClusterError
from searchlab.extensions import load_extensions, registered_versions

# Packages whose version may change a digit or a text, or the meaning of a message between processes.
PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "numba", "nltk", "whoosh-reloaded", "lightgbm", "dask", "distributed"),
    *("pypdfium2", "striprtf", "py3langid", "charset-normalizer", "zstandard", "orjson", "cvxopt", "threadpoolctl"),
    "joblib",
)
# Files of searchlab on which results depend: code, the built-in model, and whatever other data comes to lie beside it.
CODE_SUFFIXES = (".py", ".json", ".txt", ".csv", ".toml")


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
    for worker, there in ask_workers(ask_all, describe_versions, extensions):
        if different := different_version(here, there):
            raise ClusterError(f"worker {worker} {different}")


def check_matrix_products(ask_all: AskAll) -> str:
    """What differs in the libraries of matrix products, in one line; they may give other last bits of sums."""
    here = describe_blas()
    for worker, there in ask_workers(ask_all, describe_blas):
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
