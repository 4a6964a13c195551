"""Handlers of the routes: from an HTTP request to the function behind its route, and back to a response.

Requests are parsed in the event loop; all other work is done by thread pools (`jobs/thread_pools.py`).
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from searchlab.rankers.systems import MODEL
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.openapi import describe_api
from searchlab.web.api.parameters import INDEX, JUDGE, OFF, SYNONYMS, Parameter, field_at_fault, parse_body, parse_texts
from searchlab.web.error_pages import error_page
from searchlab.web.http_errors import HttpError, to_http_error
from searchlab.web.jobs.thread_pools import SLOW, WRITE, ThreadPools, choose_pool
from searchlab.web.middleware.auth import AUTH_SCOPE_KEY, local_url
from searchlab.web.middleware.csrf import csrf_token
from searchlab.web.middleware.request_body import ClientDisconnected, form_fields
from searchlab.web.middleware.request_context import SCOPE_KEY
from searchlab.web.pages.page import SHOWN_SET, BrowserSession, Form, FormProblem, Page
from searchlab.web.pages.rendering import WEB_FOLDER, render
from searchlab.web.pages.system_choice import system_context
from searchlab.web.pages.workflow import describe_workflow
from searchlab.web.responses import base_context, encode_json, json_error, log_error, redirect
from searchlab.web.state.app_state import AppState
from searchlab.web.state.request_state import RequestState
from searchlab.web.uploads.file_receiving import received_file

# The judge of a browser that has given no name, where there is no login.
DEFAULT_JUDGE = "me"
# Errors that a form shows: mistakes in it, and what is not there or not possible now.
SHOWN_IN_FORMS = (400, 404, 409)
# Parameters with names of systems.
SYSTEM_PARAMETERS = ("system", "systems", "left", "right", "against", "baseline")
# Where the first index begins.
UPLOAD_PAGE = "/upload"
JUDGE_COOKIE = "judge"
JUDGE_COOKIE_SECONDS = 365 * 24 * 3600

Handler = Callable[[Request], Awaitable[Response]]


def api_handler(app_state: AppState, pools: ThreadPools, endpoint: Endpoint) -> Handler:
    """Answers requests to an endpoint of the API."""

    async def respond(request: Request) -> Response:
        try:
            if endpoint.method == "POST" and not endpoint.takes_file:
                parsed = parse_body(endpoint.parameters, _read_json(await request.body()))
            else:
                items = [*request.query_params.multi_items(), *request.path_params.items()]
                parsed = parse_texts(endpoint.parameters, _group(items), strict=True)
            if endpoint.is_write or endpoint.personal:
                parsed = _as_judge_of_login(request, parsed)
            state, index, values = _take_state(app_state, parsed)
            pool = choose_pool(values, writes=endpoint.is_write, heavy=endpoint.heavy, slow=endpoint.slow)
            brief = endpoint.brief and state.take_open_index()
            kind = _kind_of_work(endpoint, index, values) if brief else None
            async with AsyncExitStack() as stack:
                if endpoint.takes_file:
                    named = {"name": values["name"], "path": values["path"]}
                    receiving = received_file(request, app_state.uploads, app_state.limits, **named)
                    values["content"] = await stack.enter_async_context(receiving)
                text = await pools.run(lambda: encode_json(endpoint.handler(state, **values)), pool, kind)
        except ClientDisconnected:
            return Response(status_code=400)  # nobody reads it
        except Exception as error:
            found = log_error(app_state, error, request)
            found.field = found.field or field_at_fault(found.message, endpoint.parameters)
            return json_error(found)
        if endpoint.attachment is not None:
            file = endpoint.attachment(values)
            headers = {"content-disposition": f'attachment; filename="{file.filename}"'}
            return Response(text, media_type=f"{file.media_type}; charset=utf-8", headers=headers)
        return Response(text, media_type="text/plain" if endpoint.is_text else "application/json")

    return respond


def page_handler(app_state: AppState, pools: ThreadPools, page: Page) -> Handler:
    """Renders a page; a parameter that is wrong is left out, and the page says what is wrong with it."""

    async def respond(request: Request) -> Response:
        if page.needs_index and not app_state.indexes.names:
            return redirect(UPLOAD_PAGE)
        session, texts = read_session(request), _group(request.query_params.multi_items())
        try:
            html, problem = await _render_page(app_state, pools, page, session, texts)
        except Exception as error:
            http_error = log_error(app_state, error, request)
            return await error_page(app_state, pools, request, session, http_error, request.query_params)
        return Response(html, 200 if problem is None else 400, media_type="text/html")

    return respond


def form_handler(app_state: AppState, pools: ThreadPools, form: Form, pages: Mapping[str, Page]) -> Handler:
    """Handles a form, and redirects to the next page; after a mistake its page is shown again, with all entries."""

    async def respond(request: Request) -> Response:
        session, fields = read_session(request), form_fields(request)
        entries = _group(fields.multi_items())

        def handle() -> str | None:
            parsed = parse_texts(form.parameters, entries, strict=False)
            state, _, values = _take_state(app_state, parsed)
            return form.handler(state, session, values)

        try:
            url = await pools.run(handle, SLOW if form.slow else WRITE)
        except Exception as error:
            http_error = log_error(app_state, error, request)
            problem = FormProblem(form.path, http_error.field or form.field, http_error.message, entries)
            shown = await _show_again(app_state, pools, pages, session, problem, http_error)
            return shown or await error_page(app_state, pools, request, session, http_error, fields)
        return redirect(fields.get("back", "/") if url is None else url)

    return respond


async def _show_again(
    app_state: AppState,
    pools: ThreadPools,
    pages: Mapping[str, Page],
    session: BrowserSession,
    problem: FormProblem,
    error: HttpError,
) -> Response | None:
    """The page of a form after a mistake of the user; None if there is no such page, or the mistake is another's."""
    back = urlsplit(local_url(problem.entries.get("back", [""])[0]).decode("latin-1"))
    page = pages.get(back.path)
    if page is None or error.status not in SHOWN_IN_FORMS:
        return None
    names = {parameter.name for parameter in page.parameters}
    texts = {name: values for name, values in parse_qs(back.query).items() if name in names}
    texts |= {name: list(problem.entries[name]) for name in (INDEX.name, "topic_set") if problem.entries.get(name)}
    try:
        html, _ = await _render_page(app_state, pools, page, session, texts, problem)
    except Exception:
        return None  # the page cannot be shown either: the error is reported without it
    return Response(html, error.status, media_type="text/html")


async def _render_page(
    app_state: AppState,
    pools: ThreadPools,
    page: Page,
    session: BrowserSession,
    texts: Mapping[str, Sequence[str]],
    problem: FormProblem | None = None,
) -> tuple[str, FormProblem | None]:
    """A page without those values that are wrong; the problem is the given one, or that of the first of them."""
    while True:
        try:
            return await _render_now(app_state, pools, page, session, texts, problem), problem
        except Exception as error:
            found = to_http_error(error)
            field, wrong = _value_at_fault(found, texts) if found is not None and found.status == 400 else ("", [])
            if found is None or not field:
                raise
            message = app_state.indexes.without_folders(found.message)
            problem = problem or FormProblem(page.path, field, message, texts)
            right = [value for value in texts[field] if value not in wrong]
            texts = {
                name: right if name == field else values for name, values in texts.items() if name != field or right
            }


def _value_at_fault(error: HttpError, texts: Mapping[str, Sequence[str]]) -> tuple[str, Sequence[str]]:
    """The parameter that an error is about, and its values that are wrong; the name is empty if it is none of these.

    A link may name a system that is not there any more, such as a model that was deleted.
    """
    if error.field in texts:
        return error.field, texts[error.field]
    for name in SYSTEM_PARAMETERS:
        for text in texts.get(name, ()):
            if repr(text.removeprefix(MODEL)) in error.message:
                return name, [text]
    return "", []


async def _render_now(
    app_state: AppState,
    pools: ThreadPools,
    page: Page,
    session: BrowserSession,
    texts: Mapping[str, Sequence[str]],
    problem: FormProblem | None,
) -> str:
    parsed = page.prepare(parse_texts(page.parameters, texts, strict=False))
    state, index, values = _take_state(app_state, parsed)

    def work() -> str:
        if not state.index_names:
            context = base_context("", (), session, page.menu, parsed) | {"problem_of_form": problem}
            return render(page.template, context | page.make_context(state, session, values))
        shown, given = parsed, values
        if "system" in shown and not any(texts.get("system", ())):
            shown, given = (each | {"system": state.index.default_system} for each in (shown, given))
        context = base_context(
            state.index.name, state.index_names, session, page.menu, shown, state.index.default_system
        )
        context |= {"problem_of_form": problem, **system_context(state.index)}
        made = page.make_context(state, session, given)
        topic_set = made.get(SHOWN_SET) or shown.get("topic_set") or ""
        context["workflow"] = describe_workflow(state, topic_set, shown.get("qid") or "")
        return render(page.template, context | made)

    pool = choose_pool(values, heavy=page.heavy, slow=page.slow)
    kind = _kind_of_work(page, index, values) if page.brief and state.take_open_index() else None
    return await pools.run(work, pool, kind)


def _take_state(app_state: AppState, parsed: dict[str, Any]) -> tuple[RequestState, str | None, dict[str, Any]]:
    """The state that a request names by its values, the name of the index, and all other values."""
    index = parsed.get(INDEX.name)
    state = RequestState(app_state, index, synonyms=parsed.get(SYNONYMS.name) != OFF)
    return state, index, {name: value for name, value in parsed.items() if name not in (INDEX.name, SYNONYMS.name)}


def _kind_of_work(route: Endpoint | Page, index: str | None, values: Mapping[str, Any]) -> Hashable:
    """A key for requests that take about the same time."""
    size = (values.get("k"), values.get("page"), len(values.get("filter", ())))
    return route.path, index, values.get("system"), *size


def judge_name_handler(app_state: AppState, pools: ThreadPools) -> Handler:
    """Sets the judge's name: that of the login, or a cookie where there is no login."""
    parameter = Parameter("judge", "string", JUDGE.description, default="", max_length=JUDGE.max_length)

    async def respond(request: Request) -> Response:
        fields = form_fields(request)
        try:
            name = " ".join(parameter.parse([fields.get("judge", "")]).split())
            if not name.isprintable():
                raise HttpError(400, "judge has characters that cannot be printed, expected a name")
            bound = request.scope[SCOPE_KEY].judge is not None
            if bound and not request.scope[AUTH_SCOPE_KEY].name_judge(request.scope[SCOPE_KEY], name):
                raise HttpError(403, "the name of this login cannot be changed; log in again for another")
        except HttpError as error:
            return await error_page(app_state, pools, request, read_session(request), error, fields)
        response = redirect(fields.get("back", "/"))
        if not bound:
            response.set_cookie(JUDGE_COOKIE, quote(name), max_age=JUDGE_COOKIE_SECONDS, httponly=True, samesite="lax")
        return response

    return respond


def static_handler() -> Handler:
    """Serves styles and scripts. All are read at the start, so that no name in a request becomes a path on disk."""
    files = {path.name: path.read_bytes() for path in sorted((WEB_FOLDER / "static").iterdir()) if path.is_file()}
    etags = {name: f'"{sha256(content).hexdigest()[:16]}"' for name, content in files.items()}

    async def respond(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return Response("not found", 404, media_type="text/plain")
        headers = {"etag": etags[name], "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == etags[name]:
            return Response(status_code=304, headers=headers)
        media_type = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        return Response(files[name], media_type=media_type, headers=headers)

    return respond


def openapi_handler(endpoints: Iterable[Endpoint]) -> Handler:
    """Serves the OpenAPI description."""
    text = json.dumps(describe_api(endpoints), ensure_ascii=False, indent=1)

    async def respond(request: Request) -> Response:
        return Response(text, media_type="application/json")

    return respond


def read_session(request: Request) -> BrowserSession:
    """The session of the browser that sent a request."""
    bound: str | None = request.scope[SCOPE_KEY].judge
    if bound is not None:
        return BrowserSession(bound, csrf_token(request), judge_is_fixed=bool(bound))
    name = unquote(request.cookies.get(JUDGE_COOKIE, ""))
    valid = name if name.isprintable() and len(name) <= JUDGE.max_length else ""
    return BrowserSession(valid.strip() or DEFAULT_JUDGE, csrf_token(request))


def _as_judge_of_login(request: Request, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a write; one that names a judge names the judge of the login, if that has one."""
    bound: str | None = request.scope[SCOPE_KEY].judge
    if bound is None or JUDGE.name not in values:
        return values
    named = values[JUDGE.name]
    if named not in ("", bound):
        owner = f"{bound!r}, whose token was sent" if bound else "that of the page: give your name there first"
        raise HttpError(403, f"judge is {named!r}, expected {owner}")
    return values | {JUDGE.name: bound}


def _group(items: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The values of each name."""
    texts: dict[str, list[str]] = {}
    for name, text in items:
        texts.setdefault(name, []).append(text)
    return texts


def _read_json(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise HttpError(400, "the body is not JSON, expected an object") from None


def _reject_constant(name: str) -> None:
    raise ValueError(name)
