"""Writing documents as shards, in this process or in several worker processes.

A few documents are written by the process that reads them. Many are handed out in batches to worker processes, each of
which analyses its batches and writes its own shards.

    parent → worker   folder, prefix of its shards, analysis settings; lists of documents as tuples; None at the end
    worker → parent   the records of the shards written, or the exception that stopped it
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path

from searchlab.analysis.analyzer import AnalysisSettings, TermLookup, make_analyzer
from searchlab.indexing.building.shard_writer import ShardWriter
from searchlab.indexing.building.worker_process import Receive, Send, WorkerProcess, serve_parent
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
        return [shard for worker in workers for shard in worker.receive()]
    finally:
        for worker in workers:
            worker.kill()


class RollingShardWriter:
    """Writes documents as a sequence of shards: a new one whenever one is full, after `on_written` was called."""

    def __init__(
        self,
        folder: Path,
        prefix: str,
        settings: AnalysisSettings,
        lookup: TermLookup | None = None,
        *,
        on_written: Callable[[], object] = lambda: None,
    ) -> None:
        self._folder = folder
        self._prefix = prefix
        self._analyzer = make_analyzer(settings, lookup)
        self._writer = ShardWriter(self._analyzer)
        self._written: list[ShardRecord] = []
        self._on_written = on_written

    def add(self, document: Document, known_digest: bytes | None = None) -> None:
        """Add one document, whose digest may be known."""
        self._writer.add(document, known_digest)
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
        self._on_written()


class Worker(WorkerProcess):
    """A worker process that is sent documents."""

    def __init__(self, folder: Path, prefix: str, settings: AnalysisSettings) -> None:
        super().__init__(__name__)
        self.send((str(folder.absolute()), prefix, settings))

    def send_documents(self, documents: list[Document]) -> None:
        """Send documents to the worker; blocks while it is busy."""
        # Tuples: pickling dataclasses with slots takes several times as long.
        self.send([(d.docno, d.title, d.body, d.fields, d.location) for d in documents])

    def send_end(self) -> None:
        """Tell the worker that there are no more documents."""
        self.send(None)


def main() -> None:
    """The main function of a worker process."""
    serve_parent(_write)


def _write(receive: Receive, send: Send) -> list[ShardRecord]:
    folder, prefix, settings = receive()
    shards = RollingShardWriter(Path(folder), prefix, settings, on_written=gc.collect)
    while (documents := receive()) is not None:
        for parts in documents:
            shards.add(Document(*parts))
    return shards.finish()
