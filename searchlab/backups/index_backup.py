"""Making, listing and restoring backups of an index with all that belongs to it.

A backup is one committed state of the index, whatever is indexed or judged meanwhile: the shards of the manifest are
locked as readers lock them, and the judgments are copied by SQLite's backup interface. Files of shards and artefacts
are written once and never changed, so a backup has hard links to them where the file system allows it. Every file is
verified against the checksums of the manifests when a backup is made, and against those of the backup's record when it
is restored. A new backup, and a restored index, appear when they are complete; if anything fails, everything is as it
was.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from searchlab.atomic_file import open_atomic, sync_folder
from searchlab.backups.backup_files import (
    RECORD,
    BackupRecord,
    backups_of,
    check_backup_name,
    find_backup,
    is_within_backup,
    list_backup_names,
    part_beside,
    read_backup_record,
)
from searchlab.corpus.text_cleaning import shown_path
from searchlab.corpus.text_files import read_small_file
from searchlab.errors import IndexCorrupt, SettingError, SourceError, WriteFailed
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.file_sync import sync_file
from searchlab.indexing.storage.layout import IN_USE, MANIFEST
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.manifest import Manifest, commit_manifest, read_index_manifest
from searchlab.json_records import file_table, parse_record, without_checksum
from searchlab.judgments.storage.database import Database
from searchlab.judgments.storage.judgment_backup import SIDE_FILES, copy_database
from searchlab.types import Progress, no_progress

# Commits during the making of a backup can remove files that it needs: then it begins again.
MAX_ATTEMPTS = 5
ARTEFACTS = ("semantic", "topics/*")
# The errors of a file system that has no hard links, or not between these folders.
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class _Copying:
    """Copies files into a folder and verifies them; counts the bytes for the progress bar."""

    def __init__(self, target: Path, stage: str, total: int, progress: Progress, *, link: bool) -> None:
        self.target = target
        self.files: dict[str, tuple[int, int]] = {}
        self._stage, self._total, self._progress = stage, total, progress
        self._link = link
        self._done = 0

    def add(self, source: Path, name: str, expected: tuple[int, int] | None = None, *, immutable: bool) -> None:
        """Copy a file to the path `name`, by a hard link if it is immutable; `expected` is its size and CRC-32."""
        if not is_within_backup(name):
            raise IndexCorrupt(f"{shown_path(source)}: a file outside the index; see `searchlab doctor`")
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (immutable and self._link and _link(source, path)):
            shutil.copyfile(source, path)
        self.record(name)
        if expected is not None and self.files[name] != expected:
            raise IndexCorrupt(f"{shown_path(source)}: not what was written (its checksum differs)")

    def record(self, name: str) -> None:
        """Sync a file of the folder to disk, and record its size and CRC-32."""
        self.files[name] = size, _ = sync_file(self.target / name)
        self._done += size
        self._progress(self._stage, min(self._done, self._total), self._total)


def create_backup(folder: Path, name: str, *, link: bool = True, progress: Progress = no_progress) -> BackupRecord:
    """Make a backup of the index in `folder`; without `link` every file is copied."""
    check_backup_name(name)
    read_index_manifest(folder)
    backup = backups_of(folder) / name
    if backup.exists():
        raise SettingError(f"{shown_path(backup)}: there is a backup of this name already; choose another name")
    with _new_folder(backup) as temporary:
        manifest, copying = _copy_index(folder, temporary, link, progress)
        judgments = part_beside(folder, "judgments.sqlite")
        # A file in which nothing is judged yet is left out.
        with suppress(SourceError), closing(Database(judgments)) as database:
            copy_database(database, temporary / "judgments.sqlite")
            copying.record("judgments.sqlite")
        for part in ("searches.json", "model.json", "ranker.json"):
            if (single := part_beside(folder, part)).is_file():
                copying.add(single, part, immutable=False)
        models = part_beside(folder, "models")
        for path in sorted(models.rglob("*.json")):
            copying.add(path, f"models/{path.relative_to(models).as_posix()}", immutable=False)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        record = BackupRecord(name, made, manifest.generation, manifest.n_docs, copying.files)
        with open_atomic(temporary / RECORD) as file:
            file.write(record.to_text())
    return record


def list_backups(folder: Path) -> list[tuple[str, BackupRecord | IndexCorrupt]]:
    """The backups of an index by name, the oldest first; one whose record cannot be read has its error."""
    found: list[tuple[str, BackupRecord | IndexCorrupt]] = []
    for name in list_backup_names(folder):
        try:
            found.append((name, read_backup_record(backups_of(folder) / name)))
        except IndexCorrupt as error:
            found.append((name, error))
    return sorted(found, key=lambda entry: "" if isinstance(entry[1], IndexCorrupt) else entry[1].made)


def restore_backup(
    folder: Path, name: str, *, force: bool = False, progress: Progress = no_progress
) -> tuple[BackupRecord, Path | None]:
    """Put a backup in the place of the index in `folder` and of what belongs to it.

    Without `force`, nothing that exists is replaced. What the backup does not have stays as it is. A process that is
    writing the index or an artefact of it prevents a restore; readers keep the state that they have opened. Returns the
    record of the backup, and the name under which judgments that were replaced are kept (None if there were none).
    """
    backup = find_backup(folder, name)
    record = read_backup_record(backup)
    existing = [part_beside(folder, part) for part in record.parts if part_beside(folder, part).exists()]
    if existing and not force:
        raise SettingError(f"{shown_path(existing[0])}: exists already; --force replaces it by the backup")
    with (
        _lock_writers(folder),
        _temporary_folder(folder.with_name(f".{folder.name}.restored")) as temporary,
    ):
        # Without the lock, another process may have written an index here since.
        if not force and (folder / MANIFEST).exists():
            raise SettingError(f"{shown_path(folder)}: exists already; --force replaces it by the backup")
        copying = _Copying(temporary, "restoring", record.n_bytes, progress, link=True)
        for path, entry in record.files.items():
            if (backup / path).is_symlink() or not (backup / path).is_file():
                problem = "not a file" if os.path.lexists(backup / path) else "missing"
                raise IndexCorrupt(f"{shown_path(backup / path)}: {problem}; use another backup")
            copying.add(backup / path, path, entry, immutable=_is_immutable(path))
        return record, _exchange(folder, temporary, record.parts)


@contextmanager
def _lock_writers(folder: Path) -> Iterator[None]:
    """Lock an index and its artefacts for writing; a folder that does not exist is made, so that it can be locked."""
    with ExitStack() as stack:
        stack.enter_context(writer_lock(folder))
        for home in sorted(home for pattern in ARTEFACTS for home in folder.glob(pattern) if home.is_dir()):
            stack.enter_context(writer_lock(home))
        yield


def _is_immutable(path: str) -> bool:
    """Whether a file of a backup may be a hard link: not if its index locks, replaces or changes it."""
    return path.startswith("index/") and Path(path).name not in (IN_USE, MANIFEST)


def _exchange(folder: Path, restored: Path, parts: tuple[str, ...]) -> Path | None:
    """Move the restored parts to their places; if a move fails, the moves before it are taken back.

    The replaced parts are removed when all have been replaced. If a move cannot even be taken back, they are still in
    the hidden folder beside the index.
    """
    replaced = folder.with_name(f".{folder.name}.replaced.{secrets.token_hex(4)}")
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    kept = folder.with_name(f"{folder.name}.judgments.replaced-{stamp}.sqlite")
    moves: list[tuple[Path, Path]] = []
    for part in parts:
        place = part_beside(folder, part)
        # A log beside the judgments belongs to the replaced ones.
        for suffix in ("", *SIDE_FILES) if part == "judgments.sqlite" else ("",):
            old = Path(f"{place}{suffix}")
            if old.exists():
                is_judgments = part == "judgments.sqlite"
                moves.append((old, Path(f"{kept}{suffix}") if is_judgments else replaced / part))
        moves.append((restored / part, place))
    done: list[tuple[Path, Path]] = []
    try:
        replaced.mkdir()
        for source, target in moves:
            source.rename(target)
            done.append((source, target))
    except OSError as error:
        for source, target in reversed(done):
            with suppress(OSError):
                target.rename(source)
        with suppress(OSError):
            replaced.rmdir()  # only if it is empty
        if replaced.exists():
            problem = f"{error.strerror or error}); what was replaced is in {shown_path(replaced)}"
            raise WriteFailed(f"{shown_path(folder)}: cannot be written ({problem}") from error
        raise
    sync_folder(folder.parent)
    shutil.rmtree(replaced, ignore_errors=True)
    return kept if kept.exists() else None


def _copy_index(folder: Path, temporary: Path, link: bool, progress: Progress) -> tuple[Manifest, _Copying]:
    """Copy the committed state of the index; if a commit has removed files of it meanwhile, the newer state."""
    n_attempts = 0
    while True:
        n_attempts += 1
        shutil.rmtree(temporary / "index", ignore_errors=True)
        with closing(Snapshot(folder)) as snapshot:
            manifest = snapshot.manifest
            copying = _Copying(temporary, "copying", manifest.n_bytes, progress, link=link)
            try:
                for shard in manifest.shards:
                    for name, entry in {IN_USE: (0, 0), **shard.files}.items():
                        path = f"index/{shard.name}/{name}"
                        copying.add(folder / shard.name / name, path, entry, immutable=_is_immutable(path))
                for home in sorted(home for pattern in ARTEFACTS for home in folder.glob(f"{pattern}/{MANIFEST}")):
                    _copy_artefact(home.parent, f"index/{home.parent.relative_to(folder).as_posix()}", copying)
            except FileNotFoundError as error:
                # Lists of deleted documents and files of artefacts are removed by the commit that replaces them.
                if n_attempts == MAX_ATTEMPTS:
                    raise IndexCorrupt(f"{shown_path(error.filename)}: missing; see `searchlab doctor`") from None
                continue
            (temporary / "index").mkdir(parents=True, exist_ok=True)
            commit_manifest(temporary / "index", manifest)
            copying.record(f"index/{MANIFEST}")
            return manifest, copying


def _copy_artefact(home: Path, name: str, copying: _Copying) -> None:
    content = read_small_file(home / MANIFEST)
    try:
        files = file_table(without_checksum(parse_record(content)), "files")
        if any("/" in file for file in files):
            raise ValueError
    except ValueError:
        raise IndexCorrupt(f"{shown_path(home / MANIFEST)}: damaged; see `searchlab doctor`") from None
    for file, entry in files.items():
        copying.add(home / file, f"{name}/{file}", entry, immutable=True)
    (copying.target / name).mkdir(parents=True, exist_ok=True)
    (copying.target / name / MANIFEST).write_bytes(content)
    copying.record(f"{name}/{MANIFEST}")


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends; if the block fails, nothing is left."""
    existed = folder.parent.exists()
    try:
        with _temporary_folder(folder.with_name(f".{folder.name}")) as temporary:
            yield temporary
            for path in sorted(path for path in temporary.rglob("*") if path.is_dir()):
                sync_folder(path)
            sync_folder(temporary)
            temporary.rename(folder)
            sync_folder(folder.parent)
    finally:
        if not existed:
            with suppress(OSError):
                folder.parent.rmdir()  # only if it is empty


@contextmanager
def _temporary_folder(prefix: Path) -> Iterator[Path]:
    """A new folder, removed at the end; errors of the disk become WriteFailed."""
    folder = prefix.with_name(f"{prefix.name}.{secrets.token_hex(4)}")
    try:
        folder.mkdir(parents=True)
        yield folder
    except OSError as error:
        path = error.filename2 or error.filename or prefix
        raise WriteFailed(f"{shown_path(path)}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _link(source: Path, target: Path) -> bool:
    """Whether a hard link could be made."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in _NO_LINK:
            return False
        raise
    return True
