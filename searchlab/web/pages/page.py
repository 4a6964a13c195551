"""Pages and forms as values: a path, the function behind it, and its parameters; the URLs of pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

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

    `prepare` alters the values of the parameters before anything uses them. A page that `needs_index` leads to the page
    where documents are added while there is none. `brief`, `heavy` and `slow` have the same
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
    needs_index: bool = True


# In the context of a page: the topic set that it is about, such as that of a model or of a judged query.
SHOWN_SET = "shown_set"


# Of forms whose next page is the one before, with a report.
BACK = Parameter("back", "string", "the page to show again", default="/", max_length=20_000)


@dataclass(frozen=True)
class Form:
    """A form: `handler` gets its values and returns the URL of the next page; None for the page of the form.

    After a mistake the page of the form is shown again with all entries, and the message at the `field` that it is
    about, if the error does not name another one.
    """

    path: str
    handler: Callable[[RequestState, BrowserSession, dict[str, Any]], str | None]
    parameters: tuple[Parameter, ...] = ()
    slow: bool = False
    field: str = ""


@dataclass(frozen=True)
class FormProblem:
    """A mistake in the entries of the form that is sent to `form`: the field that it is in, and what is wrong."""

    form: str
    field: str
    message: str
    entries: Mapping[str, Sequence[str]]

    def is_at(self, form: str, field: str) -> bool:
        """Whether the mistake is in this field."""
        return (self.form, self.field) == (form, field)

    def entry(self, form: str, field: str, default: Any) -> Any:
        """The entry of a field of the form with the mistake; the default for other forms."""
        return self.entries.get(field, [""])[0] if self.form == form else default

    def choices(self, form: str, field: str, default: Any) -> Any:
        """The choices of a field of the form with the mistake; the default for other forms."""
        return list(self.entries.get(field, [])) if self.form == form else default


def with_report(url: str, **report: Any) -> str:
    """The URL of a page that reports what was just done."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(report)}"


def page_url(state: RequestState, path: str, **values: Any) -> str:
    """The URL of a page of the same index."""
    index = state.index.name if len(state.index_names) > 1 else None
    return Links({"index": index})(path, **values)
