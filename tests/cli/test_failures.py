"""Every failure of the command line ends in one line: mistakes, closed pipes, full disks and interrupts."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from searchlab.indexing.building import deletion
from searchlab.indexing.merging import merge as merging
from searchlab.retrieval.engine import SearchEngine

SEARCHLAB = [sys.executable, "-c", "from searchlab.cli import main; main()"]
# Buffered as usual, even if the tests are not.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
TRACEBACK = re.compile("Traceback|Exception|Error")


def damage(here):
    next(here.glob("indexes/small/shard-*/columns")).write_bytes(b"")


MISTAKES = {
    "missing source": ("index nowhere", 1, "nowhere: no such file or folder"),
    "empty folder": ("index empty", 1, "empty: holds no documents"),
    "unknown format": ("index small.jsonl --format xml", 2, "unknown format 'xml'"),
    "binary file": ("index binary", 1, "binary: binary content"),
    "unknown stemmer": ("index small.jsonl --stemmer lovins", 2, "unknown stemmer 'lovins'"),
    "missing stop list": ("index small.jsonl --stop nowhere", 2, "unknown stop list 'nowhere'"),
    "no jobs": ("index small.jsonl -j 0", 2, "jobs is 0"),
    "unknown rule": ("index small.jsonl --on-duplicate x", 2, "unknown rule for duplicates 'x'"),
    "duplicates": ("index twice.jsonl --on-duplicate error", 1, "docno 'x' was read already at twice.jsonl:1"),
    "half a mapping": ("index small.jsonl --map title", 2, "--map is 'title', expected NAME=COLUMN"),
    "merged unseen": ("index small.jsonl --deduplicate", 2, "--deduplicate needs --report FILE.csv"),
    "pipe read twice": ("index - -i piped --on-duplicate keep-last", 2, "keep-last reads the source twice"),
    "malformed record": ("index malformed.jsonl --strict", 1, "malformed.jsonl:2: "),
    "index is a file": ("index small.jsonl -i ./topics.tsv", 1, "topics.tsv: cannot be written"),
    "unknown scorer": ("query wing --scorer bm52", 2, "unknown scorer 'bm52' (did you mean bm25?)"),
    "unknown setting": ("query wing --set mu=1", 2, "unknown setting of bm25 'mu'"),
    "bad setting": ("query wing --set k1=many", 2, "bm25: k1 is 'many', expected a number"),
    "setting out of range": ("query wing --set b=2", 2, "BM25: b is 2.0, expected"),
    "setting without =": ("query wing --set b", 2, "--set b: expected NAME=VALUE"),
    "missing index": ("query wing -i nowhere", 1, "nowhere: no index here"),
    "k is 0": ("query wing -k 0", 2, "k is 0, expected 1 or more"),
    "k is no number": ("query wing -k many", 2, "Invalid value for '-k'"),
    "unknown stream": ("query wing --stream titel", 2, "unknown stream 'titel'"),
    "bm25f over one field": ("query wing --scorer bm25f --stream body", 2, "bm25f weighs the fields itself"),
    "corrupt index": ("query wing", 1, "columns: 0 bytes, expected "),
    "missing topics": ("run --topics nowhere", 1, "nowhere: no such file or folder"),
    "unknown topic format": ("run --topics topics.tsv --format xml", 2, "unknown format 'xml'"),
    "tag of two words": ("run --topics topics.tsv --tag a\u00a0b", 2, "tag is "),
    "output is a folder": ("run --topics topics.tsv -o empty", 1, "empty: cannot be written"),
    "output in no folder": ("run --topics topics.tsv -o nowhere/run", 1, "nowhere/run: cannot be written"),
    "output is here": ("run --topics topics.tsv -o .", 1, ".: cannot be written"),
    "unknown option": ("query wing --colour", 2, "No such option"),
    "unknown command": ("serach wing", 2, "No such command"),
    "missing argument": ("index", 2, "Missing argument 'SOURCE'"),
    "no document to delete": ("delete med-1 med-9", 2, "indexes/small: holds no document 'med-9'"),
    "no index to merge": ("merge -i nowhere", 1, "nowhere: no index here"),
    "no index to examine": ("doctor -i nowhere", 1, "nowhere: no index here"),
    "unknown stream of terms": ("stats --stream x", 2, "unknown stream 'x'"),
    "other settings": ("index small.jsonl --stemmer none", 2, "built with stemmer porter"),
    "filter without =": ("query wing --filter year", 2, "filter is 'year', expected field=value"),
    "filter by no field": ("query wing --filter yaer=1999", 2, "unknown field 'yaer' (did you mean year?)"),
    "unknown expansion": ("query wing --expand rm4", 2, "unknown expansion 'rm4' (did you mean rm3?)"),
    "bad expansion": ("query wing --expand rm3:weight=2", 2, "RM3: weight is 2.0, expected a number from 0 to 1"),
    "no topics": ("run", 2, "indexes/small: its sources have no topics"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_in_one_line(here, run_cli, mistake):
    arguments, expected, message = MISTAKES[mistake]
    Path("empty").mkdir()
    Path("binary").write_bytes(b"\0\1\2\3")
    Path("twice.jsonl").write_text('{"docno": "x"}\n{"docno": "x"}\n')
    Path("malformed.jsonl").write_text('{"docno": "x"}\n{"docno": \n')
    if mistake == "corrupt index":
        damage(here)
    code, out, err = run_cli(*arguments.split(" "))
    errors = [line for line in err.splitlines() if not line.startswith("index: ")]
    assert (code, out, len(errors)) == (expected, "", 1)
    assert errors[0].startswith("searchlab: ")
    assert message in errors[0]


def call(*arguments, cwd, **options):
    return subprocess.run([*SEARCHLAB, *arguments], cwd=cwd, capture_output=True, **options)


def test_a_mistake_ends_in_one_line_in_a_separate_process(tmp_path):
    ended = call("query", "wing", cwd=tmp_path, text=True)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("searchlab: indexes: no index here; ")
    assert ended.stderr.count("\n") == 1


def test_a_query_that_is_not_utf8_is_answered(here):
    ended = call("query", b"\xff wing", "--json", cwd=here)
    assert b"Traceback" not in ended.stderr
    assert json.loads(ended.stdout)["hits"][0]["docno"] == "aero"


def test_a_terminal_without_unicode_is_written_to(here, run_cli):
    (here / "accents.jsonl").write_text('{"docno": "é", "title": "Naïve…", "body": "日本"}')
    assert run_cli("index", "accents.jsonl")[0] == 0
    ended = call("query", "naive", cwd=here, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)


commands = pytest.mark.parametrize(
    "arguments", [["query", "cell lymphoma"], ["run", "--topics", "topics.tsv"]], ids=" ".join
)
buffering = pytest.mark.parametrize("env", [BUFFERED, BUFFERED | {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "direct"])


@commands
@buffering
def test_a_closed_pipe_is_not_an_error(here, arguments, env):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [*SEARCHLAB, *arguments], cwd=here, env=env, stdout=writing, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(writing)
    assert not TRACEBACK.search(ended.stderr)


def test_the_first_line_of_a_long_run_can_be_taken(here):
    (here / "many.tsv").write_text("".join(f"{number}\tcell wing lymphoma\n" for number in range(3000)))
    command = f"{SEARCHLAB[0]} -c '{SEARCHLAB[2]}' run --topics many.tsv | head -1"
    ended = subprocess.run(["sh", "-c", command], cwd=here, env=BUFFERED, capture_output=True, text=True)
    assert ended.stdout.split()[:4] == ["0", "Q0", "med-1", "1"]
    assert not TRACEBACK.search(ended.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@commands
@buffering
def test_a_full_disk_ends_in_one_line(here, arguments, env):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*SEARCHLAB, *arguments], cwd=here, env=env, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 1
    assert not TRACEBACK.search(ended.stderr)
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("searchlab: ")
    assert os.strerror(errno.ENOSPC) in last


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_during_indexing_leaves_nothing(tmp_path, jobs):
    with (tmp_path / "large.jsonl").open("w") as file:
        for number in range(30_000):
            words = " ".join(f"w{number * step % 9973}" for step in range(1, 40))
            file.write(f'{{"docno": "d{number}", "body": "{words}"}}\n')
    process = subprocess.Popen(
        [*SEARCHLAB, "index", "large.jsonl", "-j", jobs],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lock = tmp_path / "indexes" / "large" / "writer.lock"
    deadline = time.monotonic() + 30
    while not (lock.exists() and lock.stat().st_size) and time.monotonic() < deadline:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.split("\n") in (["searchlab: interrupted", ""], ["", "searchlab: interrupted", ""])
    assert not (tmp_path / "indexes" / "large").exists()


@pytest.mark.parametrize("after_commit", [True, False])
def test_an_interrupt_says_whether_the_change_was_committed(here, run_cli, monkeypatch, after_commit):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    if after_commit:
        monkeypatch.setattr(merging, "merge_small_shards", interrupt)
    else:
        monkeypatch.setattr(deletion, "commit_manifest", interrupt)
    code, out, err = run_cli("delete", "med-1", "-q")
    said = "; indexes/small: the change was committed" if after_commit else ""
    assert (code, out, err) == (130, "", f"searchlab: interrupted{said}\n")
    monkeypatch.undo()
    with SearchEngine(here / "indexes" / "small") as engine:
        assert engine.snapshot.n_docs == (2 if after_commit else 3)


def test_what_fails_after_the_commit_is_a_warning_and_not_an_error(here, run_cli, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(merging, "merge_small_shards", fail)
    code, out, err = run_cli("delete", "med-1")
    assert (code, "1 removed" in out) == (0, True)
    assert "warning: indexes/small: small shards were not merged (No space left on device); " in err
    assert run_cli("delete", "med-1")[0] == 2  # it is gone


def test_a_run_that_a_power_failure_could_undo_is_a_warning(here):
    script = """
        import errno, os, sys
        from searchlab import atomic_file, cli
        def fail(folder):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        atomic_file.sync_folder = fail
        sys.argv = ["searchlab", "run", "--topics", "topics.tsv", "-o", "bm25.run"]
        cli.main()
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=here, capture_output=True, text=True)
    assert ended.returncode == 0
    problem = f"its folder cannot be synced ({os.strerror(errno.EIO)}): a power failure could undo it"
    assert f"warning: bm25.run: written, but {problem}\n" in ended.stderr
    assert not TRACEBACK.search(ended.stderr.replace(problem, ""))
    assert (here / "bm25.run").read_text()
