"""Handlers of the files that experiments leave: reports, with a way back into the site, and figures."""

from __future__ import annotations

import re
from collections.abc import Callable

from markupsafe import escape
from starlette.requests import Request
from starlette.responses import Response

from searchlab.errors import SearchlabError
from searchlab.experiments.stored_results import FIGURES, read_experiment
from searchlab.web.error_pages import error_page
from searchlab.web.handlers import Handler, read_session
from searchlab.web.http_errors import NotFound
from searchlab.web.jobs.thread_pools import ThreadPools
from searchlab.web.pages.rendering import Links
from searchlab.web.responses import log_error
from searchlab.web.state.app_state import REPORT, AppState

# Reports contain their styles, and no scripts.
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

_BODY = re.compile(rb"<body[^>]*>", re.IGNORECASE)
_WAY_BACK = (
    '\n<nav aria-label="searchlab" style="max-width: 46rem; margin: 0 auto; padding: 1rem clamp(1.1rem, 4vw, 1.5rem) '
    '0; font: .88rem/1.5 system-ui, sans-serif">{}</nav>'
)


def report_handler(app_state: AppState, pools: ThreadPools) -> Handler:
    """Serves the reports of experiments, by the names found in the folders of reports."""

    def read(request: Request) -> bytes:
        return _read_report(app_state, request.path_params["name"])

    return _file_handler(app_state, pools, read, "text/html")


def figure_handler(app_state: AppState, pools: ThreadPools) -> Handler:
    """Serves the figures of experiments, which have their styles, and no scripts."""

    def read(request: Request) -> bytes:
        name, figure = (request.query_params.get(key, "") for key in ("name", "figure"))
        if figure not in FIGURES:
            raise NotFound(f"there is no figure {figure[:60]!r}")
        return _read_result(app_state, name, f"{figure}.svg")

    return _file_handler(app_state, pools, read, "image/svg+xml")


def _file_handler(
    app_state: AppState, pools: ThreadPools, read: Callable[[Request], bytes], media_type: str
) -> Handler:
    """Serves what is read for a request; a page of the site says what is wrong."""

    async def respond(request: Request) -> Response:
        try:
            content = await pools.run(lambda: read(request))
        except Exception as error:
            http_error = log_error(app_state, error, request)
            return await error_page(app_state, pools, request, read_session(request), http_error)
        return Response(content, media_type=media_type, headers={"content-security-policy": REPORT_POLICY})

    return respond


def _read_report(app_state: AppState, name: str) -> bytes:
    """A report, with a way back above it: to the experiments, and to its results in the site if they can be read."""
    report = _read_result(app_state, name)
    try:
        index = read_experiment(app_state.reports[name].parent).index
    except (SearchlabError, KeyError):
        index = ""  # a report of another kind, or in a folder that has just been deleted
    names = app_state.indexes.names
    url = Links({"index": index if index in names and len(names) > 1 else None})
    links = [(url("/experiments"), "← Experiments")]
    if index in names:
        links.append((url("/experiment", name=name), "Results, with links to topics and documents"))
    items = " · ".join(f'<a href="{escape(address)}">{escape(words)}</a>' for address, words in links)
    return _BODY.sub(lambda body: body.group() + _WAY_BACK.format(items).encode(), report, count=1)


def _read_result(app_state: AppState, name: str, file: str = REPORT) -> bytes:
    """A file of the results of an experiment, by default its report."""
    path = app_state.reports.get(name)
    if path is None:
        raise NotFound(f"there is no report {name[:60]!r}")
    try:
        return path.with_name(file).read_bytes()
    except OSError as error:
        raise NotFound(f"the report {name[:60]!r} cannot be read ({error.strerror})") from None
