"""`searchlab semantic`: the latent semantic space of an index."""

from __future__ import annotations

from typing import Annotated

import typer

from searchlab.cli.app import app
from searchlab.cli.messages import warn
from searchlab.cli.options import ClusterOption, IndexOption, choose_index, open_cluster
from searchlab.cli.printing.terminal_text import megabytes, print_line
from searchlab.cli.progress import stage_bar
from searchlab.evaluation.number_text import format_count


@app.command("semantic")
def semantic_command(
    index: IndexOption = None,
    dims: Annotated[int, typer.Option("--dims", metavar="N", help="Number of dimensions")] = 200,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the random start")] = 1990,
    update: Annotated[
        bool, typer.Option("--update", help="Keep the dimensions, and only add the documents that came later.")
    ] = False,
    cluster: ClusterOption = None,
) -> None:
    """Compute the latent semantic space of an index.

    The feature set `semantic` needs it. It is a truncated SVD of the term-document matrix, kept with the index.
    """
    from searchlab.features.latent_semantics.semantic_space import build_space, update_space

    folder = choose_index(index)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        if update:
            space = update_space(folder, cluster=connected, progress=progress)
        else:
            space = build_space(folder, dims=dims, seed=seed, cluster=connected, progress=progress)
    size = (
        f"{format_count(space.dims, 'dimension')}, {format_count(space.n_docs, 'document')}, {megabytes(space.n_bytes)}"
    )
    print_line(f"{folder}: latent semantic space of {size}")
    for warning in space.warnings:
        warn(warning)
    if space.staleness:
        advice = "; `searchlab semantic` computes it again" if space.is_stale else ""
        warn(f"{space.staleness:.0%} of the documents came after the space was computed{advice}")
