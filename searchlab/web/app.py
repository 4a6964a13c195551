"""What does the server answer at which address?

Pages and the API are tables of entries (`pages.py`, `work_pages.py`, `answers/`); here they are put behind addresses.
The work is done by threads (`workers.py`), and everything stands behind the guard (`safety.py`).
"""

from __future__ import annotations

import json
import logging
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from searchlab.json_numbers import without_nan
from searchlab.web.api import compare, explain, judge, measure, search, train
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.openapi import describe
from searchlab.web.api.parameters import JUDGE, Parameter, read_address, read_body
from searchlab.web.http_errors import INTERNAL, Failure, NotFound, as_failure
from searchlab.web.jobs.thread_pools import SLOW, WRITE, Workers, lane_for
from searchlab.web.middleware.auth import local_address
from searchlab.web.middleware.csrf import csrf_of
from searchlab.web.middleware.request_body import form_of
from searchlab.web.middleware.security import Login, Safety, protect
from searchlab.web.pages.judge_page import FORMS
from searchlab.web.pages.judge_page import PAGES as WORK_PAGES
from searchlab.web.pages.rendering import HOME, Links, render
from searchlab.web.pages.search_pages import PAGES, Form, Page, Visitor
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened

ENDPOINTS: tuple[Endpoint, ...] = tuple(
    endpoint for subject in (search, compare, explain, judge, train, measure) for endpoint in subject.ENDPOINTS
)
# A visitor without a name judges by this one.
NAMELESS = "me"
JUDGE_COOKIE = "judge"
A_YEAR = 365 * 24 * 3600
# Reports bring their style along, and may do nothing else.
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

Respond = Callable[[Request], Awaitable[Response]]

log = logging.getLogger(__name__)


def make_app(desk: Desk, safety: Safety) -> ASGIApp:
    """The whole application; it closes the desk when it is shut down."""
    workers = Workers(desk.limits)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        workers.close()
        desk.close()

    routes = [
        *(Route(each.path, _answer(desk, workers, each), methods=[each.method]) for each in ENDPOINTS),
        *(Route(page.path, _show(desk, workers, page), methods=["GET"]) for page in (*PAGES, *WORK_PAGES)),
        *(Route(form.path, _act(desk, workers, form), methods=["POST"]) for form in FORMS),
        Route("/name", _rename(desk), methods=["POST"]),
        Route("/report/{name}/", _report(desk, workers), methods=["GET"]),
        Route("/static/{name}", _static(), methods=["GET"]),
        Route("/api/openapi.json", _description(), methods=["GET"]),
    ]
    app = Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={404: _lost(desk), 405: _lost(desk), Exception: _broken}
    )
    return protect(app, safety, _login_page)


def _answer(desk: Desk, workers: Workers, endpoint: Endpoint) -> Respond:
    """An entry of the API."""

    async def respond(request: Request) -> Response:
        try:
            if endpoint.is_write:
                asked = read_body(endpoint.parameters, _json(await request.body()))
            else:
                said = [*request.query_params.multi_items(), *request.path_params.items()]
                asked = read_address(endpoint.parameters, _values(said), strict=True)
            lane = lane_for(asked, writes=endpoint.is_write, heavy=endpoint.heavy, slow=endpoint.slow)
            kind = _kind(desk, endpoint, asked)
            text = await workers.do(lambda: _encode(endpoint.answer(desk, **asked)), lane, kind)
        except Exception as error:
            failure = _told(desk, error, request)
            return Response(json.dumps({"error": failure.message}), failure.status, _retry(failure), "application/json")
        return Response(text, media_type="text/plain" if endpoint.text else "application/json")

    return respond


def _show(desk: Desk, workers: Workers, page: Page) -> Respond:
    """A page."""

    async def respond(request: Request) -> Response:
        visitor = _visitor(request)

        def work(asked: dict[str, Any]) -> str:
            opened = desk.shelf.get(asked.get("index"))
            rankers = [{"name": name, "label": label, "kind": kind} for name, label, kind in opened.systems()]
            context = _common(desk, visitor, opened, page.here, asked) | {"rankers": rankers}
            return render(page.template, context | page.fill(desk, visitor, asked))

        try:
            asked = read_address(page.parameters, _values(request.query_params.multi_items()), strict=False)
            lane = lane_for(asked, heavy=page.heavy, slow=page.slow)
            html = await workers.do(lambda: work(asked), lane, _kind(desk, page, asked))
        except Exception as error:
            return _error_page(desk, visitor, _told(desk, error, request))
        return Response(html, media_type="text/html")

    return respond


def _act(desk: Desk, workers: Workers, form: Form) -> Respond:
    """What a form asks for; then on to a page."""

    async def respond(request: Request) -> Response:
        visitor = _visitor(request)
        fields = form_of(request)

        def work() -> str | None:
            asked = read_address(form.parameters, _values(fields.multi_items()), strict=False)
            return form.act(desk, visitor, asked)

        try:
            place = await workers.do(work, SLOW if form.slow else WRITE)
        except Exception as error:
            return _error_page(desk, visitor, _told(desk, error, request))
        return _go(fields.get("back", "/") if place is None else place)

    return respond


def _rename(desk: Desk) -> Respond:
    """Who judges from now on."""
    wanted = Parameter("judge", "text", JUDGE.what, default="", long=JUDGE.long)

    async def respond(request: Request) -> Response:
        fields = form_of(request)
        try:
            name = " ".join(wanted.of_address([fields.get("judge", "")]).split())
            if not name.isprintable():
                raise Failure(400, "judge has characters that cannot be shown, expected a name")
        except Failure as failure:
            return _error_page(desk, _visitor(request), failure)
        response = _go(fields.get("back", "/"))
        response.set_cookie(JUDGE_COOKIE, quote(name), max_age=A_YEAR, httponly=True, samesite="lax")
        return response

    return respond


def _report(desk: Desk, workers: Workers) -> Respond:
    """The report of an experiment: one of those that were found, by its name."""

    def read(name: str) -> bytes:
        path = desk.reports.get(name)
        if path is None:
            raise NotFound(f"there is no report {name[:60]!r}")
        try:
            return path.read_bytes()
        except OSError as error:
            raise NotFound(f"the report {name[:60]!r} cannot be read ({error.strerror})") from None

    async def respond(request: Request) -> Response:
        try:
            page = await workers.do(lambda: read(request.path_params["name"]))
        except Exception as error:
            return _error_page(desk, _visitor(request), _told(desk, error, request))
        return Response(page, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})

    return respond


def _static() -> Respond:
    """Styles and scripts: read once, so that no name in a request is ever looked for on the disk."""
    files = {path.name: path.read_bytes() for path in sorted((HOME / "static").iterdir()) if path.is_file()}
    tags = {name: f'"{sha256(content).hexdigest()[:16]}"' for name, content in files.items()}

    async def respond(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return Response("not found", 404, media_type="text/plain")
        headers = {"etag": tags[name], "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tags[name]:
            return Response(status_code=304, headers=headers)
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        return Response(files[name], media_type=kind, headers=headers)

    return respond


def _description() -> Respond:
    text = json.dumps(describe(ENDPOINTS), ensure_ascii=False, indent=1)

    async def respond(request: Request) -> Response:
        return Response(text, media_type="application/json")

    return respond


def _lost(desk: Desk) -> Callable[[Request, Exception], Awaitable[Response]]:
    """An address that there is not, or not for this method."""

    async def respond(request: Request, error: Exception) -> Response:
        status = int(getattr(error, "status_code", 404))
        failure = Failure(status, "there is no such page" if status == 404 else "this method is not for this address")
        if request.url.path.startswith("/api"):
            return Response(json.dumps({"error": failure.message}), failure.status, media_type="application/json")
        return _error_page(desk, _visitor(request), failure)

    return respond


async def _broken(request: Request, error: Exception) -> Response:
    """A mistake of ours where no answer or page has caught it; the guard logs it."""
    return Response(json.dumps({"error": INTERNAL}), 500, media_type="application/json")


def _login_page(login: Login) -> str:
    return render(
        "login.html",
        {"csrf": login.csrf, "back": login.back, "problem": login.problem},
    )


def _visitor(request: Request) -> Visitor:
    name = unquote(request.cookies.get(JUDGE_COOKIE, ""))
    known = name if name.isprintable() and len(name) <= JUDGE.long else ""
    return Visitor(known.strip() or NAMELESS, csrf_of(request))


def _kind(desk: Desk, entry: Endpoint | Page, asked: Mapping[str, Any]) -> Hashable:
    """Requests that take about as long as each other; None if they may take long, as where an index is opened first."""
    if not entry.brief or not desk.shelf.is_current(asked.get("index")):
        return None
    how_much = (asked.get("k"), asked.get("page"), len(asked.get("filter", ())))
    return entry.path, asked.get("index"), asked.get("ranker"), *how_much


def _common(desk: Desk, visitor: Visitor, opened: Opened, here: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What all templates want to know."""
    state = dict(asked) | {"index": opened.name if len(desk.shelf.names) > 1 else None}
    return {
        "here": here,
        "index": opened.name,
        "indexes": desk.shelf.names,
        "csrf": visitor.csrf,
        "judge": visitor.judge,
        "url": Links(state),
    }


def _error_page(desk: Desk, visitor: Visitor, failure: Failure) -> Response:
    """A page that tells of a failure; it is made where nothing may take long, so that no index is opened for it."""
    opened = desk.shelf.last()
    if opened is None:  # nothing could be opened yet: that may be the trouble
        return Response(failure.message, failure.status, _retry(failure), "text/plain")
    common = _common(desk, visitor, opened, "", {})
    html = render("error.html", common | {"status": failure.status, "message": failure.message})
    return Response(html, failure.status, _retry(failure), "text/html")


def _told(desk: Desk, error: Exception, request: Request) -> Failure:
    """What is told of an error; one of ours goes into the log."""
    failure = as_failure(error)
    path = request.scope["path"][:200].encode("unicode_escape").decode()
    if failure is None:
        log.exception("%s %s", request.method, path, exc_info=error)
        return Failure(500, INTERNAL)
    if failure.status == 500:
        log.error("%s %s: %s", request.method, path, failure.message)
    return Failure(failure.status, desk.shelf.without_folders(failure.message))


def _retry(failure: Failure) -> dict[str, str]:
    return {"retry-after": "1"} if failure.status == 503 else {}


def _go(place: str) -> Response:
    """On to a page of ours, and to no other site's."""
    return RedirectResponse(local_address(place).decode("latin-1"), 303)


def _values(items: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in items:
        values.setdefault(name, []).append(value)
    return values


def _json(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Failure(400, "the body is not JSON, expected an object") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _encode(answer: Any) -> str:
    """An answer as text; numbers that JSON does not know are null."""
    if isinstance(answer, str):
        return answer
    try:
        return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(without_nan(answer), ensure_ascii=False, separators=(",", ":"))
