"""A lost scheduler and Ctrl-C leave the index as it was, and no process behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import searchlab
from searchlab import Cluster
from searchlab.errors import ClusterError
from searchlab.indexing.parts.part_writer import write_part
from tests.cluster.process_ends import wait_for_end

ROOT = Path(searchlab.__file__).parents[1]


def write_documents(path: Path, n_documents: int) -> None:
    lines = (json.dumps({"docno": f"d{n}", "body": f"word{n % 97} " * 60}) for n in range(n_documents))
    path.write_text("\n".join(lines))


@pytest.fixture
def killed(monkeypatch):
    """A cluster whose scheduler is killed as soon as it has given out the first part of an index."""
    with Cluster("local:1") as cluster:
        submit = cluster._submit

        def submit_and_kill(function, calls, places):
            futures = submit(function, calls, places)
            if function is write_part:
                threading.Timer(0.05, cluster._processes._processes[0].kill).start()
            return futures

        monkeypatch.setattr(cluster, "_submit", submit_and_kill)
        yield cluster


def test_a_scheduler_lost_while_indexing_leaves_no_index(tmp_path, killed):
    write_documents(tmp_path / "docs.jsonl", 20_000)
    with pytest.raises(ClusterError, match="the scheduler is lost"):
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / "index", cluster=killed)
    assert not (tmp_path / "index").exists()
    summary = searchlab.index(tmp_path / "docs.jsonl", tmp_path / "index", jobs=1)
    assert summary.n_docs == 20_000


def test_a_scheduler_lost_while_running_or_training_leaves_no_file(here, run_cli, monkeypatch):
    (here / "topics.tsv").write_text("".join(f"{qid}\tflow of heat in t-cell lymphoma\n" for qid in range(6)))
    docnos = [json.loads(line)["docno"] for line in (here / "small.jsonl").read_text().splitlines()]
    (here / "qrels.txt").write_text(
        "".join(f"{qid} 0 {docno} {(qid + n) % 2}\n" for qid in range(6) for n, docno in enumerate(docnos))
    )
    submit = Cluster._submit

    def kill_and_submit(cluster, *task):
        scheduler = cluster._processes._processes[0]
        scheduler.kill()
        scheduler.wait()
        return submit(cluster, *task)

    training = "--qrels", "qrels.txt", "--features", "table1", "--folds", 0
    for command in (("run",), ("run", "--divide", "shards"), ("train", *training)):
        arguments = *command, "--topics", "topics.tsv", "-o", "output"
        with monkeypatch.context() as patch:
            patch.setattr(Cluster, "_submit", kill_and_submit)
            code, _, errors = run_cli(*arguments, "--cluster", "local:1")
        last = errors.splitlines()[-1]
        assert code != 0 and "local:1: the scheduler is lost" in last, errors
        assert not list(here.glob("output*"))
        assert run_cli(*arguments)[0] == 0
        (here / "output").unlink()


def test_a_lost_scheduler_is_one_line_at_the_terminal(tmp_path):
    write_documents(tmp_path / "docs.jsonl", 1000)
    script = (
        "import sys\nfrom searchlab import cli\nfrom searchlab.cluster.cluster import Cluster\n"
        "submit = Cluster._submit\n"
        "def submit_and_kill(cluster, *task):\n"
        "    futures = submit(cluster, *task)\n"
        "    cluster._processes._processes[0].kill()\n"
        "    return futures\n"
        "Cluster._submit = submit_and_kill\n"
        "sys.argv = ['searchlab', 'index', 'docs.jsonl', '-i', './index', '--cluster', 'local:1']\n"
        "cli.main()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    first, last = ended.stderr.splitlines()
    assert (ended.returncode, first) == (1, "cluster: 1 workers at local:1")
    assert last.startswith("searchlab: cluster local:1: the scheduler is lost")


def test_an_interrupt_cancels_the_work_and_ends_the_processes(tmp_path):
    write_documents(tmp_path / "docs.jsonl", 100_000)
    script = (
        "import sys\nfrom searchlab import cli\nfrom searchlab.cluster.cluster import Cluster\n"
        "submit = Cluster._submit\n"
        "def tell(cluster, function, *rest):\n"
        "    futures = submit(cluster, function, *rest)\n"
        "    print(function.__name__, *(each.pid for each in cluster._processes._processes), flush=True)\n"
        "    return futures\n"
        "Cluster._submit = tell\n"
        "sys.argv = ['searchlab', 'index', 'docs.jsonl', '-i', './index', '--cluster', 'local:1']\n"
        "cli.main()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        for line in client.stdout:
            name, *processes = line.split()
            if name == "write_part":
                client.send_signal(signal.SIGINT)
                break
        _, errors = client.communicate(timeout=60)
    assert (client.returncode, errors.splitlines()[-1]) == (130, "searchlab: interrupted")
    assert not (tmp_path / "index").exists()
    for process in map(int, processes):
        wait_for_end(process)
