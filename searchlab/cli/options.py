"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.messages import note
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.cluster.cluster import Cluster


def _complete_index(incomplete: str) -> list[str]:
    """The names of indexes for shell completion."""
    from searchlab.indexing.index_names import list_indexes

    return [index.name for index in list_indexes() if index.name.startswith(incomplete)]


IndexOption = Annotated[
    str | None,
    typer.Option(
        "-i",
        "--index",
        metavar="INDEX",
        help="A folder, or a name in indexes/ [default: the newest there]",
        autocompletion=_complete_index,
    ),
]
TopicsOption = Annotated[
    str | None,
    typer.Option("--topics", metavar="FILE", help="A file of topics [default: the indexed collection's topics]"),
]
TopicIdsOption = Annotated[
    str,
    typer.Option(
        "--topic-ids",
        metavar="written|ordinal",
        help="The qids of topics: as written, or 1, 2, … in the order of the file, as Cranfield's judgments",
    ),
]
QrelsOption = Annotated[
    str | None,
    typer.Option(
        "--qrels",
        metavar="FILE",
        help="Judgments of the topics [default: the indexed collection's, if its topics are used]",
    ),
]
OutputOption = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="Where to write; - is standard output")
]
ReportOption = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FOLDER", help="Write a report with figures and tables here")
]
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A model, as `train` writes it, or `builtin`")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
JobsOption = Annotated[
    int | None, typer.Option("-j", "--jobs", metavar="N", help="Number of processes [default: one a core]")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, or local:N for N processes "
        "here",
        envvar="SEARCHLAB_CLUSTER",
    ),
]
DivideOption = Annotated[
    str,
    typer.Option(
        "--divide",
        metavar="auto|topics|shards",
        help="What the workers of a cluster divide: topics, if each can hold the whole index, or its shards",
    ),
]
TagOption = Annotated[str | None, typer.Option("--tag", metavar="NAME", help="The run's name in its last column")]
DialectOption = Annotated[
    str,
    typer.Option("--dialect", metavar="trec|letor3|letor4|paper", help="The evaluation tool whose rules are followed"),
]
ScorerSettingsOption = Annotated[
    list[str] | None,
    typer.Option("--scorer-set", metavar="NAME=VALUE", help="A setting of the first search's scorer, such as k1=0.9"),
]


def choose_index(name: str | None) -> Path:
    """The folder of the named index; without a name, the newest index, which is then noted."""
    from searchlab.indexing.index_names import latest_index, locate_index

    if name is not None:
        return locate_index(name)
    folder, n_indexes = latest_index()
    note(f"index: {folder}" + (f" (the newest of {n_indexes}; -i names another)" if n_indexes > 1 else ""))
    return folder


@contextmanager
def open_cluster(address: str | None) -> Iterator[Cluster | None]:
    """The cluster at an address, connected; None without an address."""
    if not address:
        yield None
        return
    from searchlab.cluster.cluster import Cluster

    with Cluster(address) as cluster:
        note(f"cluster: {len(cluster.workers)} workers at {address}")
        yield cluster


def require_jobs(jobs: int | None) -> None:
    """Refuse a number of processes below 1."""
    if jobs is not None and jobs < 1:
        raise SettingError(f"--jobs is {jobs}, expected 1 or more")


def given_options(context: typer.Context) -> dict[str, str]:
    """The parameters that were given on the command line, with their options as users write them."""
    return {
        parameter.name: parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name is not None
        and (source := context.get_parameter_source(parameter.name)) is not None
        and source.name == "COMMANDLINE"
    }


def split_names(text: str, option: str, example: str) -> list[str]:
    """Names separated by commas, each once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise SettingError(f"{option} is {text!r}, expected at least one name, such as {example}")
    return names
