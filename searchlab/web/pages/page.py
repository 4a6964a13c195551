"""Pages and forms as values: a path, the function behind it, and its parameters; the URLs of pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from searchlab.web.api.parameters import Parameter
from searchlab.web.pages.rendering import Links
from searchlab.web.state.request_state import RequestState


@dataclass(frozen=True)
class BrowserSession:
    """The session of a browser: the name of the judge, and the CSRF token of its forms.

    The name is empty if the judge of a login has not given it yet; `judge_is_fixed` if the login decides it.
    """

    judge: str
    csrf: str
    judge_is_fixed: bool = False


@dataclass(frozen=True)
class Page:
    """A page: `make_context` gives the variables of its template; `menu` is the menu item it belongs to.

    `prepare` alters the values of the parameters before anything uses them. `brief`, `heavy` and `slow` have the same
    meaning as for an endpoint of the API.
    """

    path: str
    template: str
    menu: str
    make_context: Callable[[RequestState, BrowserSession, dict[str, Any]], dict[str, Any]]
    parameters: tuple[Parameter, ...] = ()
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = lambda values: values
    brief: bool = False
    heavy: bool = False
    slow: bool = False


@dataclass(frozen=True)
class Form:
    """A form: `handler` gets its values and returns the URL of the next page; None for the page of the form."""

    path: str
    handler: Callable[[RequestState, BrowserSession, dict[str, Any]], str | None]
    parameters: tuple[Parameter, ...] = ()
    slow: bool = False


def page_url(state: RequestState, path: str, **values: Any) -> str:
    """The URL of a page of the same index."""
    index = state.index.name if len(state.index_names) > 1 else None
    return Links({"index": index})(path, **values)
