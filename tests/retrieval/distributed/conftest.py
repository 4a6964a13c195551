"""A cluster whose workers are functions of this process: the same requests, without the time that Dask takes."""

from types import SimpleNamespace

import pytest


class InlineCluster:
    """Runs calls one after the other, and notes for which worker each was."""

    def __init__(self, n_workers: int) -> None:
        self.workers = tuple(f"tcp://worker:{number}" for number in range(n_workers))
        self.address = SimpleNamespace(text="inline")
        self.called: list[tuple[str, tuple[int, ...]]] = []

    def run(self, function, calls, *, workers, seconds=None):
        self.called += [(worker, call[1]) for worker, call in zip(workers, calls, strict=True)]
        return [function(*call) for call in calls]


@pytest.fixture
def inline_cluster():
    return InlineCluster
