"""Names of uploads and paths of their files, which come from strangers."""

from __future__ import annotations

import re
import unicodedata

from searchlab.web.http_errors import HttpError

MAX_DEPTH = 20
MAX_PART_BYTES = 200
NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def check_upload_name(name: str) -> str:
    """The name of an upload and its index, if it is one."""
    if not NAME_PATTERN.fullmatch(name):
        message = f"name is {name[:60]!r}, expected at most 40 lower-case letters, digits, - and _"
        raise HttpError(400, message, field="name")
    return name


def check_upload_path(path: str) -> tuple[str, ...]:
    """The parts of the path of a file, as a browser gives it; HTTP error 400 for one that could leave its folder."""
    parts = tuple(unicodedata.normalize("NFC", path).split("/"))
    for part in parts:
        if part in ("", ".", "..") or part.startswith(".") or part != part.strip():
            raise _unexpected(f"path has the part {part[:60]!r}, expected the name of a file or folder")
        if not part.isprintable() or any(sign in part for sign in '\\:*?"<>|'):
            raise _unexpected(f"path has the part {part[:60]!r}, expected no special signs")
        if len(part.encode()) > MAX_PART_BYTES:
            raise _unexpected(f"path has a part of {len(part.encode())} bytes, expected at most {MAX_PART_BYTES}")
    if len(parts) > MAX_DEPTH:
        raise _unexpected(f"path has {len(parts)} parts, expected at most {MAX_DEPTH}")
    return parts


def _unexpected(message: str) -> HttpError:
    return HttpError(400, message, field="path")
