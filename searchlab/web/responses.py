"""HTTP responses: JSON, errors and redirects; the variables of all pages."""

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
from searchlab.web.pages.rendering import Links
from searchlab.web.state.app_state import AppState

# The system of an index for which no other one was chosen.
BM25 = "bm25"

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
    return Response(json.dumps(answer), error.status, retry_header(error), "application/json")


def base_context(
    index: str,
    indexes: tuple[str, ...],
    session: BrowserSession,
    menu: str,
    values: Mapping[str, Any],
    default_system: str = BM25,
) -> dict[str, Any]:
    """The variables that all templates use; `default_system` is what ranks searches of the index."""
    url_state = {**values, "index": index if len(indexes) > 1 else None}
    return {
        "menu": menu,
        "index": index,
        "indexes": indexes,
        "csrf": session.csrf,
        "judge": session.judge,
        "judge_is_fixed": session.judge_is_fixed,
        "workflow": None,
        "problem_of_form": None,
        "default_system": default_system,
        "url": Links(url_state, default_system),
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


def retry_header(error: HttpError) -> dict[str, str]:
    """The header that asks a client to try again, if the error is temporary."""
    return {"retry-after": "1"} if error.status == 503 else {}
