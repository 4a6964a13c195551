"""Uploads: documents that a browser sends, stored in a folder of the server and indexed by a process of their own.

    UPLOADS/NAME/…            the files, with the folders that they had
    UPLOADS/NAME.report.csv   what the reading skipped or guessed

Names come from strangers. A path has no `..`, no hidden parts, no links and nothing that is not printable; files are
only created, never replaced; number and size are bounded. Archives are not unpacked: `searchlab index` reads them
within its own limits, as it reads every document.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from searchlab.errors import SettingError, WriteFailed
from searchlab.web.http_errors import HttpError, NotFound

MEGABYTE = 2**20
MAX_FILE_MB = 100
MAX_UPLOAD_MB = 500
MAX_UPLOADS_MB = 4000
MAX_FILES = 5000
MAX_DEPTH = 20
MAX_PART_BYTES = 200
MAX_INDEXING_SECONDS = 3600
# Uploads that are indexed at a time, each by a process.
MAX_INDEXING = 2
# Of the report of a reading.
MAX_REPORTED_EVENTS = 100
MAX_ACCOUNT_LENGTH = 4000

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
RECEIVING, INDEXING, DONE, FAILED = "receiving", "indexing", "done", "failed"


@dataclass
class _Upload:
    """One upload: the number and size of its files, how far it is, and what was read."""

    name: str
    n_files: int = 0
    n_bytes: int = 0
    state: str = RECEIVING
    account: str = ""
    process: subprocess.Popen[str] | None = field(default=None, repr=False)
    # Files that are being written now.
    n_storing: int = 0


def check_upload_path(path: str) -> tuple[str, ...]:
    """The parts of the path of a file, as a browser gives it; HTTP error 400 for one that could leave its folder."""
    parts = tuple(unicodedata.normalize("NFC", path).split("/"))
    for part in parts:
        if part in ("", ".", "..") or part.startswith(".") or part != part.strip():
            raise HttpError(400, f"path has the part {part[:60]!r}, expected the name of a file or folder")
        if not part.isprintable() or any(sign in part for sign in '\\:*?"<>|'):
            raise HttpError(400, f"path has the part {part[:60]!r}, expected no special signs")
        if len(part.encode()) > MAX_PART_BYTES:
            raise HttpError(400, f"path has a part of {len(part.encode())} bytes, expected at most {MAX_PART_BYTES}")
    if len(parts) > MAX_DEPTH:
        raise HttpError(400, f"path has {len(parts)} parts, expected at most {MAX_DEPTH}")
    return parts


class Uploads:
    """The uploads of one server; `index_parent` gets their indexes, each of which is passed to `on_index`."""

    def __init__(self, folder: Path, index_parent: Path) -> None:
        self.folder = folder
        self.index_parent = index_parent
        self.on_index: Callable[[Path], None] = lambda index: None
        self._lock = threading.Lock()
        self._uploads: dict[str, _Upload] = {}

    def start(self, name: str) -> dict[str, Any]:
        """Begin an upload, whose index will have this name."""
        if not NAME_PATTERN.fullmatch(name):
            raise HttpError(400, f"name is {name[:60]!r}, expected at most 40 lower-case letters, digits, - and _")
        with self._lock:
            self._make_folder(self.folder)  # first: an index must not have its name
            if name in self._uploads or (self.folder / name).exists() or (self.index_parent / name).exists():
                raise HttpError(409, f"there is already an index or upload {name!r}: choose another name")
            self._make_folder(self.folder / name)
            self._uploads[name] = _Upload(name)
        return self.describe(name)

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(f"the folder of uploads cannot be written ({error.strerror})") from None

    def add_file(self, name: str, path: str, content: bytes) -> dict[str, Any]:
        """Store a file of an upload."""
        parts = check_upload_path(path)
        with self._lock:
            upload = self._find(name)
            if upload.state != RECEIVING:
                raise HttpError(409, f"the upload {name!r} is complete, expected a new one")
            self._check_bounds(upload, len(content))
            upload.n_files += 1
            upload.n_bytes += len(content)
            upload.n_storing += 1
        stored = False
        try:
            self._store(name, parts, content)
            stored = True
        finally:
            with self._lock:
                upload.n_storing -= 1
                if not stored:
                    upload.n_files -= 1
                    upload.n_bytes -= len(content)
        return self.describe(name)

    def _store(self, name: str, parts: tuple[str, ...], content: bytes) -> None:
        """Write a file that does not exist yet, as a whole."""
        path, target = "/".join(parts), (self.folder / name).joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
            except BaseException:
                target.unlink(missing_ok=True)
                raise
        except FileExistsError:
            raise HttpError(409, f"the upload has the file {path[:200]!r} already") from None
        except OSError as error:
            raise HttpError(400, f"the file {path[:200]!r} cannot be stored ({error.strerror})") from None

    def index(self, name: str) -> dict[str, Any]:
        """Index the files of an upload in the background."""
        with self._lock:
            upload = self._find(name)
            if upload.state != RECEIVING:
                raise HttpError(409, f"the upload {name!r} is being indexed already")
            _require_stored(upload)
            if not upload.n_files:
                raise HttpError(400, f"the upload {name!r} has no files yet")
            if sum(each.state == INDEXING for each in self._uploads.values()) >= MAX_INDEXING:
                raise HttpError(409, f"{MAX_INDEXING} uploads are being indexed: wait until one is done")
            command = [sys.executable, "-P", "-m", "searchlab", "index", str(self.folder / name)]
            command += ["-i", str(self.index_parent / name), "--report", str(self._report(name)), "-j", "1"]
            upload.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
            upload.state = INDEXING
        threading.Thread(target=self._wait, args=(upload,), name="searchlab-upload", daemon=True).start()
        return self.describe(name)

    def describe(self, name: str) -> dict[str, Any]:
        """How far an upload is, the account of what was read, and what was skipped or guessed."""
        upload = self._find(name)
        return {
            "name": name,
            "state": upload.state,
            "n_files": upload.n_files,
            "n_bytes": upload.n_bytes,
            "account": upload.account,
            "events": self._events(name) if upload.state in (DONE, FAILED) else [],
        }

    def close(self) -> None:
        """End the processes that index."""
        for upload in self._uploads.values():
            if upload.process is not None and upload.process.poll() is None:
                upload.process.terminate()

    def _find(self, name: str) -> _Upload:
        if name not in self._uploads:
            raise NotFound(f"there is no upload {name[:60]!r}")
        return self._uploads[name]

    def _check_bounds(self, upload: _Upload, n_bytes: int) -> None:
        if n_bytes > MAX_FILE_MB * MEGABYTE:
            raise HttpError(413, f"the file has {n_bytes:,} bytes, expected at most {MAX_FILE_MB} MB")
        if upload.n_files >= MAX_FILES:
            raise HttpError(413, f"the upload has {MAX_FILES:,} files, expected no more: send an archive instead")
        if upload.n_bytes + n_bytes > MAX_UPLOAD_MB * MEGABYTE:
            raise HttpError(413, f"the upload has more than {MAX_UPLOAD_MB} MB, expected less")
        if sum(each.n_bytes for each in self._uploads.values()) + n_bytes > MAX_UPLOADS_MB * MEGABYTE:
            raise HttpError(413, f"all uploads have more than {MAX_UPLOADS_MB} MB, expected less")

    def _wait(self, upload: _Upload) -> None:
        assert upload.process is not None
        try:
            output, _ = upload.process.communicate(timeout=MAX_INDEXING_SECONDS)
        except subprocess.TimeoutExpired:
            upload.process.kill()
            output, _ = upload.process.communicate()
        hidden = (
            f"{self.folder.absolute()}/",
            f"{self.index_parent.absolute()}/",
            f"{self.folder}/",
            f"{self.index_parent}/",
        )
        for prefix in hidden:
            output = output.replace(prefix, "")
        upload.account = output.strip()[-MAX_ACCOUNT_LENGTH:]
        succeeded = upload.process.returncode == 0
        if succeeded:
            try:
                self.on_index(self.index_parent / upload.name)
            except SettingError as error:
                upload.account, succeeded = str(error), False
        upload.state = DONE if succeeded else FAILED

    def _report(self, name: str) -> Path:
        return self.folder / f"{name}.report.csv"

    def _events(self, name: str) -> list[dict[str, str]]:
        """The events of the reading, without the folder of the upload."""
        try:
            with self._report(name).open(newline="", encoding="utf-8") as file:
                rows = [row for _, row in zip(range(MAX_REPORTED_EVENTS), csv.DictReader(file), strict=False)]
        except (OSError, csv.Error, UnicodeDecodeError):
            return []
        prefix = f"{self.folder / name}/"
        return [
            {key: (row.get(key) or "").replace(prefix, "") for key in ("kind", "location", "message")} for row in rows
        ]

    def delete(self, name: str) -> dict[str, Any]:
        """Delete the files of an upload that is not being indexed; its index stays."""
        with self._lock:
            upload = self._find(name)
            if upload.state == INDEXING:
                raise HttpError(409, f"the upload {name!r} is being indexed")
            _require_stored(upload)
            shutil.rmtree(self.folder / name, ignore_errors=True)
            self._report(name).unlink(missing_ok=True)
            del self._uploads[name]
        return {"deleted": name}


def _require_stored(upload: _Upload) -> None:
    if upload.n_storing:
        raise HttpError(409, f"files of the upload {upload.name!r} are still being stored: try again in a moment")
