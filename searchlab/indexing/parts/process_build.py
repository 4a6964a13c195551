"""Building an index with processes that read large files themselves.

Where most of a collection is in files that can be divided (`corpus/document_parts.py`), reading by one process and
sending every text to another would take a quarter of the time. So worker processes read ranges of the files. This
process applies the rules for duplicates, in the order of the documents, before their shards are written: the index is
that of `LocalBuild`, which also takes over where files cannot be divided.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus.document_parts import DocumentPart, ReadingSettings, divide_texts, list_sources
from searchlab.corpus.documents import DOCUMENT_FORMAT, DOCUMENT_FORMATS
from searchlab.corpus.ir_datasets import is_dataset
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import STANDARD_INPUT
from searchlab.corpus.sources import Source
from searchlab.extensions import origin_of
from searchlab.indexing.building.build_options import BuildOptions
from searchlab.indexing.building.local_build import LocalBuild
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.building.worker_process import WorkerProcess
from searchlab.indexing.parts import process_worker
from searchlab.indexing.parts.part_notes import PartNotes
from searchlab.indexing.parts.part_rules import decide
from searchlab.indexing.parts.process_worker import ChangedDocnos, ReadingTask, ReadPart
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.types import Progress

PART_BYTES = 2 * 2**20
# Parts that a worker has at a time: it reads one while the documents of another are decided about.
PARTS_AHEAD = 2


class ProcessBuild:
    """Writes the documents of files with several processes; `n_docs` counts them."""

    def __init__(
        self,
        names: Sequence[str | Path],
        reading: ReadingSettings,
        notes: ReadingNotes,
        progress: Progress,
        options: BuildOptions,
        local: LocalBuild,
    ) -> None:
        self._names = names
        self._reading = reading
        self._notes = notes
        self._progress = progress
        self._options = options
        self._local = local
        self._n_docs = 0

    @property
    def n_docs(self) -> int:
        """The number of documents so far."""
        return self._n_docs or self._local.n_docs

    def write(
        self, folder: Path, prefix: str, analysis: AnalysisSettings, changes: IndexChanges, *, is_update: bool
    ) -> list[ShardRecord]:
        """Write all documents that are new or have changed; `changes` then has what was found in the old index."""
        if is_update or not self._is_readable_by_others(analysis):
            return self._local.write(folder, prefix, analysis, changes, is_update=is_update)
        notes = self._notes
        notes.clear()
        sources = list_sources(self._names, self._reading, notes)
        parts = divide_texts(sources, self._reading, notes, PART_BYTES)
        if parts is None:
            return self._local.write(folder, prefix, analysis, changes, is_update=is_update)
        task = ReadingTask(
            folder.absolute(), prefix, analysis, self._reading, notes.listener is not None, notes.max_kept
        )
        with Workers(task, self._local.jobs) as workers:
            decide(self._read(workers, parts, sources), partial(self._keep, workers), notes, self._options)
            self._progress("writing", self._n_docs, 0)
            records = workers.finish()
        changes.n_added += self._n_docs
        return records

    def _is_readable_by_others(self, analysis: AnalysisSettings) -> bool:
        """Whether worker processes can read the documents, each once."""
        return not (
            analysis.needs_this_process
            or self._options.on_duplicate == "keep-last"
            or self._reading.fields
            or any(str(name) == STANDARD_INPUT.name or is_dataset(name) for name in self._names)
            or any(origin_of(DOCUMENT_FORMAT, name) for name in DOCUMENT_FORMATS)
        )

    def _read(self, workers: Workers, parts: Iterator[DocumentPart], sources: Sequence[Source]) -> Iterator[ReadPart]:
        collected = PartNotes(self._notes)
        for part, read in workers.read(parts):
            collected.add(part, read.notes, read.events, read.n_documents)
            yield read
        collected.require_documents(sources)

    def _keep(self, workers: Workers, part: ReadPart, changed: ChangedDocnos) -> None:
        workers.keep(changed)
        self._n_docs += len(part) - sum(docno is None for docno in changed.values())
        self._progress("reading", self._n_docs, 0)


class Workers:
    """Worker processes that read parts in turn, each some parts ahead."""

    def __init__(self, task: ReadingTask, jobs: int) -> None:
        self._task, self._jobs = task, jobs
        self._processes: list[WorkerProcess] = []
        # What each process sends: a thread takes it, so that no process waits until this one does.
        self._answers: list[SimpleQueue[Any]] = []
        self._threads: list[Thread] = []
        self._n_given = self._n_decided = 0

    def __enter__(self) -> Workers:
        # Docnos that are equal must have equal hashes in all processes.
        environment = {"PYTHONHASHSEED": str(secrets.randbits(32))}
        try:
            for number in range(self._jobs):
                process = WorkerProcess(process_worker.__name__, environment)
                self._processes.append(process)
                self._answers.append(SimpleQueue())
                self._threads.append(Thread(target=_take_answers, args=(process, self._answers[-1]), daemon=True))
                self._threads[-1].start()
                process.send(replace(self._task, prefix=f"{self._task.prefix}-{number}"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self._processes:
            process.stop()
        # Threads that read a pipe come to its end before it is closed.
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            process.close()

    def read(self, parts: Iterator[DocumentPart]) -> Iterator[tuple[DocumentPart, ReadPart]]:
        """Each part and what was read, in their order; `keep` is called for each before the next one is taken."""
        given: deque[DocumentPart] = deque()
        for part in islice(parts, PARTS_AHEAD * self._jobs):
            self._give(part, given)
        while given:
            part = given.popleft()
            yield part, self._answer(self._n_decided)
            if (following := next(parts, None)) is not None:
                self._give(following, given)

    def _give(self, part: DocumentPart, given: deque[DocumentPart]) -> None:
        self._processes[self._n_given % self._jobs].send(part)
        self._n_given += 1
        given.append(part)

    def keep(self, changed: ChangedDocnos) -> None:
        """Say which documents of the part at hand are not kept under their own docnos."""
        self._processes[self._n_decided % self._jobs].send(changed)
        self._n_decided += 1

    def finish(self) -> list[ShardRecord]:
        """Wait until all shards are written; returns their records."""
        for process in self._processes:
            process.send(None)
        return [record for number in range(self._jobs) for record in self._answer(number)]

    def _answer(self, number: int) -> Any:
        answer = self._answers[number % self._jobs].get()
        if isinstance(answer, BaseException):
            raise answer
        return answer


def _take_answers(process: WorkerProcess, answers: SimpleQueue[Any]) -> None:
    """Put all messages of a process into a queue; the last one is that of its end."""
    while True:
        answer = process.answer()
        answers.put(answer)
        if not isinstance(answer, ReadPart):
            return
