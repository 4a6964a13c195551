"""An application behind the security middleware, and a way to send requests without a server."""

import asyncio

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from searchlab.web.limits import Limits
from searchlab.web.middleware.access_tokens import parse_tokens
from searchlab.web.middleware.csrf import csrf_token
from searchlab.web.middleware.request_body import form_fields
from searchlab.web.middleware.security import SecurityMiddleware, SecuritySettings

SECRET = bytes(range(32))
TOKEN = "a-token-of-many-letters"
LIMITS = Limits(max_body_bytes=200, max_import_bytes=1000, max_upload_bytes=300, max_url_bytes=500, body_seconds=0.2)
HERE = "http://localhost:8000"
FORM = "application/x-www-form-urlencoded"


async def show(request: Request) -> Response:
    return PlainTextResponse(f"page {request.url.query}")


async def show_form(request: Request) -> Response:
    return PlainTextResponse(csrf_token(request))


async def write(request: Request) -> Response:
    fields = form_fields(request).multi_items()
    return JSONResponse({"body": (await request.body()).decode(), "form": fields})


async def delete(request: Request) -> Response:
    return JSONResponse({"deleted": f"?{request.url.query}"})


async def fail(request: Request) -> Response:
    raise RuntimeError("the password is 1234")


async def break_off(request: Request) -> Response:
    async def pieces():
        yield b"half"
        raise RuntimeError("the password is 1234")

    return StreamingResponse(pieces())


async def send_own_headers(request: Request) -> Response:
    headers = {
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        "Cache-Control": "max-age=60",
    }
    return PlainTextResponse("report", headers=headers)


ROUTES = [
    *(Route(path, show) for path in ("/", "/static/style.css", "/static/{rest:path}", "/api/search", "/document")),
    Route("/form", show_form),
    *(
        Route(path, write, methods=["POST"])
        for path in ("/write", "/api/write", "/api/import", "/api/uploads/file", "/login")
    ),
    Route("/api/item", delete, methods=["DELETE"]),
    *(Route(path, fail) for path in ("/fail", "/api/fail")),
    Route("/half", break_off),
    Route("/report", send_own_headers),
]


def make(*tokens, loopback=True, page=None, limits=LIMITS):
    settings = SecuritySettings(parse_tokens(tokens, SECRET), loopback, limits, secret=SECRET)
    app = Starlette(routes=ROUTES)
    return SecurityMiddleware(app, settings, page) if page else SecurityMiddleware(app, settings)


def client_of(app, base=HERE, **options):
    return TestClient(app, base_url=base, follow_redirects=False, **options)


async def send_request(
    app, method, path, *, headers=None, query=b"", parts=(b"",), gap=0.0, ending=True, client="127.0.0.1"
):
    """Send one request, its body in parts with gaps between them; returns status, headers and body of the response."""
    if headers is None:
        headers = [(b"host", b"localhost:8000"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query}
    scope |= {"headers": headers, "server": ("127.0.0.1", 8000), "scheme": "http", "root_path": ""}
    scope["client"] = (client, 50_000)
    pending = list(parts)
    sent = []

    async def receive():
        if len(pending) < len(parts):
            await asyncio.sleep(gap)
        if not pending:
            return {"type": "http.disconnect"}
        part = pending.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(pending) or not ending}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    if not sent:
        return None, {}, b""
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])
