"""Requests rejected or redirected by the middleware, before any page or API function sees them.

Rejections are JSON under `/api`, small pages elsewhere. Their messages repeat nothing of the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from http import HTTPStatus

from starlette.types import Scope, Send

from searchlab.web.middleware.request_context import SCOPE_KEY, RequestContext

Headers = tuple[tuple[bytes, bytes], ...]

# For a connection on which unwanted data may still arrive.
CLOSE: Headers = ((b"connection", b"close"),)


class Rejection(Exception):
    """An HTTP status and a message of one line; `page` is HTML to send instead of the message."""

    def __init__(self, status: int, message: str, *, headers: Headers = (), page: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers
        self.page = page


class Redirect(Exception):
    """A redirect to another URL of this server."""

    def __init__(self, url: bytes) -> None:
        super().__init__(url)
        self.url = url


# Renders a rejection as a page.
RejectionPage = Callable[[Rejection, RequestContext], str]


def is_api(scope: Scope) -> bool:
    """Whether the request is for the API, which answers in JSON."""
    path: str = scope["path"]
    return path.startswith("/api/") or path == "/api"


async def send_rejection(rejection: Rejection, scope: Scope, send: Send, page: RejectionPage | None = None) -> None:
    """Send a rejection as the response; `page` renders it where a page is expected."""
    if is_api(scope):
        content_type, text = (
            b"application/json",
            json.dumps({"error": rejection.message, "field": None}, ensure_ascii=False),
        )
    else:
        content_type = b"text/html; charset=utf-8"
        text = rejection.page or (page or _plain_page)(rejection, scope[SCOPE_KEY])
    await _send(send, rejection.status, ((b"content-type", content_type), *rejection.headers), text.encode())


async def send_redirect(redirect: Redirect, send: Send) -> None:
    """Send a redirect as the response; the client follows it with GET."""
    await _send(send, HTTPStatus.SEE_OTHER, ((b"location", redirect.url),), b"")


async def _send(send: Send, status: int, headers: Headers, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": int(status), "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


def _plain_page(rejection: Rejection, context: RequestContext) -> str:
    title = f"{rejection.status} {HTTPStatus(rejection.status).phrase}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<h1>{title}</h1><p>{escape(rejection.message)}</p></html>"
    )
