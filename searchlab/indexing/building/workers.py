"""Writing documents as shards, in this process or in several worker processes.

A few documents are written by the process that reads them. Many are handed out in batches to worker processes, each of
which analyses its batches and writes its own shards. Parent and worker exchange pickles over the worker's standard
input and output. Plain subprocesses, not `multiprocessing`: nothing of the caller's program is run again in the worker,
so `searchlab.index` works in any script, notebook or server.

    parent → worker   folder, prefix of its shards, analysis settings; lists of documents as tuples; None at the end
    worker → parent   the records of the shards written, or the exception that stopped it
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from searchlab.analysis.analyzer import AnalysisSettings, TermLookup, make_analyzer
from searchlab.errors import SearchlabError, WriteFailed
from searchlab.extensions import load_extensions, process_environment
from searchlab.indexing.building.shard_writer import ShardWriter
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.records import Document

# A shard is written when it has this many words and n-grams, which takes about 0.5 GB of memory at the peak.
MAX_WORDS_PER_SHARD = 14_000_000
# Fewer documents than this are indexed before worker processes could start.
MIN_PARALLEL_DOCS = 4000
BATCH_DOCS = 200


def write_shards(
    documents: Iterator[Document],
    folder: Path,
    prefix: str,
    settings: AnalysisSettings,
    jobs: int,
    on_all_read: Callable[[], None],
    lookup: TermLookup | None = None,
) -> list[ShardRecord]:
    """Write documents as shards whose names begin with `prefix`; calls `on_all_read` when only writing is left.

    In a single process words are looked up with `lookup` before they are stemmed.
    """
    start = list(islice(documents, MIN_PARALLEL_DOCS)) if jobs > 1 and not settings.needs_this_process else []
    if len(start) == MIN_PARALLEL_DOCS:
        return _write_in_parallel(chain(start, documents), folder, prefix, settings, jobs, on_all_read)
    shards = RollingShardWriter(folder, prefix, settings, lookup)
    for document in chain(start, documents):
        shards.add(document)
    on_all_read()
    return shards.finish()


def _write_in_parallel(
    documents: Iterator[Document],
    folder: Path,
    prefix: str,
    settings: AnalysisSettings,
    jobs: int,
    on_all_read: Callable[[], None],
) -> list[ShardRecord]:
    workers: list[Worker] = []
    try:
        workers.extend(Worker(folder, f"{prefix}-{number}", settings) for number in range(jobs))
        turn = 0
        while batch := list(islice(documents, BATCH_DOCS)):
            workers[turn % jobs].send_documents(batch)
            turn += 1
        on_all_read()
        for worker in workers:
            worker.send_end()
        return [shard for worker in workers for shard in worker.result()]
    finally:
        for worker in workers:
            worker.kill()


class RollingShardWriter:
    """Writes documents as a sequence of shards; a new one begins whenever one is full."""

    def __init__(self, folder: Path, prefix: str, settings: AnalysisSettings, lookup: TermLookup | None = None) -> None:
        self._folder = folder
        self._prefix = prefix
        self._analyzer = make_analyzer(settings, lookup)
        self._writer = ShardWriter(self._analyzer)
        self._written: list[ShardRecord] = []

    def add(self, document: Document) -> None:
        """Add one document."""
        self._writer.add(document)
        if self._writer.has_tokens(MAX_WORDS_PER_SHARD):
            self._write()

    def finish(self) -> list[ShardRecord]:
        """Write the last shard; returns the records of all shards written."""
        if len(self._writer):
            self._write()
        return self._written

    def _write(self) -> None:
        name = f"{self._prefix}-{len(self._written)}"
        self._written.append(self._writer.write(self._folder / name))
        self._writer = ShardWriter(self._analyzer)


class Worker:
    """The parent's end of a worker process."""

    def __init__(self, folder: Path, prefix: str, settings: AnalysisSettings) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from searchlab.indexing.building.workers import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=process_environment(),
        )
        self._send((str(folder.absolute()), prefix, settings))

    def _send(self, message: object) -> None:
        try:
            pickle.dump(message, self._stdin, pickle.HIGHEST_PROTOCOL)
            self._stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def send_documents(self, documents: list[Document]) -> None:
        """Send documents to the worker; blocks while it is busy."""
        # Tuples: pickling dataclasses with slots takes several times as long.
        self._send([(d.docno, d.title, d.body, d.fields, d.location) for d in documents])

    def send_end(self) -> None:
        """Tell the worker that there are no more documents."""
        self._send(None)

    def result(self) -> list[ShardRecord]:
        """Wait for the worker to finish; returns the records of its shards."""
        answer = self._answer()
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            return WriteFailed(f"an indexing process died (exit {code}); out of memory? Try fewer jobs (-j 1)")

    def _failure(self) -> BaseException:
        answer = self._answer()
        return answer if isinstance(answer, BaseException) else WriteFailed("an indexing process ended early")

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue


def main() -> None:
    """The main function of a worker process."""
    # Ctrl-C reaches every process of the terminal; the parent handles it and kills its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox, outbox = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints must not get into the answer
    answer: object
    try:
        load_extensions()
        folder, prefix, settings = pickle.load(inbox)
        shards = RollingShardWriter(Path(folder), prefix, settings)
        while (documents := pickle.load(inbox)) is not None:
            for parts in documents:
                shards.add(Document(*parts))
        answer = shards.finish()
    except (EOFError, pickle.UnpicklingError):
        return  # the parent is gone
    except (SearchlabError, OSError, MemoryError) as error:
        answer = error
    with suppress(BrokenPipeError), outbox:
        pickle.dump(answer, outbox)
