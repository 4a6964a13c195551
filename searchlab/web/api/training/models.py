"""The models of an index: what is known of them, the default ranker, names, deletion and history.

What is reported of a model is what its file says: how well it does on topics that it has not seen.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from searchlab.errors import SearchlabError
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.model_store import model_history
from searchlab.rankers.model_store.default_ranker import remove_default_ranker, write_default_ranker
from searchlab.rankers.model_store.model_files import model_file
from searchlab.rankers.systems import EXPANDED, MODEL, model_label
from searchlab.training.advice import KINDS
from searchlab.training.cross_validation import BUILT_IN
from searchlab.training.held_out import RECALL_MEASURES
from searchlab.training.retraining import KINDS as COMPARISON_KINDS
from searchlab.training.training_set import EXPANDED as RM3
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.jobs.job_journal import SETTINGS
from searchlab.web.jobs.training_process import judgments_fingerprint
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# Interpolated precision is given at recall 0, .1, …, 1.
N_RECALL_POINTS = len(RECALL_MEASURES)
MAX_READ_VERSIONS = 512

NAME = Parameter("name", "string", "name of a model", max_length=60)
NEW_NAME = Parameter("new_name", "string", "the new name of the model", max_length=60)
VERSION = Parameter(
    "version", "string", "a version of the model's history; by default the latest", default="", max_length=40
)
RANKER_IN_USE = Parameter(
    "system", "string", "the system to search by from now on; empty: BM25 again", default="", max_length=200
)


def list_models(state: RequestState) -> dict[str, Any]:
    """The models of an index, whether they fit it, how well they do, and the default ranker."""
    index = state.index
    readable = [_model_record(state, name, bundle) for name, bundle in index.models.items()]
    unreadable = [_unreadable_record(name, problem) for name, problem in index.unreadable_models.items()]
    deleted = model_history.list_deleted(index.folder)
    return {
        "index": index.name,
        "default_ranker": describe_default_ranker(index),
        "models": readable + unreadable,
        "deleted": deleted,
    }


def describe_default_ranker(index: OpenIndex) -> dict[str, Any] | None:
    """The default ranker of an index, None if none was chosen; `problem` says why it cannot be used."""
    chosen = index.default_ranker
    if chosen is None:
        return None
    label = chosen.system if index.default_problem else index.system(chosen.system).label
    return {
        "system": chosen.system,
        "label": label,
        "chosen_by": chosen.chosen_by,
        "chosen": chosen.chosen,
        "problem": index.default_problem or None,
    }


def use_ranker(state: RequestState, *, system: str, judge: str = "") -> dict[str, Any]:
    """Make a system the default ranker of the index, or BM25 again."""
    index = state.index
    if system:
        write_default_ranker(index.folder, index.system(system).name, judge)
    else:
        remove_default_ranker(index.folder)
    return {"index": index.name, "system": system or "bm25"}


def rename_model(state: RequestState, *, name: str, new_name: str) -> dict[str, Any]:
    """Give a model, and its history, another name."""
    _require_known(state.index, name)
    if new_name.strip() in (*state.index.models, *state.index.unreadable_models):
        raise HttpError(409, f"there is a model {new_name.strip()!r} already; choose another name", "new_name")
    model_history.rename_model(state.index.folder, name, new_name.strip())
    return {"index": state.index.name, "name": new_name.strip()}


def delete_model(state: RequestState, *, name: str) -> dict[str, Any]:
    """Delete a model; it stays in the history, from which it can be restored."""
    _require_known(state.index, name)
    version = model_history.delete_model(state.index.folder, name)
    return {"index": state.index.name, "name": name, "version": version.stem}


def restore_model(state: RequestState, *, name: str, version: str = "") -> dict[str, Any]:
    """Make a version of a model's history the model of this name again."""
    model_history.restore_version(state.index.folder, name, version)
    return {"index": state.index.name, "name": name}


def list_versions(index: OpenIndex, name: str) -> list[dict[str, Any]]:
    """The history of a model, the latest first, with the verdict on each version."""
    return [_version_record(path) for path in model_history.list_history(index.folder, name)]


def read_version(index: OpenIndex, name: str, version: str) -> Bundle | None:
    """A version of a model's history, None if there is none or it cannot be read."""
    for path in model_history.list_history(index.folder, name):
        if path.stem == version:
            try:
                return load_bundle(path)
            except SearchlabError:
                return None
    return None


def judgments_changed(state: RequestState, bundle: Bundle) -> bool:
    """Whether the judgments that a model was trained on are not the present ones; false if that is not known."""
    topic_set, recorded = bundle.training.get("set"), bundle.training.get("judgments")
    if not isinstance(topic_set, str) or not isinstance(recorded, str):
        return False
    return _present_fingerprint(state, topic_set) != recorded


def needs_training(state: RequestState, name: str, bundle: Bundle) -> bool:
    """Whether the judgments have changed since a model was trained, and no version of its history has learnt from them.

    A topic set that was renamed or deleted cannot be learnt from.
    A new model that was no better is in the history: to train it again would find the same.
    """
    if not judgments_changed(state, bundle) or not state.judgments.topics(str(bundle.training["set"])):
        return False
    present = _present_fingerprint(state, str(bundle.training["set"]))
    return all(_judgments_of(path) != present for path in model_history.list_history(state.index.folder, name))


def _judgments_of(path: Path) -> str | None:
    """The fingerprint of the judgments that a version has learnt from; None if that is not known."""
    try:
        stamp = path.stat()
    except OSError:  # removed just now
        return None
    return _read_fingerprint(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(MAX_READ_VERSIONS)
def _read_fingerprint(path: Path, modified: int, size: int) -> str | None:
    """The same of a file, which is read once as long as it stays the same."""
    try:
        found = load_bundle(path).training.get("judgments")
    except SearchlabError:
        return None
    return found if isinstance(found, str) else None


def _present_fingerprint(state: RequestState, topic_set: str) -> str:
    key = ("judgments", state.judgments.version(), topic_set)
    found = state.measurements.get(state.index, key, lambda: judgments_fingerprint(*useful_judgments(state, topic_set)))
    return str(found)


def useful_judgments(state: RequestState, topic_set: str) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """The topics of a set with a relevant document, and their grades: what a model learns from."""
    grades = state.judgments.grades(topic_set)
    texts = {topic.qid: topic.text for topic in state.judgments.topics(topic_set)}
    topics = {qid: text for qid, text in texts.items() if max(grades.get(qid, {}).values(), default=0) > 0}
    return topics, {qid: grades[qid] for qid in topics}


def recommended_system(name: str, bundle: Bundle) -> str | None:
    """The system that the advice on a model, which is called `name`, recommends; None if it recommends none."""
    advice = read_trial(bundle)["advice"] or {}
    return _system_called(advice.get("use") or "", name, bundle)


def best_baseline(name: str, bundle: Bundle) -> str | None:
    """The best of the systems that a model was compared with by cross-validation; None if that is not known."""
    rivals = list((read_trial(bundle)["means"] or {}).items())[1:]  # the first is the model
    best = max(rivals, key=lambda each: next(iter(each[1].values()), 0.0), default=None)
    return None if best is None else _system_called(best[0], name, bundle)


def _system_called(label: str, name: str, bundle: Bundle) -> str | None:
    """The system that is called `label` in the cross-validation of a model."""
    stage = bundle.first_stage
    if not label or stage is None:
        return None
    if label in (bundle.label, *_own_label(bundle)):
        return f"{MODEL}{name}"
    if label == BUILT_IN:
        return f"{MODEL}{BUILTIN}"
    settings = ",".join(f"{key}={value}" for key, value in stage.settings.items())
    scorer = f"{stage.scorer}:{settings}" if settings else stage.scorer
    return f"{scorer}{EXPANDED}" if label == RM3 else scorer


def _own_label(bundle: Bundle) -> list[str]:
    """What the cross-validation of a model calls it, the first of its systems: its label may be another one since."""
    return list(read_trial(bundle)["means"] or ())[:1]


def read_trial(bundle: Bundle) -> dict[str, Any]:
    """The outcome of a model's cross-validation; None for what is missing or malformed in its file."""
    trial = dict(bundle.trial or {})
    means, advice = trial.get("means"), trial.get("advice")
    return {
        "verdict": trial["verdict"] if isinstance(trial.get("verdict"), str) else None,
        "helps": trial["helps"] if isinstance(trial.get("helps"), bool) else None,
        "means": means if _are_means(means) else None,
        "advice": advice if _is_advice(advice) else None,
    }


def read_comparison(bundle: Bundle) -> dict[str, Any] | None:
    """How a model compared with the former one of its name; None if there was none, or it is malformed."""
    found = bundle.training.get("former")
    if not isinstance(found, dict) or found.get("kind") not in COMPARISON_KINDS:
        return None
    texts = all(isinstance(found.get(name), str) for name in ("finding", "sentence"))
    texts = texts and isinstance(found.get("verdict"), str | None)
    means, intervals = found.get("means"), found.get("intervals")
    if not texts or not isinstance(means, dict) or not isinstance(intervals, dict):
        return None
    is_drawn = list(means) == list(intervals) and all(map(is_share, means.values()))
    if not is_drawn or not all(_are_numbers(each, 2) for each in intervals.values()):
        return None
    names = ("kind", "finding", "sentence", "means", "intervals", "verdict")
    n_topics, measure = found.get("n_topics"), found.get("measure")
    return {name: found.get(name) for name in names} | {
        "is_better": found.get("is_better") is True,
        "measure": measure if isinstance(measure, str) else None,
        "n_topics": n_topics if isinstance(n_topics, int) else 0,
    }


def read_settings(bundle: Bundle) -> dict[str, Any]:
    """The settings by which a model was trained here, to train it again; for earlier files its ranker and set."""
    recorded = bundle.training.get("settings")
    known = {"topic_set": bundle.training.get("set"), "ranker": bundle.ranker}
    if isinstance(recorded, dict):
        known |= {name: recorded.get(name) for name in SETTINGS["training"]}
    return {name: value for name, value in known.items() if isinstance(value, str | int)}


def is_held_out(value: Any) -> bool:
    """Whether a value of a model's file has the form of held-out topics: the file may come from a stranger."""
    if not isinstance(value, dict) or not isinstance(value.get("measure"), str):
        return False
    qids, values = value.get("qids"), value.get("values")
    if not isinstance(qids, list) or not qids or not all(isinstance(qid, str) for qid in qids):
        return False
    if not isinstance(values, dict) or len(values) < 2:
        return False
    return all(
        isinstance(value.get(part), dict)
        and list(value[part]) == list(values)
        and all(_are_numbers(each, length) for each in value[part].values())
        for part, length in (("values", len(qids)), ("intervals", 2), ("precision_recall", N_RECALL_POINTS))
    )


def _are_numbers(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length and all(is_share(each) for each in value)


def is_share(value: Any) -> bool:
    """Whether a value is a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _are_means(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(means, dict) and all(isinstance(mean, int | float) for mean in means.values())
        for means in value.values()
    )


def _is_advice(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") in KINDS and isinstance(value.get("sentence"), str)


def _require_known(index: OpenIndex, name: str) -> None:
    if name not in (*index.models, *index.unreadable_models):
        raise NotFound(f"the index {index.name} has no model {name[:60]!r}", field="name")


def _model_record(state: RequestState, name: str, bundle: Bundle) -> dict[str, Any]:
    index = state.index
    n_topics, topic_set = bundle.training.get("n_queries"), bundle.training.get("set")
    return {
        "name": name,
        "label": model_label(name, bundle.label),
        "ranker": bundle.ranker,
        "recipe": bundle.recipe_text or None,
        "n_topics": n_topics if isinstance(n_topics, int) else 0,
        "n_features": len(bundle.features),
        "topic_set": topic_set if isinstance(topic_set, str) else None,
        **read_trial(bundle),
        "usable": name not in index.unusable_models,
        "problem": index.unusable_models.get(name),
        "recommended": recommended_system(name, bundle),
        "judgments_changed": judgments_changed(state, bundle),
        "trained_here": model_file(index.folder, name).is_file(),
        "comparison": read_comparison(bundle),
    }


def _unreadable_record(name: str, problem: str) -> dict[str, Any]:
    known: dict[str, Any] = {"name": name, "label": name, "ranker": "", "recipe": None, "n_topics": 0, "n_features": 0}
    unknown = dict.fromkeys(("topic_set", "verdict", "helps", "means", "advice"))
    state = {"usable": False, "problem": problem, "recommended": None}
    return known | unknown | state | {"judgments_changed": False, "trained_here": False, "comparison": None}


def _version_record(path: Path) -> dict[str, Any]:
    try:
        bundle = load_bundle(path)
    except SearchlabError:
        return {"version": path.stem, "n_topics": None, "advice": None, "problem": "cannot be read"}
    n_topics = bundle.training.get("n_queries")
    return {
        "version": path.stem,
        "n_topics": n_topics if isinstance(n_topics, int) else None,
        "advice": read_trial(bundle)["advice"],
        "problem": None,
    }
