"""The page of measures: means of systems, comparisons, differences per topic, reports of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from searchlab.web.api.judging.judge import list_topic_sets
from searchlab.web.api.measuring.measure import BEST, measure_systems
from searchlab.web.api.measuring.reports import list_reports
from searchlab.web.api.parameters import Parameter
from searchlab.web.pages.judging.judge_page import (
    choose_topic_set,
    collection_to_import,
    default_systems,
    reported_change,
)
from searchlab.web.pages.page import SHOWN_SET, BrowserSession
from searchlab.web.pages.plain_words import MERGING, plain_measure
from searchlab.web.state.request_state import RequestState

# Of more topics, these many are drawn at each end, where two systems differ most, and the others on demand.
MAX_DRAWN_TOPICS = 25
OFFERED_MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@100", "nDCG@100")
N_DEFAULT_MEASURES = 3

ANY_MEASURES = Parameter("measures", "strings", "measures to compute", default=(), max_length=60)


def measure_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The measures of systems on a topic set, by default on the set with the most judgments."""
    sets = list_topic_sets(state)
    topic_sets = sets["topic_sets"]
    chosen = choose_topic_set(sorted(topic_sets, key=lambda each: -each["n_judgments"]), values["topic_set"])
    compared = list(values["systems"] or default_systems(state.index))
    if values["baseline"] not in ("", BEST, *compared):
        compared = [values["baseline"], *compared]
    measures = values["measures"] or list(OFFERED_MEASURES[:N_DEFAULT_MEASURES])
    context = {
        "topic_sets": topic_sets,
        "collection": collection_to_import(sets),
        "chosen": chosen["name"] if chosen else None,
        SHOWN_SET: chosen["name"] if chosen else "",
        "changed": reported_change(state, values["change"]),
        "n_judgments": sum(each["n_judgments"] for each in topic_sets),
        "compared": compared,
        "chosen_baseline": values["baseline"],
        "measures": measures,
        "offered": [*OFFERED_MEASURES, *(name for name in measures if name not in OFFERED_MEASURES)],
        "meanings": {name: plain_measure(name) for name in dict.fromkeys([*measures, *OFFERED_MEASURES])},
        "merging": MERGING if chosen and len(chosen["judges"]) > 1 else "",
        "reports": list_reports(state),
        "answer": None,
        "differences": [],
    }
    if chosen is None or not chosen["n_judgments"]:
        return context
    against = values["against"] if values["against"] in compared else ""
    answer = measure_systems(
        state,
        topic_set=chosen["name"],
        systems=compared,
        measures=measures,
        judge="",
        against=against,
        baseline=values["baseline"] or BEST,
    )
    return context | {"answer": answer} | measures_context(answer)


def measures_context(answer: dict[str, Any]) -> dict[str, Any]:
    """Rows of the table, with cross-validated means for models that have learnt from these topics; differences."""
    measures, against = answer["measures"], answer["against"]
    rows = []
    for system in answer["systems"]:
        unbiased = system["cross_validated"] or {} if system["learnt_from_these"] else system["means"]
        rows.append(system | {"shown": {measure: unbiased.get(measure) for measure in measures}})
    for row in rows:
        row["best"] = [measure for measure in measures if row["shown"][measure] == _best(rows, measure) is not None]
    topics = answer["topics"] if against else []
    amounts = [topic["difference"] for topic in topics]
    draw_all = len(topics) <= 2 * MAX_DRAWN_TOPICS + 10
    return {
        "rows": rows,
        "is_best_baseline": _is_best_baseline(rows, answer["baseline"], measures[0]),
        "labels": {row["name"]: row["label"] for row in rows},
        "others": [row["name"] for row in rows if row["name"] not in (against, answer["baseline"])],
        "biased": any(row["learnt_from_these"] and not row["held_out"] for row in rows if row["name"] == against),
        "held_out": any(row["held_out"] for row in rows if row["name"] == against),
        "differences": topics,
        "top": topics if draw_all else topics[:MAX_DRAWN_TOPICS],
        "middle": [] if draw_all else topics[MAX_DRAWN_TOPICS:-MAX_DRAWN_TOPICS],
        "bottom": [] if draw_all else topics[-MAX_DRAWN_TOPICS:],
        "smallest": min(amounts, default=0),
        "largest": max(amounts, default=0),
        "n_won": sum(amount > 0 for amount in amounts),
        "n_lost": sum(amount < 0 for amount in amounts),
    }


def _is_best_baseline(rows: Sequence[dict[str, Any]], baseline: str | None, measure: str) -> bool:
    """Whether no system that learns nothing is better than the baseline: only then does it say much to beat it."""
    means = {row["name"]: row["means"][measure] for row in rows if row["kind"] != "model"}
    return baseline in means and means[baseline] >= max(means.values())


def _best(rows: Sequence[dict[str, Any]], measure: str) -> float | None:
    return max((row["shown"][measure] for row in rows if row["shown"][measure] is not None), default=None)
