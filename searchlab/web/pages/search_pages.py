"""Which pages are there to search with? Search, document, more like this, compare, explain."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from searchlab.web.api.compare import LEFT, RIGHT, compare
from searchlab.web.api.explain import AGAINST, explain
from searchlab.web.api.parameters import DOCUMENT, FILTER, INDEX, PAGE, QUERY, RANKER, K, Parameter
from searchlab.web.api.search import WORDS_TO_MARK, document, grades_for, search, similar
from searchlab.web.http_errors import as_failure
from searchlab.web.state.app_state import Desk

# What makes a query ask for more than one of its words.
_RESTRICTIONS = re.compile(r'["+:]|(^|\s)-|\b(AND|NOT)\b')


@dataclass(frozen=True)
class Visitor:
    """Who looks at a page: the name to judge by, and what proves that a form comes from this site."""

    judge: str
    csrf: str


@dataclass(frozen=True)
class Page:
    """A page: what fills its template, from which parameters; `here` is its place in the menu.

    `brief`, `heavy` and `slow` say how long it may take, as those of an endpoint do.
    """

    path: str
    template: str
    here: str
    fill: Callable[[Desk, Visitor, dict[str, Any]], dict[str, Any]]
    parameters: tuple[Parameter, ...] = ()
    brief: bool = False
    heavy: bool = False
    slow: bool = False


@dataclass(frozen=True)
class Form:
    """What is done with a form that was sent; the answer is where to go on, None for where the form was."""

    path: str
    act: Callable[[Desk, Visitor, dict[str, Any]], str | None]
    parameters: tuple[Parameter, ...] = ()
    slow: bool = False


def _search(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    opened = desk.shelf.get(asked["index"])
    context = _state(asked) | {
        "fields": list(opened.engine.snapshot.field_names),
        "n_documents": len(opened.engine),
        "furthest": desk.limits.depth,
        "restricted": bool(_RESTRICTIONS.search(asked["q"])),
        "problem": None,
        "answer": None,
    }
    if not asked["q"].strip():
        return context
    try:
        answer = search(desk, **asked, judge=visitor.judge)
    except Exception as error:
        failure = as_failure(error)
        if failure is None or failure.status != 400:
            raise
        return context | {"problem": failure.message}  # where it can be mended: beside the query and its filters
    if answer["results"] and asked["page"] == 1:
        desk.remember(opened.name, asked["q"])
    return context | {"answer": answer}


def _similar(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    answer = similar(desk, **asked)
    context = {"answer": answer, "fields": [], "n_documents": answer["n_documents"], "furthest": desk.limits.depth}
    return _state(asked) | context | {"restricted": False, "problem": None}


def _document(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    own = {name: asked[name] for name in ("index", "id", "q", "ranker")}
    answer = document(desk, **own)
    opened = desk.shelf.get(asked["index"])
    found = grades_for(desk, opened, asked["q"], visitor.judge) if asked["q"].strip() else None
    grade = found[1].get(answer["id"]) if found else None
    return _state(asked) | {"answer": answer | {"grade": grade}, "page": asked["page"]}


def _compare(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    opened = desk.shelf.get(asked["index"])
    models = [name for name, _, kind in opened.systems() if kind == "model"]
    right = asked["right"] or (asked["ranker"] if asked["ranker"] != asked["left"] else "")
    right = right or next((name for name in models if name != asked["left"]), RIGHT.default)
    own = {name: asked[name] for name in ("index", "q", "left", "k", "filter")} | {"right": right}
    context = _state(asked) | {"left": asked["left"], "right": right, "k": asked["k"]}
    same = asked["left"] == right
    return context | {"answer": compare(desk, **own) if asked["q"].strip() and not same else None}


def _explain(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    own = {name: asked[name] for name in ("index", "q", "id", "ranker", "against", "filter")}
    return _state(asked) | {"answer": explain(desk, **own), "page": asked["page"]}


def _state(asked: dict[str, Any]) -> dict[str, Any]:
    """What templates want to know of how they were asked for."""
    return {"q": asked.get("q", ""), "ranker": asked["ranker"], "filters": asked.get("filter", [])}


ANY_QUERY = replace(QUERY, default="")
ANY_RIGHT = replace(RIGHT, default="")

PAGES = (
    Page("/", "search.html", "search", _search, (ANY_QUERY, INDEX, RANKER, K, PAGE, FILTER), brief=True),
    Page("/similar", "search.html", "search", _similar, (DOCUMENT, INDEX, RANKER, K, PAGE), brief=True),
    Page("/document", "document.html", "search", _document, (DOCUMENT, INDEX, WORDS_TO_MARK, RANKER, FILTER, K, PAGE)),
    Page(
        "/compare",
        "compare.html",
        "compare",
        _compare,
        (ANY_QUERY, LEFT, ANY_RIGHT, INDEX, RANKER, K, FILTER),
        heavy=True,
    ),
    Page("/explain", "explain.html", "search", _explain, (QUERY, DOCUMENT, INDEX, RANKER, AGAINST, FILTER, K, PAGE)),
)
