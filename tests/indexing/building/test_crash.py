"""Whenever its writer is killed, an index is undamaged and can be written again."""

import importlib
import os
import pickle
import select
import signal
import sys
from contextlib import closing
from pathlib import Path

import pytest

from searchlab.corpus import document_parts
from searchlab.indexing import snapshot as snapshots
from searchlab.indexing.building import workers
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.building.indexer import build_index, index
from searchlab.indexing.checking.index_doctor import examine
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.parts import process_build
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.layout import SHARD_PREFIX
from searchlab.indexing.storage.lock import lock_shard_exclusively
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.records import Document
from tests.index_comparison import json_lines

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
crash = importlib.import_module("crash")

# The only other threads are those of NumPy's BLAS, which sleep: a forked process waits for none of them.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

N_DOCS = 60
# Where in an operation its process is killed: five of its calls, and one write, for each of seven operations.
CALLS = (0.0, 0.3, 0.6, 0.85, 0.999)
WRITE = 0.2


@pytest.fixture(scope="module", autouse=True)
def without_syncing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(crash, "MAX_WORDS_PER_SHARD", 500)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("crash")


@pytest.fixture(scope="module")
def steps(home):
    return {step.operation.name: step for step in crash.rehearse(crash.plan(N_DOCS), home)}


OPERATIONS = [operation.name for operation in crash.plan(N_DOCS)]


def test_the_operations_do_what_they_are_to_be_killed_at(steps):
    assert list(steps) == OPERATIONS
    assert all(step.n_calls > 20 for step in steps.values())
    assert steps["index"].old == 0
    # More than one commit: that of the run, and those of the merges that it made necessary.
    assert steps["update and merge"].new > steps["update and merge"].old + 1
    assert len(steps["merge"].before) == len(steps["merge"].after) > 10


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_writer_killed_at_any_call_leaves_the_old_state_or_the_new(steps, home, operation):
    outcomes = [crash.kill(steps[operation], "call", share, home) for share in CALLS]
    assert [outcome.problems for outcome in outcomes] == [[]] * len(CALLS)
    assert all(outcome.killed for outcome in outcomes)
    # The commit comes late in every operation, and leftovers are removed some time after it.
    assert outcomes[0].state == "old"
    assert outcomes[-1].state == "new"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_writer_killed_within_a_write_leaves_the_old_state_or_the_new(steps, home, operation):
    outcome = crash.kill(steps[operation], "write", WRITE, home)
    assert (outcome.killed, outcome.problems) == (True, [])


def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def fork_to_die(work):
    """Run `work` in a forked process that kills itself; returns the standard error of all processes that it started.

    Their standard error is a pipe, which is closed when the last of them ends.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.dup2(writing, 2)
            os.set_inheritable(writing, False)
            work()
        finally:
            os._exit(0)  # not reached
    os.close(writing)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status)
    said = b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while True:
            assert select.select([pipe], [], [], 60)[0], "a worker outlives its parent"
            if not (piece := pipe.read(1000)):
                return said.decode()
            said += piece


def send_half_and_die(self, documents):
    message = pickle.dumps(documents)
    self._stdin.write(message[: len(message) // 2])
    self._stdin.flush()
    die()


# The method of the parent that is replaced, and its replacement, which kills the parent.
MOMENTS = {
    "all handed out": ("send_end", die),
    "within a batch": ("send_documents", send_half_and_die),
    "waiting for shards": ("receive", die),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_workers_end_when_their_parent_is_killed_and_the_index_can_be_written(build, tmp_path, moment):
    old = crash.make_documents(range(5))
    new = crash.make_documents(range(100), 1)
    folder = build(old, folder=tmp_path / "index")

    def work():
        workers.MIN_PARALLEL_DOCS, workers.BATCH_DOCS = 20, 7
        setattr(workers.Worker, *MOMENTS[moment])
        build_index(lambda: new, folder, crash.PLAIN, jobs=2)

    assert fork_to_die(work) == ""
    assert crash.read(folder) == (1, {document.docno: document for document in old})
    assert examine(folder).healthy
    build_index(lambda: new, folder, crash.PLAIN, jobs=1)
    assert crash.read(folder) == (2, {document.docno: document for document in new})
    assert crash.leftovers(folder) == []


@pytest.mark.parametrize("moment", ["keep", "finish"])
def test_processes_that_read_end_when_their_parent_is_killed(tmp_path, monkeypatch, moment):
    documents = crash.make_documents(range(200))
    source, folder = tmp_path / "docs.jsonl", tmp_path / "index"
    source.write_text(json_lines(documents))
    monkeypatch.setattr(process_build, "PART_BYTES", 500)
    monkeypatch.setattr(document_parts, "MIN_DETECTED_BYTES", 1)

    def work():
        setattr(process_build.Workers, moment, die)
        index(source, folder, jobs=2)

    assert fork_to_die(work) == ""
    index(source, folder, jobs=2)
    assert crash.read(folder) == (1, {document.docno: document for document in documents})
    assert crash.leftovers(folder) == []


def read_all(snapshot):
    """Everything in a snapshot: its documents, its postings, and its statistics."""
    documents = list(snapshot.documents())
    terms = {term for shard in snapshot.shards for term in shard.columns.terms}
    statistics = {term: snapshot.term_stats("both", term) for term in sorted(terms)}
    streams = [shard.columns.streams["both"] for shard in snapshot.shards]
    postings = [(stream.docs.tolist(), stream.tfs.tolist()) for stream in streams]
    return documents, statistics, postings, snapshot.n_docs, snapshot.n_tokens


def shards_in(folder):
    return {path.name for path in folder.glob(f"{SHARD_PREFIX}*")}


def test_a_reader_answers_from_its_snapshot_while_its_shards_are_merged_away(build, tmp_path):
    first = crash.make_documents(range(40))
    folder = build(first, folder=tmp_path / "index", words_per_shard=300)
    delete(folder, ["d00003"])

    def change():
        build_index(lambda: crash.make_documents(range(20, 60), 1), folder, crash.PLAIN, jobs=1)
        delete(folder, ["d00004", "d00030"])
        merge(folder)

    with closing(Snapshot(folder)) as other:
        before = read_all(other)
    with closing(Snapshot(folder)) as old:  # nothing of it has been read yet
        names = {shard.record.name for shard in old.shards}
        assert len(names) > 2
        killed, said = crash.fork(change)
        assert not killed and said.isdigit()
        with closing(Snapshot(folder)) as new:
            assert names.isdisjoint(shard.record.name for shard in new.shards)
            assert new.n_docs == 60 - 3
        assert read_all(old) == before
        assert [document.docno for document in before[0]].count("d00030") == 1
        assert names <= shards_in(folder)
    build_index(lambda: [Document("next")], folder, crash.PLAIN, jobs=1)
    assert names.isdisjoint(shards_in(folder))
    assert crash.leftovers(folder) == []


def test_a_reader_that_comes_while_its_shard_is_removed_opens_the_newer_state(build, tmp_path, monkeypatch):
    folder = build([Document("old")], folder=tmp_path / "index")
    manifest = read_index_manifest(folder)
    with closing(Snapshot(folder)):  # so that the next run keeps the shard
        build([Document("new")], folder=folder)
    removing = lock_shard_exclusively(folder / manifest.shards[0].name)
    manifests = iter([manifest])
    monkeypatch.setattr(
        snapshots, "read_index_manifest", lambda where: next(manifests, None) or read_index_manifest(where)
    )
    with closing(Snapshot(folder)) as snapshot:
        assert list(snapshot.docnos()) == ["new"]
    os.close(removing)
