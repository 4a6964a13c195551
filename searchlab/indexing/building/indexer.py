"""How does a stream of documents become an index, or change one?

Documents are checked for duplicate names as they pass; those that are new or have changed are analysed and
written as new shards, by one process or several; and the new state is committed at once. If anything fails on
the way, or the user interrupts, the shards are removed and the index is as it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus import Notes, read_documents
from searchlab.errors import (
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    SettingError,
    SourceError,
    unknown_name,
)
from searchlab.indexing.building.duplicates import DUPLICATE_RULES, ReadDocuments
from searchlab.indexing.building.merge import merge_shards, merge_where_worth
from searchlab.indexing.building.update import Changes
from searchlab.indexing.building.workers import write_shards
from searchlab.indexing.index_names import default_folder, lasting_name, resolve
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.manifest import Manifest, commit, new_shards, read_manifest, sweep
from searchlab.records import Document
from searchlab.types import Progress, no_progress

# Documents between two signs of progress.
STEP = 200


@dataclass(frozen=True)
class BuildSummary:
    """What a run did (documents added, updated, left as they were, removed), and the index as it is now."""

    folder: Path
    n_docs: int
    n_added: int
    n_updated: int
    n_unchanged: int
    n_removed: int
    n_duplicates: int
    n_tokens: int
    n_shards: int
    n_dead: int
    n_bytes: int
    seconds: float


def index(
    sources: str | Path | Sequence[str | Path],
    folder: str | Path | None = None,
    *,
    format: str | None = None,
    stemmer: str | None = None,
    stop_list: str | None = None,
    jobs: int | None = None,
    on_duplicate: str = "error",
    strict: bool = False,
    prune: bool = False,
    rebuild: bool = False,
    notes: Notes | None = None,
    progress: Progress = no_progress,
) -> BuildSummary:
    """Index files or folders of documents; `folder` is `indexes/<name of the source>` if not given.

    An index that is there already is updated: new documents are added, changed ones replaced, unchanged ones left
    alone; with `prune`, those that the sources no longer have are removed. `rebuild` makes the index anew
    instead. `stemmer` is porter, snowball or none; `stop_list` default, none or a file of words (by default
    those of the index, or porter and default). `jobs` is the number of processes (all cores by default);
    `on_duplicate` error, keep-first or keep-last. A malformed record is noted and passed over unless `strict`;
    pruning is always strict, since the document of a record that cannot be read would be taken for gone.
    """
    paths = [sources] if isinstance(sources, str | Path) else list(sources)
    if not paths:
        raise SettingError("no sources: expected files or folders of documents")
    if on_duplicate == "keep-last" and "-" in map(str, paths):
        raise SettingError("keep-last reads the source twice, and standard input can be read only once")
    collected = Notes() if notes is None else notes

    def read() -> Iterator[Document]:
        collected.clear()
        return read_documents(paths, format=format, notes=collected, strict=strict or prune)

    return build_index(
        read,
        resolve(folder) if folder is not None else default_folder(paths),
        (stemmer, stop_list),
        sources=[lasting_name(path) for path in paths],
        jobs=jobs,
        on_duplicate=on_duplicate,
        prune=prune,
        rebuild=rebuild,
        progress=progress,
    )


def build_index(
    read: ReadDocuments,
    folder: Path,
    settings: AnalysisSettings | tuple[str | None, str | None] = (None, None),
    *,
    sources: Sequence[str] = (),
    jobs: int | None = None,
    on_duplicate: str = "error",
    prune: bool = False,
    rebuild: bool = False,
    progress: Progress = no_progress,
) -> BuildSummary:
    """Bring all documents that `read()` yields into the index in `folder` (see `index`).

    `settings` may be given as the names of a stemmer and a stop list, None for those that the index has.
    """
    if on_duplicate not in DUPLICATE_RULES:
        raise unknown_name("rule for duplicates", on_duplicate, DUPLICATE_RULES)
    if jobs is not None and jobs < 1:
        raise SettingError(f"jobs is {jobs}, expected 1 or more")
    began = time.perf_counter()
    counter = _Counter(progress)
    documents = counter.count(DUPLICATE_RULES[on_duplicate](read, counter.count_duplicate))
    with writer_lock(folder):
        before = _previous(folder, rebuild=rebuild)
        chosen = _choose_settings(folder, settings, None if rebuild else before)
        with new_shards(folder) as name:
            with nullcontext() if before is None or rebuild else closing(Snapshot(folder)) as old:
                changes = Changes(old)
                written = write_shards(
                    changes.pick(documents), folder, name, chosen, jobs or _cores(), counter.all_read, changes.lookup
                )
                if not counter.n_docs:
                    raise SourceError(", ".join(sources) or "source", "holds no documents")
                if prune:
                    changes.remove_unseen()
                shards = (*changes.records(), *written)
            if before is None or rebuild:
                commit(folder, Manifest(chosen, shards, tuple(sources), before.generation + 1 if before else 1))
            else:
                manifest = before.next(shards, dict.fromkeys([*before.sources, *sources]))
                if (manifest.shards, manifest.sources) != (before.shards, before.sources):
                    commit(folder, manifest)
                merge_where_worth(folder, read_manifest(folder), progress)
    return _summarise(folder, changes, counter.n_duplicates, time.perf_counter() - began)


def delete(name: str | Path, docnos: Iterable[str], *, progress: Progress = no_progress) -> BuildSummary:
    """Remove documents from an index; if it lacks one of them, nothing is removed."""
    began = time.perf_counter()
    folder = existing(name)
    with writer_lock(folder):
        sweep(folder, read_manifest(folder))
        with closing(Snapshot(folder)) as snapshot:
            changes = Changes(snapshot)
            for docno in docnos:
                changes.remove(*snapshot.locate(docno))
            manifest = snapshot.manifest.next(changes.records())
        if changes.n_removed:
            commit(folder, manifest)
            merge_where_worth(folder, manifest, progress)
    return _summarise(folder, changes, 0, time.perf_counter() - began)


def merge(name: str | Path, *, jobs: int = 1, progress: Progress = no_progress) -> BuildSummary:
    """Write all live documents anew as few large shards (at least one for each of `jobs` processes)."""
    if jobs < 1:
        raise SettingError(f"jobs is {jobs}, expected 1 or more")
    began = time.perf_counter()
    folder = existing(name)
    with writer_lock(folder):
        manifest = read_manifest(folder)
        sweep(folder, manifest)
        if len(manifest.shards) > 1 or any(shard.n_dead for shard in manifest.shards):
            merge_shards(folder, manifest, manifest.shards, progress, jobs)
    return _summarise(folder, Changes(None), 0, time.perf_counter() - began)


def existing(name: str | Path) -> Path:
    """The folder of an index that must be there: a mistyped name makes no folder."""
    folder = resolve(name)
    read_manifest(folder)
    return folder


def _previous(folder: Path, *, rebuild: bool) -> Manifest | None:
    """The index that is there; to be made anew, it may be damaged, but not of a later version."""
    try:
        manifest = read_manifest(folder)
    except IndexMissing:
        return None
    except (IndexCorrupt, IndexOutdated):
        if rebuild:
            return None
        raise
    sweep(folder, manifest)
    return manifest


def _choose_settings(
    folder: Path, wanted: AnalysisSettings | tuple[str | None, str | None], before: Manifest | None
) -> AnalysisSettings:
    """The settings to analyse by: an index cannot change its own."""
    if before is None:
        return wanted if isinstance(wanted, AnalysisSettings) else AnalysisSettings.from_names(*_or_defaults(*wanted))
    own = before.settings
    if isinstance(wanted, tuple):
        stemmer, stop_list = wanted
        named = AnalysisSettings.from_names(stemmer or own.stemmer, stop_list or "default")
        wanted = named if stop_list else replace(own, stemmer=named.stemmer)
    if wanted.fingerprint != own.fingerprint:
        raise SettingError(
            f"{folder}: was made with stemmer {own.stemmer} and stop list {own.stop_list}, found stemmer "
            f"{wanted.stemmer} and stop list {wanted.stop_list}; --rebuild makes it anew"
        )
    return own


def _or_defaults(stemmer: str | None, stop_list: str | None) -> tuple[str, str]:
    return stemmer or "porter", stop_list or "default"


def _summarise(folder: Path, changes: Changes, n_duplicates: int, seconds: float) -> BuildSummary:
    with closing(Snapshot(folder)) as snapshot:
        return BuildSummary(
            folder,
            snapshot.n_docs,
            changes.n_added,
            changes.n_updated,
            changes.n_unchanged,
            changes.n_removed,
            n_duplicates,
            snapshot.n_tokens["both"],
            len(snapshot.shards),
            sum(shard.n_dead for shard in snapshot.manifest.shards),
            snapshot.manifest.n_bytes,
            seconds,
        )


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
            if self.n_docs % STEP == 0:
                self.progress("reading", self.n_docs, 0)
            yield document

    def count_duplicate(self) -> None:
        self.n_duplicates += 1

    def all_read(self) -> None:
        """Only writing is left."""
        self.progress("writing", self.n_docs, 0)
