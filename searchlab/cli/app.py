"""What do all commands share? The application, options that several have, and how things are told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from searchlab import __version__
from searchlab.errors import WriteFailed

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes

# Commands in the order in which one needs them, as help shows them.
ORDER = (
    *("index", "query", "serve", "run", "stats", "delete", "merge", "doctor"),
    *("features", "semantic", "train", "rerank", "explain", "model", "topics", "train-lm"),
    *("judgments", "eval", "compare", "fuse", "tune", "experiment", "reproduce"),
)


class Ordered(typer.core.TyperGroup):
    """Commands in their order; one that was forgotten comes last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names as help lists them."""
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    name="searchlab",
    cls=Ordered,
    help="Index a corpus, search it with exact classic scorers, and run TREC-style experiments.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

IndexOption = Annotated[
    str | None,
    typer.Option("-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/ [default: the newest there]"),
]


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Index a corpus, search it with exact classic scorers, and run TREC-style experiments."""
    if version:
        print(f"searchlab {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def note(message: str) -> None:
    """Say something that is not a result."""
    print(message, file=sys.stderr)


def count(n: int, noun: str) -> str:
    """A number and what it counts: 1 shard, 2 shards."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def megabytes(n_bytes: int) -> str:
    """A size."""
    return f"{n_bytes / 1e6:,.1f} MB"


def choose_index(name: str | None) -> Path:
    """The folder of the index that the user means; if none is named, the newest, which is then said."""
    from searchlab.indexing.index_names import latest_index, locate_index

    if name is not None:
        return locate_index(name)
    folder, of_how_many = latest_index()
    note(f"index: {folder}" + (f" (the newest of {of_how_many}; -i names another)" if of_how_many > 1 else ""))
    return folder


def require_writable(output: str) -> None:
    """Training takes time: say beforehand that its result could not be written."""
    path = Path(output)
    if path.is_dir() or not path.parent.is_dir():
        raise WriteFailed(f"{output}: cannot be written ({'a folder' if path.is_dir() else 'no such folder'})")


def warn_of_latin1(notes: ReadingNotes) -> None:
    """Say which files were not in UTF-8."""
    if notes.latin1_lines:
        lines, files = count(notes.latin1_lines.total(), "line"), count(len(notes.latin1_lines), "file")
        note(f"not UTF-8, read as Latin-1: {lines} in {files}, first {next(iter(notes.latin1_lines))}")
