"""Leases on shards that workers write: a file in the folder of the index says that they are still wanted.

A client cannot stop what a worker of a cluster is at. So it holds a file `shard-1a2b3c4d.lease` while its workers write
shards with that prefix. A worker that does not find it does not begin; one that no longer finds it stops, and removes
what it has written. If the client is killed, the next writer sweeps the file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from searchlab.cluster.worker_answers import describe_worker
from searchlab.errors import ClusterError
from searchlab.indexing.storage.commit import remove_leftovers
from searchlab.indexing.storage.shard import ShardRecord

SUFFIX = ".lease"
# How often a worker looks for the file: on storage that is far away this takes as long as indexing some documents.
LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class WriteLease:
    """The lease on shards whose names begin with `prefix`, in the folder of an index."""

    folder: Path
    prefix: str

    @property
    def path(self) -> Path:
        """The file that stands for the lease."""
        return self.folder / f"{self.prefix}{SUFFIX}"

    @contextmanager
    def hold(self) -> Iterator[WriteLease]:
        """Hold the lease as long as the block lasts, in the client."""
        self.path.touch(exist_ok=False)
        try:
            yield self
        finally:
            with suppress(OSError):
                self.path.unlink()

    @contextmanager
    def write(self, prefix: str) -> Iterator[Callable[[], None]]:
        """Write shards whose names begin with a prefix of a worker's own; yields what is called again and again.

        They are removed if the block fails, or if the lease has ended by its end.
        """
        if not self.path.exists():
            raise ClusterError(
                f"worker {describe_worker()} does not find {self.path}: "
                "the index must lie on storage that all workers see"
            )
        looked = time.monotonic()

        def look() -> None:
            nonlocal looked
            if time.monotonic() - looked > LOOK_SECONDS:
                self._require()
                looked = time.monotonic()

        try:
            yield look
            self._require()
        except BaseException:
            self._remove(prefix)
            raise

    def _require(self) -> None:
        if not self.path.exists():
            raise ClusterError(f"{self.path} is gone: whoever wanted the shards has ended")

    def _remove(self, prefix: str) -> None:
        """Remove shards; and the folder, if the client could not remove it because of them."""
        with suppress(OSError):
            remove_leftovers([path for path in self.folder.iterdir() if path.name.startswith(prefix)])
            if not self.path.exists():
                self.folder.rmdir()


def require_shards(folder: Path, records: Iterable[ShardRecord]) -> None:
    """Raise ClusterError unless the files of shards are here as workers say that they have written them."""
    for record in records:
        for name, (size, _) in record.files.items():
            path = folder / record.name / name
            try:
                found = f"{path.stat().st_size} bytes"
            except OSError as error:
                found = error.strerror or str(error)
            if found != f"{size} bytes":
                raise ClusterError(
                    f"{path}: expected {size} bytes that a worker has written, found {found}; "
                    "the index must lie on storage that all workers see"
                )
