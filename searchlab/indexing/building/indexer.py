"""Building an index from a stream of documents, and changing an existing one.

Documents are checked for duplicate docnos as they are read; those that are new or have changed are analysed and written
as new shards, by one process or several; then the new state is committed at once. If anything fails before that, or the
user interrupts, the new shards are removed and the index is unchanged. What fails after that is a warning.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.analysis.word_rules import STANDARD
from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.document_parts import ReadingSettings
from searchlab.corpus.reading_context import MAX_RECORD_MB
from searchlab.corpus.reading_notes import COPY, DUPLICATE
from searchlab.corpus.values.document_values import split_sources
from searchlab.errors import (
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    SettingError,
    SourceError,
    StoreError,
    unknown_name,
)
from searchlab.indexing.building.duplicates import DUPLICATE_RULES, ReadDocuments
from searchlab.indexing.building.local_build import LocalBuild
from searchlab.indexing.building.merge import merge_shards, merge_small_shards
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.index_names import absolute_source, default_folder, existing_index, index_folder
from searchlab.indexing.parts.cluster_build import ClusterBuild
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.commit import describe
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


@dataclass(frozen=True)
class BuildSummary:
    """What a run changed (documents added, updated, unchanged, removed), and the size of the index after it.

    `warnings` tells what failed without harm to the index: leftovers that could not be removed, a merge after the
    commit, a commit that a power failure could still undo. It also tells if no document has a term. `languages` are
    those of the index with the number of documents in each, the most frequent first.
    """

    folder: Path
    n_docs: int
    n_added: int
    n_updated: int
    n_unchanged: int
    n_removed: int
    n_duplicates: int
    n_tokens: int
    n_shards: int
    n_deleted: int
    n_bytes: int
    seconds: float
    warnings: tuple[str, ...] = ()
    languages: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class AnalysisOptions:
    """How a user wants texts to be analysed; None stands for what the index has, or for the default."""

    stemmer: str | None = None
    stop_list: str | None = None
    ngrams: int | None = None
    analyzer: str | None = None
    language: str | None = None

    def settings(self, existing: AnalysisSettings | None) -> AnalysisSettings:
        """The settings for an index that has been built with other settings, or with none."""
        base = existing or AnalysisSettings()
        ngrams = base.ngrams if self.ngrams is None else self.ngrams
        analyzer, language = self.analyzer or base.analyzer, self.language or base.language
        if (analyzer, language) != (base.analyzer, base.language):
            return AnalysisSettings.from_names(*self._names_beside(analyzer), ngrams, analyzer, language)
        base.require_analyzer()
        stemmer, stop_list = self.stemmer or base.stemmer, self.stop_list or "default"
        named = AnalysisSettings.from_names(stemmer, stop_list, ngrams, analyzer, language)
        return named if self.stop_list else replace(base, stemmer=named.stemmer, ngrams=ngrams)

    def _names_beside(self, analyzer: str) -> tuple[str | None, str]:
        """Stemmer and stop list; an analyzer of a user's own has none unless they are named."""
        if analyzer == STANDARD:
            return self.stemmer, self.stop_list or "default"
        return self.stemmer or "none", self.stop_list or "none"


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
    if not paths and values is None:
        raise SettingError("no sources: expected files or folders of documents, or documents")
    if on_duplicate == "keep-last" and "-" in map(str, paths):
        raise SettingError("keep-last reads the source twice, and standard input can be read only once")
    if values is not None and folder is None:
        raise SettingError("folder is missing, expected one for documents that are given as values")
    if values is not None and on_duplicate == "keep-last" and not values.can_repeat:
        raise SettingError("keep-last reads the documents twice, and an iterator can be read only once")
    reading_notes = ReadingNotes() if notes is None else notes

    target = index_folder(folder) if folder is not None else default_folder(paths)
    options = AnalysisOptions(stemmer, stop_list, ngrams, analyzer, language)
    absolute = [absolute_source(path) for path in paths]
    if cluster is not None:
        if values is not None:
            raise SettingError("documents are given as values, expected files or folders, which a cluster can read")
        _require_rule(on_duplicate)
        reading = ReadingSettings(format, strict, max_record_mb, fields)
        build = ClusterBuild(
            as_cluster(cluster),
            paths,
            reading,
            reading_notes,
            progress,
            on_duplicate=on_duplicate,
            deduplicate=deduplicate,
        )
        return _build(
            build,
            target,
            options,
            sources=absolute,
            deduplicate=deduplicate,
            prune=prune,
            rebuild=rebuild,
            noted=reading_notes,
            progress=progress,
        )

    def read() -> Iterator[Document]:
        reading_notes.clear()
        if values is not None:
            return values.read()
        return read_documents(
            paths,
            format=format,
            notes=reading_notes,
            strict=strict,
            max_record_mb=max_record_mb,
            fields=fields,
            jobs=jobs,
        )

    return build_index(
        read,
        target,
        options,
        sources=absolute,
        jobs=jobs,
        on_duplicate=on_duplicate,
        deduplicate=deduplicate,
        prune=prune,
        rebuild=rebuild,
        notes=reading_notes,
        progress=progress,
    )


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
    _require_rule(on_duplicate)
    noted = ReadingNotes() if notes is None else notes
    build = LocalBuild(read, noted, progress, jobs=jobs, on_duplicate=on_duplicate, deduplicate=deduplicate)
    return _build(
        build,
        folder,
        settings or AnalysisOptions(),
        sources=sources,
        deduplicate=deduplicate,
        prune=prune,
        rebuild=rebuild,
        noted=noted,
        progress=progress,
    )


def _require_rule(on_duplicate: str) -> None:
    if on_duplicate not in DUPLICATE_RULES:
        raise unknown_name("rule for duplicates", on_duplicate, DUPLICATE_RULES)


def _build(
    build: LocalBuild | ClusterBuild,
    folder: Path,
    settings: AnalysisSettings | AnalysisOptions,
    *,
    sources: Sequence[str],
    deduplicate: bool,
    prune: bool,
    rebuild: bool,
    noted: ReadingNotes,
    progress: Progress,
) -> BuildSummary:
    """Let shards be written, and commit them."""
    started = time.perf_counter()
    with writer_lock(folder):
        before, warnings = _read_previous(folder, rebuild=rebuild)
        chosen = _choose_settings(folder, settings, None if rebuild else before)
        is_update = before is not None and not rebuild
        with new_shard_prefix(folder) as prefix:
            with closing(Snapshot(folder)) if is_update else nullcontext() as old:
                changes = IndexChanges(old)
                written = build.write(folder, prefix, chosen, changes, is_update=is_update)
                if not build.n_docs:
                    raise SourceError(", ".join(sources) or "source", "holds no documents")
                if prune and noted.is_complete:
                    changes.remove_unseen(noted.unread_docnos)
                elif prune:
                    warnings.append(_not_pruned(noted))
                shards = (*changes.write_records(), *written)
            if before is None or rebuild:
                manifest = Manifest(chosen, shards, tuple(sources), before.generation + 1 if before else 1)
                warnings += commit_manifest(folder, manifest)
            else:
                manifest = before.next(shards, dict.fromkeys([*before.sources, *sources]))
                if (manifest.shards, manifest.sources) != (before.shards, before.sources):
                    warnings += commit_manifest(folder, manifest)
                else:
                    manifest = before
                warnings += _merge_after_commit(folder, manifest, progress)
        n_left_out = noted.n_events[COPY] + (noted.n_events[DUPLICATE] if deduplicate else 0)
        summary = _summarise(folder, changes, n_left_out, time.perf_counter() - started, warnings)
        if summary.n_docs and not summary.n_tokens:
            problem = f"{folder}: no document has a term, so that no query finds one ({chosen.label})"
            return replace(summary, warnings=(*summary.warnings, problem))
        return summary


def _not_pruned(notes: ReadingNotes) -> str:
    """The warning that nothing was removed, because documents of the index may be in what could not be read."""
    unreadable = [skipped for skipped in notes.skipped if skipped.is_unreadable and not skipped.docno]
    first = f"{unreadable[0].path}: {unreadable[0].reason}" if unreadable else str(notes.bad_records[0])
    return f"nothing was removed, since documents may be in what could not be read, first {first}"


def delete(name: str | Path, docnos: Iterable[str], *, progress: Progress = no_progress) -> BuildSummary:
    """Remove documents from an index; if one of them is not in it, nothing is removed."""
    started = time.perf_counter()
    folder = existing_index(name)
    with writer_lock(folder):
        warnings = remove_unreferenced(folder, read_index_manifest(folder))
        with new_shard_prefix(folder):  # no new shards, but a failure also removes new lists of deleted documents
            with closing(Snapshot(folder)) as snapshot:
                changes = IndexChanges(snapshot)
                for docno in docnos:
                    changes.remove(*snapshot.locate(docno))
                manifest = snapshot.manifest.next(changes.write_records())
            if changes.n_removed:
                warnings += commit_manifest(folder, manifest)
                warnings += _merge_after_commit(folder, manifest, progress)
        return _summarise(folder, changes, 0, time.perf_counter() - started, warnings)


def merge(
    name: str | Path, *, jobs: int = 1, cluster: Cluster | str | None = None, progress: Progress = no_progress
) -> BuildSummary:
    """Write all live documents again as a few large shards.

    `jobs` are written at the same time; or, with a `cluster` or its address, one or more by each of its workers.
    """
    if jobs < 1:
        raise SettingError(f"jobs is {jobs}, expected 1 or more")
    started = time.perf_counter()
    folder = existing_index(name)
    with nullcontext() if cluster is None else as_cluster(cluster) as connected, writer_lock(folder):
        manifest = read_index_manifest(folder)
        warnings = remove_unreferenced(folder, manifest)
        if len(manifest.shards) > 1 or any(shard.n_deleted for shard in manifest.shards):
            warnings += merge_shards(folder, manifest, manifest.shards, progress, jobs, connected).warnings
        return _summarise(folder, IndexChanges(None), 0, time.perf_counter() - started, warnings)


def _merge_after_commit(folder: Path, manifest: Manifest, progress: Progress) -> list[str]:
    """Merge small shards; returns warnings. A merge that fails leaves the committed index as it is."""
    try:
        return merge_small_shards(folder, manifest, progress)
    except (StoreError, OSError, MemoryError) as error:
        problem = f"small shards were not merged ({describe(error)})"
        return [f"{folder}: {problem}; the documents are complete, and the next run or `searchlab merge` tries again"]


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


def _choose_settings(
    folder: Path, wanted: AnalysisSettings | AnalysisOptions, before: Manifest | None
) -> AnalysisSettings:
    """The settings to analyse with; those of an existing index cannot be changed."""
    existing = None if before is None else before.settings
    chosen = wanted.settings(existing) if isinstance(wanted, AnalysisOptions) else wanted
    if existing is None:
        return chosen
    if (chosen.fingerprint, chosen.ngrams) != (existing.fingerprint, existing.ngrams):
        raise SettingError(
            f"{folder}: built with {_describe(existing)}, found {_describe(chosen)}; "
            "rebuild=True (--rebuild) builds it from scratch"
        )
    return existing


def _describe(settings: AnalysisSettings) -> str:
    ngrams = f" and n-grams of {settings.ngrams} characters" if settings.ngrams else ""
    return f"{settings.label}{ngrams}"


def _summarise(
    folder: Path, changes: IndexChanges, n_duplicates: int, seconds: float, warnings: Iterable[str]
) -> BuildSummary:
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
            sum(shard.n_deleted for shard in snapshot.manifest.shards),
            snapshot.manifest.n_bytes,
            seconds,
            tuple(dict.fromkeys(warnings)),
            snapshot.languages,
        )
