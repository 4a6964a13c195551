"""The page of all models of an index and of their histories."""

from __future__ import annotations

from typing import Any

from searchlab.web.api.training import model_list
from searchlab.web.pages.page import BrowserSession
from searchlab.web.state.request_state import RequestState

# How verdicts and uses are called in the page.
VERDICT_WORDS = {
    "helps": "helps",
    "not yet": "not yet shown to help",
    "too few": "too few topics",
    "hurts": "hurts",
    model_list.UNKNOWN: "not cross-validated",
}
USE_WORDS = {
    model_list.IN_USE: "in use",
    model_list.PRESENT: "present",
    model_list.FORMER: "in the history",
    model_list.DELETED: "deleted",
}


def models_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The models that are asked for, in the order that is asked for."""
    asked = {name: values[name] for name in ("words", "verdict", "use", "order")}
    return {
        "answer": model_list.list_model_versions(state, **asked),
        "asked": asked,
        "orders": model_list.ORDERS,
        "verdicts": VERDICT_WORDS,
        "uses": USE_WORDS,
    }
