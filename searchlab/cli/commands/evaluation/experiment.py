"""`searchlab experiment`: compare systems as a TOML file describes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.options import ClusterOption, DivideOption, JobsOption, open_cluster, require_jobs
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.evaluation.number_text import format_count


@app.command("experiment")
def experiment_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The plan of the experiment, a TOML file")],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="The folder of results [default: the plan's]"),
    ] = None,
    jobs: JobsOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything again.")] = False,
    cluster: ClusterOption = None,
    divide: DivideOption = "auto",
) -> None:
    """Compare systems as a TOML file describes, and report.

    Writes runs, models, tables and a report. Results that are there already are kept.
    """
    from searchlab.experiments.experiment import run_experiment
    from searchlab.experiments.plan_file import read_plan
    from searchlab.retrieval.distributed.shard_division import require_division

    require_jobs(jobs)
    require_division(divide)
    plan = read_plan(file)
    try:
        with open_cluster(cluster) as connected, stage_bar() as progress:
            finished = run_experiment(
                plan, output=output, n_jobs=jobs, cluster=connected, divide=divide, fresh=fresh, progress=progress
            )
    except KeyboardInterrupt:
        note(f"finished parts are kept in {output or plan.output}; the same command continues from there")
        raise
    _print_systems(finished.manifest)
    print()
    print_line(finished.manifest["lead"])
    skipped = finished.manifest["n_skipped_topics"]
    if skipped:
        note(f"{format_count(skipped, 'topic')} without a relevant document left out")
    if finished.was_there:
        note("nothing to do: these results were there already; --fresh computes them again")
    note(f"report → {finished.folder / 'report.html'}")


def _print_systems(manifest: dict[str, Any]) -> None:
    """Print the means of the systems, marked where they differ significantly from the baseline."""
    measures, systems = manifest["plan"]["measures"], manifest["systems"]
    width = max(len(system["name"]) for system in systems)
    widths = {measure: max(8, len(measure)) for measure in measures}
    heads = " ".join(f"{measure:>{widths[measure]}} " for measure in measures)
    print(f"{'':{width}}  {heads}".rstrip())
    for system in systems:
        cells = []
        for measure in measures:
            test = system["against_baseline"].get(measure)
            sign = " " if not test or not test["significant"] else "+" if test["difference"] > 0 else "-"
            cells.append(f"{system['means'][measure]:>{widths[measure]}.4f}{sign}")
        print_line(f"{system['name']:{width}}  {' '.join(cells)}".rstrip())
    print()
    print_line(
        f"Means over {format_count(manifest['n_topics'], 'topic')}, {format_count(len(manifest['folds']), 'fold')}; "
        f"+ better, - worse than {manifest['plan']['baseline']} (randomisation test, p < .05 after Holm's correction)."
    )
    print(f"{manifest['dialect'][0].upper()}{manifest['dialect'][1:]}.")
