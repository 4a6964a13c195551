"""A worker of several threads, as `dask worker` starts it, gives the same results."""

from collections.abc import Iterator

import pytest

from searchlab import Cluster
from searchlab.cluster.local_processes import LocalProcesses
from tests.cluster import worker_tasks


@pytest.fixture
def threaded(tmp_path, monkeypatch) -> Iterator[Cluster]:
    """A cluster with one worker of four threads, reached by its scheduler file."""
    start = LocalProcesses._start

    def with_threads(self, role, *options):
        start(self, role, *options, *(("--nthreads", "4") if role == "worker" else ()))

    monkeypatch.setattr(LocalProcesses, "_start", with_threads)
    processes = LocalProcesses(1)
    try:
        with Cluster(processes.scheduler_file) as cluster:
            yield cluster
    finally:
        processes.close()


def test_threads_of_a_worker_take_turns(threaded, tmp_path):
    assert threaded.client.nthreads() == dict.fromkeys(threaded.workers, 4)
    assert threaded.run(worker_tasks.enter_alone, [(str(tmp_path / "inside"),)] * 8) == [True] * 8
