"""Training of models on judgments.

Models are trained in the background (`jobs/training_jobs.py`) and can be used in searches when they are complete.
"""

from __future__ import annotations

import re
from typing import Any

from searchlab.errors import SettingError
from searchlab.features.feature_sets import DEFAULT_SET, offered_sets
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.model_store.model_files import model_file
from searchlab.rankers.ranker_registry import RANKERS, SEARCH_RANKER
from searchlab.training.advice import advise_before
from searchlab.training.recipe import AUTO, NO_PRIOR, PAPER, RECIPES, TUNED, Recipe
from searchlab.web.api.judging.pool import topics_of_set
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.training.models import useful_judgments
from searchlab.web.http_errors import HttpError
from searchlab.web.jobs.training_process import TrainingTask
from searchlab.web.state.request_state import RequestState

# The rankers that learn from judgments.
TRAINABLE_RANKERS = tuple(name for name in RANKERS if name not in ("linear", "single"))
MAX_TRAINING_TOPICS = 5000
MAX_CANDIDATES = 1000

RANKER = Parameter("ranker", "string", "the ranker to train", default=SEARCH_RANKER, choices=TRAINABLE_RANKERS)
RECIPE = Parameter(
    "recipe",
    "string",
    "paper: the source's system as it is; tuned: with what we found better",
    default=TUNED,
    choices=tuple(RECIPES),
)
PRIOR = Parameter(
    "prior",
    "string",
    "the model that learning starts from: auto is the built-in model where it fits",
    default=AUTO,
    choices=(AUTO, BUILTIN, NO_PRIOR),
)
FEATURES = Parameter("features", "string", "a feature set", default=DEFAULT_SET, choices=tuple(offered_sets()))
MODEL_NAME = Parameter(
    "name", "string", "name of the model; by default made of topic set and ranker", default="", max_length=60
)
CANDIDATES = Parameter(
    "k",
    "integer",
    "number of documents of the first stage to re-rank",
    default=200,
    minimum=1,
    maximum=MAX_CANDIDATES,
)
JOB_ID = Parameter("id", "string", "id of a training job", max_length=20)


def check_readiness(state: RequestState, *, topic_set: str) -> dict[str, Any]:
    """Whether a topic set has enough judgments to train on."""
    topics = state.judgments.topics(topic_set)
    useful = [topic for topic in topics if topic.n_relevant]
    advice = advise_before(len(useful), sum(topic.n_judged for topic in useful))
    return {
        "index": state.index.name,
        "topic_set": topic_set,
        "n_topics": len(topics),
        "n_useful_topics": len(useful),
        "n_judgments": sum(topic.n_judged for topic in topics),
        "advice": None if advice is None else advice.to_json(),
    }


def start_training(
    state: RequestState,
    *,
    topic_set: str,
    ranker: str = SEARCH_RANKER,
    features: str = DEFAULT_SET,
    name: str = "",
    k: int = 200,
    recipe: str = TUNED,
    prior: str = AUTO,
) -> dict[str, Any]:
    """Train a model on the judgments of a topic set, in the background."""
    index = state.index
    if index.engine.is_distributed:
        trains = f"`searchlab train -i {index.name} --cluster ADDRESS` does"
        raise HttpError(409, f"this server searches on a cluster, and does not train; {trains}")
    _ = topics_of_set(state, topic_set)
    topics, qrels = useful_judgments(state, topic_set)
    advice = advise_before(len(topics), sum(map(len, qrels.values())))
    if advice is not None:
        raise HttpError(409, advice.sentence)
    if len(topics) > MAX_TRAINING_TOPICS:
        raise HttpError(400, f"{len(topics):,} topics to train on, expected at most {MAX_TRAINING_TOPICS:,}")
    model_name = name.strip() or _default_name(topic_set, ranker, recipe)
    try:
        output = model_file(index.folder, model_name)
    except SettingError as error:
        raise HttpError(400, str(error), field="name") from None
    if model_name in (*index.models, *index.unreadable_models) and not output.is_file():
        raise HttpError(409, f"the model {model_name!r} exists and was not trained here; choose another name", "name")
    folder, file = str(index.folder.absolute()), str(output.absolute())
    task = TrainingTask(folder, file, topic_set, topics, qrels, ranker, features, k, recipe=recipe, prior=prior)
    return state.training_jobs.start(index.name, model_name, task).to_json()


def list_jobs(state: RequestState) -> dict[str, Any]:
    """The training jobs since the start of the server, the latest first."""
    return {"jobs": [job.to_json() for job in state.training_jobs.list()]}


def get_job(state: RequestState, *, id: str) -> dict[str, Any]:
    """The progress of a training job."""
    return state.training_jobs.get(id).to_json()


def cancel_job(state: RequestState, *, id: str) -> dict[str, Any]:
    """Stop a training job."""
    return state.training_jobs.cancel(id).to_json()


def _default_name(topic_set: str, ranker: str, recipe: str) -> str:
    """Topic set and ranker, as far as a name may contain them, and the paper's recipe if it differs from ours."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", topic_set).strip("-_")[:40]
    is_marked = recipe == PAPER and not Recipe(ranker).is_shared
    return "-".join(filter(None, [plain, ranker, PAPER if is_marked else ""]))
