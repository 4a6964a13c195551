"""`searchlab delete`: remove documents from an index."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.options import IndexOption, choose_index
from searchlab.cli.printing.index_printing import print_build_summary
from searchlab.cli.progress import stage_bar
from searchlab.errors import SettingError

# Longer than any docno.
MAX_LINE_LENGTH = 2**20


@app.command("delete")
def delete_command(
    docnos: Annotated[
        list[str], typer.Argument(metavar="DOCNO", help="Documents; - reads docnos from a pipe, one a line")
    ],
    index: IndexOption = None,
) -> None:
    """Remove documents from an index.

    If the index lacks one of them, none is removed.
    """
    lines = [line for docno in docnos for line in (_piped_docnos() if docno == "-" else [docno])]
    unwanted = [line for line in lines if line]
    if not unwanted:
        raise SettingError("no docnos: expected at least one document to delete")
    with stage_bar() as progress:
        print_build_summary(searchlab.delete(choose_index(index), unwanted, progress=progress))


def _piped_docnos() -> Iterator[str]:
    """The lines of standard input; one that no docno can be is refused before it fills the memory."""
    while line := sys.stdin.readline(MAX_LINE_LENGTH):
        if len(line) == MAX_LINE_LENGTH:
            raise SettingError(f"found a line of {MAX_LINE_LENGTH:,} characters or more, expected a docno a line")
        yield line.removesuffix("\n")
