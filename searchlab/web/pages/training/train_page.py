"""The page of training: the current job, the form to train a model, and the models of the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from searchlab.features.feature_sets import DEFAULT_SET, offered_sets
from searchlab.rankers.ranker_registry import RANKERS, SEARCH_RANKER
from searchlab.training.recipe import RECIPES, TUNED
from searchlab.web.api.judging.judge import list_topic_sets
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.training import train
from searchlab.web.api.training.models import list_models, list_versions, needs_training, read_version
from searchlab.web.jobs.job_journal import list_interrupted
from searchlab.web.pages.job_cards import choose_shown_job
from searchlab.web.pages.judging.judge_page import choose_topic_set, collection_to_import, reported_change
from searchlab.web.pages.page import SHOWN_SET, BrowserSession
from searchlab.web.pages.plain_words import plain_features, plain_ranker, plain_recipe
from searchlab.web.pages.training.model_page import charts_of, find_rival, offered_system
from searchlab.web.pages.training.verdict_charts import mean_rows
from searchlab.web.state.request_state import RequestState

# The features of a set that are listed.
MAX_LISTED_FEATURES = 5

DELETED_MODEL = Parameter("deleted", "string", "the model that was just deleted", default="", max_length=60)


def train_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The page of training; by default for the set of the job shown, or the set with the most judgments."""
    sets = list_topic_sets(state)
    topic_sets = sets["topic_sets"]
    jobs = [job for job in train.list_jobs(state)["jobs"] if job["index"] == state.index.name]
    card = choose_shown_job(jobs)
    shown = card.shown
    of_job = shown["topic_set"] if shown and shown["topic_set"] in {each["name"] for each in topic_sets} else ""
    name = values["topic_set"] or of_job
    by_size = sorted(topic_sets, key=lambda each: -each["n_judgments"])
    chosen = choose_topic_set(by_size, name)
    models = list_models(state)
    advice = {each["name"]: train.check_readiness(state, topic_set=each["name"])["advice"] for each in by_size}
    return {
        "topic_sets": topic_sets,
        "collection": collection_to_import(sets),
        "chosen": chosen["name"] if chosen else None,
        SHOWN_SET: chosen["name"] if chosen else "",
        "changed": reported_change(state, values["change"]),
        "n_judgments": sum(each["n_judgments"] for each in topic_sets),
        "advice_before": advice[chosen["name"]] if chosen else None,
        "trainable": [name for name, problem in advice.items() if problem is None],
        "rankers": [
            (name, plain_ranker(name, RANKERS[name].description), RANKERS[name].description)
            for name in sorted(train.TRAINABLE_RANKERS, key=lambda name: name != SEARCH_RANKER)
        ],
        "search_ranker": SEARCH_RANKER,
        "recipes": [
            (name, plain_recipe(name), what)
            for name, what in sorted(RECIPES.items(), key=lambda each: each[0] != TUNED)
        ],
        "features": [
            (name, plain_features(name, len(names)), _shortened(names))
            for name, names in sorted(offered_sets().items(), key=lambda each: each[0] != DEFAULT_SET)
        ],
        "default_features": DEFAULT_SET,
        "job": shown,
        "cancelled": card.cancelled,
        "interrupted": list_interrupted(state.index.folder, "training", {job["name"] for job in jobs}),
        "waiting": card.waiting,
        "models": models["models"],
        "default_ranker": models["default_ranker"],
        "deleted_models": models["deleted"],
        "rivals": {name: find_rival(state.index, name, bundle) for name, bundle in state.index.models.items()},
        "to_retrain": [name for name, bundle in state.index.models.items() if needs_training(state, name, bundle)],
        "just_deleted": values["deleted"] if values["deleted"] in models["deleted"] else "",
        **_outcome(state, shown),
    }


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_LISTED_FEATURES]) + (", …" if len(names) > MAX_LISTED_FEATURES else "")


def _outcome(state: RequestState, job: dict[str, Any] | None) -> dict[str, Any]:
    """The pictures of the verdict on the model that a job has trained, and the system to use from now on.

    `other_version` is the one of the former and the new model that is not used, if it is still in the history.
    """
    nothing: dict[str, Any] = {"charts": None, "offered": None, "other_version": "", "comparison_bars": []}
    if job is None or job["state"] != "done":
        return nothing
    name, version = job["name"], job["version"]
    compared, other = job["comparison"], version or job["former_version"]
    known = {each["version"] for each in list_versions(state.index, name)} if other else set()
    shown = nothing | {
        "other_version": other if other in known else "",
        "comparison_bars": mean_rows(compared["means"], compared["intervals"]) if compared else [],
    }
    bundle = read_version(state.index, name, version) if version else state.index.models.get(name)
    if bundle is None:
        return shown
    return shown | {"charts": charts_of(bundle), "offered": offered_system(state.index, name, bundle)}
