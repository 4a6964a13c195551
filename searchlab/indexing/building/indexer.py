"""Building an index from a stream of documents, and changing an existing one.

Documents are checked for duplicate docnos as they are read; those that are new or have changed are analysed and written
as new shards, by one process or several; then the new state is committed at once. If anything fails before that, or the
user interrupts, the new shards are removed and the index is unchanged. What fails after that is a warning.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.document_parts import ReadingSettings
from searchlab.corpus.reading_context import MAX_RECORD_MB
from searchlab.corpus.reading_notes import COPY, DUPLICATE
from searchlab.corpus.values.document_values import DocumentValues, split_sources
from searchlab.errors import IndexCorrupt, IndexMissing, IndexOutdated, SettingError, SourceError
from searchlab.indexing.building.analysis_options import AnalysisOptions, choose_settings
from searchlab.indexing.building.build_options import BuildOptions
from searchlab.indexing.building.build_summary import BuildSummary, summarise
from searchlab.indexing.building.local_build import LocalBuild
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.deduplication.duplicates import ReadDocuments
from searchlab.indexing.index_names import absolute_source, default_folder, index_folder
from searchlab.indexing.merging.merge import merge_after_commit
from searchlab.indexing.parts.cluster_build import ClusterBuild
from searchlab.indexing.parts.process_build import ProcessBuild
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.manifest import (
    Manifest,
    commit_manifest,
    new_shard_prefix,
    read_index_manifest,
    remove_unreferenced,
)
from searchlab.records import Document
from searchlab.types import Progress, no_progress


def index(
    sources: Any,
    folder: str | Path | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    format: str | None = None,
    stemmer: str | None = None,
    stop_list: str | None = None,
    ngrams: int | None = None,
    analyzer: str | None = None,
    language: str | None = None,
    jobs: int | None = None,
    on_duplicate: str = "keep-all",
    deduplicate: bool = False,
    strict: bool = False,
    max_record_mb: float = MAX_RECORD_MB,
    prune: bool = False,
    rebuild: bool = False,
    cluster: Cluster | str | None = None,
    notes: ReadingNotes | None = None,
    progress: Progress = no_progress,
) -> BuildSummary:
    """Index files or folders of documents, or documents: an iterable of dicts or `Document`s, or a DataFrame.

    `folder` is `indexes/<name of the source>` if not given, which it must be for documents that are values. It can also
    be a name without a slash, which stands for a folder in `indexes/`.

    Documents that are values are streamed; the keys of dicts and the columns of a DataFrame are read as those of JSON
    lines, and `fields` has other names for them, such as {"title": "Article Title"}, also for files that are tables. An
    item that is not a document is an error. None and NaN are left out.

    An existing index is updated: new documents are added, changed ones replaced, unchanged ones left alone; with
    `prune`, those that the sources no longer have are removed. `rebuild` builds the index from scratch instead.
    `language` is that of the documents, such as german, or none (by default that of the index, or english); with auto,
    or several with commas between them, that of each document is detected. `stemmer` is porter, snowball, the name of a
    language, or none; `stop_list` default, none or a file of words (by default those of the index, or those of the
    language). `ngrams` is the number of characters of n-grams that are indexed beside the words, 0 for none (by default
    that of the index, or 0). `analyzer` is the name of one of your own (see `searchlab.analyzer`), with which stemmer
    and stop list are none by default. `jobs` is the number of processes (all cores by default);
    `on_duplicate` is keep-all, error, keep-first or keep-last. Of documents with one docno, keep-all gives those with
    other content docnos of their own. Records of the same publication (by DOI, PMID, or title, year and first author)
    are noted; with `deduplicate` only the first is indexed. A malformed record, or one of more than `max_record_mb`
    megabytes, is noted and skipped unless `strict`; so is a file of a folder that cannot be read. Then `prune` removes
    nothing and warns, since what could not be read may hold documents of the index.

    With a `cluster`, or its address, its workers read the files and write the shards; the sources and the folder must
    lie on storage that all of them see. The index has the same documents, statistics and scores.
    """
    paths, values = split_sources(sources, fields)
    options = BuildOptions(on_duplicate, deduplicate, prune, rebuild)
    _check_sources(paths, values, folder, options)
    reading = ReadingSettings(format, strict, max_record_mb, fields)
    collection = _Collection(paths, values, reading, ReadingNotes() if notes is None else notes)
    build: LocalBuild | ProcessBuild | ClusterBuild
    if cluster is None:
        build = local = LocalBuild(lambda: collection.read(jobs), collection.notes, progress, options, jobs=jobs)
        if values is None and local.jobs > 1:
            build = ProcessBuild(paths, reading, collection.notes, progress, options, local)
    elif values is not None:
        raise SettingError("documents are given as values, expected files or folders, which a cluster can read")
    else:
        build = ClusterBuild(as_cluster(cluster), paths, reading, collection.notes, progress, options)
    target = index_folder(folder) if folder is not None else default_folder(paths)
    analysis = AnalysisOptions(stemmer, stop_list, ngrams, analyzer, language)
    absolute = [absolute_source(path) for path in paths]
    return _build(build, target, analysis, absolute, options, collection.notes, progress)


@dataclass(frozen=True)
class _Collection:
    """Documents to be read, from files or from values, and notes of their reading."""

    paths: Sequence[str | Path]
    values: DocumentValues | None
    reading: ReadingSettings
    notes: ReadingNotes

    def read(self, jobs: int | None) -> Iterator[Document]:
        """Read all documents from the first one on; binary documents with `jobs` processes."""
        self.notes.clear()
        if self.values is not None:
            return self.values.read()
        return read_documents(
            self.paths,
            format=self.reading.format,
            notes=self.notes,
            strict=self.reading.strict,
            max_record_mb=self.reading.max_record_mb,
            fields=self.reading.fields,
            jobs=jobs,
        )


def _check_sources(
    paths: Sequence[str | Path], values: DocumentValues | None, folder: str | Path | None, options: BuildOptions
) -> None:
    """Raise SettingError for sources that cannot be indexed as the user wants."""
    if not paths and values is None:
        raise SettingError("no sources: expected files or folders of documents, or documents")
    reads_twice = options.on_duplicate == "keep-last"
    if reads_twice and "-" in map(str, paths):
        raise SettingError("keep-last reads the source twice, and standard input can be read only once")
    if values is not None and folder is None:
        raise SettingError("folder is missing, expected one for documents that are given as values")
    if values is not None and reads_twice and not values.can_repeat:
        raise SettingError("keep-last reads the documents twice, and an iterator can be read only once")


def build_index(
    read: ReadDocuments,
    folder: Path,
    settings: AnalysisSettings | AnalysisOptions | None = None,
    *,
    sources: Sequence[str] = (),
    jobs: int | None = None,
    on_duplicate: str = "error",
    deduplicate: bool = False,
    prune: bool = False,
    rebuild: bool = False,
    notes: ReadingNotes | None = None,
    progress: Progress = no_progress,
) -> BuildSummary:
    """Index all documents that `read()` yields into `folder` (see `index`).

    `settings` can be options as users give them; those of the index are kept where none are given.
    """
    options = BuildOptions(on_duplicate, deduplicate, prune, rebuild)
    noted = ReadingNotes() if notes is None else notes
    build = LocalBuild(read, noted, progress, options, jobs=jobs)
    return _build(build, folder, settings or AnalysisOptions(), sources, options, noted, progress)


def _build(
    build: LocalBuild | ProcessBuild | ClusterBuild,
    folder: Path,
    settings: AnalysisSettings | AnalysisOptions,
    sources: Sequence[str],
    options: BuildOptions,
    noted: ReadingNotes,
    progress: Progress,
) -> BuildSummary:
    """Let shards be written, and commit them."""
    started = time.perf_counter()
    with writer_lock(folder):
        before, warnings = _read_previous(folder, rebuild=options.rebuild)
        chosen = choose_settings(folder, settings, None if options.rebuild else before)
        is_update = before is not None and not options.rebuild
        with new_shard_prefix(folder) as prefix:
            with closing(Snapshot(folder)) if is_update else nullcontext() as old:
                changes = IndexChanges(old)
                written = build.write(folder, prefix, chosen, changes, is_update=is_update)
                if not build.n_docs:
                    raise SourceError(", ".join(sources) or "source", "holds no documents")
                if options.prune and noted.is_complete:
                    changes.remove_unseen(noted.unread_docnos)
                elif options.prune:
                    warnings.append(_not_pruned(noted))
                shards = (*changes.write_records(), *written)
            if before is None or options.rebuild:
                manifest = Manifest(chosen, shards, tuple(sources), before.generation + 1 if before else 1)
                warnings += commit_manifest(folder, manifest)
            else:
                manifest = before.next(shards, dict.fromkeys([*before.sources, *sources]))
                if (manifest.shards, manifest.sources) != (before.shards, before.sources):
                    warnings += commit_manifest(folder, manifest)
                else:
                    manifest = before
                warnings += merge_after_commit(folder, manifest, progress)
        n_left_out = noted.n_events[COPY] + (noted.n_events[DUPLICATE] if options.deduplicate else 0)
        summary = summarise(folder, changes, n_left_out, time.perf_counter() - started, warnings)
        if summary.n_docs and not summary.n_tokens:
            problem = f"{folder}: no document has a term, so that no query finds one ({chosen.label})"
            return replace(summary, warnings=(*summary.warnings, problem))
        return summary


def _not_pruned(notes: ReadingNotes) -> str:
    """The warning that nothing was removed, because documents of the index may be in what could not be read."""
    unreadable = [skipped for skipped in notes.skipped if skipped.is_unreadable and not skipped.docno]
    first = f"{unreadable[0].path}: {unreadable[0].reason}" if unreadable else str(notes.bad_records[0])
    return f"nothing was removed, since documents may be in what could not be read, first {first}"


def _read_previous(folder: Path, *, rebuild: bool) -> tuple[Manifest | None, list[str]]:
    """The manifest of the existing index, None if there is none; for a rebuild the index may be damaged or outdated.

    Also warnings: leftovers that could not be removed.
    """
    try:
        manifest = read_index_manifest(folder)
    except IndexMissing:
        return None, []
    except (IndexCorrupt, IndexOutdated):
        if rebuild:
            return None, []
        raise
    return manifest, remove_unreferenced(folder, manifest)
