"""The page to add documents: files or a folder are uploaded, and become an index."""

from __future__ import annotations

from typing import Any

from searchlab.web.pages.page import BrowserSession
from searchlab.web.state.request_state import RequestState
from searchlab.web.uploads.upload_store import MAX_FILE_MB, MAX_FILES, MAX_UPLOAD_MB


def upload_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The form to upload documents, with its bounds and the folder that keeps them."""
    folder = None if state.uploads is None else f"{state.uploads.folder.name}/"
    return {"folder": folder, "max_files": MAX_FILES, "max_file_mb": MAX_FILE_MB, "max_upload_mb": MAX_UPLOAD_MB}
