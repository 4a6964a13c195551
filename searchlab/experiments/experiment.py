"""Running an experiment: from a plan to a folder of results with a report.

If the folder already has the results of this experiment, nothing is done: a fingerprint covers the plan, the index,
topics, judgments, folds and version.
"""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.evaluation.dialects import make_dialect
from searchlab.experiments.cache import FOLDER, Cache, fingerprint
from searchlab.experiments.experiment_results import (
    ExperimentResults,
    is_complete,
    make_experiment_manifest,
    make_folder,
    read_experiment_manifest,
    require_results_folder,
    write_experiment_manifest,
    write_runs,
)
from searchlab.experiments.inputs import ExperimentInputs, open_inputs
from searchlab.experiments.plan import ExperimentPlan
from searchlab.experiments.runner import combine_features, run_systems
from searchlab.features.prerequisites import build_prerequisites
from searchlab.types import Progress, no_progress


@dataclass(frozen=True)
class FinishedExperiment:
    """A folder with results, and its manifest; `was_there` if the results existed already."""

    folder: Path
    manifest: dict[str, Any]
    was_there: bool = False


def run_experiment(
    plan: ExperimentPlan,
    *,
    output: str | Path | None = None,
    inputs: ExperimentInputs | None = None,
    n_jobs: int | None = None,
    cluster: Cluster | str | None = None,
    divide: str = "auto",
    fresh: bool = False,
    progress: Progress = no_progress,
) -> FinishedExperiment:
    """Run a plan unless its results exist; earlier intermediate results are reused, but not with `fresh`.

    The `inputs` are by default those that the plan names.
    Rankers are trained by `n_jobs` processes, or with topics, features and folds as tasks of a `cluster`,
    where topics or shards are divided, as `divide` says (see `BasePipeline.run`).
    """
    began = time.perf_counter()
    started = datetime.now(UTC)
    folder = plan.output if output is None else Path(output)
    require_results_folder(folder, FOLDER)
    inputs = inputs or open_inputs(plan, progress)
    if plan.rankers:
        build_prerequisites(inputs.engine, combine_features(plan.rankers), progress)
    key = fingerprint(plan.to_json(), inputs.fingerprints())
    if not fresh and is_complete(folder, key):
        return FinishedExperiment(folder, read_experiment_manifest(folder) or {}, was_there=True)
    make_folder(folder / FOLDER)
    # A fresh run stores its entries under other names; those of earlier runs are removed at its end.
    cache = Cache(folder / FOLDER, salt=os.urandom(4).hex() if fresh else "")
    with nullcontext() if cluster is None else as_cluster(cluster) as connected:
        outcomes = run_systems(plan, inputs, cache, n_jobs=n_jobs, cluster=connected, divide=divide, progress=progress)
    results = ExperimentResults(plan, inputs, tuple(outcomes))
    progress("writing", 0, 1)
    from searchlab.experiments.report_builder import build_report, lead
    from searchlab.report.writer import write_report

    times = {"started": started.isoformat(timespec="seconds"), "seconds": round(time.perf_counter() - began, 2)}
    manifest = make_experiment_manifest(results, key, lead(results), times)
    names = write_runs(results, folder)
    names += [
        path.relative_to(folder).as_posix() for path in write_report(build_report(results, _facts(manifest)), folder)
    ]
    whole = write_experiment_manifest(folder, manifest, names)
    cache.sweep()
    progress("writing", 1, 1)
    return FinishedExperiment(folder, whole)


def _facts(manifest: dict[str, Any]) -> dict[str, str]:
    """Facts needed to reproduce the report; none of them changes from run to run."""
    facts = {name: str(version) for name, version in manifest["versions"].items()}
    facts |= {f"fingerprint: {name}": value for name, value in manifest["fingerprints"].items()}
    facts["seed"] = str(manifest["seeds"]["experiment"])
    facts["rules"] = make_dialect(manifest["plan"]["dialect"]).describe()
    return facts
