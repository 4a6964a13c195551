"""What is at an address, and what its scheduler and workers lack, is said in one line, soon."""

import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import pytest

import searchlab
from searchlab import Cluster
from searchlab.cluster import connection, worker_versions
from searchlab.cluster.connection import prepare_scheduler
from searchlab.cluster.local_processes import LocalProcesses
from searchlab.cluster.worker_files import check_contents
from searchlab.cluster.worker_versions import check_matrix_products, code_digest, installed_versions
from searchlab.errors import ClusterError, ClusterWarning
from tests.cluster import worker_tasks
from tests.cluster.fake_workers import answering

# A process of Dask that preloads this has no searchlab, but for what it has imported by then.
BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "searchlab":
            raise ModuleNotFoundError("No module named 'searchlab'", name="searchlab")
sys.meta_path.insert(0, Block())
"""


@pytest.fixture
def brief(monkeypatch):
    """Little patience with what does not answer."""
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.5)


def refuse(address, match):
    threads = threading.active_count()
    with pytest.raises(ClusterError, match=match) as caught:
        Cluster(address).__enter__()
    assert "\n" not in str(caught.value)
    return threading.active_count() - threads


class Silent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.mark.usefixtures("brief")
def test_a_web_server_is_no_scheduler():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.server_address[1]}"
        refuse(address, rf"{address}: no Dask scheduler answers at {address} \(.+\)$")
        server.shutdown()


@pytest.mark.usefixtures("brief")
def test_what_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as server:
        refuse(f"tcp://127.0.0.1:{server.getsockname()[1]}", "no Dask scheduler answers .*no answer within 0.5 s")


def test_a_worker_is_no_scheduler(external):
    with Cluster(external.scheduler_file) as cluster:
        (worker,) = cluster.workers
    refuse(worker, rf"no Dask scheduler answers at {worker} \(it is a Worker\)")


def test_a_client_that_cannot_be_started_is_closed(external, monkeypatch):
    monkeypatch.setattr("distributed.Client._ensure_connected", lambda client, timeout: 1 / 0)
    assert refuse(external.scheduler_file, r"no Dask scheduler answers at tcp.* \(division by zero\)") == 0


@contextmanager
def processes_with(monkeypatch, role, *options):
    """A scheduler and a worker, one of which is started with further options."""
    start = LocalProcesses._start

    def start_with(self, started, *others):
        start(self, started, *others, *(options if started == role else ()))

    with monkeypatch.context() as patch:
        patch.setattr(LocalProcesses, "_start", start_with)
        processes = LocalProcesses(1)
    try:
        yield processes
    finally:
        processes.close()


@pytest.mark.parametrize("role", ["scheduler", "worker"])
def test_what_searchlab_is_missing_in_is_named(tmp_path, monkeypatch, role):
    (tmp_path / "block.py").write_text(BLOCK)
    options = ["--preload", str(tmp_path / "block.py"), *(["--no-nanny"] if role == "worker" else [])]
    with processes_with(monkeypatch, role, *options) as processes:
        who = {"scheduler": "the scheduler", "worker": r"worker tcp://127\.0\.0\.1:\d+"}[role]
        expected = rf"{who}: No module named 'searchlab[\w.]*'; install searchlab\[cluster\] there$"
        refuse(processes.scheduler_file, expected)


def test_a_scheduler_with_other_code_is_named(external, monkeypatch):
    other = installed_versions() | {"searchlab's code": "00"}
    monkeypatch.setattr(connection, "installed_versions", lambda: other)
    refuse(external.scheduler_file, "the scheduler has searchlab's code .*, expected 00 as the client has")


def test_what_only_computes_need_not_be_on_the_scheduler(external, monkeypatch):
    other = installed_versions() | {"lightgbm": "0.1"}
    monkeypatch.setattr(connection, "installed_versions", lambda: other)
    with Cluster(external.scheduler_file) as cluster:
        assert cluster.workers


# TLS with certificates that are made for the occasion.


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> dict[str, str]:
    """Dask's settings for the certificate and key of an authority of their own."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificates, and is not installed")
    home = tmp_path_factory.mktemp("certificates")
    key, certificate = str(home / "key.pem"), str(home / "certificate.pem")
    options = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=searchlab-test"]
    subprocess.run([openssl, *options, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    files = {"ca-file": certificate}
    for role in ("scheduler", "worker", "client"):
        files |= {f"{role}.cert": certificate, f"{role}.key": key}
    return {f"distributed.comm.tls.{name}": path for name, path in files.items()}


def test_tls_gives_the_run_of_one_machine(certificates, monkeypatch, folder, topics):
    for name, path in certificates.items():
        monkeypatch.setenv("DASK_" + name.replace(".", "__").replace("-", "_").upper(), path)
    start = LocalProcesses._start

    def start_with_tls(self, role, *options):
        start(self, role, *options, "--protocol", "tls")

    monkeypatch.setattr(LocalProcesses, "_start", start_with_tls)
    with dask.config.set(certificates):
        processes = LocalProcesses(1)
        try:
            with Cluster(processes.scheduler_file) as cluster, searchlab.open(folder) as engine:
                address = cluster.client.scheduler.address
                assert address.startswith("tls://")
                found, expected = (engine.search_many(topics, k=20, cluster=each) for each in (cluster, None))
                assert found.docnos.tolist() == expected.docnos.tolist()
                assert found.scores.tobytes() == expected.scores.tobytes()
            with Cluster(address) as cluster:
                assert len(cluster.workers) == 1
            monkeypatch.setattr(connection, "CONNECT_SECONDS", 1.0)
            refuse(address.replace("tls:", "tcp:"), "no Dask scheduler answers at tcp:")
        finally:
            processes.close()


def test_tls_to_a_scheduler_without_it_is_one_line(external, certificates, brief):
    with Cluster(external.scheduler_file) as cluster:
        address = cluster.client.scheduler.address.replace("tcp:", "tls:")
    with dask.config.set(certificates):
        refuse(address, rf"no Dask scheduler answers at {address}")


# Lost workers.

EXTENSION = """
import os, signal
from pathlib import Path
import searchlab

@searchlab.analyzer("deadly")
def split(text):
    if "poison" in text:
        n_deaths = len(list(Path({folder!r}).iterdir()))
        if n_deaths < 7:
            Path({folder!r}, str(n_deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return text.split()
"""


# Dask leaves the sockets of workers that were killed to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("registered_here")
def test_a_task_may_lose_more_workers_than_the_scheduler_allows_by_itself(tmp_path, external):
    from searchlab.extensions import load_extensions
    from tests.index_comparison import content

    (tmp_path / "deaths").mkdir()
    (tmp_path / "my_deadly.py").write_text(EXTENSION.format(folder=str(tmp_path / "deaths")))
    load_extensions([str(tmp_path / "my_deadly.py")])
    (tmp_path / "docs.jsonl").write_text('{"docno": "a", "body": "word1 poison"}\n{"docno": "b", "body": "word2"}\n')
    with Cluster(external.scheduler_file) as cluster:
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / "many", analyzer="deadly", cluster=cluster)
    assert len(list((tmp_path / "deaths").iterdir())) == 7
    searchlab.index(tmp_path / "docs.jsonl", tmp_path / "one", analyzer="deadly", jobs=1)
    assert content(tmp_path / "many") == content(tmp_path / "one")


def test_a_scheduler_that_allows_more_keeps_its_setting():
    class Scheduler:
        allowed_failures = 500

    assert prepare_scheduler(100, Scheduler) == installed_versions()
    assert Scheduler.allowed_failures == 500


@pytest.fixture
def workers_go_and_come(monkeypatch) -> Iterator[tuple[LocalProcesses, list[str]]]:
    """A scheduler and a worker that is not started again when it is lost; the command that starts one."""
    with processes_with(monkeypatch, "worker", "--no-nanny") as processes:
        command = [sys.executable, "-m", "dask", "worker", "--scheduler-file", str(processes.scheduler_file)]
        yield processes, [*command, "--no-dashboard", "--nthreads", "1", "--no-nanny"]


@contextmanager
def late_worker(command, package: Path):
    environment = os.environ | {"PYTHONPATH": str(package)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, cwd=package, **quiet) as process:
        try:
            yield
        finally:
            process.kill()


def test_work_that_waits_for_workers_says_so_and_goes_on(tmp_path, workers_go_and_come, monkeypatch):
    processes, command = workers_go_and_come
    monkeypatch.setattr("searchlab.cluster.cluster.WATCH_SECONDS", 0.1)
    said = threading.Event()
    monkeypatch.setattr(
        "searchlab.cluster.cluster.warn_caller",
        lambda message, category: said.set() if "all workers are gone; waiting for one" in message else None,
    )
    root = Path(searchlab.__file__).parents[1]
    with Cluster(processes.scheduler_file) as cluster:
        processes._processes[1].kill()
        found: list[int] = []
        work = threading.Thread(target=lambda: found.extend(cluster.run(worker_tasks.double, [(4,)])))
        work.start()
        assert said.wait(30)
        with late_worker(command, root):
            work.join(30)
            assert found == [8]


def test_late_workers_take_part_or_are_named(tmp_path, workers_go_and_come):
    processes, command = workers_go_and_come
    root = Path(searchlab.__file__).parents[1]
    shutil.copytree(root / "searchlab", tmp_path / "searchlab", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").symlink_to(root / "tests")
    changed = tmp_path / "searchlab" / "csv_text.py"
    changed.write_text(changed.read_text() + "# other\n")
    with Cluster(processes.scheduler_file) as cluster:
        places = [(str(number),) for number in range(40)]
        with late_worker(command, root):
            cluster.client.wait_for_workers(2, timeout=60)
            found = cluster.run(worker_tasks.process_of, places, places=[place for (place,) in places])
            assert len(set(found)) == 2
        processes._processes[1].kill()
        with late_worker(command, tmp_path), pytest.raises(ClusterError, match=r"worker tcp.* has searchlab's code"):
            cluster.run(worker_tasks.process_of, places)


# Versions and contents.


def test_packages_that_change_texts_and_digits_are_compared():
    assert {"pypdfium2", "orjson", "py3langid", "threadpoolctl"} < installed_versions().keys()
    assert installed_versions()["zstandard"] != "missing"


def test_another_built_in_model_is_other_code(tmp_path, monkeypatch):
    root = Path(searchlab.__file__).parent
    shutil.copytree(root, tmp_path / "searchlab", ignore=shutil.ignore_patterns("__pycache__", "*.js", "*.html"))
    monkeypatch.setattr(worker_versions, "__file__", str(tmp_path / "searchlab" / "cluster" / "worker_versions.py"))
    before = code_digest.__wrapped__()
    assert before == code_digest()
    (tmp_path / "searchlab" / "examples").mkdir(exist_ok=True)
    (tmp_path / "searchlab" / "examples" / "docs.json").write_text("{}")
    assert code_digest.__wrapped__() == before
    with (tmp_path / "searchlab" / "rankers" / "builtin_model.json").open("a") as file:
        file.write(" ")
    assert code_digest.__wrapped__() != before


def test_other_matrix_products_are_warned_about(monkeypatch, external):
    said = check_matrix_products(answering("other 1.0 (Zen)"))
    assert said.startswith("worker tcp://w0:1 multiplies matrices by other 1.0 (Zen), the client by ")

    def ask_another(ask_all):
        return check_matrix_products(lambda *asked: {**ask_all(*asked), "tcp://w9:1": "other 1.0 (Zen)"})

    monkeypatch.setattr("searchlab.cluster.cluster.check_matrix_products", ask_another)
    with (
        pytest.warns(ClusterWarning, match="worker tcp://w9:1 multiplies matrices by other 1.0"),
        Cluster(external.scheduler_file),
    ):
        pass


def test_another_index_of_the_same_path_is_named(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text("{}")
    with pytest.raises(ClusterError, match=r"worker tcp://w0:1 finds .*manifest.json to be a file with another"):
        check_contents(answering({str(path): "a file with another"}), [path])


def test_a_scheduler_file_that_is_not_complete_is_waited_for(external, tmp_path, monkeypatch):
    monkeypatch.setattr(external, "scheduler_file", tmp_path / "scheduler.json")
    for content, is_written in (("", False), ('{"type": "Sched', False), ('{"address": "tcp://127.0.0.1:1"}', True)):
        (tmp_path / "scheduler.json").write_text(content)
        assert external._is_scheduler_file_written() == is_written
