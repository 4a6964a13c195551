"""How does a stream of documents become an index?

Documents are checked for duplicate names as they pass, analysed and written as new shards, by one process
or several, and committed at once. If anything fails on the way, or the user interrupts, the shards are
removed and the index is as it was.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from searchlab.corpus import Notes, read_documents
from searchlab.errors import (
    DuplicateError,
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    SettingError,
    SourceError,
    StoreError,
    unknown_name,
)
from searchlab.indexing.analysis import AnalysisSettings
from searchlab.indexing.places import default_folder, resolve
from searchlab.indexing.shard import ShardRecord
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.store import SHARD_PREFIX, Manifest, commit, read_manifest, sweep, writing
from searchlab.indexing.worker import ShardSequence, Worker
from searchlab.records import Document

# Fewer documents than this are indexed sooner than other processes could start.
WORTH_SHARING = 4000
BATCH = 200

ReadDocuments = Callable[[], Iterable[Document]]
# Called as work goes on: the stage ("reading", "writing") and the documents read so far.
Progress = Callable[[str, int], None]


def _silent(stage: str, n_docs: int) -> None:
    """No progress is shown."""


@dataclass(frozen=True)
class BuildSummary:
    """What an indexing run did."""

    folder: Path
    n_docs: int
    n_duplicates: int
    n_terms: int
    n_tokens: int
    n_shards: int
    n_bytes: int
    seconds: float


def index(
    sources: str | Path | Sequence[str | Path],
    folder: str | Path | None = None,
    *,
    format: str | None = None,
    stemmer: str = "porter",
    stop_list: str = "default",
    jobs: int | None = None,
    on_duplicate: str = "error",
    notes: Notes | None = None,
    progress: Progress = _silent,
) -> BuildSummary:
    """Index files or folders of documents; `folder` is `indexes/<name of the source>` if not given.

    `stemmer` is porter, snowball or none; `stop_list` default, none or a file of words; `jobs` the number of
    processes (all cores by default); `on_duplicate` error, keep-first or keep-last.
    """
    paths = [sources] if isinstance(sources, str | Path) else list(sources)
    if not paths:
        raise SettingError("no sources: expected files or folders of documents")
    if on_duplicate == "keep-last" and "-" in map(str, paths):
        raise SettingError("keep-last reads the source twice, and standard input can be read only once")
    collected = Notes() if notes is None else notes

    def read() -> Iterator[Document]:
        collected.clear()
        return read_documents(paths, format=format, notes=collected)

    return build_index(
        read,
        resolve(folder) if folder is not None else default_folder(paths),
        AnalysisSettings.choose(stemmer, stop_list),
        sources=[str(path) for path in paths],
        jobs=jobs,
        on_duplicate=on_duplicate,
        progress=progress,
    )


def build_index(
    read: ReadDocuments,
    folder: Path,
    settings: AnalysisSettings,
    *,
    sources: Iterable[str] = (),
    jobs: int | None = None,
    on_duplicate: str = "error",
    progress: Progress = _silent,
) -> BuildSummary:
    """Index all documents that `read()` yields, in place of what the folder held before."""
    if on_duplicate not in DUPLICATE_RULES:
        raise unknown_name("rule for duplicates", on_duplicate, DUPLICATE_RULES)
    if jobs is not None and jobs < 1:
        raise SettingError(f"jobs is {jobs}, expected 1 or more")
    began = time.perf_counter()
    with writing(folder):
        before = _previous(folder)
        counter = _Counter(progress)
        documents = counter.count(DUPLICATE_RULES[on_duplicate](read, counter))
        name = f"{SHARD_PREFIX}{secrets.token_hex(4)}"
        try:
            shards = _write_shards(documents, folder, name, settings, jobs or _cores(), counter)
            if not shards:
                raise SourceError(", ".join(sources) or "source", "holds no documents")
            generation = before.generation + 1 if before else 1
            commit(folder, Manifest(settings, tuple(shards), tuple(sources), generation))
        except BaseException:
            _undo(folder, name)
            raise
    with closing(Snapshot(folder)) as snapshot:
        return _summarise(snapshot, counter, time.perf_counter() - began)


def _summarise(snapshot: Snapshot, counter: _Counter, seconds: float) -> BuildSummary:
    return BuildSummary(
        snapshot.folder,
        snapshot.n_docs,
        counter.n_duplicates,
        snapshot.n_terms,
        snapshot.n_tokens["both"],
        len(snapshot.shards),
        snapshot.manifest.n_bytes,
        seconds,
    )


def _previous(folder: Path) -> Manifest | None:
    """The index that is about to be replaced; a damaged one may be, one of a later version may not."""
    try:
        manifest = read_manifest(folder)
    except (IndexMissing, IndexCorrupt, IndexOutdated):
        return None
    sweep(folder, manifest)
    return manifest


def _undo(folder: Path, name: str) -> None:
    """Remove the shards of a build that failed, unless it failed (or was interrupted) after its commit."""
    with suppress(StoreError):
        if any(shard.name.startswith(name) for shard in read_manifest(folder).shards):
            return
    for leftover in folder.glob(f"{name}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Counter:
    """Counts documents on their way and tells the progress bar."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.n_docs = 0
        self.n_duplicates = 0

    def count(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.n_docs += 1
            if self.n_docs % BATCH == 0:
                self.progress("reading", self.n_docs)
            yield document


def _refuse_duplicates(read: ReadDocuments, counter: _Counter) -> Iterator[Document]:
    places: dict[str, str] = {}
    for document in read():
        if document.docno in places:
            raise DuplicateError(
                document.place,
                f"docno {document.docno!r} was read already at {places[document.docno]}; make it unique, "
                "or choose --on-duplicate keep-first or keep-last",
            )
        places[document.docno] = document.place
        yield document


def _keep_first(read: ReadDocuments, counter: _Counter) -> Iterator[Document]:
    seen: set[str] = set()
    for document in read():
        if document.docno in seen:
            counter.n_duplicates += 1
        else:
            seen.add(document.docno)
            yield document


def _keep_last(read: ReadDocuments, counter: _Counter) -> Iterator[Document]:
    """Read twice: the first time to learn which of the documents with one name is the last."""
    last = {document.docno: number for number, document in enumerate(read())}
    for number, document in enumerate(read()):
        if last.get(document.docno) == number:
            yield document
        else:
            counter.n_duplicates += 1


DUPLICATE_RULES: dict[str, Callable[[ReadDocuments, _Counter], Iterator[Document]]] = {
    "error": _refuse_duplicates,
    "keep-first": _keep_first,
    "keep-last": _keep_last,
}


def _write_shards(
    documents: Iterator[Document],
    folder: Path,
    name: str,
    settings: AnalysisSettings,
    jobs: int,
    counter: _Counter,
) -> list[ShardRecord]:
    start = list(islice(documents, WORTH_SHARING)) if jobs > 1 else []
    if jobs > 1 and len(start) == WORTH_SHARING:
        return _write_side_by_side(chain(start, documents), folder, name, settings, jobs, counter)
    shards = ShardSequence(folder, name, settings)
    for document in chain(start, documents):
        shards.add(document)
    counter.progress("writing", counter.n_docs)
    return shards.finish()


def _write_side_by_side(
    documents: Iterator[Document],
    folder: Path,
    name: str,
    settings: AnalysisSettings,
    jobs: int,
    counter: _Counter,
) -> list[ShardRecord]:
    workers: list[Worker] = []
    try:
        workers.extend(Worker(folder, f"{name}-{number}", settings) for number in range(jobs))
        turn = 0
        while batch := list(islice(documents, BATCH)):
            workers[turn % jobs].give(batch)
            turn += 1
        counter.progress("writing", counter.n_docs)
        for worker in workers:
            worker.end()
        return [shard for worker in workers for shard in worker.result()]
    finally:
        for worker in workers:
            worker.kill()
