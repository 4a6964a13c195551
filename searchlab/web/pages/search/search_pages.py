"""The search pages: search, document, similar documents, comparison, explanation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.fields.facets import suited_fields
from searchlab.retrieval.suggest.title_phrases import frequent_title_phrases
from searchlab.web.api.measuring.query_measure import find_judged_query
from searchlab.web.api.parameters import QUERY
from searchlab.web.api.search.compare import RIGHT, compare_systems
from searchlab.web.api.search.explain import explain_score
from searchlab.web.api.search.search import find_similar, get_document, search_documents
from searchlab.web.http_errors import to_http_error
from searchlab.web.pages.page import SHOWN_SET, BrowserSession
from searchlab.web.pages.plain_words import plain_order
from searchlab.web.pages.search.years import YEAR, chosen_years, draw_years, without_years
from searchlab.web.pages.taken_back import describe_taken_back, without_report
from searchlab.web.state.request_state import RequestState

# Syntax with which a query requires more than one of its words.
_RESTRICTIONS = re.compile(r'["+:]|(^|\s)-|\b(AND|NOT)\b')

# Facets beside the results, and fields of numbers to sort by.
MAX_FACETS, MAX_SORT_FIELDS = 4, 6
# Characters of a document that are shown at once.
SHOWN_LENGTH = 100_000

# The field of which all values are shown, instead of the most frequent ones.
ANY_QUERY = replace(QUERY, default="")
ANY_RIGHT = replace(RIGHT, default="")


def search_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The search box and, if there is a query, one page of its hits."""
    snapshot = state.index.engine.snapshot
    has_years = YEAR in snapshot.numeric_fields
    context = _query_context(values) | {
        "fields": list(snapshot.field_names),
        "orders": _orders(snapshot, values["sort"]),
        "years": chosen_years(values["filter"]) if has_years else None,
        "year_bars": None,
        "other_filters": without_years(values["filter"]),
        "synonyms": state.uses_synonyms,
        "examples": [],
        "facets": [],
        "n_docs": len(state.index.engine),
        "language": state.index.engine.snapshot.manifest.settings.language,
        "max_rank": state.limits.max_rank,
        "restricted": bool(_RESTRICTIONS.search(values["q"])),
        "problem": None,
        "answer": None,
        "taken_back": describe_taken_back(state, values["q"], values),
        "just_saved": values["saved"],
        "whole_facet": values["values_of"],
    }
    if not values["q"].strip():
        phrases = state.index.cached("title phrases", lambda: frequent_title_phrases(snapshot))
        return context | {"examples": phrases}
    try:
        answer = search_documents(
            state,
            **{name: value for name, value in without_report(values).items() if name not in ("saved", "values_of")},
            facet=suited_fields(snapshot, MAX_FACETS),
            judge=session.judge,
            histogram=YEAR if has_years else "",
            values_of=values["values_of"],
        )
    except Exception as error:
        http_error = to_http_error(error)
        if http_error is None or http_error.status != 400:
            raise
        return context | {"problem": http_error.message}  # shown beside the query, where it can be fixed
    if answer["hits"] and values["page"] == 1:
        state.remember_query(values["q"])
    counted = [(name, facet) for name, facet in answer["facets"].items() if facet["values"]]
    topic_set = answer["topic"]["topic_set"] if answer["topic"] else ""
    shown = {"answer": answer, "facets": counted, "year_bars": draw_years(answer["histogram"]), SHOWN_SET: topic_set}
    return context | shown


def _orders(snapshot: Snapshot, chosen: str) -> list[tuple[str, str]]:
    """The orders to choose from, as written and as shown: by score, by fields of numbers, and what is chosen."""
    orders = [("", "relevance")]
    for name in sorted(snapshot.numeric_fields)[:MAX_SORT_FIELDS]:
        orders += [(order, plain_order(order)) for order in (f"{name}:desc", f"{name}:asc")]
    if chosen and chosen not in dict(orders):
        orders.append((chosen, plain_order(chosen)))
    return orders


def similar_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """Documents similar to one."""
    answer = find_similar(state, **values)
    return _query_context(values) | {
        "answer": answer,
        "fields": [],
        "orders": [],
        "years": None,
        "year_bars": None,
        "synonyms": None,
        "examples": [],
        "facets": [],
        "n_docs": answer["n_docs"],
        "language": state.index.engine.snapshot.manifest.settings.language,
        "max_rank": state.limits.max_rank,
        "restricted": False,
        "problem": None,
        "taken_back": None,
        "just_saved": "",
        "whole_facet": "",
    }


def document_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """A document, or a part of a long one, with the judge's grade if it was reached from a query."""
    answer = get_document(state, **_select(values, "docno", "q", "system", "start"), length=SHOWN_LENGTH)
    judged = find_judged_query(state, values["q"]) if values["q"].strip() else None
    grade = judged.grades_of(session.judge).get(answer["docno"]) if judged else None
    start, after = answer["start"], answer["start"] + SHOWN_LENGTH
    return _query_context(values) | {
        "answer": answer | {"grade": grade},
        "topic": judged,
        SHOWN_SET: judged.topic_set if judged else "",
        "taken_back": describe_taken_back(state, values["q"], values),
        "page": values["page"],
        "previous": max(start - SHOWN_LENGTH, 0) if start else None,
        "next": after if after < answer["n_characters"] else None,
    }


def compare_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """Two systems side by side; by default the right one is a model."""
    left, models = values["left"], state.index.usable_models
    right = values["right"] or (values["system"] if values["system"] != left else "")
    right = right or next((name for name in models if name != left), RIGHT.default)
    context = _query_context(values) | {"left": left, "right": right, "k": values["k"], "answer": None}
    context |= {SHOWN_SET: _set_of(state, values["q"])}
    if not values["q"].strip() or left == right:
        return context
    query = _select(values, "q", "k", "filter")
    return context | {"answer": compare_systems(state, **query, left=left, right=right, judge=session.judge)}


def explain_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The parts of a score."""
    answer = explain_score(state, **_select(values, "q", "docno", "system", "against", "filter"))
    return _query_context(values) | {
        "answer": answer,
        "page": values["page"],
        SHOWN_SET: _set_of(state, values["q"]),
    }


def _set_of(state: RequestState, query: str) -> str:
    """The topic set of a judged query; empty if it is none."""
    judged = find_judged_query(state, query) if query.strip() else None
    return judged.topic_set if judged else ""


def _select(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _query_context(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "q": values.get("q", ""),
        "system": values["system"],
        "filters": values.get("filter", []),
        "sort": values.get("sort", ""),
        "grouped": values.get("group_duplicates", False),
    }
