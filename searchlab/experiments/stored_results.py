"""Reading the results folder of an experiment: what was compared, values of each topic, rankings, figures.

The folders may come from strangers: what is read is checked, and a folder that is not as expected is an error.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from searchlab.corpus.text_files import read_text_file
from searchlab.corpus.trec.runs import read_run
from searchlab.errors import SourceError
from searchlab.experiments.experiment_results import MANIFEST, PER_QUERY, read_experiment_manifest
from searchlab.experiments.plan import make_slug
from searchlab.json_records import finite_number, one_line, table, text, texts

# The kinds of figures that a report has, and what they show.
FIGURES = {
    "means": "Means with 95% bootstrap intervals over topics.",
    "ndcg": "nDCG of the first k documents.",
    "precision-recall": "Interpolated precision at 11 points of recall.",
}
MAX_MEAN = 1e9


@dataclass(frozen=True)
class StoredSystem:
    """A system of an experiment: its means, and by measure 1 if significantly better, -1 if worse, otherwise 0."""

    name: str
    description: str
    means: Mapping[str, float]
    significance: Mapping[str, int]

    @property
    def slug(self) -> str:
        """Its name as a file name."""
        return make_slug(self.name)


@dataclass(frozen=True)
class StoredExperiment:
    """The results of an experiment on disk; `topics` has the texts by qid, empty if an older version wrote them."""

    folder: Path
    title: str
    lead: str
    index: str
    started: str
    measures: tuple[str, ...]
    baseline: str
    systems: tuple[StoredSystem, ...]
    topics: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @cached_property
    def values(self) -> dict[str, dict[str, dict[str, float]]]:
        """The values of each measure, by topic and system."""
        path = self.folder / PER_QUERY
        rows = csv.DictReader(StringIO(read_text_file(path)))
        values: dict[str, dict[str, dict[str, float]]] = {}
        try:
            for row in rows:
                measured = {measure: float(row[measure]) for measure in self.measures}
                values.setdefault(row["qid"], {})[row["system"]] = measured
        except (KeyError, TypeError, ValueError, csv.Error):
            raise SourceError(path, f"expected columns qid, system, {', '.join(self.measures)}") from None
        return values

    def ranking(self, system: StoredSystem, qid: str, depth: int) -> list[str]:
        """The first documents that a system found for a topic."""
        run = read_run(self.folder / "runs" / f"{system.slug}.run")
        return list(run[qid].docnos[:depth]) if qid in run else []

    def figure(self, name: str) -> str | None:
        """A figure as SVG; None if there is none."""
        path = self.folder / f"{name}.svg"
        return read_text_file(path) if name in FIGURES and path.is_file() else None


def experiments_folder(index: Path) -> Path:
    """The folder of the experiments that were started in the browser, beside an index."""
    return index.with_name(f"{index.name}.experiments")


def read_experiment(folder: Path) -> StoredExperiment:
    """The results in a folder."""
    manifest = read_experiment_manifest(folder)
    if manifest is None:
        raise SourceError(folder, f"found no {MANIFEST} of an experiment")
    try:
        plan = table(manifest, "plan")
        measures = texts(plan, "measures")
        topics = manifest.get("topics", {})
        return StoredExperiment(
            folder,
            one_line(manifest, "title"),
            one_line(manifest, "lead"),
            one_line(table(manifest, "index"), "name"),
            one_line(table(manifest, "times"), "started"),
            measures,
            one_line(plan, "baseline"),
            tuple(_read_system(each, measures) for each in manifest["systems"]),
            {qid: text(topics, qid) for qid in topics},
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SourceError(folder / MANIFEST, f"not the manifest of an experiment ({error})") from None


def _read_system(record: Any, measures: tuple[str, ...]) -> StoredSystem:
    means, compared = table(record, "means"), table(record, "against_baseline")
    significance = {}
    for measure in compared:
        each = table(compared, measure)
        direction = 1 if finite_number(each, "difference", -MAX_MEAN, MAX_MEAN) > 0 else -1
        significance[measure] = direction if each["significant"] is True else 0
    name = one_line(record, "name")
    if not make_slug(name):
        raise ValueError(f"name is {name!r}, expected letters or digits")
    values = {measure: finite_number(means, measure, -MAX_MEAN, MAX_MEAN) for measure in measures}
    return StoredSystem(name, one_line(record, "what"), values, significance)
