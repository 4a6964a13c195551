import json
import platform
import resource
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from distributed.comm import CommClosedError

import searchlab
from searchlab import Cluster
from searchlab.cluster.cluster import as_cluster, choose_worker
from searchlab.cluster.tasks import pack_calls
from searchlab.errors import ClusterError, ClusterWarning, SettingError
from tests.cluster import worker_tasks
from tests.cluster.process_ends import wait_for_end


def test_results_come_in_the_order_of_the_calls(cluster):
    assert cluster.run(worker_tasks.double, [(number,) for number in range(50)]) == list(range(0, 100, 2))


def test_finished_calls_are_counted(cluster):
    counts: list[tuple[int, int]] = []
    cluster.run(worker_tasks.double, [(2,), (2,), (2,)], on_done=lambda n_done, result: counts.append((n_done, result)))
    assert counts == [(1, 4), (2, 4), (3, 4)]


def test_no_calls_have_no_results(cluster):
    assert cluster.run(worker_tasks.double, []) == []


def test_a_large_argument_of_several_calls_is_sent_once_and_in_silence(cluster):
    table, others = np.arange(2_000_000), [np.full(2_000_000, number) for number in range(2)]
    calls = [(table, other, number) for other in others for number in range(3)]
    packed, shared = pack_calls(worker_tasks.add_up, calls)
    assert len(shared) == 3
    assert sum(len(each.pickled) for each in packed) < 2000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cluster.run(worker_tasks.add_up, calls)
        # An argument that only one call has is sent with it.
        assert cluster.run(worker_tasks.add_up, [(table, others[1], 5)]) == [int(table.sum()) + 2_000_005]
    assert found == [int(table.sum() + other.sum()) + number for other in others for number in range(3)]


def test_a_shared_argument_is_made_again_when_its_worker_is_lost(cluster, tmp_path):
    table = np.arange(200_000)
    calls = [(table, str(tmp_path / str(number))) for number in range(3)]
    assert cluster.run(worker_tasks.add_up_once, calls) == [int(table.sum())] * 3


def test_the_first_error_in_the_order_of_the_calls_is_raised(cluster, tmp_path):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    with pytest.raises(SettingError, match="number is 1,"):
        # The first call fails after the second one has.
        cluster.run(worker_tasks.refuse, [(1, second, first), (3, "", second)])


def test_an_error_in_searchlab_itself_keeps_its_type(cluster):
    with pytest.raises(ZeroDivisionError, match="number 4"):
        cluster.run(worker_tasks.fail, [(4,)])


def test_a_place_keeps_its_worker(cluster):
    places = [str(number % 20) for number in range(40)]
    processes = cluster.run(worker_tasks.process_of, [(place,) for place in places], places=places)
    again = cluster.run(worker_tasks.process_of, [(place,) for place in places], places=places)
    assert len(set(processes)) == 2
    # Preferences are not binding: an idle worker may take a task of a busy one.
    assert sum(one == other for one, other in zip(processes, again, strict=True)) >= 20


def test_few_places_move_when_a_worker_goes():
    workers = [f"tcp://worker:{port}" for port in range(10)]
    places = [f"shard-{number}" for number in range(1000)]
    before = {place: choose_worker(place, workers) for place in places}
    after = {place: choose_worker(place, workers[1:]) for place in places}
    moved = [place for place in places if before[place] != after[place]]
    assert moved == [place for place in places if before[place] == workers[0]]
    assert 50 < len(moved) < 150


def test_a_task_whose_worker_is_killed_runs_again(cluster, tmp_path):
    calls = [(str(tmp_path / str(number)),) for number in range(3)]
    assert cluster.run(worker_tasks.write_once, calls) == ["second"] * 3


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the settings are those of glibc's allocator")
def test_workers_use_the_memory_of_large_arrays_again(cluster):
    n_arrays, n_bytes = 50, 2**21
    cluster.run(worker_tasks.count_faults, [(2, n_bytes)] * 10)
    faults = cluster.run(worker_tasks.count_faults, [(n_arrays, n_bytes)] * 2)
    assert max(faults) < n_arrays * n_bytes // resource.getpagesize() / 4


def test_work_that_takes_too_long_is_an_error(cluster, tmp_path):
    try:
        with pytest.raises(ClusterError, match="local:2"):
            cluster.run(worker_tasks.wait_for, [(str(tmp_path / "flag"),)], seconds=0.05)
    finally:
        (tmp_path / "flag").touch()


def test_a_cluster_that_is_not_entered_is_refused():
    with pytest.raises(ClusterError, match="with statement"):
        Cluster("local:1").run(worker_tasks.double, [(1,)])


def test_an_address_stands_for_its_cluster():
    assert as_cluster("local:2").address.n_workers == 2
    with pytest.raises(SettingError, match="expected a Cluster"):
        as_cluster(3)


def test_a_lost_scheduler_is_named(tmp_path):
    with Cluster("local:1") as lost:
        scheduler = lost._processes._processes[0]
        threading.Timer(0.2, scheduler.kill).start()
        with pytest.raises(ClusterError, match="scheduler is lost"):
            lost.run(worker_tasks.wait_for, [(str(tmp_path / "flag"),)])


def test_the_processes_of_a_local_cluster_end_with_the_program(tmp_path):
    script = (
        "import os, signal\nfrom searchlab import Cluster\nfrom tests.cluster.worker_tasks import process_of\n"
        "with Cluster('local:1') as cluster:\n"
        "    print(*cluster.run(process_of, [('a',)]), cluster._processes._processes[0].pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(searchlab.__file__).parents[1]
    ended = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    for process in map(int, ended.stdout.split()):
        wait_for_end(process)


def test_an_address_without_tls_is_warned_about(monkeypatch, tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps({"address": "tcp://192.0.2.1:8786"}))
    monkeypatch.setattr("searchlab.cluster.connection.CONNECT_SECONDS", 0.1)
    with (
        pytest.warns(ClusterWarning, match="without TLS"),
        pytest.raises(ClusterError, match="no Dask scheduler answers"),
    ):
        Cluster(path).__enter__()


def test_nobody_at_an_address_is_an_error(monkeypatch):
    monkeypatch.setattr("searchlab.cluster.connection.CONNECT_SECONDS", 0.1)
    with warnings.catch_warnings(), pytest.raises(ClusterError, match=r"127\.0\.0\.1:9: no Dask scheduler answers"):
        warnings.simplefilter("error")
        Cluster("tcp://127.0.0.1:9").__enter__()


def test_without_certificates_those_are_named():
    with pytest.raises(SettingError, match=r"tls://127.0.0.1:9 needs certificates: expected distributed.comm.tls"):
        Cluster("tls://127.0.0.1:9").__enter__()


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SettingError, match=r"searchlab\[cluster\]"):
        Cluster("local:1").__enter__()


def test_a_worker_that_is_lost_before_it_answers_is_not_waited_for(cluster, monkeypatch):
    lost = [{"tcp://w0:1": CommClosedError("stream is closed"), "tcp://w1:1": 1}, {"tcp://w1:1": 1}]
    monkeypatch.setattr(cluster.client, "run", lambda *arguments, **options: lost.pop(0))
    assert cluster._ask_all(worker_tasks.double, 1) == {"tcp://w1:1": 1}
    assert not lost
