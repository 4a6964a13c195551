"""`searchlab merge`: rewrite an index as few large shards."""

from __future__ import annotations

from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.options import ClusterOption, IndexOption, choose_index, open_cluster
from searchlab.cli.printing.index_printing import print_build_summary
from searchlab.cli.progress import stage_bar


@app.command("merge")
def merge_command(
    index: IndexOption = None,
    jobs: Annotated[
        int, typer.Option("-j", "--jobs", metavar="N", help="Number of shards to write at the same time")
    ] = 1,
    cluster: ClusterOption = None,
) -> None:
    """Rewrite an index as few large shards.

    Deleted documents are dropped from the disk. Searches are then fastest.
    """
    folder = choose_index(index)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        print_build_summary(searchlab.merge(folder, jobs=jobs, cluster=connected, progress=progress))
