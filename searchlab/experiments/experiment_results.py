"""The results of an experiment, and the files of its results folder.

    runs/NAME.run       the rankings of each system, as a TREC run
    models/NAME.json    the model of each ranker, trained on all topics
    per-query.csv       a row for each topic and system: the fold and all measures
    manifest.json       the plan, versions, seeds, fingerprints, times, means, and the name and size of every file
    report.html         the report; also as .md, .tex and tables as .csv
    cache/              intermediate results, which an interrupted or changed experiment reuses

The manifest is written last: a folder whose manifest has the fingerprint of the experiment is complete.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from searchlab import __version__
from searchlab.atomic_file import make_folders, open_atomic
from searchlab.corpus.text_files import read_text_file
from searchlab.corpus.trec.runs import write_run
from searchlab.csv_text import to_csv
from searchlab.errors import SourceError, WriteFailed
from searchlab.evaluation.comparison import Comparison, compare_evaluations, compare_values
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.evaluation.significance import holm
from searchlab.experiments.inputs import ExperimentInputs
from searchlab.experiments.plan import ExperimentPlan
from searchlab.experiments.runner import SystemResult
from searchlab.json_records import inner_path, parse_record, table, whole_number
from searchlab.rankers.bundle import Bundle
from searchlab.training.cross_validation import CrossValidationResult

FORMAT = "searchlab experiment 1"
MANIFEST = "manifest.json"
PER_QUERY = "per-query.csv"
TOOLS = ("numpy", "scipy", "scikit-learn", "numba", "whoosh-reloaded")


@dataclass(frozen=True, eq=False)
class ExperimentResults:
    """The outcomes of all systems with their evaluations, each compared with the baseline."""

    plan: ExperimentPlan
    inputs: ExperimentInputs
    outcomes: tuple[SystemResult, ...]

    @cached_property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The evaluation of each system by the measures of the plan."""
        return self.evaluate(self.plan.measures)

    def evaluate(self, measures: Sequence[str]) -> tuple[Evaluation, ...]:
        """The evaluation of each system by any measures."""
        return tuple(
            evaluate_run(
                self.inputs.qrels,
                outcome.rankings,
                list(measures),
                dialect=self.plan.dialect,
                complete=True,
                name=outcome.system.name,
                warn=False,
            )
            for outcome in self.outcomes
        )

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Each system against the baseline; for each measure p-values are corrected (Holm) over the systems."""
        if len(self.outcomes) < 2:
            return ()
        report = compare_evaluations(
            self.evaluations, baseline=self.plan.baseline, measures=self.plan.measures, seed=self.plan.seed
        )
        return report.comparisons

    def of(self, name: str) -> Evaluation:
        """The evaluation of a system."""
        return next(evaluation for evaluation in self.evaluations if evaluation.name == name)

    def outcome(self, name: str) -> SystemResult:
        """The outcome of a system."""
        return next(outcome for outcome in self.outcomes if outcome.system.name == name)

    def against_baseline(self, name: str, measure: str) -> Comparison | None:
        """The comparison of a system with the baseline; None for the baseline itself."""
        return next((each for each in self.comparisons if (each.name_a, each.measure) == (name, measure)), None)

    @cached_property
    def best(self) -> SystemResult | None:
        """The best ranker by the first measure; if there is none, the best other system. Never the baseline."""
        others = [outcome for outcome in self.outcomes if outcome.system.name != self.plan.baseline]
        chosen = [outcome for outcome in others if outcome.system.learns] or others
        return max(chosen, key=lambda each: self.of(each.system.name).mean(self.plan.measure), default=None)

    def bundle(self, outcome: SystemResult) -> Bundle | None:
        """The model of a ranker trained on all topics, with the result of its cross-validation."""
        result = self.trial(outcome)
        if outcome.bundle is None or result is None:
            return outcome.bundle
        return replace(outcome.bundle, trial=result.to_json())

    def trial(self, outcome: SystemResult) -> CrossValidationResult | None:
        """A ranker compared with the baseline and with each system that learns nothing, on the held-out topics.

        The p-values are corrected (Holm) over these: the verdict is about the best of them. None for other systems.
        """
        name, measure = outcome.system.name, self.plan.measure
        if not outcome.system.learns or name == self.plan.baseline:
            return None
        rivals = [
            each.system.name
            for each in self.outcomes
            if not each.system.learns or each.system.name == self.plan.baseline
        ]
        values = self.of(name).values_of(measure)
        compared = [
            compare_values(name, values, rival, self.of(rival).values_of(measure), measure, seed=self.plan.seed)
            for rival in rivals
        ]
        if len(compared) > 1:
            corrected = holm([each.p for each in compared]).tolist()
            compared = [replace(each, p_corrected=p) for each, p in zip(compared, corrected, strict=True)]
        return CrossValidationResult(
            name,
            len(self.inputs.topics),
            len(self.inputs.folds),
            self.plan.dialect,
            {each: self.of(each).means for each in (name, *rivals)},
            tuple(compared),
            sum(len(self.inputs.qrels[topic.qid]) for topic in self.inputs.topics),
        )


def write_runs(results: ExperimentResults, folder: Path) -> list[str]:
    """Write runs, models and per-query values; return the names of the files."""
    names = []
    for part in ("runs", "models"):
        make_folder(folder / part)
    for outcome in results.outcomes:
        slug = outcome.system.slug
        names.append(f"runs/{slug}.run")
        with open_atomic(folder / names[-1]) as file:
            write_run(file, outcome.rankings, slug)
        bundle = results.bundle(outcome)
        if bundle is not None and bundle.is_storable:
            names.append(f"models/{slug}.json")
            bundle.save(folder / names[-1])
    names.append(PER_QUERY)
    with open_atomic(folder / PER_QUERY) as file:
        fold_of = results.inputs.fold_of()
        rows = (
            [qid, fold_of[qid], evaluation.name, *values]
            for evaluation in results.evaluations
            for qid, values in zip(evaluation.qids, evaluation.values.tolist(), strict=True)
        )
        file.write(to_csv([["qid", "fold", "system", *results.plan.measures], *rows]))
    return names


def make_experiment_manifest(
    results: ExperimentResults, key: str, lead: str, times: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest, all that is needed to reproduce the results; the list of files is added when they are written."""
    plan, inputs = results.plan, results.inputs
    return {
        "format": FORMAT,
        "fingerprint": key,
        "title": plan.title,
        "lead": lead,
        "plan": plan.to_json(),
        "dialect": make_dialect(plan.dialect).describe(),
        "versions": {"searchlab": __version__, "python": platform.python_version(), **_versions()},
        "seeds": {"experiment": plan.seed, "folds": plan.folds.seed if not plan.folds.queries else None},
        "fingerprints": inputs.fingerprints(),
        "index": {"name": inputs.engine.snapshot.folder.name, "n_docs": inputs.engine.snapshot.n_docs},
        "n_topics": len(inputs.topics),
        "topics": {topic.qid: topic.text for topic in inputs.topics},
        "n_skipped_topics": inputs.n_skipped,
        "folds": [list(fold) for fold in inputs.folds],
        "times": dict(times),
        "systems": [_record(results, outcome) for outcome in results.outcomes],
    }


def _record(results: ExperimentResults, outcome: SystemResult) -> dict[str, Any]:
    name = outcome.system.name
    comparisons = {measure: results.against_baseline(name, measure) for measure in results.plan.measures}
    return {
        "name": name,
        "what": outcome.system.describe(),
        "means": results.of(name).means,
        "against_baseline": {
            measure: {
                "difference": each.difference,
                "p": each.p if each.p_corrected is None else each.p_corrected,
                "significant": each.significant,
                "wins": each.wins,
                "losses": each.losses,
            }
            for measure, each in comparisons.items()
            if each is not None
        },
        "chosen": list(outcome.chosen),
        "seconds": round(outcome.seconds, 3),
    }


def write_experiment_manifest(folder: Path, manifest: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Write the manifest with the sizes of all files, and remove files of an earlier manifest that are obsolete."""
    before = read_experiment_manifest(folder)
    complete = {**manifest, "files": {name: (folder / name).stat().st_size for name in sorted(names)}}
    with open_atomic(folder / MANIFEST) as file:
        file.write(json.dumps(complete, ensure_ascii=False, indent=1) + "\n")
    for name in before["files"] if before else ():
        path = folder / name
        # Not by way of a link: the file may lie outside the folder.
        if name not in complete["files"] and path.resolve().is_relative_to(folder.resolve()) and path.is_file():
            path.unlink(missing_ok=True)
    return complete


def read_experiment_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a results folder; None if it is missing or cannot be read."""
    try:
        manifest = parse_record(read_text_file(folder / MANIFEST))
        files = table(manifest, "files")
        for name in files:
            inner_path(name)
            whole_number(files, name)
    except (SourceError, ValueError):
        return None
    return manifest if manifest.get("format") == FORMAT else None


def is_complete(folder: Path, key: str) -> bool:
    """Whether a folder has the results with this fingerprint, and all files have their recorded sizes."""
    manifest = read_experiment_manifest(folder)
    if manifest is None or manifest.get("fingerprint") != key:
        return False
    files = {name: folder / name for name in manifest["files"]}
    return all(path.is_file() and path.stat().st_size == manifest["files"][name] for name, path in files.items())


def make_folder(folder: Path) -> None:
    """Create a folder for results, with its parents."""
    try:
        make_folders(folder)
    except OSError as error:
        raise WriteFailed(f"{folder}: cannot be created ({error.strerror})") from None


def require_results_folder(folder: Path, cache: str) -> None:
    """Refuse a folder that holds files other than the results of an experiment."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SourceError(folder, "found a file, expected a folder for results")
    if any(folder.iterdir()) and not (folder / cache).is_dir() and read_experiment_manifest(folder) is None:
        raise SourceError(folder, "found other files, expected an empty folder or results of an experiment")


def _versions() -> dict[str, str]:
    versions = {}
    for tool in TOOLS:
        try:
            versions[tool] = version(tool)
        except PackageNotFoundError:
            continue
    return versions
