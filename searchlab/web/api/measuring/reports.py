"""The reports of experiments that belong to an index."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from searchlab.errors import SearchlabError
from searchlab.experiments.experiment_results import MANIFEST
from searchlab.experiments.stored_results import StoredExperiment, experiments_folder, read_experiment
from searchlab.web.state.request_state import RequestState

# The title of a report is searched in this many bytes.
MAX_TITLE_BYTES = 8192
TITLE = re.compile(rb"<title>([^<]{1,300})</title>")
# How the folders of experiments beside indexes end.
BESIDE_INDEX = experiments_folder(Path("index")).suffix


def list_reports(state: RequestState) -> list[dict[str, Any]]:
    """The reports of an index, with their titles, and whether the results can be read in the site (`/experiment`).

    A report of another kind, which does not say what its index is, is listed unless it lies beside another index.
    """
    listed = []
    for name, path in state.reports.items():
        experiment = _read_experiment(path)
        index = _index_beside(path) if experiment is None else experiment.index
        if index in ("", state.index.name):
            title = _title(path, name) if experiment is None else experiment.title
            listed.append({"name": name, "title": title, "is_experiment": experiment is not None})
    return listed


def _read_experiment(report: Path) -> StoredExperiment | None:
    """The experiment of a report; None if the report is of another kind, or the results cannot be read."""
    if not (report.parent / MANIFEST).is_file():
        return None
    try:
        return read_experiment(report.parent)
    except SearchlabError:
        return None


def _index_beside(report: Path) -> str:
    """The index that a report lies beside; empty if it lies elsewhere."""
    folder = report.parent.parent
    return folder.stem if folder.suffix == BESIDE_INDEX else ""


def _title(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            match = TITLE.search(file.read(MAX_TITLE_BYTES))
    except OSError:
        return name
    return unescape(match.group(1).decode(errors="replace")).strip() if match else name
