"""Receiving a file: the body of a request is written to disk as it arrives, with one block of it in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.requests import Request

from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.limits import Limits
from searchlab.web.middleware.rejections import Rejection
from searchlab.web.middleware.request_body import pass_body
from searchlab.web.middleware.request_context import SCOPE_KEY, RequestContext
from searchlab.web.uploads.upload_store import Uploads

BLOCK_BYTES = 2**20


@asynccontextmanager
async def received_file(
    request: Request, uploads: Uploads | None, limits: Limits, *, name: str, path: str
) -> AsyncIterator[Path]:
    """The body of a request as a file, which is deleted at the end; an upload that cannot take it is an error first."""
    if uploads is None:
        raise NotFound("this server takes no uploads, expected one that was started with `searchlab serve`")
    context: RequestContext = request.scope[SCOPE_KEY]
    declared = context.header(b"content-length")
    with uploads.receive(name, path, int(declared) if declared.isdecimal() else 0) as file:
        await _fill(file, request, context, limits)
        yield file


async def _fill(path: Path, request: Request, context: RequestContext, limits: Limits) -> None:
    with path.open("wb", buffering=0) as file:
        block = bytearray()

        async def take(part: bytes) -> None:
            block.extend(part)
            if len(block) >= BLOCK_BYTES:
                await asyncio.to_thread(file.write, bytes(block))
                block.clear()

        try:
            await pass_body(
                request.receive, context, take, max_bytes=limits.max_upload_bytes, seconds=limits.body_seconds
            )
            await asyncio.to_thread(file.write, bytes(block))
        except Rejection as rejection:
            raise HttpError(rejection.status, rejection.message) from None
        except OSError as error:
            raise HttpError(507, f"the file cannot be stored ({error.strerror})") from None
