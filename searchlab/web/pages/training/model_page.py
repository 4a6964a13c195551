"""The page of a model: its verdict in words and pictures, whether it is in use, its history."""

from __future__ import annotations

from typing import Any

from searchlab.rankers.bundle import Bundle
from searchlab.web.api.search.search import system_record
from searchlab.web.api.training import models
from searchlab.web.http_errors import NotFound
from searchlab.web.pages.judging.judge_page import DEFAULT_SYSTEMS
from searchlab.web.pages.page import SHOWN_SET, BrowserSession
from searchlab.web.pages.training.verdict_charts import make_charts, mean_rows
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState


def model_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """A model, or a version of its history."""
    name, version = values["name"], values["version"]
    listed = models.list_models(state)
    current = next((each for each in listed["models"] if each["name"] == name), None)
    versions = models.list_versions(state.index, name)
    if current is None and not versions:
        raise NotFound(f"the index {state.index.name} has no model {name[:60]!r}")
    shown = models.read_version(state.index, name, version) if version else state.index.models.get(name)
    if version and shown is None:
        raise NotFound(f"the model {name[:60]!r} has no version {version[:40]!r} that can be read")
    compared = None if shown is None else models.read_comparison(shown)
    # The topics that are there still: links to others would lead to nothing.
    topic_set = (current["topic_set"] if current else None) or ""
    topics = {topic.qid for topic in state.judgments.topics(topic_set)}
    return {
        "name": name,
        "version": version,
        "model": current,
        "trial": None if shown is None else models.read_trial(shown),
        "settings": {} if shown is None else models.read_settings(shown),
        "comparison": compared,
        "comparison_bars": mean_rows(compared["means"], compared["intervals"]) if compared else [],
        "charts": None if shown is None else charts_of(shown),
        "topic_set": topic_set if topics else "",
        SHOWN_SET: topic_set if topics else "",
        "qids": topics,
        "needs_training": shown is not None and models.needs_training(state, name, shown),
        "versions": versions,
        "default_ranker": listed["default_ranker"],
        "rival": None if shown is None else find_rival(state.index, name, shown),
        "offered": None if version or shown is None else offered_system(state.index, name, shown),
    }


def charts_of(bundle: Bundle) -> dict[str, Any] | None:
    """The pictures of the verdict on a model."""
    topics = bundle.training.get("topics")
    return make_charts(bundle.trial, topics if isinstance(topics, dict) else {})


def find_rival(index: OpenIndex, name: str, bundle: Bundle) -> dict[str, Any]:
    """The system to compare a model with: the best of those that it was compared with by cross-validation, or BM25.

    `query` is the topic on which they differ most, empty if that is not known.
    """
    charts = charts_of(bundle)
    query = max(charts["topics"], key=lambda row: abs(row["difference"]))["text"] if charts else ""
    best = models.best_baseline(name, bundle)
    known = [system for system, _, _ in index.systems]
    system = index.system(best if best is not None and best in known else DEFAULT_SYSTEMS[0])
    return system_record(system) | {"query": query[:1000]}


def offered_system(index: OpenIndex, name: str, bundle: Bundle) -> dict[str, Any] | None:
    """The system that the advice recommends, to be used from now on; None if it recommends none or it does not fit."""
    recommended = models.recommended_system(name, bundle)
    known = [system for system, _, _ in index.systems]
    if recommended is None or recommended not in known:
        return None
    record = system_record(index.system(recommended))
    return record | {"is_model": record["name"] == f"model:{name}", "in_use": record["name"] == index.default_system}
