"""The page of saved searches and past queries, and its forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from searchlab.judgments.searches.saved_searches import MAX_NAME_LENGTH
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search import saved_searches
from searchlab.web.api.search.saved_searches import list_searches
from searchlab.web.pages.page import BACK, BrowserSession, page_url, with_report
from searchlab.web.pages.plain_words import plain_order
from searchlab.web.state.request_state import RequestState

# Searches just saved or deleted, by name.
SAVED = Parameter("saved", "string", "the search that was just saved", default="", max_length=MAX_NAME_LENGTH)
DELETED = replace(SAVED, name="deleted", description="the search that was just deleted")


def searches_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The saved searches of the judge, and the latest queries of the index."""
    listed = list_searches(state, judge=session.judge)
    return listed | {"order_in_words": plain_order, "just_deleted": values["deleted"]}


def save_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Save the search of a page of results, which reports it then."""
    search = {name: value for name, value in values.items() if name != BACK.name}
    saved = saved_searches.save_search(state, **search, judge=session.judge)
    return with_report(values[BACK.name], saved=saved["name"])


def delete_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Delete a saved search, and offer to restore it."""
    deleted = saved_searches.delete_search(state, **values, judge=session.judge)["deleted"]
    return page_url(state, "/searches", deleted=deleted["name"])


def restore_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Save a deleted search again."""
    saved_searches.restore_search(state, **values, judge=session.judge)
    return page_url(state, "/searches")


def clear_history_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Delete the past queries of all who search the index."""
    saved_searches.delete_history(state)
