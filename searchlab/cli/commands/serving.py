"""How is the search page opened from the command line?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from searchlab.cli.app import app, choose_index
from searchlab.errors import SettingError, SourceError

# Where experiments leave their results unless they are told otherwise; it need not be there.
RESULTS = "results"


@app.command("serve")
def serve_command(
    index: Annotated[
        list[str] | None,
        typer.Option(
            "-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/; repeatable [default: the newest]"
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; others than this machine need a token")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", help="0 takes one that is free")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="SEARCHLAB_TOKEN",
            show_envvar=False,
            help="What visitors have to show, also from the environment as SEARCHLAB_TOKEN "
            "[default: none on this machine, a random one beyond]",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="FILE", help="A trained model to offer, as train writes it; repeatable"),
    ] = None,
    reports: Annotated[
        str | None,
        typer.Option(
            "--reports", metavar="FOLDER", help="Where experiments have left their reports [default: results]"
        ),
    ] = None,
) -> None:
    """Open the page to search, compare, explain, judge and learn, and the same as JSON under /api."""
    folders = [choose_index(name) for name in index] if index else [choose_index(None)]
    models = [Path(file) for file in model or []]
    for file in models:
        if not file.is_file():
            raise SourceError(file, "no such file")
    if reports is not None and not Path(reports).is_dir():
        raise SettingError(f"--reports {reports}: no such folder")
    from searchlab.rankers.bundle import load_bundle
    from searchlab.web.server import serve
    from searchlab.web.state.app_state import AppState
    from searchlab.web.state.open_indexes import OpenIndexes

    indexes = OpenIndexes(folders, models)
    for name in indexes.names:
        indexes.get(name)  # what is damaged is told now, not to the first visitor
    for file in models:
        load_bundle(file)
    serve(AppState(indexes, reports_folder=Path(reports or RESULTS)), host, port, token)
