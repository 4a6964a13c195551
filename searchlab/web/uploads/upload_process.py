"""The processes that index the files of an upload, and the account of what was read."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

MAX_PROCESS_SECONDS = 3600
# Of the report of a reading.
MAX_REPORTED_EVENTS = 100
MAX_ACCOUNT_LENGTH = 4000


def start_indexing(files: Path, index: Path, report: Path) -> subprocess.Popen[str]:
    """Start `searchlab index` on a folder of files."""
    return _start("index", files, "-i", index, "--report", report, "-j", 1)


def start_semantic_space(index: Path) -> subprocess.Popen[str]:
    """Start `searchlab semantic` on an index: the built-in model needs the space."""
    return _start("semantic", "-i", index)


def _start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "searchlab", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )


def finish_process(process: subprocess.Popen[str], *hidden: Path) -> tuple[bool, str]:
    """Wait for a process; returns whether it succeeded, and its account without the names of the `hidden` folders."""
    try:
        output, _ = process.communicate(timeout=MAX_PROCESS_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        output += f"\nstopped: it took longer than {MAX_PROCESS_SECONDS:,} seconds"
    account = hide_folders(output, *hidden).strip()[-MAX_ACCOUNT_LENGTH:]
    if process.returncode == 0:
        return True, account
    return False, account or f"the process ended unexpectedly (exit code {process.returncode})"


def hide_folders(message: str, *folders: Path) -> str:
    """A message without the names of folders."""
    for folder in folders:
        message = message.replace(f"{folder.absolute()}/", "").replace(f"{folder}/", "")
    return message


def read_events(report: Path, files: Path) -> list[dict[str, str]]:
    """What the reading skipped or guessed, without the folder of the files."""
    try:
        with report.open(newline="", encoding="utf-8") as file:
            rows = [row for _, row in zip(range(MAX_REPORTED_EVENTS), csv.DictReader(file), strict=False)]
    except (OSError, csv.Error, UnicodeDecodeError):
        return []
    return [{key: hide_folders(row.get(key) or "", files) for key in ("kind", "location", "message")} for row in rows]
