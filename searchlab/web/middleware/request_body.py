"""Request bodies: within limits of size and time, and received in full before any work begins.

A slow sender occupies a connection, but never a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

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
    """The whole body."""
    parts: list[bytes] = []

    async def take(part: bytes) -> None:
        parts.append(part)

    await pass_body(receive, context, take, max_bytes=max_bytes, seconds=seconds)
    return b"".join(parts)


async def pass_body(
    receive: Receive,
    context: RequestContext,
    take: Callable[[bytes], Awaitable[None]],
    *,
    max_bytes: int,
    seconds: float,
) -> None:
    """Pass each part of a body to `take` as it arrives; its size is checked whatever its Content-Length says."""
    check_declared_length(context, max_bytes)
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
                await take(part)
                if not message.get("more_body", False):
                    return
                timeout.reschedule(start + seconds + size / MIN_BYTES_PER_SECOND)
    except TimeoutError:
        raise Rejection(408, "the body took too long to arrive", headers=CLOSE) from None


def check_declared_length(context: RequestContext, max_bytes: int) -> None:
    """Reject a body that says itself that it is too large."""
    declared = context.header(b"content-length")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise _too_large(max_bytes)


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
