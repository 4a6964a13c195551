"""Uploads: documents that a browser sends, stored in a folder of the server and indexed by a process of their own.

    UPLOADS/NAME/…              the files, with the folders that they had
    UPLOADS/NAME.upload.json    how far the upload is
    UPLOADS/NAME.report.csv     what the reading skipped or guessed
    UPLOADS/.receiving/…        files that are being received

Names come from strangers (`upload_paths.py`). A file is written to disk as it arrives, and appears under its name when
it is complete; files are only created, never replaced; number and size are bounded, those of earlier servers included.
Archives are not unpacked: `searchlab index` reads them within its own limits, as it reads every document.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from searchlab.errors import SearchlabError, WriteFailed
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.uploads.upload_paths import check_upload_name, check_upload_path
from searchlab.web.uploads.upload_process import (
    finish_process,
    hide_folders,
    read_events,
    start_indexing,
    start_semantic_space,
)
from searchlab.web.uploads.upload_records import (
    DONE,
    FAILED,
    INDEXING,
    RECEIVING,
    Upload,
    read_uploads,
    record_file,
    write_record,
)

MEGABYTE = 2**20
MAX_FILE_MB = 100
MAX_UPLOAD_MB = 500
MAX_UPLOADS_MB = 4000
MAX_FILES = 5000
# Uploads that are indexed at a time, each by a process.
MAX_INDEXING = 2
# Files that are received at a time; the bytes of each that are in memory are few.
MAX_RECEIVING = 8
# An upload that is not indexed and got no file for this long was given up.
MAX_IDLE_SECONDS = 24 * 3600
# A file takes less time to arrive; what is older was left by a server that was killed.
MAX_RECEIVING_SECONDS = 3600

RECEIVED_FOLDER = ".receiving"

log = logging.getLogger(__name__)


class Uploads:
    """The uploads in a folder; `index_parent` gets their indexes, each of which is passed to `on_index`."""

    def __init__(self, folder: Path, index_parent: Path) -> None:
        self.folder = folder
        self.index_parent = index_parent
        self.on_index: Callable[[Path], None] = lambda index: None
        self._lock = threading.Lock()
        self._uploads = read_uploads(folder, index_parent)
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._threads: dict[str, threading.Thread] = {}
        # Semantic spaces are made one at a time.
        self._space_turn = threading.Lock()
        self._is_closed = False
        self._n_receiving = 0
        self._sweep()

    @property
    def indexes(self) -> list[Path]:
        """The indexes that uploads have become, and that are still there."""
        made = [self.index_parent / upload.name for upload in self._uploads.values() if upload.state == DONE]
        return [index for index in made if (index / MANIFEST).is_file()]

    def start(self, name: str) -> dict[str, Any]:
        """Begin an upload, whose index will have this name."""
        check_upload_name(name)
        self._sweep()
        with self._lock:
            self._make_folder(self.folder)  # first: an index must not have its name
            if name in self._uploads or (self.folder / name).exists() or (self.index_parent / name).exists():
                message = f"there is already an index or upload {name!r}: choose another name"
                raise HttpError(409, message, field="name")
            self._make_folder(self.folder / name)
            self._uploads[name] = Upload(name, touched=time.time())
            write_record(self.folder, self._uploads[name])
        return self.describe(name)

    @contextmanager
    def receive(self, name: str, path: str, n_bytes: int) -> Iterator[Path]:
        """A new empty file, to be filled and passed to `add_file`; it is deleted at the end.

        An upload that cannot take a file of this path and size is an error before anything is received.
        """
        check_upload_path(path)
        with self._lock:
            upload = self._require_open(name)
            self._check_bounds(upload, n_bytes)
            if self._n_receiving >= MAX_RECEIVING:
                raise HttpError(503, f"{MAX_RECEIVING} files are being received: try again in a moment")
            self._n_receiving += 1
        try:
            home = self.folder / RECEIVED_FOLDER
            self._make_folder(home)
            descriptor, created = tempfile.mkstemp(dir=home)
            os.close(descriptor)
            try:
                yield Path(created)
            finally:
                Path(created).unlink(missing_ok=True)
        finally:
            with self._lock:
                self._n_receiving -= 1

    def add_file(self, name: str, path: str, content: Path) -> dict[str, Any]:
        """Take a file that was received into an upload."""
        parts, n_bytes = check_upload_path(path), content.stat().st_size
        with self._lock:
            upload = self._require_open(name)
            self._check_bounds(upload, n_bytes)
            upload.n_files += 1
            upload.n_bytes += n_bytes
            upload.n_storing += 1
        stored = False
        try:
            self._store(name, parts, content)
            stored = True
        finally:
            with self._lock:
                upload.n_storing -= 1
                upload.touched = time.time()
                if not stored:
                    upload.n_files -= 1
                    upload.n_bytes -= n_bytes
        return self.describe(name)

    def _store(self, name: str, parts: tuple[str, ...], content: Path) -> None:
        """Give a received file its name, if there is no file of this name yet."""
        path, target = "/".join(parts), (self.folder / name).joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(content, target, follow_symlinks=False)
        except FileExistsError:
            raise HttpError(409, f"the upload has the file {path[:200]!r} already", field="path") from None
        except OSError as error:
            raise HttpError(400, f"the file {path[:200]!r} cannot be stored ({error.strerror})", field="path") from None

    def index(self, name: str) -> dict[str, Any]:
        """Index the files of an upload in the background; again, if that has failed."""
        with self._lock:
            upload = self._find(name)
            if upload.state not in (RECEIVING, FAILED):
                raise HttpError(409, f"the upload {name!r} is indexed already, or being indexed")
            _require_stored(upload)
            if not upload.n_files:
                raise HttpError(400, f"the upload {name!r} has no files yet")
            if sum(each.state == INDEXING for each in self._uploads.values()) >= MAX_INDEXING:
                raise HttpError(409, f"{MAX_INDEXING} uploads are being indexed: wait until one is done")
            upload.state, upload.account = INDEXING, ""
            write_record(self.folder, upload)
            thread = threading.Thread(target=self._index, args=(upload,), name="searchlab-upload", daemon=True)
            self._threads[name] = thread
        thread.start()
        return self.describe(name)

    def wait(self, name: str, seconds: float) -> dict[str, Any]:
        """An upload when it is not being indexed any more, or after the given time."""
        if name in self._threads:
            self._threads[name].join(seconds)
        return self.describe(name)

    def _index(self, upload: Upload) -> None:
        """Index an upload; whatever happens, it is done or failed then."""
        folders = (self.folder, self.index_parent)
        index = self.index_parent / upload.name
        try:
            process = start_indexing(self.folder / upload.name, index, self._report(upload.name))
            self._processes[upload.name] = process
            succeeded, account = finish_process(process, *folders)
            if succeeded:
                self.on_index(index)
        except SearchlabError as error:
            succeeded, account = False, hide_folders(str(error), *folders)
        except OSError as error:
            succeeded, account = False, f"the files cannot be indexed ({error.strerror or 'error of the system'})"
        except Exception:
            log.exception("indexing the upload %s", upload.name)
            succeeded, account = False, "the files cannot be indexed: internal error; see the log of the server"
        with self._lock:
            self._processes.pop(upload.name, None)
            upload.state, upload.account = DONE if succeeded else FAILED, account
            with suppress(OSError, SearchlabError):  # after a restart it counts as interrupted
                write_record(self.folder, upload)
        if succeeded:
            self._make_semantic_space(upload.name, index)

    def _make_semantic_space(self, name: str, index: Path) -> None:
        """Make an index ready for the built-in model; it is searched meanwhile, and if this fails."""
        with self._space_turn:
            if self._is_closed:
                return
            try:
                process = start_semantic_space(index)
                self._processes[name] = process
                succeeded, output = finish_process(process)
            except OSError as error:
                succeeded, output = False, str(error)
            if not (succeeded or self._is_closed):
                log.warning("no semantic space of the upload %s: %s", name, output)
            self._processes.pop(name, None)

    def describe(self, name: str) -> dict[str, Any]:
        """How far an upload is, the account of what was read, and what was skipped or guessed."""
        upload = self._find(name)
        is_over = upload.state in (DONE, FAILED)
        return {
            "name": name,
            "state": upload.state,
            "n_files": upload.n_files,
            "n_bytes": upload.n_bytes,
            "account": upload.account,
            "events": read_events(self._report(name), self.folder / name) if is_over else [],
        }

    def list(self) -> list[dict[str, Any]]:
        """All uploads, those of earlier servers included, by name."""
        with self._lock:
            names = sorted(self._uploads)
        found = []
        for name in names:
            with suppress(NotFound):  # deleted just now
                found.append(self.describe(name))
        return found

    def delete(self, name: str) -> dict[str, Any]:
        """Delete the files of an upload that is not being indexed; its index stays, also after a restart."""
        with self._lock:
            upload = self._find(name)
            if upload.state == INDEXING:
                raise HttpError(409, f"the upload {name!r} is being indexed")
            _require_stored(upload)
            if upload.state == DONE and (self.index_parent / name / MANIFEST).is_file():
                shutil.rmtree(self.folder / name, ignore_errors=True)
                upload.n_files = upload.n_bytes = 0
            else:
                self._remove(name)
        return {"deleted": name}

    def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        for process in list(self._processes.values()):
            if process.poll() is None:
                process.terminate()

    def _sweep(self) -> None:
        """Delete uploads that were given up before they were indexed, and what killed servers left half received."""
        now = time.time()
        with self._lock:
            idle = [upload for upload in self._uploads.values() if now - upload.touched > MAX_IDLE_SECONDS]
            for upload in idle:
                if upload.state == RECEIVING and not upload.n_storing:
                    log.warning("the upload %s got no file for a day and is deleted", upload.name)
                    self._remove(upload.name)
        with suppress(OSError):
            for path in (self.folder / RECEIVED_FOLDER).iterdir():
                if now - path.lstat().st_mtime > MAX_RECEIVING_SECONDS:
                    path.unlink(missing_ok=True)

    def _remove(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        for path in (self._report(name), record_file(self.folder, name)):
            path.unlink(missing_ok=True)
        del self._uploads[name]

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(f"the folder of uploads cannot be written ({error.strerror})") from None

    def _find(self, name: str) -> Upload:
        if name not in self._uploads:
            raise NotFound(f"there is no upload {name[:60]!r}", field="name")
        return self._uploads[name]

    def _require_open(self, name: str) -> Upload:
        upload = self._find(name)
        if upload.state != RECEIVING:
            raise HttpError(409, f"the upload {name!r} is complete, expected a new one")
        return upload

    def _check_bounds(self, upload: Upload, n_bytes: int) -> None:
        if n_bytes > MAX_FILE_MB * MEGABYTE:
            raise HttpError(413, f"the file has {n_bytes:,} bytes, expected at most {MAX_FILE_MB} MB")
        if upload.n_files >= MAX_FILES:
            raise HttpError(413, f"the upload has {MAX_FILES:,} files, expected no more: send an archive instead")
        if upload.n_bytes + n_bytes > MAX_UPLOAD_MB * MEGABYTE:
            raise HttpError(413, f"the upload has more than {MAX_UPLOAD_MB} MB, expected less")
        if sum(each.n_bytes for each in self._uploads.values()) + n_bytes > MAX_UPLOADS_MB * MEGABYTE:
            raise HttpError(413, f"all uploads have more than {MAX_UPLOADS_MB} MB, expected less: delete one first")

    def _report(self, name: str) -> Path:
        return self.folder / f"{name}.report.csv"


def _require_stored(upload: Upload) -> None:
    if upload.n_storing:
        raise HttpError(409, f"files of the upload {upload.name!r} are still being stored: try again in a moment")
