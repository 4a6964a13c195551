"""Worker processes: order, limits, and documents that kill the process that reads them."""

import signal
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.folder_files import documents as files
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.extraction import pool as pools
from searchlab.corpus.extraction.extracted import DOCUMENT, FAILED, ROWS
from searchlab.corpus.extraction.pool import ExtractionPool, ExtractionWorker, Payload

LIMIT = 10**6
# An extractor that does what the content says, so that processes can be made to fail.
OBEDIENT = """
import os, signal, time
def extract_obedient(stream, max_length):
    word = stream.read().decode()
    if word == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word.startswith("once ") and os.path.exists(word[5:]):
        os.unlink(word[5:])
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "loop":
        while True:
            pass
    if word == "wait":
        time.sleep(1000)
    if word == "grow":
        held = [bytes(2**20) for _ in range(10**6)]
    if word == "recurse":
        extract_obedient_again()
    if word == "odd":
        raise KeyError("two\\nlines")
    if word.startswith("many"):
        for number in range(int(word[4:])):
            yield ["rows", [[number, ["x" * 1000]]]]
        return
    yield ["document", word, str(os.getpid()), {}]
def extract_obedient_again():
    extract_obedient_again()
"""


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A pool whose processes know one more kind of document."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, types\n"
        f"module = types.ModuleType('searchlab.corpus.extraction.extractors.obedient')\n"
        f"exec({OBEDIENT!r}, module.__dict__)\n"
        "sys.modules[module.__name__] = module\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    made = ExtractionPool(2)
    yield made
    made.close()


def obey(word: str) -> Payload:
    return Payload("obedient", "", word.encode(), LIMIT)


def results(pool, *words):
    return [message for messages in pool.extract_each(map(obey, words)) for message in messages]


def test_results_come_in_the_order_of_the_documents(pool):
    words = [f"w{number}" for number in range(100)]
    found = results(pool, *words)
    assert [message[1] for message in found] == words
    assert len({message[2] for message in found}) == 2


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("die", "damaged: its reader ended by SIGSEGV"),
        ("grow", "takes more than 1,024 MB of memory"),
        ("recurse", "nested too deeply"),
        ("odd", "damaged OBEDIENT file (KeyError: 'two\\nlines')"),
    ],
)
def test_a_document_that_ends_its_process_harms_no_other(pool, word, reason):
    found = results(pool, "a", word, "b", word, "c")
    assert [message[1] for message in found] == ["a", reason, "b", reason, "c"]
    assert [message[0] for message in found] == [DOCUMENT, FAILED] * 2 + [DOCUMENT]


def test_time_is_limited(pool, monkeypatch):
    monkeypatch.setattr(pools, "MAX_SECONDS", 0.5)
    [message] = pool.extract(obey("wait"))
    assert message == [FAILED, "takes more than 0.5 seconds"]
    monkeypatch.setattr(pools, "MAX_SECONDS", 60)
    assert [message[1] for message in pool.extract(obey("a"))] == ["a"]


def test_processor_time_is_limited(pool):
    code = "import searchlab.corpus.extraction.worker as w; w.MAX_CPU_SECONDS = 0; w.main()"
    before, pools._COMMAND = pools._COMMAND, code
    try:
        [message] = pool.extract(obey("loop"))
    finally:
        pools._COMMAND = before
    assert message == [FAILED, "takes more than 60 seconds of processor time"]


def test_what_fails_in_a_used_process_is_tried_once_in_a_new_one(tmp_path, pool):
    mark = tmp_path / "mark"
    single = ExtractionPool(1)
    try:
        mark.write_text("")
        assert [message[0] for message in single.extract(obey(f"once {mark}"))] == [FAILED]
        [first] = single.extract(obey("a"))
        mark.write_text("")
        [second] = single.extract(obey(f"once {mark}"))
        assert (first[0], second[0]) == (DOCUMENT, DOCUMENT)
        assert first[2] != second[2]
    finally:
        single.close()


def test_a_stream_of_messages_is_held_back_until_it_is_used(pool):
    messages = pool.extract(obey("many5000"))
    assert next(messages)[0] == ROWS
    time.sleep(0.3)
    assert pool._held < 100 * 2000
    assert sum(1 for _ in messages) == 4999
    assert pool._held == 0


def test_a_stream_that_is_given_up_ends(pool):
    messages = pool.extract(obey("many100000"))
    next(messages)
    messages.close()
    assert [message[1] for message in pool.extract(obey("a"))] == ["a"]


def test_closing_ends_all_processes_and_threads_at_once(pool):
    for number in range(6):
        pool.prepare(number, obey("wait"))
    time.sleep(0.5)
    processes = [worker._process for worker in pool._workers]
    assert len(processes) == 2
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 10
    assert all(process.returncode == -signal.SIGKILL for process in processes)
    assert not any(thread.name == "extraction" for thread in threading.enumerate())


def test_what_was_prepared_as_another_kind_is_not_used(pool):
    pool.prepare(1, obey("a"))
    assert pool.take_prepared(1, "pdf") is None
    pool.prepare(2, obey("b"))
    assert [message[1] for message in pool.take_prepared(2, "obedient")] == ["b"]
    assert pool.take_prepared(2, "obedient") is None
    pool.prepare(3, obey("c"))
    pool.forget(3)
    assert pool.take_prepared(3, "obedient") is None


def test_documents_prepared_ahead_hold_a_limited_amount(pool, monkeypatch):
    monkeypatch.setattr(pools, "MAX_HELD_MB", 0)
    for number in range(20):
        pool.prepare(number, obey("w" * 1000))
    time.sleep(1)
    # Each process may finish one document before the limit is noticed.
    assert sum(bool(job.messages) for job in pool._ahead.values()) <= 4
    assert all(len(list(pool.take_prepared(number, "obedient"))) == 1 for number in range(20))


def test_a_document_that_is_needed_does_not_wait_for_those_prepared_ahead(pool, monkeypatch):
    monkeypatch.setattr(pools, "MAX_HELD_MB", 0)
    for number in range(20):
        pool.prepare(number, obey("w" * 1000))
    time.sleep(1)
    assert [message[1] for message in results(pool, "a", "b", "c")] == ["a", "b", "c"]
    assert [message[1] for message in pool.extract(obey("d"))] == ["d"]


def test_a_process_that_cannot_be_started_is_a_failure(pool, monkeypatch):
    python = sys.executable
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert list(pool.extract(obey("a"))) == [[FAILED, "its reader could not be started (No such file or directory)"]]
    monkeypatch.setattr(sys, "executable", python)
    assert [message[1] for message in pool.extract(obey("a"))] == ["a"]


def test_reading_starts_no_process_without_binary_documents_and_leaves_none(write, tmp_path, monkeypatch):
    started = []

    def start():
        started.append(ExtractionWorker())
        return started[-1]

    monkeypatch.setattr(pools, "ExtractionWorker", start)
    write("a.txt", "text")
    assert len(list(read_documents(tmp_path))) == 1
    assert started == []
    write("b.pdf", files.pdf([["text"]]))
    with closing(read_documents(tmp_path)) as reading:  # type: ignore[type-var]
        assert next(reading).docno == "a.txt"
        assert next(reading).docno == "b.pdf"
    assert len(started) == 1
    assert started[0]._process.returncode is not None


def test_a_module_in_the_folder_of_the_documents_is_not_run(write, tmp_path, monkeypatch):
    for name in ("zipfile", "json", "pypdfium2"):
        write(f"{name}.py", f"open({str(tmp_path / 'ran')!r}, 'w')")
    write("a.pdf", files.pdf([["text"]]))
    monkeypatch.chdir(tmp_path)
    assert [document.docno for document in read_documents(".", notes=ReadingNotes(), strict=False)] == ["a.pdf"]
    assert not Path("ran").exists()
