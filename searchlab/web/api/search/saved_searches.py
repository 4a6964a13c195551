"""Saved searches and past queries: list, save, delete."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from searchlab.judgments.searches.saved_searches import MAX_NAME_LENGTH, SavedSearch
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import check_query
from searchlab.web.state.request_state import RequestState

MAX_LISTED_QUERIES = 100

NAME = Parameter(
    "name", "string", "name of the saved search; by default its query", default="", max_length=MAX_NAME_LENGTH
)
SAVED_NAME = Parameter("name", "string", "name of the saved search", max_length=MAX_NAME_LENGTH)


def list_searches(state: RequestState, *, judge: str = "") -> dict[str, Any]:
    """The saved searches of a judge and those of all, and the latest queries of the index, the latest first."""
    return {
        "index": state.index.name,
        "saved": [_record(search) for search in state.saved_searches.list(judge)],
        "history": state.judgments.past_queries("", MAX_LISTED_QUERIES),
    }


def save_search(
    state: RequestState,
    *,
    q: str,
    system: str,
    filter: list[str],
    sort: str,
    name: str,
    judge: str,
    k: int,
    group_duplicates: bool,
) -> dict[str, Any]:
    """Save a query with its settings under a name, which is numbered if the judge has another search of this name."""
    search = SavedSearch(
        name,
        check_query(q, state.limits),
        state.index.system(system).name,
        tuple(filter),
        sort,
        judge,
        synonyms=state.uses_synonyms is not False,
        group_duplicates=group_duplicates,
        k=k,
    )
    return _record(state.saved_searches.save(search))


def delete_search(state: RequestState, *, name: str, judge: str = "") -> dict[str, Any]:
    """Delete a saved search of a judge; returns it."""
    return {"deleted": _record(state.saved_searches.delete(name, judge))}


def restore_search(state: RequestState, *, name: str, judge: str = "") -> dict[str, Any]:
    """Save a deleted search again; returns it."""
    return {"restored": _record(state.saved_searches.restore(name, judge))}


def delete_history(state: RequestState) -> dict[str, Any]:
    """Delete all past queries of an index; judged topics stay."""
    return {"n_deleted": state.judgments.delete_past_queries()}


def _record(search: SavedSearch) -> dict[str, Any]:
    return asdict(search) | {"filters": list(search.filters)}
