"""Syncing files and folders to disk, with the size and CRC-32 of each file for the manifest."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from searchlab.atomic_file import sync_folder
from searchlab.corpus.text_files import open_regular_file

READ_BYTES = 1 << 20


def sync_file(path: Path) -> tuple[int, int]:
    """Sync a file to disk; returns its size and CRC-32."""
    descriptor = open_regular_file(path)
    try:
        checksum = size = 0
        while piece := os.read(descriptor, READ_BYTES):
            checksum = zlib.crc32(piece, checksum)
            size += len(piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return size, checksum


def sync_tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Sync everything below a folder to disk; returns the size and CRC-32 of each file by its relative path."""
    files: dict[str, tuple[int, int]] = {}
    # Not rglob, which passes over folders that cannot be read.
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            files |= {f"{path.name}/{name}": entry for name, entry in sync_tree(path).items()}
        else:
            files[path.name] = sync_file(path)
    sync_folder(folder)
    return files
