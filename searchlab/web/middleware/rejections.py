"""How is a request refused before any page or answer has seen it?

As JSON under `/api`, as a small page elsewhere. Messages are ours: nothing of the request is repeated in them.
"""

from __future__ import annotations

import json
from html import escape
from http import HTTPStatus

from starlette.types import Scope, Send

Headers = tuple[tuple[bytes, bytes], ...]

# A connection on which more may come that nobody wants to read.
CLOSE: Headers = ((b"connection", b"close"),)


class Refusal(Exception):
    """A status of HTTP with one line for whoever asked; `page` is HTML that is shown instead of it."""

    def __init__(self, status: int, message: str, *, headers: Headers = (), page: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers
        self.page = page


class Redirection(Exception):
    """The browser is to go on elsewhere on this server."""

    def __init__(self, address: bytes) -> None:
        super().__init__(address)
        self.address = address


def is_api(scope: Scope) -> bool:
    """Whether a program asks, that wants JSON."""
    path: str = scope["path"]
    return path.startswith("/api/") or path == "/api"


async def send_refusal(refusal: Refusal, scope: Scope, send: Send) -> None:
    """Answer with a refusal."""
    if is_api(scope):
        kind, text = b"application/json", json.dumps({"error": refusal.message}, ensure_ascii=False)
    else:
        kind, text = b"text/html; charset=utf-8", refusal.page or _page(refusal)
    await _send(send, refusal.status, ((b"content-type", kind), *refusal.headers), text.encode())


async def send_redirection(redirection: Redirection, send: Send) -> None:
    """Answer with another address, which is to be read, whatever was done here."""
    await _send(send, HTTPStatus.SEE_OTHER, ((b"location", redirection.address),), b"")


async def _send(send: Send, status: int, headers: Headers, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": int(status), "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


def _page(refusal: Refusal) -> str:
    title = f"{refusal.status} {HTTPStatus(refusal.status).phrase}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<h1>{title}</h1><p>{escape(refusal.message)}</p></html>"
    )
