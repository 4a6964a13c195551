"""Batch search: several queries in one request."""

from __future__ import annotations

from typing import Any

from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import search_documents
from searchlab.web.http_errors import HttpError
from searchlab.web.state.request_state import RequestState

MAX_QUERIES = 100
# Documents that all searches of a batch may give together.
MAX_HITS = 10_000

QUERIES = Parameter("queries", "strings", "the queries to search for", max_items=MAX_QUERIES)


def search_batch(
    state: RequestState, *, queries: list[str], system: str, k: int, filter: list[str], judge: str
) -> dict[str, Any]:
    """The first page of results of each query."""
    if k * len(queries) > MAX_HITS:
        raise HttpError(400, f"{len(queries)} queries with k={k} are {k * len(queries):,}, expected {MAX_HITS:,} hits")
    return {
        "answers": [
            search_documents(state, q=query, system=system, k=k, page=1, filter=filter, judge=judge)
            for query in queries
        ]
    }
