"""Uploads of documents: begin one, send its files, index them, ask how far it is, delete the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import NotFound
from searchlab.web.state.request_state import RequestState
from searchlab.web.uploads.upload_store import Uploads

NAME = Parameter("name", "string", "name of the upload, and of its index", max_length=40)
PATH = Parameter("path", "string", "path of the file within the upload", max_length=2000)


def start_upload(state: RequestState, *, name: str) -> dict[str, Any]:
    """Begin an upload."""
    return _uploads(state).start(name)


def upload_file(state: RequestState, *, name: str, path: str, content: Path) -> dict[str, Any]:
    """Store a file of an upload."""
    return _uploads(state).add_file(name, path, content)


def index_upload(state: RequestState, *, name: str) -> dict[str, Any]:
    """Index the files of an upload in the background."""
    return _uploads(state).index(name)


def get_upload(state: RequestState, *, name: str) -> dict[str, Any]:
    """How far an upload is, and the account of what was read."""
    return _uploads(state).describe(name)


def list_uploads(state: RequestState) -> dict[str, Any]:
    """All uploads, those of earlier servers included."""
    return {"uploads": _uploads(state).list()}


def delete_upload(state: RequestState, *, name: str) -> dict[str, Any]:
    """Delete the files of an upload; an index that was made from them stays, and the record of it."""
    return _uploads(state).delete(name)


def _uploads(state: RequestState) -> Uploads:
    if state.uploads is None:
        raise NotFound("this server takes no uploads, expected `searchlab serve` without a cluster")
    return state.uploads
