"""Request bodies: received in full before any work begins, within limits of size and time.

A slow sender occupies a connection, but never a thread.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.types import Message, Receive

from searchlab.web.middleware.rejections import CLOSE, Rejection
from searchlab.web.middleware.request_context import SCOPE_KEY, RequestContext

# A large body may take longer than a small one: the time limit grows with the bytes received.
MIN_BYTES_PER_SECOND = 100_000


class ClientDisconnected(Exception):
    """The client has closed the connection before the body was complete."""


async def receive_body(receive: Receive, context: RequestContext, *, max_bytes: int, seconds: float) -> bytes:
    """The whole body; its size is checked whatever its Content-Length says."""
    declared = context.header(b"content-length")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise _too_large(max_bytes)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds) as timeout:
            start = asyncio.get_running_loop().time()
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientDisconnected
                part = message.get("body", b"")
                size += len(part)
                if size > max_bytes:
                    raise _too_large(max_bytes)
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
                timeout.reschedule(start + seconds + size / MIN_BYTES_PER_SECOND)
    except TimeoutError:
        raise Rejection(408, "the body took too long to arrive", headers=CLOSE) from None


def _too_large(max_bytes: int) -> Rejection:
    return Rejection(413, f"the body is too large, expected at most {max_bytes:,} bytes")


def replay(body: bytes, receive: Receive) -> Receive:
    """An ASGI `receive` that gives a body already received, then what `receive` gives."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again


def form_fields(request: Request) -> QueryParams:
    """The fields of the form that was sent; several values of one field by `getlist`."""
    context: RequestContext = request.scope[SCOPE_KEY]
    return QueryParams(context.form or "")
