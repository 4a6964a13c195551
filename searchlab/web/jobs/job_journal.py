"""The journals of jobs beside an index, such as `INDEX.training.json`: a job that its server did not finish is there.

A job is added when it is accepted, and removed when it has ended. What is left of a server that is gone was
interrupted; it can be started again, since the journal has its settings. Each kind of jobs has a journal of its own.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SearchlabError
from searchlab.json_records import json_checksum, one_line, parse_record, whole_number, without_checksum

FORMAT = "searchlab job journal 1"
# The settings of each kind of jobs.
SETTINGS = {
    "training": ("topic_set", "ranker", "features", "recipe", "prior", "k"),
    "experiment": ("title", "topic_set", "systems", "rankers", "measures"),
}

log = logging.getLogger(__name__)


def journal_file(folder: Path, kind: str) -> Path:
    """The journal of an index."""
    return folder.with_name(f"{folder.name}.{kind}.json")


def add_to_journal(folder: Path, kind: str, name: str, settings: Mapping[str, Any]) -> None:
    """Add a job of this process; an earlier one of the same name is replaced."""
    job = {"name": name, "pid": os.getpid(), **{key: settings[key] for key in SETTINGS[kind]}}
    _write(folder, kind, [*(each for each in _read(folder, kind) if each["name"] != name), job])


def remove_from_journal(folder: Path, kind: str, name: str) -> None:
    """Remove a job that has ended, or is not wanted any more."""
    jobs = _read(folder, kind)
    if any(each["name"] == name for each in jobs):
        _write(folder, kind, [each for each in jobs if each["name"] != name])


def list_interrupted(folder: Path, kind: str, started: Collection[str] = ()) -> list[dict[str, Any]]:
    """The jobs whose servers are gone; `started` are the names of the jobs that this process has started.

    A server in a container often has the process id of the one before it.
    """
    return [
        job
        for job in _read(folder, kind)
        if (job["name"] not in started if job["pid"] == os.getpid() else not _is_running(job["pid"]))
    ]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _read(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The jobs of a journal; none if it cannot be read: it is only a convenience."""
    path = journal_file(folder, kind)
    if not path.exists():
        return []
    try:
        record = without_checksum(parse_record(read_text_file(path)))
        if one_line(record, "format") != FORMAT:
            raise ValueError(f"format is {record['format']!r}, expected {FORMAT!r}")
        return [_job(each, SETTINGS[kind]) for each in record["jobs"]]
    except (SearchlabError, ValueError, LookupError, TypeError) as error:
        log.warning("%s: not a journal of jobs (%s)", path.name, error)
        return []


def _job(record: Any, settings: Sequence[str]) -> dict[str, Any]:
    job = {"name": one_line(record, "name"), "pid": whole_number(record, "pid", 1)}
    return job | {key: _setting(record, key) for key in settings}


def _setting(record: Mapping[str, Any], key: str) -> Any:
    """A number, a line of text, or a list of lines."""
    value = record[key]
    if isinstance(value, list):
        return [one_line({key: each}, key) for each in value]
    return whole_number(record, key) if isinstance(value, int) else one_line(record, key)


def _write(folder: Path, kind: str, jobs: list[dict[str, Any]]) -> None:
    record = {"format": FORMAT, "jobs": jobs}
    try:
        if not jobs:
            journal_file(folder, kind).unlink(missing_ok=True)
            return
        with open_atomic(journal_file(folder, kind)) as file:
            file.write(json.dumps(record | {"checksum": json_checksum(record)}, indent=1) + "\n")
    except (SearchlabError, OSError) as error:
        log.warning("jobs are not recorded: %s", error)
