"""All HTTP routes: the API, the pages, their forms, and a few others (`make_routes`).

`/login` alone is not here: it belongs to the security middleware.
"""

from __future__ import annotations

from starlette.routing import Route

from searchlab.web.api.parameters import INDEX
from searchlab.web.handlers import (
    api_handler,
    form_handler,
    judge_name_handler,
    openapi_handler,
    page_handler,
    static_handler,
)
from searchlab.web.jobs.thread_pools import ThreadPools
from searchlab.web.pages.api_page import api_page
from searchlab.web.pages.page import Page
from searchlab.web.report_handlers import figure_handler, report_handler
from searchlab.web.routes import judging_routes, measuring_routes, search_routes, training_routes
from searchlab.web.state.app_state import AppState

ENDPOINTS = (
    *search_routes.ENDPOINTS,
    *judging_routes.ENDPOINTS,
    *training_routes.ENDPOINTS,
    *measuring_routes.ENDPOINTS,
)
PAGES = (
    *search_routes.PAGES,
    *judging_routes.PAGES,
    *training_routes.PAGES,
    *measuring_routes.PAGES,
    Page("/api-reference", "api_reference.html", "", api_page(lambda: ENDPOINTS), (INDEX,), needs_index=False),
)
FORMS = (*search_routes.FORMS, *judging_routes.FORMS, *training_routes.FORMS, *measuring_routes.FORMS)
# Their routes come first, because each request is compared with one route after the other.
FREQUENT_PATHS = frozenset({"/api/search", "/", "/api/suggest"})


def make_routes(app_state: AppState, pools: ThreadPools) -> list[Route]:
    """The routes of the application, each with its handler."""
    endpoints = [
        Route(endpoint.path, api_handler(app_state, pools, endpoint), methods=[endpoint.method])
        for endpoint in ENDPOINTS
    ]
    pages_by_path = {page.path: page for page in PAGES}
    pages = [Route(page.path, page_handler(app_state, pools, page), methods=["GET"]) for page in PAGES]
    forms = [Route(form.path, form_handler(app_state, pools, form, pages_by_path), methods=["POST"]) for form in FORMS]
    routes = [
        *endpoints,
        *pages,
        *forms,
        Route("/name", judge_name_handler(app_state, pools), methods=["POST"]),
        Route("/report/{name}/", report_handler(app_state, pools), methods=["GET"]),
        Route("/experiment/figure", figure_handler(app_state, pools), methods=["GET"]),
        Route("/static/{name}", static_handler(), methods=["GET"]),
        Route("/api/openapi.json", openapi_handler(ENDPOINTS), methods=["GET"]),
    ]
    return sorted(routes, key=lambda route: route.path not in FREQUENT_PATHS)
