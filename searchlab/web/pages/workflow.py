"""The strip of every page: from judging to training, measuring and using a model, and the one next action."""

from __future__ import annotations

import logging
from typing import Any

from searchlab.errors import StoreError
from searchlab.training.cross_validation import MIN_VERDICT_QUERIES
from searchlab.web.api.training.models import needs_training, read_trial, recommended_system
from searchlab.web.state.request_state import RequestState

# What the verdict on a model says, in a word.
VERDICT_WORDS = {"helps": "it helps", "hurts": "it hurts", "not yet": "not shown to help", "too few": "too few topics"}

log = logging.getLogger(__name__)


def describe_workflow(state: RequestState, topic_set: str = "", qid: str = "") -> dict[str, Any] | None:
    """How far judging has come in a set, by default the one with the most judgments; None if it cannot be read.

    Each action leads to a page where it can be done: from the page of the topic `qid`, to another topic.
    """
    try:
        known = [job for job in state.training_jobs.list() if job.index == state.index.name]
        jobs = [job.name for job in known if not job.is_over]
        # A job that has ended may have left a version in the history alone.
        ended = [job.id for job in known if job.state == "done"]
        key = ("workflow", state.judgments.version(), topic_set, qid, tuple(jobs), tuple(ended))
        return state.measurements.get(state.index, key, lambda: _describe(state, topic_set, qid, jobs))
    except StoreError as error:
        log.warning("judgments cannot be read: %s", error)
        return None


def _describe(state: RequestState, topic_set: str, qid: str, jobs: list[str]) -> dict[str, Any]:
    index, sets = state.index, state.judgments.topic_sets()
    chosen = next((each.name for each in sets if each.name == topic_set), "")
    chosen = chosen or max(sets, key=lambda each: each.n_judgments).name if sets else ""
    topics = state.judgments.topics(chosen) if chosen else []
    n_useful = sum(topic.n_relevant > 0 for topic in topics)
    trained = {name: bundle for name, bundle in index.models.items() if bundle.training.get("set") == chosen and chosen}
    in_use = index.default_ranker.model if index.default_ranker else None
    name = in_use if in_use in trained else next(iter(trained), None)
    bundle = trained.get(name) if name else None
    advice = (read_trial(bundle)["advice"] or {}) if bundle else {}
    recommended = recommended_system(name, bundle) if name and bundle else None
    # In a circle from the topic at hand, which may be one that no document matches.
    here = next((number for number, topic in enumerate(topics) if topic.qid == qid), -1)
    others = topics[here + 1 :] + topics[: max(here, 0)]
    unjudged = next((topic.qid for topic in others if not topic.n_judged), None)
    of_set: dict[str, Any] = {"topic_set": chosen}
    action: tuple[str, str, dict[str, Any], str]
    if jobs:
        action = ("See the training", "/train", {}, "#job")
    elif n_useful < MIN_VERDICT_QUERIES and unjudged is not None:
        action = ("Judge the next topic", "/pool", of_set | {"qid": unjudged}, "")
    elif n_useful < MIN_VERDICT_QUERIES:
        action = ("Add topics", "/judge", of_set if chosen else {}, "#add")
    elif bundle is None:
        action = ("Train a model", "/train", of_set, "#train")
    elif needs_training(state, str(name), bundle):
        action = ("Retrain: judgments have changed", "/model", {"name": name}, "#retrain")
    elif recommended in {system for system, _, _ in index.systems} and recommended != index.default_system:
        action = (f"Use {index.system(str(recommended)).label}", "/model", {"name": name}, "#use")
    elif advice.get("n_more") and unjudged is not None:
        action = ("Judge the next topic", "/pool", of_set | {"qid": unjudged}, "")
    else:
        action = ("Search with it" if index.default_ranker else "Search", "/", {}, "#q")
    return {
        "topic_set": chosen,
        "n_sets": len(sets),
        "n_useful": n_useful,
        "n_needed": MIN_VERDICT_QUERIES,
        "n_topics": MIN_VERDICT_QUERIES if n_useful < MIN_VERDICT_QUERIES else len(topics),
        "model": name,
        "verdict": VERDICT_WORDS.get(str(advice.get("kind")), ""),
        "in_use": index.system(index.default_system).label if index.default_ranker else "",
        "training": bool(jobs),
        "action": dict(zip(("label", "path", "parameters", "anchor"), action, strict=True)),
    }
