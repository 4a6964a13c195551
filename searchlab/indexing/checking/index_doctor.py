"""Index doctor: examines an index for damage and says what to do about it.

There are four checks, each made only where the one before found nothing, so that one damaged file is one finding:

1. The files are those that were written: the manifest has the size and CRC-32 of each.
2. The columns agree with each other (`column_checks`).
3. Each stored document has the digest that the columns give it.
4. The Whoosh index agrees with the columns (`whoosh/column_comparison`).

The shards are locked as readers lock them, so that a concurrent writer removes nothing that is being examined.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.corpus.text_files import open_regular_file
from searchlab.errors import CHECK_DISK, REBUILD, IndexCorrupt, IndexOutdated, IndexTooNew, SettingError, StoreError
from searchlab.indexing.checking.column_checks import check_columns
from searchlab.indexing.checking.diagnosis import (
    AFFECTS_DISPLAY,
    AFFECTS_WHOOSH,
    REMEDIES,
    REMOVED_BY_NEXT_RUN,
    Diagnosis,
    IndexFinding,
    ShardFindings,
)
from searchlab.indexing.storage.columns import ShardColumns, open_columns
from searchlab.indexing.storage.documents.digest import digest
from searchlab.indexing.storage.documents.stored_documents import StoredDocuments
from searchlab.indexing.storage.layout import (
    COLUMNS,
    DELETED_PREFIX,
    MANIFEST,
    SHARD_PREFIX,
    STORED_DOCUMENTS,
    UNCOMMITTED_MANIFEST,
    WHOOSH,
)
from searchlab.indexing.storage.lock import lock_shard, unlock
from searchlab.indexing.storage.manifest import Manifest, read_index_manifest
from searchlab.indexing.storage.shard import ShardRecord, read_live
from searchlab.indexing.whoosh.column_comparison import (
    WhooshMismatch,
    compare_contents,
    compare_postings,
    count_postings,
)
from searchlab.types import Array, Progress, no_progress

# Whoosh's postings are compared one by one with the columns, ten microseconds each; if there are more than
# MAX_COMPARED_POSTINGS, a sample of SAMPLED_POSTINGS.
MAX_COMPARED_POSTINGS = 2_000_000
SAMPLED_POSTINGS = 500_000
READ_BYTES = 1 << 20
MAX_ATTEMPTS = 3


def examine(folder: Path, progress: Progress = no_progress, *, cluster: Cluster | str | None = None) -> Diagnosis:
    """Examine the index in `folder`; raises IndexMissing if there is none.

    With a `cluster`, or its address, each shard is examined by one of its workers.
    """
    connected = None if cluster is None else as_cluster(cluster)
    for _ in range(MAX_ATTEMPTS):
        with ExitStack() as locks:
            if connected is not None:
                locks.enter_context(connected)
            try:
                manifest = _lock_shards(folder, locks)
                diagnosis = _Examination(folder, manifest, progress, connected).diagnose()
                # A commit meanwhile may have removed a list of deleted documents: then examine again.
                if diagnosis.healthy or read_index_manifest(folder) == manifest:
                    break
            except (IndexCorrupt, IndexTooNew, IndexOutdated) as error:
                return Diagnosis(folder, 0, 0, (IndexFinding(MANIFEST, *_split_message(error, folder / MANIFEST)),))
    return diagnosis


def _lock_shards(folder: Path, locks: ExitStack) -> Manifest:
    """Lock the shards of the committed manifest and return it; if another is committed meanwhile, that one."""
    manifest = read_index_manifest(folder)
    while True:
        for record in manifest.shards:
            with suppress(StoreError):  # missing files are found later
                descriptor = lock_shard(folder / record.name)
                if descriptor is not None:
                    locks.callback(unlock, descriptor)
        newer = read_index_manifest(folder)
        if newer == manifest:
            return manifest
        manifest = newer


def _split_message(error: Exception, path: Path) -> tuple[str, str]:
    """The problem and the remedy in the message of an error about `path`."""
    problem, _, remedy = str(error).removeprefix(f"{path}: ").partition("; ")
    return problem, remedy or REBUILD


def examine_shard(folder: Path, manifest: Manifest) -> ShardFindings:
    """Examine the only shard of a manifest: its files, columns and stored documents."""
    examination = _Examination(folder, manifest)
    (record,) = manifest.shards
    stages = []
    examination._begin("files", manifest.n_bytes)
    for check in (examination._check_files, examination._check_columns, examination._check_stored):
        n_before = len(examination._findings)
        check(record)
        stages.append(tuple(examination._findings[n_before:]))
    files, columns, documents = stages
    return ShardFindings(files, columns, documents, bool(examination._columns))


def compare_shard(
    folder: Path, manifest: Manifest, damage: tuple[IndexFinding, ...], share: float | None
) -> tuple[tuple[IndexFinding, ...], int]:
    """Compare the only shard of a manifest with Whoosh: its contents, or a share of its postings if that is given.

    `damage` has been found before. Returns what is found now, and the number of postings compared.
    """
    examination = _Examination(folder, manifest)
    examination._findings = list(damage)
    (record,) = manifest.shards
    examination._columns = {record.name: open_columns(folder / record.name / COLUMNS)}
    examination._begin("Whoosh", 0)
    examination._compare(share)
    return tuple(examination._findings[len(damage) :]), examination._done


class _Examination:
    """One examination of the shards of an index: its findings so far, and its progress."""

    def __init__(
        self, folder: Path, manifest: Manifest, progress: Progress = no_progress, cluster: Cluster | None = None
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._progress = progress
        self._cluster = cluster
        self._findings: list[IndexFinding] = []
        self._columns: dict[str, ShardColumns] = {}

    def _begin(self, stage: str, total: int) -> None:
        self._stage, self._done, self._total = stage, 0, total
        self._tick(0)

    def _tick(self, done: int) -> None:
        self._done += done
        self._progress(self._stage, self._done, self._total)

    def _add_finding(self, shard: str, part: str, problem: str, remedy: str = REBUILD, *, serious: bool = True) -> None:
        self._findings.append(IndexFinding(f"{shard}/{part}", problem, remedy, serious))

    def _is_undamaged(self, shard: str, part: str) -> bool:
        return not any(finding.serious and finding.location.startswith(f"{shard}/{part}") for finding in self._findings)

    def diagnose(self) -> Diagnosis:
        """Make all checks."""
        shards = self._manifest.shards
        self._find_leftovers()
        if self._cluster is None:
            self._check_shards()
        else:
            self._check_shards_on(self._cluster)
        settings = self._manifest.settings
        try:
            settings.require_analyzer()
        except SettingError as error:
            problem, _, remedy = str(error).rpartition(": ")
            self._findings.append(IndexFinding(MANIFEST, problem, remedy))
            return Diagnosis(self._folder, len(shards), self._manifest.n_docs, tuple(self._findings))
        n_postings = sum(map(count_postings, self._columns.values()))
        share = 1.0 if n_postings <= MAX_COMPARED_POSTINGS else SAMPLED_POSTINGS / n_postings
        n_docs = sum(columns.n_docs for columns in self._columns.values())
        for stage, total, each in (("Whoosh", n_docs, None), ("postings", int(share * n_postings), share)):
            self._begin(stage, total)
            if self._cluster is None:
                self._compare(each)
            else:
                self._compare_on(self._cluster, each)
        findings = tuple(self._findings)
        return Diagnosis(
            self._folder, len(shards), self._manifest.n_docs, findings, n_postings, self._done, settings.language
        )

    def _check_shards(self) -> None:
        """Check files, columns and stored documents of all shards."""
        shards = self._manifest.shards
        self._begin("files", self._manifest.n_bytes)
        for record in shards:
            self._check_files(record)
        self._begin("columns", len(shards))
        for record in shards:
            self._check_columns(record)
            self._tick(1)
        self._find_duplicates()
        self._begin("documents", sum(columns.n_docs for columns in self._columns.values()))
        for record in shards:
            self._check_stored(record)

    def _check_shards_on(self, cluster: Cluster) -> None:
        """The same, each shard by a worker; the docnos of all shards are compared here."""
        cluster.check_sources([self._folder])
        cluster.check_contents([self._folder / MANIFEST])
        self._begin("shards", len(self._manifest.shards))
        names = [record.name for record in self._manifest.shards]
        found = cluster.run(examine_shard, self._calls(), places=names, on_done=lambda _, __: self._tick(1))
        for stage in ("files", "columns"):
            for findings in found:
                self._findings += getattr(findings, stage)
        for record, findings in zip(self._manifest.shards, found, strict=True):
            if findings.is_readable:
                self._columns[record.name] = open_columns(self._folder / record.name / COLUMNS)
        self._find_duplicates()
        for findings in found:
            self._findings += findings.documents

    def _calls(self) -> list[tuple[Path, Manifest]]:
        return [(self._folder.absolute(), replace(self._manifest, shards=(each,))) for each in self._manifest.shards]

    def _compare(self, share: float | None) -> None:
        """Compare contents with Whoosh, or a share of the postings if that is given."""
        settings = self._manifest.settings
        if share is None:
            self._compare_with_whoosh(lambda whoosh, columns: compare_contents(whoosh, settings, columns, self._tick))
        else:
            self._compare_with_whoosh(
                lambda whoosh, columns: compare_postings(whoosh, settings, columns, share, self._tick)
            )

    def _compare_on(self, cluster: Cluster, share: float | None) -> None:
        damage = tuple(self._findings)
        calls = [(*call, damage, share) for call in self._calls() if call[1].shards[0].name in self._columns]
        # The same workers as before have the files in memory.
        for findings, n_done in cluster.run(compare_shard, calls, places=list(self._columns)):
            self._findings += findings
            self._tick(n_done)

    def _find_leftovers(self) -> None:
        named = {record.name for record in self._manifest.shards}
        for path in sorted(self._folder.glob(f"{SHARD_PREFIX}*")):
            if path.name not in named:
                problem = "a shard that the manifest does not name, of a run that was interrupted or is in progress"
                self._findings.append(IndexFinding(path.name, problem, REMOVED_BY_NEXT_RUN, serious=False))
        if (self._folder / UNCOMMITTED_MANIFEST).exists():
            problem = "a manifest that was not committed"
            self._findings.append(IndexFinding(UNCOMMITTED_MANIFEST, problem, REMOVED_BY_NEXT_RUN, serious=False))

    def _check_files(self, record: ShardRecord) -> None:
        shard = self._folder / record.name
        for name, (size, checksum) in record.files.items():
            try:
                n_bytes = (shard / name).stat().st_size
                if n_bytes != size:
                    self._add_finding(record.name, name, f"{n_bytes} bytes, expected {size}")
                elif self._checksum(shard / name) != checksum:
                    remedy = REMEDIES.get(name.partition("/")[0], REBUILD)
                    self._add_finding(record.name, name, "not what was written (its checksum differs)", remedy)
            except FileNotFoundError:
                self._add_finding(record.name, name, "missing")
            except OSError as error:
                self._add_finding(record.name, name, f"cannot be read ({error.strerror})", CHECK_DISK)
        for path in sorted(shard.rglob("*")):
            name = path.relative_to(shard).as_posix()
            if name not in record.files and not path.is_dir():
                remedy = REMOVED_BY_NEXT_RUN if name.startswith(DELETED_PREFIX) else "remove it"
                self._add_finding(record.name, name, "a file that the manifest does not name", remedy, serious=False)

    def _checksum(self, path: Path) -> int:
        checksum = 0
        with os.fdopen(open_regular_file(path), "rb") as file:
            while piece := file.read(READ_BYTES):
                checksum = zlib.crc32(piece, checksum)
                self._tick(len(piece))
        return checksum

    def _check_columns(self, record: ShardRecord) -> None:
        """Check the columns of a shard, and keep them if nothing is wrong with them."""
        if not self._is_undamaged(record.name, COLUMNS):
            return
        path = self._folder / record.name / COLUMNS
        try:
            columns = open_columns(path)
            findings = check_columns(columns)
        except (IndexCorrupt, ValueError, IndexError, TypeError) as error:
            self._add_finding(record.name, COLUMNS, *_split_message(error, path))
            return
        for column, problem in findings:
            self._add_finding(record.name, COLUMNS, f"{column} {problem}")
        if columns.n_docs != record.n_docs:
            self._add_finding(record.name, COLUMNS, f"{columns.n_docs} documents, expected {record.n_docs}")
        elif not findings:
            self._columns[record.name] = columns

    def _check_stored(self, record: ShardRecord) -> None:
        """Compare each stored document with its digest in the columns, if these can be read."""
        shard, columns = record.name, self._columns.get(record.name)
        if columns is None or not self._is_undamaged(shard, STORED_DOCUMENTS):
            return
        path = self._folder / shard / STORED_DOCUMENTS
        try:
            stored = StoredDocuments(path, columns.docnos)
            for number in range(columns.n_docs):
                if digest(stored.document(number)) != columns.digests[number].tobytes():
                    docno = columns.docnos[number]
                    problem = f"{docno!r} does not have the digest that the columns give it"
                    self._add_finding(shard, STORED_DOCUMENTS, problem, AFFECTS_DISPLAY)
                    return
                self._tick(1)
        except IndexCorrupt as error:
            self._add_finding(shard, STORED_DOCUMENTS, *_split_message(error, path))

    def _find_live(self, record: ShardRecord) -> Array | None:
        """The numbers of a shard's live documents, None if their list is damaged."""
        if record.deleted_file and not self._is_undamaged(record.name, record.deleted_file):
            return None
        try:
            live = read_live(self._folder / record.name, record)
        except IndexCorrupt as error:
            self._add_finding(
                record.name,
                record.deleted_file,
                *_split_message(error, self._folder / record.name / record.deleted_file),
            )
            return None
        return np.arange(record.n_docs) if live is None else np.flatnonzero(live)

    def _find_duplicates(self) -> None:
        """Find docnos that are live in two shards: by their hashes, eight bytes each, then by the few equal ones."""
        records = [record for record in self._manifest.shards if record.name in self._columns]
        live = {record.name: docs for record in records if (docs := self._find_live(record)) is not None}

        def docnos() -> Iterator[tuple[str, str]]:
            for name, numbers in live.items():
                for docno in self._columns[name].docnos.take(numbers):
                    yield name, docno

        hashes = np.sort(np.fromiter((hash(docno) for _, docno in docnos()), np.int64))
        suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        shard_of: dict[str, str] = {}
        duplicates: dict[str, list[str]] = {}
        for name, docno in docnos() if suspects else ():
            if hash(docno) in suspects and shard_of.setdefault(docno, name) != name:
                duplicates.setdefault(name, []).append(docno)
        for name, repeated in duplicates.items():
            problem = f"{len(repeated)} documents are live in other shards too, such as {repeated[0]!r}"
            self._findings.append(IndexFinding(name, problem))

    def _compare_with_whoosh(self, compare: Callable[[Path, ShardColumns], WhooshMismatch | None]) -> None:
        for name, columns in self._columns.items():
            if not self._is_undamaged(name, STORED_DOCUMENTS):
                continue
            if self._is_undamaged(name, WHOOSH) and (mismatch := compare(self._folder / name / WHOOSH, columns)):
                self._add_finding(name, mismatch.part, mismatch.problem, AFFECTS_WHOOSH)
