import errno
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import RecordError, SettingError, SourceError, WriteFailed
from searchlab.indexing.building import workers
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.building.workers import Worker
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage import manifest
from searchlab.indexing.storage.layout import MANIFEST, SHARD_PREFIX
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine

SETTINGS = AnalysisSettings()
SOME = [Document(f"d{number}", f"title {number % 7}", f"body word{number % 5} " * 3) for number in range(50)]


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def shards_in(folder):
    return sorted(path.name for path in folder.glob(f"{SHARD_PREFIX}*"))


@pytest.fixture
def previous(build, tmp_path):
    """An existing index whose one document is named `old`."""
    return build([Document("old", "", "word")], folder=tmp_path / "index", settings=SETTINGS)


def assert_unchanged(folder, files):
    assert files_below(folder) == files
    assert [hit.docno for hit in SearchEngine(folder).search("word")] == ["old"]


@pytest.fixture
def parallel(monkeypatch):
    """Use several processes even for a few documents."""
    monkeypatch.setattr(workers, "MIN_PARALLEL_DOCS", 20)
    monkeypatch.setattr(workers, "BATCH_DOCS", 7)


def test_a_build_returns_a_summary(tmp_path):
    stages = []
    summary = build_index(
        lambda: SOME,
        tmp_path / "i",
        SETTINGS,
        jobs=1,
        progress=lambda stage, n_docs, total: stages.append((stage, n_docs)),
    )
    assert (summary.folder, summary.n_docs, summary.n_duplicates, summary.n_shards) == (tmp_path / "i", 50, 0, 1)
    assert summary.n_tokens == 50 * 8  # two words of title, six of body each
    # The manifest and the lock are not part of the shards.
    assert summary.n_bytes == sum(p.stat().st_size for p in (tmp_path / "i").glob("*/**/*") if p.is_file())
    assert stages[-1] == ("writing", 50)


def test_parallel_processes_give_the_statistics_and_scores_of_one(build, parallel):
    alone, shared = (SearchEngine(build(SOME, jobs=jobs)) for jobs in (1, 2))
    assert (len(alone.snapshot.shards), len(shared.snapshot.shards)) == (1, 2)
    assert shared.snapshot.n_tokens == alone.snapshot.n_tokens
    assert shared.snapshot.n_terms == alone.snapshot.n_terms
    for query in ("word1", "word2 word3 title", "6 body"):
        one, two = (engine.search(query, k=None) for engine in (alone, shared))
        assert len(one) > 0
        assert two.docnos == one.docnos
        assert two.scores.tolist() == one.scores.tolist()


def test_fewer_jobs_than_one_are_refused(tmp_path):
    with pytest.raises(SettingError, match="jobs is 0, expected 1 or more"):
        build_index(lambda: SOME, tmp_path / "i", SETTINGS, jobs=0)


def test_no_documents_make_no_index(tmp_path):
    with pytest.raises(SourceError, match=r"^here, there: holds no documents"):
        build_index(list, tmp_path / "i", SETTINGS, sources=["here", "there"])
    assert not (tmp_path / "i").exists()


@pytest.mark.parametrize(
    "docno", ["a\n1 Q0 forged 1 9.9 it", "a b", "a\tb", "", "a\x1b[2J", "\u2028", "\ufeffa", "a\x85"]
)
def test_a_docno_from_python_is_checked_as_one_from_a_file(tmp_path, docno):
    with pytest.raises(RecordError, match=r"^docno is .*, expected a word without blanks and control characters$"):
        build_index(lambda: [Document(docno)], tmp_path / "i", SETTINGS)
    assert not (tmp_path / "i").exists()


def test_a_docno_that_no_file_could_hold_is_refused(tmp_path):
    with pytest.raises(RecordError, match=r"^x:1: docno is .*, expected a word without"):
        build_index(lambda: [Document("\ud800", location="x:1")], tmp_path / "i", SETTINGS)
    assert not (tmp_path / "i").exists()


class Stop(Exception):
    """The reader fails."""


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, RecordError("x:3", "malformed")])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_in_the_middle_leaves_the_previous_index(previous, monkeypatch, parallel, jobs, error):
    monkeypatch.setattr("searchlab.indexing.building.workers.MAX_WORDS_PER_SHARD", 100)

    def read():
        yield from SOME[:40]
        raise error

    before = files_below(previous)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        build_index(read, previous, SETTINGS, jobs=jobs)
    assert_unchanged(previous, before)


def test_an_interrupt_in_the_middle_leaves_nothing_of_a_new_index(tmp_path):
    def read():
        yield SOME[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(read, tmp_path / "new", SETTINGS, jobs=1)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_after_the_commit_leaves_the_new_index(previous, monkeypatch):
    def interrupted(folder, manifest):
        raise KeyboardInterrupt

    monkeypatch.setattr(manifest, "remove_unreferenced", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_index(lambda: SOME, previous, SETTINGS, jobs=1)
    assert len(SearchEngine(previous).search("word1", k=None)) == 10


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_leaves_the_previous_index(previous, jobs):
    # Larger files than the limit are refused (EFBIG), as any file is by a full disk (ENOSPC).
    script = textwrap.dedent(
        f"""
        import resource, sys
        from searchlab import cli
        from searchlab.indexing.building import workers
        workers.MIN_PARALLEL_DOCS = 20
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
        sys.argv = ["searchlab", "index", "docs.jsonl", "-i", {str(previous)!r}, "-j", "{jobs}"]
        cli.main()
        """
    )
    lines = "".join(f'{{"docno": "d{number}", "body": "word{number}"}}\n' for number in range(500))
    (previous.parent / "docs.jsonl").write_text(lines)
    before = files_below(previous)
    ended = subprocess.run([sys.executable, "-c", script], cwd=previous.parent, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("searchlab: ")
    assert f"cannot be written ({os.strerror(errno.EFBIG)}); the index is unchanged" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert_unchanged(previous, before)


def test_a_worker_that_is_killed_is_an_error_and_leaves_the_previous_index(previous, monkeypatch, parallel):
    send = Worker.send_documents

    def send_and_kill(workers, documents):
        send(workers, documents)
        os.kill(workers._process.pid, signal.SIGKILL)
        workers._process.wait()

    monkeypatch.setattr(Worker, "send_documents", send_and_kill)
    before = files_below(previous)
    with pytest.raises(WriteFailed, match=r"an indexing process died \(exit -9\).*-j 1"):
        build_index(lambda: SOME, previous, SETTINGS, jobs=2)
    assert_unchanged(previous, before)


def test_an_error_in_a_worker_is_raised_in_the_parent(tmp_path, parallel):
    documents = [*SOME[:30], Document("\ud800", location="x:31"), *SOME[30:]]
    with pytest.raises(RecordError, match=r"^x:31: docno") as caught:
        build_index(lambda: documents, tmp_path / "i", SETTINGS, jobs=2)
    assert caught.value.location == "x:31"
    assert not (tmp_path / "i").exists()


def test_the_next_build_removes_what_a_crash_left(previous):
    leftover = previous / f"{SHARD_PREFIX}0badc0de-0"
    leftover.mkdir()
    (leftover / "columns").write_bytes(b"half")
    (previous / f"{MANIFEST}.new").write_text("{")
    build_index(lambda: SOME, previous, SETTINGS, jobs=1)
    assert shards_in(previous) == sorted(shard.name for shard in Snapshot(previous).manifest.shards)
    assert not (previous / f"{MANIFEST}.new").exists()


def test_a_rebuild_replaces_the_previous_index(previous):
    (old,) = shards_in(previous)
    build_index(lambda: SOME, previous, AnalysisSettings("none"), jobs=1, rebuild=True)
    snapshot = Snapshot(previous)
    assert (snapshot.n_docs, snapshot.manifest.generation) == (50, 2)
    assert old not in shards_in(previous)
