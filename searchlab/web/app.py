"""The ASGI application: the routes (`routes.py`) behind the security middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from searchlab.web.error_pages import error_page, rejection_page
from searchlab.web.handlers import read_session
from searchlab.web.http_errors import INTERNAL_ERROR, HttpError
from searchlab.web.jobs.thread_pools import ThreadPools
from searchlab.web.middleware.auth import LoginForm
from searchlab.web.middleware.rejections import Rejection, is_api
from searchlab.web.middleware.request_context import SCOPE_KEY
from searchlab.web.middleware.security import SecurityMiddleware, SecuritySettings
from searchlab.web.pages.rendering import compile_search_page, render
from searchlab.web.pages.written_entries import written_entries
from searchlab.web.responses import json_error
from searchlab.web.routes.routing import make_routes
from searchlab.web.state.app_state import AppState


def make_app(app_state: AppState, security: SecuritySettings) -> ASGIApp:
    """The whole application; it closes its state when it is shut down."""
    compile_search_page()
    pools = ThreadPools(app_state.limits)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        pools.close()
        app_state.close()

    no_route = _no_route_handler(app_state, pools)
    app = Starlette(
        routes=make_routes(app_state, pools),
        lifespan=lifespan,
        exception_handlers={404: no_route, 405: no_route, Exception: _internal_error},
    )
    return SecurityMiddleware(app, security, _login_page, rejection_page)


def _no_route_handler(app_state: AppState, pools: ThreadPools) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Answers requests for which there is no route, or not with this method."""

    async def respond(request: Request, error: Exception) -> Response:
        status = int(getattr(error, "status_code", 404))
        http_error = HttpError(status, "no such page" if status == 404 else "this method is not allowed here")
        if is_api(request.scope):
            return json_error(http_error)
        return await error_page(app_state, pools, request, read_session(request), http_error)

    return respond


async def _internal_error(request: Request, error: Exception) -> Response:
    """Answers after an exception outside the handlers; the middleware logs it."""
    if is_api(request.scope):
        return json_error(HttpError(500, INTERNAL_ERROR))
    return HTMLResponse(rejection_page(Rejection(500, INTERNAL_ERROR), request.scope[SCOPE_KEY]), 500)


def _login_page(form: LoginForm) -> str:
    written = written_entries(form.sent_to, form.entries)
    return render("login.html", {"csrf": form.csrf, "back": form.back, "problem": form.problem, "written": written})
