"""`searchlab serve`: the search page and the JSON API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.options import ClusterOption, choose_index, open_cluster
from searchlab.cli.search_options import SynonymsOption
from searchlab.errors import SettingError, SourceError

# Where experiments leave their results by default; the folder need not exist.
RESULTS = "results"
# Where documents from browsers are kept; the folder need not exist.
UPLOADS = "uploads"


@app.command("serve")
def serve_command(
    index: Annotated[
        list[str] | None,
        typer.Option(
            "-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/; repeatable [default: the newest]"
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="The address to listen on; other machines need a token"),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", help="The port to listen on; 0 takes a free one")] = 8000,
    token: Annotated[
        list[str] | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="SEARCHLAB_TOKEN",
            show_envvar=False,
            help="The token that visitors need, `auto` for one of the index; NAME=TOKEN, repeatable, for a token "
            "of each judge; also from the environment as SEARCHLAB_TOKEN [default: none on this machine, auto beyond]",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="FILE", help="A trained model to offer, as `train` writes it; repeatable"),
    ] = None,
    synonyms: SynonymsOption = None,
    reports: Annotated[
        str | None,
        typer.Option("--reports", metavar="FOLDER", help="The folder with reports of experiments [default: results]"),
    ] = None,
    uploads: Annotated[
        str,
        typer.Option("--uploads", metavar="FOLDER", help="The folder for documents that are uploaded in the page"),
    ] = UPLOADS,
    cluster: ClusterOption = None,
    deadline: Annotated[
        float,
        typer.Option("--deadline", metavar="SECONDS", help="How long the workers of a cluster may take to answer"),
    ] = 10.0,
) -> None:
    """Serve the search page, and the same as JSON under /api.

    Search, compare, explain, judge and train in the browser.
    """
    folders = [choose_index(name) for name in index] if index else _newest_index(may_be_none=cluster is None)
    models = [Path(file) for file in model or []]
    for file in models:
        if not file.is_file():
            raise SourceError(file, "no such file")
    if not deadline > 0:
        raise SettingError(f"--deadline is {deadline:g}, expected a number of seconds above 0")
    if reports is not None and not Path(reports).is_dir():
        raise SettingError(f"--reports {reports}: no such folder")
    from searchlab.blas_threads import use_blas_threads
    from searchlab.indexing.index_names import INDEXES_FOLDER
    from searchlab.rankers.bundle import load_bundle
    from searchlab.retrieval.query.synonyms import Synonyms
    from searchlab.web.server import serve
    from searchlab.web.state.app_state import AppState
    from searchlab.web.state.open_indexes import OpenIndexes, distributed_engines, local_engines
    from searchlab.web.uploads.upload_store import Uploads

    given = Synonyms.given(synonyms)
    with open_cluster(cluster) as connected:
        open_engine = local_engines(given) if connected is None else distributed_engines(connected, deadline, given)
        indexes = OpenIndexes(folders, models, open_engine, may_be_none=connected is None)
        for name in indexes.names:
            indexes.get(name)  # damage is reported now, not to the first visitor
        for file in models:
            load_bundle(file)
        # What is uploaded is indexed and searched by this machine.
        home = folders[0].parent if folders else INDEXES_FOLDER
        taken = None if connected is not None else Uploads(Path(uploads), home)
        state = AppState(indexes, reports_folder=Path(reports or RESULTS), uploads=taken)
        for name in indexes.names:
            state.judgments(name).verify()
        # Requests multiply small matrices, several at a time: threads of one would wait for those of another.
        with use_blas_threads(1):
            serve(state, host, port, token or ())


def _newest_index(*, may_be_none: bool) -> list[Path]:
    """The newest index; none if there is none and documents can be added in the page."""
    from searchlab.indexing.index_names import INDEXES_FOLDER
    from searchlab.indexing.storage.layout import MANIFEST

    if may_be_none and not any(INDEXES_FOLDER.glob(f"*/{MANIFEST}")):
        note(f"{INDEXES_FOLDER}: no index here yet; add documents in the page, or make one by `searchlab index SOURCE`")
        return []
    return [choose_index(None)]
