"""How is the body of a request received? Whole, before anything is done with it, and neither too much nor too slowly.

Work begins when all has arrived: a sender who dawdles holds a connection, never a place in which work is done.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.types import Message, Receive

from searchlab.web.middleware.rejections import CLOSE, Refusal
from searchlab.web.middleware.request_context import KEY, Visit

# A large body may take longer than a small one: whoever keeps up this many bytes a second is waited for.
BYTES_PER_SECOND = 100_000


class Gone(Exception):
    """Whoever asked has left before all was said."""


async def receive_body(receive: Receive, visit: Visit, *, most: int, seconds: float) -> bytes:
    """All of a body that has at most so many bytes, whatever its length was said to be."""
    declared = visit.header(b"content-length")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds) as patience:
            begin = asyncio.get_running_loop().time()
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Gone
                part = message.get("body", b"")
                size += len(part)
                if size > most:
                    raise _too_large(most)
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
                patience.reschedule(begin + seconds + size / BYTES_PER_SECOND)
    except TimeoutError:
        raise Refusal(408, "the body took too long to arrive", headers=CLOSE) from None


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body is too large, expected at most {most:,} bytes")


def replay(body: bytes, receive: Receive) -> Receive:
    """Give a body that was received once more; after it comes what comes then."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


def form_of(request: Request) -> QueryParams:
    """The fields of a form that was sent; several values of one field by `getlist`."""
    visit: Visit = request.scope[KEY]
    return QueryParams(visit.form or "")
