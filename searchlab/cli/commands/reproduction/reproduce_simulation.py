"""`searchlab reproduce simulation`: cost-sensitive against plain Ranking SVM on three Gaussians."""

from __future__ import annotations

from typing import Annotated

import typer

from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_report_folder
from searchlab.cli.options import ClusterOption, ReportOption, open_cluster
from searchlab.cli.output import require_writable_folder
from searchlab.cli.progress import stage_bar
from searchlab.evaluation.number_text import format_count


@reproduce_app.command("simulation")
def simulation_command(
    output: ReportOption = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same numbers")] = 0,
    runs: Annotated[int, typer.Option("--runs", metavar="N", help="How often instances are drawn")] = 10,
    cluster: ClusterOption = None,
) -> None:
    """Cost-sensitive against plain Ranking SVM.

    On three Gaussians (Xu et al. 2006).
    """
    from searchlab.reproduction.simulation import format_simulation, simulate, simulation_report

    require_writable_folder(output)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        simulation = simulate(seed, runs, progress, connected)
    print(format_simulation(simulation))
    print(f"\nNDCG, the mean of {format_count(runs, 'run')}, seed {seed}. {simulation.verdict()}")
    if output is not None:
        write_report_folder(simulation_report(simulation), output)
