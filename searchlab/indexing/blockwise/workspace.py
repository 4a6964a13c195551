"""Where a computation by blocks keeps its arrays, and who computes: this process, or the workers of a cluster.

Tasks take and return references to arrays. In one process these are the arrays themselves; on a cluster they are files
in a folder that all workers see. So a task has no state: it can run again on another worker, and its result is the
same. Results come in the order of the blocks, so that sums over blocks have the same order, and the same last bits,
whoever computes them.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.artefacts import WORKSPACE_PREFIX
from searchlab.types import Array

DAMAGED = "the command that was making this must run again"

T = TypeVar("T")


class StoredArrays(Protocol):
    """A reference to named arrays, which are not changed."""

    def load(self) -> Mapping[str, Array]:
        """The arrays."""

    def remove(self) -> None:
        """Give up the arrays."""


class ArrayStore(Protocol):
    """Keeps arrays."""

    def put(self, arrays: Mapping[str, Array]) -> StoredArrays:
        """Keep named arrays; returns the reference to them."""


@dataclass(frozen=True, eq=False)
class ArraysInMemory:
    """Arrays of this process."""

    arrays: Mapping[str, Array]

    def load(self) -> Mapping[str, Array]:
        """The arrays."""
        return self.arrays

    def remove(self) -> None:
        """Nothing is to do: they go with the last reference."""


class MemoryStore:
    """Keeps arrays in this process."""

    def put(self, arrays: Mapping[str, Array]) -> StoredArrays:
        """Keep named arrays."""
        return ArraysInMemory(arrays)


@dataclass(frozen=True)
class ArraysInFile:
    """Arrays in a file that all workers see."""

    path: Path

    def load(self) -> Mapping[str, Array]:
        """The arrays, mapped and verified."""
        return {name: column.whole for name, column in ArrayFile(self.path, DAMAGED).items()}

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.path.unlink()


@dataclass(frozen=True)
class FolderStore:
    """Keeps arrays in files of a folder that all workers see."""

    folder: Path

    def put(self, arrays: Mapping[str, Array]) -> StoredArrays:
        """Write named arrays; a task that runs twice writes two files, of which the client learns of one."""
        path = self.folder / secrets.token_hex(8)
        write_arrays(path, arrays)
        return ArraysInFile(path)


@dataclass(frozen=True)
class Workspace:
    """A store of arrays, and the cluster whose workers see it; without one, tasks run in this process."""

    store: ArrayStore
    cluster: Cluster | None = None

    def map(self, function: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> Iterator[T]:
        """The results of `function(*call)`, in the order of the calls."""
        if self.cluster is None:
            for call in calls:
                yield function(*call)
            return
        results: dict[int, T] = {}
        n_given = 0
        for number, result in self.cluster.finish(function, calls):
            results[number] = result
            while n_given in results:
                yield results.pop(n_given)
                n_given += 1


IN_MEMORY = Workspace(MemoryStore())


@contextmanager
def open_workspace(home: Path, cluster: Cluster | str | None) -> Iterator[Workspace]:
    """A workspace in memory; with a cluster in a folder of `home`, which is removed at the end."""
    if cluster is None:
        yield IN_MEMORY
        return
    folder = home.absolute() / f"{WORKSPACE_PREFIX}{secrets.token_hex(4)}"
    with as_cluster(cluster) as connected:
        folder.mkdir()
        try:
            connected.check_folder(folder)
            yield Workspace(FolderStore(folder), connected)
        finally:
            # What a task that is still running writes later is left to the next writer.
            shutil.rmtree(folder, ignore_errors=True)
