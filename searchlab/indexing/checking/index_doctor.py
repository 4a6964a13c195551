"""Is an index whole, and if not, what is to be done?

Three questions, each put only where the one before was answered well, so that one damaged file is one finding:

1. Are the files those that were written? The manifest names each, with its size and its CRC-32.
2. Do the columns agree with each other? (`columns_check`)
3. Does Whoosh agree with the columns? (`whoosh_check`)

The index is held as readers hold it: a writer that is at work meanwhile removes nothing of what is examined.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt, IndexOutdated, IndexTooNew
from searchlab.indexing.checking.column_checks import check_columns
from searchlab.indexing.storage.columns import ShardColumns, open_columns
from searchlab.indexing.storage.layout import COLUMNS, DELETED_PREFIX, MANIFEST, SHARD_PREFIX, WHOOSH
from searchlab.indexing.storage.lock import lock_shard
from searchlab.indexing.storage.manifest import Manifest, read_manifest
from searchlab.indexing.storage.shard import ShardRecord, read_alive
from searchlab.indexing.whoosh.comparison import Disagreement, compare_contents, compare_postings, count_postings
from searchlab.types import Array, Progress, no_progress

# Whoosh's postings are compared one by one with the columns, ten microseconds each; where there are more than
# MOST_COMPARED, as many as DRAWN.
MOST_COMPARED = 2_000_000
DRAWN = 500_000
PIECE = 1 << 20
ATTEMPTS = 3
SWEPT = "the next `searchlab index` removes it"
ONLY_SHOWN = f"searching still works, but what is shown of documents may be wrong or missing; {REBUILD}"


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be: where, what, and what to do about it."""

    place: str
    problem: str
    remedy: str = REBUILD
    serious: bool = True

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}; {self.remedy}"


@dataclass(frozen=True)
class Diagnosis:
    """What was found; of Whoosh's `n_postings` postings, `n_compared` were compared one by one with the columns."""

    folder: Path
    n_shards: int
    n_docs: int
    findings: tuple[Finding, ...]
    n_postings: int = 0
    n_compared: int = 0

    @property
    def healthy(self) -> bool:
        """Whether nothing serious was found."""
        return not any(finding.serious for finding in self.findings)


def examine(folder: Path, progress: Progress = no_progress) -> Diagnosis:
    """Look at everything in the index; raises IndexMissing where there is none."""
    for _ in range(ATTEMPTS):
        with ExitStack() as held:
            try:
                manifest = _hold(folder, held)
                diagnosis = _Examination(folder, manifest, progress).diagnose()
                # Of what a commit meanwhile has replaced, a list of the dead may be gone.
                if diagnosis.healthy or read_manifest(folder).generation == manifest.generation:
                    break
            except (IndexCorrupt, IndexTooNew, IndexOutdated) as error:
                return Diagnosis(folder, 0, 0, (Finding(MANIFEST, *_take_apart(error, folder / MANIFEST)),))
    return diagnosis


def _hold(folder: Path, held: ExitStack) -> Manifest:
    """The committed manifest, its shards held; if another is committed meanwhile, that one."""
    manifest = read_manifest(folder)
    while True:
        for record in manifest.shards:
            with suppress(IndexCorrupt, OSError):  # what is missing will be found
                held.callback(os.close, lock_shard(folder / record.name))
        newer = read_manifest(folder)
        if newer.generation == manifest.generation:
            return manifest
        manifest = newer


def _take_apart(error: Exception, path: Path) -> tuple[str, str]:
    """The problem and the remedy that an error's message tells behind the path."""
    problem, _, remedy = str(error).removeprefix(f"{path}: ").partition("; ")
    return problem, remedy or REBUILD


class _Examination:
    """One look at all shards of an index: what was found so far, and how far it has come."""

    def __init__(self, folder: Path, manifest: Manifest, progress: Progress) -> None:
        self._folder = folder
        self._manifest = manifest
        self._progress = progress
        self._findings: list[Finding] = []
        self._columns: dict[str, ShardColumns] = {}

    def _begin(self, stage: str, total: int) -> None:
        self._stage, self._done, self._total = stage, 0, total
        self._tick(0)

    def _tick(self, done: int) -> None:
        self._done += done
        self._progress(self._stage, self._done, self._total)

    def _found(self, shard: str, part: str, problem: str, remedy: str = REBUILD, *, serious: bool = True) -> None:
        self._findings.append(Finding(f"{shard}/{part}", problem, remedy, serious))

    def _is_whole(self, shard: str, part: str) -> bool:
        return not any(found.serious and found.place.startswith(f"{shard}/{part}") for found in self._findings)

    def diagnose(self) -> Diagnosis:
        """Put all questions."""
        shards = self._manifest.shards
        self._find_leftovers()
        self._begin("files", self._manifest.n_bytes)
        for record in shards:
            self._check_files(record)
        self._begin("columns", len(shards))
        for record in shards:
            self._check_columns(record)
            self._tick(1)
        self._find_twins()
        self._begin("documents", sum(columns.n_docs for columns in self._columns.values()))
        self._ask_whoosh(lambda whoosh, columns: compare_contents(whoosh, columns, self._tick))
        n_postings = sum(map(count_postings, self._columns.values()))
        share = 1.0 if n_postings <= MOST_COMPARED else DRAWN / n_postings
        self._begin("postings", int(share * n_postings))
        self._ask_whoosh(lambda whoosh, columns: compare_postings(whoosh, columns, share, self._tick))
        return Diagnosis(
            self._folder, len(shards), self._manifest.n_docs, tuple(self._findings), n_postings, self._done
        )

    def _find_leftovers(self) -> None:
        named = {record.name for record in self._manifest.shards}
        for path in sorted(self._folder.glob(f"{SHARD_PREFIX}*")):
            if path.name not in named:
                problem = "a shard that the manifest does not name: of a run that was interrupted, or is under way"
                self._findings.append(Finding(path.name, problem, SWEPT, serious=False))
        if (self._folder / f"{MANIFEST}.new").exists():
            self._findings.append(Finding(f"{MANIFEST}.new", "a manifest that was not committed", SWEPT, serious=False))

    def _check_files(self, record: ShardRecord) -> None:
        shard = self._folder / record.name
        for name, (size, checksum) in record.files.items():
            try:
                n_bytes = (shard / name).stat().st_size
                if n_bytes != size:
                    self._found(record.name, name, f"{n_bytes} bytes, expected {size}")
                elif self._checksum(shard / name) != checksum:
                    remedy = ONLY_SHOWN if name.startswith(f"{WHOOSH}/") else REBUILD
                    self._found(record.name, name, "not what was written (its checksum differs)", remedy)
            except FileNotFoundError:
                self._found(record.name, name, "missing")
            except OSError as error:
                self._found(record.name, name, f"cannot be read ({error.strerror})")
        for path in sorted(shard.rglob("*")):
            name = path.relative_to(shard).as_posix()
            if name not in record.files and not path.is_dir():
                remedy = SWEPT if name.startswith(DELETED_PREFIX) else "remove it"
                self._found(record.name, name, "a file that the manifest does not name", remedy, serious=False)

    def _checksum(self, path: Path) -> int:
        checksum = 0
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                checksum = zlib.crc32(piece, checksum)
                self._tick(len(piece))
        return checksum

    def _check_columns(self, record: ShardRecord) -> None:
        """Ask the columns of a shard, and keep them if they are well."""
        if not self._is_whole(record.name, COLUMNS):
            return
        path = self._folder / record.name / COLUMNS
        try:
            columns = open_columns(path)
            doubts = check_columns(columns)
        except (IndexCorrupt, ValueError, IndexError, TypeError) as error:
            self._found(record.name, COLUMNS, *_take_apart(error, path))
            return
        for column, problem in doubts:
            self._found(record.name, COLUMNS, f"{column} {problem}")
        if columns.n_docs != record.n_docs:
            self._found(record.name, COLUMNS, f"{columns.n_docs} documents, expected {record.n_docs}")
        elif not doubts:
            self._columns[record.name] = columns

    def _find_live(self, record: ShardRecord) -> Array | None:
        """The numbers of a shard's live documents, None if they cannot be known."""
        if record.dead and not self._is_whole(record.name, record.dead):
            return None
        try:
            alive = read_alive(self._folder / record.name, record)
        except IndexCorrupt as error:
            self._found(record.name, record.dead, *_take_apart(error, self._folder / record.name / record.dead))
            return None
        return np.arange(record.n_docs) if alive is None else np.flatnonzero(alive)

    def _find_twins(self) -> None:
        """Is any docno alive in two shards? Their hashes are compared, eight bytes each, and then the few suspects."""
        asked = [record for record in self._manifest.shards if record.name in self._columns]
        live = {record.name: found for record in asked if (found := self._find_live(record)) is not None}

        def docnos() -> Iterator[tuple[str, str]]:
            for name, numbers in live.items():
                for docno in self._columns[name].docnos.take(numbers):
                    yield name, docno

        hashes = np.sort(np.fromiter((hash(docno) for _, docno in docnos()), np.int64))
        suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        homes: dict[str, str] = {}
        twins: dict[str, list[str]] = {}
        for name, docno in docnos() if suspects else ():
            if hash(docno) in suspects and homes.setdefault(docno, name) != name:
                twins.setdefault(name, []).append(docno)
        for name, doubled in twins.items():
            problem = f"{len(doubled)} documents are alive in other shards too, such as {doubled[0]!r}"
            self._findings.append(Finding(name, problem))

    def _ask_whoosh(self, compare: Callable[[Path, ShardColumns], Disagreement | None]) -> None:
        for name, columns in self._columns.items():
            if self._is_whole(name, WHOOSH) and (found := compare(self._folder / name / WHOOSH, columns)):
                self._found(name, found.part, found.problem, ONLY_SHOWN)
