"""Workers that outlive their client, or see other files than it does, leave nothing behind and are named."""

import json
import os
import shutil
from functools import partial

import pytest

import searchlab
from searchlab import Cluster
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.cluster.local_processes import LocalProcesses
from searchlab.cluster.worker_files import describe_files
from searchlab.corpus.document_parts import ReadingSettings, divide_sources, list_sources
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.errors import ClusterError
from searchlab.indexing.building import shard_content
from searchlab.indexing.merging.merge import merge_on_worker
from searchlab.indexing.parts import cluster_build, part_writer
from searchlab.indexing.parts.part_writer import BuildSettings, write_part
from searchlab.indexing.storage import write_lease
from searchlab.indexing.storage.file_sync import sync_tree
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.indexing.storage.write_lease import WriteLease, require_shards
from tests.cluster import worker_tasks
from tests.cluster.process_ends import wait_for_end


def write_documents(path, n_documents):
    lines = (json.dumps({"docno": f"d{n}", "body": f"word{n % 97} " * 60}) for n in range(n_documents))
    path.write_text("\n".join(lines))
    return path


def do_once_begun(cluster, monkeypatch, act):
    """Do something as soon as a worker is at a task of `write_part`."""
    submit = cluster._submit

    def submit_and_act(function, calls, workers):
        futures = submit(function, calls, workers)
        if function is write_part:
            while not any(cluster.client.run(worker_tasks.count_executing).values()):
                assert not any(future.done() for future in futures)
            act()
        return futures

    monkeypatch.setattr(cluster, "_submit", submit_and_act)


def interrupt():
    raise KeyboardInterrupt


def wait_until_idle(processes):
    """A worker of one thread begins a task when the one before has ended, whether or not it is wanted."""
    with Cluster(processes.scheduler_file) as cluster:
        assert cluster.run(worker_tasks.double, [(1,)]) == [2]


def test_a_worker_that_outlives_an_interrupted_client_leaves_no_index(tmp_path, external, monkeypatch):
    source = write_documents(tmp_path / "docs.jsonl", 40_000)
    with Cluster(external.scheduler_file) as cluster:
        do_once_begun(cluster, monkeypatch, interrupt)
        with pytest.raises(KeyboardInterrupt):
            searchlab.index(source, tmp_path / "index", cluster=cluster)
    assert not (tmp_path / "index").exists()
    wait_until_idle(external)
    assert not (tmp_path / "index").exists()


def test_a_worker_that_outlives_its_scheduler_leaves_no_index(tmp_path, monkeypatch):
    source = write_documents(tmp_path / "docs.jsonl", 40_000)
    processes = LocalProcesses(1)
    try:
        with Cluster(processes.scheduler_file) as cluster:
            (worker,) = cluster.client.run(os.getpid).values()
            do_once_begun(cluster, monkeypatch, processes._processes[0].kill)
            with pytest.raises(ClusterError, match="the scheduler is lost"):
                searchlab.index(source, tmp_path / "index", cluster=cluster)
        wait_for_end(worker)
        assert not (tmp_path / "index").exists()
    finally:
        processes.close()


@pytest.fixture
def task(tmp_path):
    """A call of `write_part` without its function."""
    source, notes, reading = write_documents(tmp_path / "docs.jsonl", 50), ReadingNotes(), ReadingSettings()
    (part,) = divide_sources(list_sources([source], reading, notes), reading, notes, 10**9)
    (tmp_path / "index").mkdir()
    lease = WriteLease(tmp_path / "index", "shard-00")
    settings = BuildSettings(lease, AnalysisSettings(), reading, False, False, 10)
    return part, describe_files([str(source)]), 0, settings


def test_a_worker_stops_between_documents_when_the_lease_ends(task, monkeypatch):
    lease = task[3].lease
    n_read = []

    def end_lease(documents, identities, n_documents):
        for _, document in documents:
            n_read.append(document.docno)
            lease.path.unlink(missing_ok=True)
            yield document

    monkeypatch.setattr(part_writer, "_identified", end_lease)
    monkeypatch.setattr(write_lease, "LOOK_SECONDS", -1.0)
    with lease.hold(), pytest.raises(ClusterError, match="has ended"):
        write_part(*task)
    assert len(n_read) == 1


def end_with_sync(lease, monkeypatch):
    """Let the lease end while a shard is being written."""

    def end_and_sync(folder):
        lease.path.unlink()
        return sync_tree(folder)

    monkeypatch.setattr(shard_content, "sync_tree", end_and_sync)


def test_a_shard_that_is_written_when_the_lease_ends_is_removed_with_the_folder(task, monkeypatch):
    lease = task[3].lease
    end_with_sync(lease, monkeypatch)
    with lease.hold(), pytest.raises(ClusterError, match="has ended"):
        write_part(*task)
    assert not lease.folder.exists()


def test_a_merged_shard_is_removed_when_the_lease_ends(tmp_path, build, documents, monkeypatch):
    folder = build(documents, folder=tmp_path / "it", words_per_shard=600)
    before, manifest = sorted(folder.iterdir()), read_index_manifest(folder)
    lease = WriteLease(folder, "shard-00")
    end_with_sync(lease, monkeypatch)
    with lease.hold(), pytest.raises(ClusterError, match="has ended"):
        merge_on_worker(lease, manifest.shards, 0, manifest.settings)
    assert sorted(folder.iterdir()) == before


def test_a_worker_without_the_folder_of_the_index_is_named(task):
    lease = task[3].lease
    with pytest.raises(ClusterError, match=r"worker process \d+ does not find .*shard-00.lease"):
        write_part(*task)
    with pytest.raises(ClusterError, match="does not find"):
        merge_on_worker(lease, [], 0, AnalysisSettings())
    assert list(lease.folder.iterdir()) == []


def lose(path, part):
    path.unlink()


def grow(path, part):
    with path.open("a") as file:
        file.write('{"docno": "late"}\n')


@pytest.mark.parametrize(("change", "found"), [(lose, "unreadable"), (grow, "a file of ")])
def test_a_source_that_is_another_one_in_a_worker_is_named(tmp_path, cluster, monkeypatch, change, found):
    """The file changes when all workers have been checked, as if one with another disk had come."""
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 500)
    (tmp_path / "docs").mkdir()
    for number in range(4):
        write_documents(tmp_path / "docs" / f"{number}.jsonl", 3)
    changed, folder = tmp_path / "docs" / "2.jsonl", tmp_path / "index"
    submit = cluster._submit

    def change_and_submit(function, calls, workers):
        if function is write_part:
            change(changed, None)
        return submit(function, calls, workers)

    monkeypatch.setattr(cluster, "_submit", change_and_submit)
    with pytest.raises(ClusterError, match=rf"worker tcp://127.* finds {changed} to be {found}.*, expected a file of"):
        searchlab.index(tmp_path / "docs", folder, cluster=cluster)
    assert not folder.exists()


def test_ranges_of_a_file_that_a_worker_cannot_read_are_named(tmp_path, cluster):
    path = str(tmp_path / "none.jsonl")
    with pytest.raises(ClusterError, match=f"worker tcp://127.* finds {path} to be unreadable"):
        cluster.run(cluster_build.count_lines_there, [(path, 0, 10)])


def cut(shard):
    path = shard / "columns"
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [cut, partial(shutil.rmtree)])
def test_shards_that_are_not_here_are_not_committed(tmp_path, cluster, build, documents, monkeypatch, damage):
    folder = build(documents, folder=tmp_path / "it", words_per_shard=600)
    source = write_documents(tmp_path / "docs.jsonl", 20)
    before = read_index_manifest(folder)
    run = cluster.run

    def run_and_damage(function, calls, **options):
        found = run(function, calls, **options)
        if function in (write_part, merge_on_worker) and calls:
            new = {path.name for path in folder.glob("shard-*-*")} - {shard.name for shard in before.shards}
            damage(folder / min(new))
        return found

    monkeypatch.setattr(cluster, "run", run_and_damage)
    for write in (searchlab.merge, partial(searchlab.index, source)):
        with pytest.raises(ClusterError, match="that a worker has written, found"):
            write(folder, cluster=cluster)
        assert read_index_manifest(folder) == before
    require_shards(folder, before.shards)
