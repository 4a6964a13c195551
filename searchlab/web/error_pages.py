"""Pages of errors: the shape of the site, the message, what was typed, and ways back.

No page of an error opens an index, which may be what has failed: it has the state of the index that was opened last, or
of none.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from searchlab.web.http_errors import HttpError
from searchlab.web.jobs.thread_pools import ThreadPools
from searchlab.web.middleware.auth import local_url
from searchlab.web.middleware.rejections import Rejection
from searchlab.web.middleware.request_context import SCOPE_KEY, RequestContext
from searchlab.web.pages.page import BrowserSession
from searchlab.web.pages.rendering import render
from searchlab.web.pages.workflow import describe_workflow
from searchlab.web.pages.written_entries import MAX_KEPT_CHARACTERS, written_entries
from searchlab.web.responses import BM25, base_context, retry_header
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

log = logging.getLogger(__name__)


async def error_page(
    app_state: AppState,
    pools: ThreadPools,
    request: Request,
    session: BrowserSession,
    error: HttpError,
    sent: Mapping[str, Any] | None = None,
) -> Response:
    """An error as a page.

    `sent` are the parameters of the request: the page keeps its index, its query and all that was written in a form,
    and leads back to the page of the form, or else to the page that led here.
    """
    fields, indexes = dict(sent or {}), app_state.indexes
    name = fields["index"] if fields.get("index") in indexes.names else None
    index = (indexes.last_opened(name) if name else None) or indexes.last_opened()
    shown, system = (index.name, index.default_system) if index else (name or next(iter(indexes.names), ""), BM25)
    context = base_context(shown, indexes.names, session, "", {}, system)
    context["workflow"] = await _workflow(app_state, pools, index, error) if index else None
    back = local_url(str(fields.get("back", ""))).decode()
    kept = {
        "query": str(fields.get("q", ""))[:MAX_KEPT_CHARACTERS],
        "written": written_entries(request.url.path, fields) if request.method == "POST" else [],
        "back": back if back != "/" else _referring_page(request.scope[SCOPE_KEY]),
    }
    html = render("error.html", context | {"status": error.status, "message": error.message} | kept)
    return Response(html, error.status, retry_header(error), "text/html")


def rejection_page(rejection: Rejection, context: RequestContext) -> str:
    """A request that the middleware has rejected as a page: with what was written, and nothing of the indexes."""
    shown = base_context("", (), BrowserSession("", ""), "", {})
    written = written_entries(context.path, QueryParams(context.form)) if context.form else []
    shown |= {"status": rejection.status, "message": rejection.message, "query": "", "written": written}
    return render("error.html", shown | {"back": _referring_page(context)})


async def _workflow(
    app_state: AppState, pools: ThreadPools, index: OpenIndex, error: HttpError
) -> dict[str, Any] | None:
    """What the strip shows; None if the server is busy, or if it cannot be found out."""
    if error.status == 503:
        return None
    state = RequestState(app_state, index.name)
    state.take(index)
    try:
        return await pools.run(lambda: describe_workflow(state))
    except HttpError:
        return None
    except Exception:  # an error page must not fail, whatever has failed
        log.exception("the strip of an error page")
        return None


def _referring_page(context: RequestContext) -> str:
    """The page of this server that led to the request; empty if it is not known, or the start page."""
    try:
        parts = urlsplit(context.header(b"referer"))
    except ValueError:
        return ""
    if parts.netloc.lower() != context.header(b"host").lower() or not parts.path:
        return ""
    url = local_url(f"{parts.path}?{parts.query}" if parts.query else parts.path).decode()
    is_itself = context.method != "POST" and url == context.url
    return "" if url == "/" or is_itself else url
