"""How do documents become shards, in one process or in several side by side?

A few documents are written by the process that reads them. Many are handed out in batches to workers, each a
process of its own that analyses its batches and writes its shards. They talk in pickles over the worker's standard
input and output. Plain subprocesses, not `multiprocessing`: nothing of the caller's program is run again in
the worker, so `searchlab.index` works in any script, notebook or server.

    parent → worker   folder, name of its shards, analysis settings; lists of documents as tuples; None at the end
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

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer, TermLookup
from searchlab.errors import SearchlabError, WriteFailed
from searchlab.indexing.building.shard_writer import ShardBuilder
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.records import Document

# A shard is written when this many words are held: about 1.5 GB of memory at the peak.
WORDS_PER_SHARD = 24_000_000
# Fewer documents than this are indexed sooner than other processes could start.
WORTH_SHARING = 4000
BATCH = 200


def write_shards(
    documents: Iterator[Document],
    folder: Path,
    name: str,
    settings: AnalysisSettings,
    jobs: int,
    all_read: Callable[[], None],
    lookup: TermLookup | None = None,
) -> list[ShardRecord]:
    """Write documents as shards whose names begin with `name`; calls `all_read` when only writing is left.

    A few documents are analysed with the help of `lookup`, so that words that are known need not be stemmed.
    """
    start = list(islice(documents, WORTH_SHARING)) if jobs > 1 else []
    if len(start) == WORTH_SHARING:
        return _write_side_by_side(chain(start, documents), folder, name, settings, jobs, all_read)
    shards = ShardSequence(folder, name, settings, lookup)
    for document in chain(start, documents):
        shards.add(document)
    all_read()
    return shards.finish()


def _write_side_by_side(
    documents: Iterator[Document],
    folder: Path,
    name: str,
    settings: AnalysisSettings,
    jobs: int,
    all_read: Callable[[], None],
) -> list[ShardRecord]:
    workers: list[Worker] = []
    try:
        workers.extend(Worker(folder, f"{name}-{number}", settings) for number in range(jobs))
        turn = 0
        while batch := list(islice(documents, BATCH)):
            workers[turn % jobs].give(batch)
            turn += 1
        all_read()
        for worker in workers:
            worker.end()
        return [shard for worker in workers for shard in worker.result()]
    finally:
        for worker in workers:
            worker.kill()


class ShardSequence:
    """Documents in, shards out: begins a new shard whenever one is full."""

    def __init__(self, folder: Path, name: str, settings: AnalysisSettings, lookup: TermLookup | None = None) -> None:
        self._folder = folder
        self._name = name
        self._analyzer = Analyzer(settings, lookup)
        self._builder = ShardBuilder(self._analyzer)
        self._written: list[ShardRecord] = []

    def add(self, document: Document) -> None:
        """Take one document."""
        self._builder.add(document)
        if self._builder.n_words >= WORDS_PER_SHARD:
            self._write()

    def finish(self) -> list[ShardRecord]:
        """Write what is left, and say what was written."""
        if len(self._builder):
            self._write()
        return self._written

    def _write(self) -> None:
        name = f"{self._name}-{len(self._written)}"
        self._written.append(self._builder.write(self._folder / name))
        self._builder = ShardBuilder(self._analyzer)


class Worker:
    """The parent's end of a worker process."""

    def __init__(self, folder: Path, name: str, settings: AnalysisSettings) -> None:
        package_home = str(Path(__file__).parents[3])
        path = os.pathsep.join([package_home, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from searchlab.indexing.building.workers import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
        )
        self._send((str(folder.absolute()), name, settings))

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

    def give(self, documents: list[Document]) -> None:
        """Hand over documents; waits while the worker is busy."""
        # Tuples: pickling dataclasses with slots takes several times as long.
        self._send([(d.docno, d.title, d.body, d.fields, d.location) for d in documents])

    def end(self) -> None:
        """Say that there are no more documents."""
        self._send(None)

    def result(self) -> list[ShardRecord]:
        """Wait for the shards that the worker wrote."""
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
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue


def main() -> None:
    """The worker's end."""
    # Ctrl-C reaches every process of the terminal; the parent decides, and ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox, outbox = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write into the answer
    answer: object
    try:
        folder, name, settings = pickle.load(inbox)
        shards = ShardSequence(Path(folder), name, settings)
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
