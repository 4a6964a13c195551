"""HTTP responses: JSON, pages, errors and redirects."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from searchlab.errors import ClusterError
from searchlab.json_numbers import without_nan
from searchlab.web.http_errors import INTERNAL_ERROR, HttpError, to_http_error
from searchlab.web.middleware.auth import local_url
from searchlab.web.pages.page import BrowserSession
from searchlab.web.pages.rendering import Links, render
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_index import OpenIndex

# Of what was typed, an error page keeps so much.
MAX_KEPT_CHARACTERS = 4000

log = logging.getLogger(__name__)


def encode_json(answer: Any) -> str:
    """An answer as JSON, NaN and infinities as null; a text as it is."""
    if isinstance(answer, str):
        return answer
    try:
        return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(without_nan(answer), ensure_ascii=False, separators=(",", ":"))


def json_error(error: HttpError) -> Response:
    """An error as JSON."""
    answer = {"error": error.message, "field": error.field or None}
    return Response(json.dumps(answer), error.status, _retry_header(error), "application/json")


def error_page(
    app_state: AppState, session: BrowserSession, error: HttpError, sent: Mapping[str, Any] | None = None
) -> Response:
    """An error as a page. It is rendered in the event loop, so it opens no index.

    `sent` are the parameters of the request: the page keeps its index, its query and the words that were typed, and
    leads back to the page of the form.
    """
    fields = dict(sent or {})
    known = fields.get("index") in app_state.indexes.names
    index = (app_state.indexes.last_opened(fields["index"]) if known else None) or app_state.indexes.last_opened()
    if index is None:  # no index could be opened yet: that may be the error
        return Response(error.message, error.status, _retry_header(error), "text/plain")
    context = base_context(index, app_state.indexes.names, session, "", {})
    back = local_url(str(fields.get("back", ""))).decode()
    kept = {
        "query": str(fields.get("q", ""))[:MAX_KEPT_CHARACTERS],
        "typed": str(fields.get("text", ""))[:MAX_KEPT_CHARACTERS],
        "back": back if back != "/" else "",
    }
    html = render("error.html", context | {"status": error.status, "message": error.message} | kept)
    return Response(html, error.status, _retry_header(error), "text/html")


def base_context(
    index: OpenIndex, indexes: tuple[str, ...], session: BrowserSession, menu: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    """The variables that all templates use."""
    url_state = {**values, "index": index.name if len(indexes) > 1 else None}
    return {
        "menu": menu,
        "index": index.name,
        "indexes": indexes,
        "csrf": session.csrf,
        "judge": session.judge,
        "judge_is_fixed": session.judge_is_fixed,
        "workflow": None,
        "problem_of_form": None,
        "default_system": index.default_system,
        "url": Links(url_state, index.default_system),
    }


def log_error(app_state: AppState, error: Exception, request: Request) -> HttpError:
    """The HTTP error for an exception, without folders of this machine; internal errors are logged."""
    http_error = to_http_error(error)
    path = request.scope["path"][:200].encode("unicode_escape").decode()
    if http_error is None:
        log.exception("%s %s", request.method, path, exc_info=error)
        return HttpError(500, INTERNAL_ERROR)
    if http_error.status == 500 or isinstance(error, ClusterError):
        log.error("%s %s: %s", request.method, path, error)
    return HttpError(http_error.status, app_state.indexes.without_folders(http_error.message), http_error.field)


def redirect(url: str) -> Response:
    """A redirect to a URL of this server; to `/` for any other."""
    return RedirectResponse(local_url(url).decode("latin-1"), 303)


def _retry_header(error: HttpError) -> dict[str, str]:
    return {"retry-after": "1"} if error.status == 503 else {}
