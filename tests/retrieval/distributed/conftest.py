"""A cluster whose workers are functions of this process: the same requests, without the time that Dask takes."""

from types import SimpleNamespace

import pytest

from searchlab.errors import ClusterTimeout


class InlineCluster:
    """Runs calls one after the other, and notes for which worker each was."""

    def __init__(self, n_workers: int) -> None:
        self.workers = tuple(f"tcp://worker:{number}" for number in range(n_workers))
        self.address = SimpleNamespace(text="inline")
        self.called: list[tuple[str | None, tuple[int, ...]]] = []
        # How many times workers do not answer, and the time that they were given.
        self.n_silent = 0
        self.seconds: list[float] = []

    def run(self, function, calls, *, workers, seconds):
        self.seconds.append(seconds)
        if self.n_silent:
            self.n_silent -= 1
            raise ClusterTimeout("no answer")
        self.called += [(worker, call[1]) for worker, call in zip(workers, calls, strict=True)]
        return [function(*call) for call in calls]


@pytest.fixture
def inline_cluster():
    return InlineCluster
