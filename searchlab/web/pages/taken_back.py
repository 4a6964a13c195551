"""The undo or redo of a judgment that was just done, as the page that is shown next reports it."""

from __future__ import annotations

from typing import Any

from searchlab.corpus.text_cleaning import excerpt
from searchlab.web.api.measuring.query_measure import find_judged_query
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import find_stored
from searchlab.web.http_errors import NotFound
from searchlab.web.pages.page import with_report
from searchlab.web.state.request_state import RequestState

# Judgments that are undone at once; programs may have made more of them together than a request takes.
MAX_TOGETHER = 10**9

DID = Parameter("did", "string", "the action just completed", default="", choices=("", "undone", "redone", "nothing"))
ABOUT = Parameter("about", "string", "docno of the document whose judgment was undone or redone", default="")
TOGETHER = Parameter(
    "together", "integer", "how many judgments were undone or redone", default=1, minimum=1, maximum=MAX_TOGETHER
)
PARAMETERS = (DID, ABOUT, TOGETHER)


def url_after(url: str, did: str, changed: dict[str, Any] | None) -> str:
    """The URL of a page of a query that reports what was undone or redone there; None is nothing."""
    reported: dict[str, Any] = {"did": "nothing"}
    if changed is not None:
        reported = {"did": did, "about": changed["docno"], "together": changed["n_judgments"]}
    return with_report(url, **reported)


def describe_taken_back(state: RequestState, query: str, values: dict[str, Any]) -> dict[str, Any] | None:
    """What was just undone or redone for a query: the document, the topic and its set; None if nothing is reported."""
    if not values["did"]:
        return None
    judged = find_judged_query(state, query)
    if values["did"] == "nothing" or judged is None:
        return {"did": "nothing"}
    try:
        title = find_stored(state.index, values["about"]).title.strip() or values["about"]
    except NotFound:  # not in the index any more
        title = excerpt(values["about"])
    of_topic = {"text": judged.text, "topic_set": judged.topic_set}
    return {"did": values["did"], "title": title, "together": values["together"], **of_topic}


def without_report(values: dict[str, Any]) -> dict[str, Any]:
    """The other values of the page."""
    names = {parameter.name for parameter in PARAMETERS}
    return {name: value for name, value in values.items() if name not in names}
