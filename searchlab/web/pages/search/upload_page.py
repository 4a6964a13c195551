"""The page to add documents: files or a folder are uploaded, and become an index; all uploads are listed."""

from __future__ import annotations

from typing import Any

from searchlab.web.api import uploads
from searchlab.web.pages.page import BrowserSession
from searchlab.web.state.request_state import RequestState
from searchlab.web.uploads.upload_store import MAX_FILE_MB, MAX_FILES, MAX_UPLOAD_MB, MEGABYTE


def upload_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The form to upload documents, with its bounds and the folder that keeps them, and what became of all uploads."""
    folder = None if state.uploads is None else f"{state.uploads.folder.name}/"
    found = [] if state.uploads is None else uploads.list_uploads(state)["uploads"]
    return {
        "folder": folder,
        "uploads": [each | {"size": _size(each["n_bytes"])} for each in found],
        "max_files": MAX_FILES,
        "max_file_mb": MAX_FILE_MB,
        "max_upload_mb": MAX_UPLOAD_MB,
    }


def index_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Index the files of an upload that was interrupted, or has failed."""
    uploads.index_upload(state, **values)


def delete_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Delete the files of an upload."""
    uploads.delete_upload(state, **values)


def _size(n_bytes: int) -> str:
    """A number of bytes in words."""
    return f"{n_bytes / MEGABYTE:.1f} MB" if n_bytes >= MEGABYTE / 10 else f"{-(-n_bytes // 1024)} kB"
