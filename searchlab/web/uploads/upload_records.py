"""The state of each upload on disk, so that a restarted server knows the uploads of earlier ones.

    UPLOADS/NAME.upload.json    {"format": …, "state": "receiving" | "indexing" | "done" | "failed", "account": …}

The number and size of the files are counted in the folder, which is gone if they were deleted after indexing. An upload
that an earlier server was indexing when it ended has failed, and can be indexed again.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import InputError
from searchlab.json_records import parse_record, text
from searchlab.web.uploads.upload_paths import NAME_PATTERN

FORMAT = "searchlab upload 1"
RECORD_SUFFIX = ".upload.json"
RECEIVING, INDEXING, DONE, FAILED = STATES = ("receiving", "indexing", "done", "failed")
INTERRUPTED = "the server was stopped while it indexed these files: index them again"


@dataclass
class Upload:
    """One upload: the number and size of its files, how far it is, and what was read.

    `n_storing` files are being written now; `touched` is when the last one was stored, in seconds since the epoch.
    """

    name: str
    n_files: int = 0
    n_bytes: int = 0
    state: str = RECEIVING
    account: str = ""
    n_storing: int = 0
    touched: float = 0.0


def record_file(folder: Path, name: str) -> Path:
    """The file with the state of an upload."""
    return folder / f"{name}{RECORD_SUFFIX}"


def write_record(folder: Path, upload: Upload) -> None:
    """Store the state of an upload."""
    record = {"format": FORMAT, "state": upload.state, "account": upload.account}
    with open_atomic(record_file(folder, upload.name)) as file:
        file.write(json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def read_uploads(folder: Path, index_parent: Path) -> dict[str, Upload]:
    """The uploads that earlier servers left in a folder, by name; those without files if they have become an index."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    names = {path.name for path in found if path.is_dir() and not path.is_symlink()}
    records = {path.name.removesuffix(RECORD_SUFFIX) for path in found if path.name.endswith(RECORD_SUFFIX)}
    uploads = {
        name: _read_upload(folder, index_parent, name)
        for name in sorted(names | records)
        if NAME_PATTERN.fullmatch(name) and not (folder / name).is_symlink()
    }
    return {name: each for name, each in uploads.items() if name in names or each.state == DONE}


def _read_upload(folder: Path, index_parent: Path, name: str) -> Upload:
    n_files = n_bytes = 0
    touched = (folder / name if (folder / name).is_dir() else folder).stat().st_mtime
    for home, _, files in os.walk(folder / name):
        for file in files:
            try:
                found = (Path(home) / file).lstat()
            except OSError:
                continue
            n_files, n_bytes, touched = n_files + 1, n_bytes + found.st_size, max(touched, found.st_mtime)
    state, account = _read_state(folder, name) or (DONE if (index_parent / name).is_dir() else RECEIVING, "")
    if state == INDEXING:
        state, account = FAILED, INTERRUPTED
    return Upload(name, n_files, n_bytes, state, account, touched=min(touched, time.time()))


def _read_state(folder: Path, name: str) -> tuple[str, str] | None:
    """State and account of an upload; None if they were not stored, or cannot be read."""
    try:
        record = parse_record(read_text_file(str(record_file(folder, name))))
        state, account = text(record, "state"), text(record, "account")
    except (InputError, ValueError):
        return None
    return (state, account) if record.get("format") == FORMAT and state in STATES else None
