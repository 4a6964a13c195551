"""What has been learnt from judgments, what is being learnt, and does it help?

Models are trained beside the server (`jobs.py`) and appear in search when they are complete. What is told of a model
is what its file says of itself: how well it does on topics that it had not seen.
"""

from __future__ import annotations

import re
from typing import Any

from searchlab.features.sets import SETS
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.training.advice import KINDS, advise_before
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import INDEX, SET, Parameter
from searchlab.web.api.pool import set_topics
from searchlab.web.http_errors import Failure
from searchlab.web.jobs.training_process import Lesson
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened, models_folder

# What learns from judgments; the others have nothing to learn.
LEARNERS = tuple(name for name in RANKERS if name not in ("linear", "single"))
# A name is a part of a file's name and of an address.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
MOST_TOPICS, MOST_CANDIDATES = 5000, 1000


def models(desk: Desk, *, index: str | None) -> dict[str, Any]:
    """The models for an index, whether they fit it, and how well they do."""
    opened = desk.shelf.get(index)
    found = [_model(opened, name, bundle) for name, bundle in opened.models.items()]
    broken = [_broken(name, why) for name, why in opened.unreadable.items()]
    return {"index": opened.name, "models": found + broken}


def readiness(desk: Desk, *, index: str | None, set: str) -> dict[str, Any]:
    """Whether a set has enough judgments to learn from."""
    opened = desk.shelf.get(index)
    found = desk.store(opened.name).topics(set)
    useful = [each for each in found if each.n_relevant]
    n_judgments = sum(each.n_judged for each in useful)
    advice = advise_before(len(useful), n_judgments)
    return {
        "index": opened.name,
        "set": set,
        "n_topics": len(found),
        "n_useful_topics": len(useful),
        "n_judgments": sum(each.n_judged for each in found),
        "advice": None if advice is None else advice.to_json(),
    }


def train(
    desk: Desk,
    *,
    index: str | None,
    set: str,
    ranker: str = "rsvm-ir",
    features: str = "semantic",
    name: str = "",
    k: int = 200,
) -> dict[str, Any]:
    """Train a model on the judgments of a set, in the background."""
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    grades = store.grades(set)
    known = {topic.qid: topic.text for topic in set_topics(store, opened, set)}
    topics = {qid: text for qid, text in known.items() if max(grades.get(qid, {}).values(), default=0) > 0}
    advice = advise_before(len(topics), sum(len(grades[qid]) for qid in topics))
    if advice is not None:
        raise Failure(409, advice.sentence)
    if len(topics) > MOST_TOPICS:
        raise Failure(400, f"{len(topics):,} topics to learn from, expected at most {MOST_TOPICS:,}")
    wanted = name.strip() or _usual_name(set, ranker)
    folder = models_folder(opened.folder)
    if not NAME.fullmatch(wanted):
        raise Failure(400, f"name is {wanted[:60]!r}, expected letters, digits, dots, - and _, 60 at most")
    if wanted in (*opened.models, *opened.unreadable) and not (folder / f"{wanted}.json").is_file():
        raise Failure(409, f"there is a model {wanted!r} that was not trained here; choose another name")
    lesson = Lesson(
        str(opened.folder.absolute()),
        str((folder / f"{wanted}.json").absolute()),
        set,
        topics,
        {qid: grades[qid] for qid in topics},
        ranker,
        features,
        k,
    )
    return desk.jobs.start(opened.name, wanted, lesson).to_json()


def jobs(desk: Desk) -> dict[str, Any]:
    """What is being trained, waits for it, or was trained since the server began; the latest first."""
    return {"jobs": [job.to_json() for job in desk.jobs.list()]}


def job(desk: Desk, *, id: str) -> dict[str, Any]:
    """How far a training is."""
    return desk.jobs.get(id).to_json()


def cancel(desk: Desk, *, id: str) -> dict[str, Any]:
    """Stop a training."""
    return desk.jobs.cancel(id).to_json()


def trial_of(bundle: Bundle) -> dict[str, Any]:
    """What cross-validation said of a model, as far as it can be understood: files may be old, or made by others."""
    trial = dict(bundle.trial or {})
    means, advice = trial.get("means"), trial.get("advice")
    return {
        "verdict": trial["verdict"] if isinstance(trial.get("verdict"), str) else None,
        "helps": trial["helps"] if isinstance(trial.get("helps"), bool) else None,
        "means": means if _are_means(means) else None,
        "advice": advice if _is_advice(advice) else None,
    }


def _are_means(kept: Any) -> bool:
    return isinstance(kept, dict) and all(
        isinstance(own, dict) and all(isinstance(value, int | float) for value in own.values()) for own in kept.values()
    )


def _is_advice(kept: Any) -> bool:
    return isinstance(kept, dict) and kept.get("kind") in KINDS and isinstance(kept.get("sentence"), str)


def _model(opened: Opened, name: str, bundle: Bundle) -> dict[str, Any]:
    n_topics, of = bundle.training.get("n_queries"), bundle.training.get("set")
    return {
        "name": name,
        "label": f"{name} ({bundle.ranker})",
        "ranker": bundle.ranker,
        "n_topics": n_topics if isinstance(n_topics, int) else 0,
        "n_features": len(bundle.features),
        "set": of if isinstance(of, str) else None,
        **trial_of(bundle),
        "fits": name not in opened.misfits,
        "why_not": opened.misfits.get(name),
    }


def _broken(name: str, why: str) -> dict[str, Any]:
    known: dict[str, Any] = {"name": name, "label": name, "ranker": "", "n_topics": 0, "n_features": 0}
    return known | dict.fromkeys(("set", "verdict", "helps", "means", "advice")) | {"fits": False, "why_not": why}


def _usual_name(set: str, ranker: str) -> str:
    """The set and the ranker, as far as they can stand in a name."""
    bare = re.sub(r"[^A-Za-z0-9_-]+", "-", set).strip("-_")[:40]
    return f"{bare}-{ranker}" if bare else ranker


RANKER_TO_LEARN = Parameter("ranker", "text", "what learns", default="rsvm-ir", choices=LEARNERS)
FEATURES = Parameter("features", "text", "a set of features", default="semantic", choices=tuple(SETS))
MODEL_NAME = Parameter("name", "text", "what the model is called, by default after the set", default="", long=60)
CANDIDATES = Parameter(
    "k", "whole", "so many documents of the first search are re-ranked", default=200, least=1, most=MOST_CANDIDATES
)
JOB = Parameter("id", "text", "a training, by its number", long=20)

ENDPOINTS = (
    Endpoint("GET", "/api/models", models, "The models for an index, and how well they do", (INDEX,)),
    Endpoint("GET", "/api/readiness", readiness, "Whether a set has enough judgments to learn from", (INDEX, SET)),
    Endpoint(
        "POST",
        "/api/train",
        train,
        "Train a model on judgments, in the background",
        (INDEX, SET, RANKER_TO_LEARN, FEATURES, MODEL_NAME, CANDIDATES),
    ),
    Endpoint("GET", "/api/jobs", jobs, "What is being trained, or was"),
    Endpoint("GET", "/api/jobs/{id}", job, "How far a training is", (JOB,)),
    Endpoint("POST", "/api/jobs/cancel", cancel, "Stop a training", (JOB,)),
)
