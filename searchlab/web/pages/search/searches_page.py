"""The page of saved searches and past queries, and its forms."""

from __future__ import annotations

from typing import Any

from searchlab.web.api.search import saved_searches
from searchlab.web.api.search.saved_searches import list_searches
from searchlab.web.pages.page import BrowserSession
from searchlab.web.pages.plain_words import plain_order
from searchlab.web.state.request_state import RequestState


def searches_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The saved searches of the judge, and the latest queries of the index."""
    return list_searches(state, judge=session.judge) | {"order_in_words": plain_order}


def save_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Save the search of a page of results."""
    saved_searches.save_search(state, **values, judge=session.judge)


def delete_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Delete a saved search."""
    saved_searches.delete_search(state, **values, judge=session.judge)


def clear_history_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Delete all past queries."""
    saved_searches.delete_history(state)
