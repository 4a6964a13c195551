"""Training of one model in a separate process (`task_process.py`), so that no search waits for it.

The result of the process has what OUTCOME lists. The model file
appears when it is complete: a terminated process leaves nothing behind, and one that is already writing the model
finishes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from searchlab.rankers.ranker_registry import SEARCH_RANKER
from searchlab.web.jobs.job_journal import SETTINGS
from searchlab.web.jobs.task_process import TaskProcess, run_task_process

if TYPE_CHECKING:
    from searchlab.rankers.model_store.model_history import StoredModel

# What is reported of a model that is trained.
OUTCOME = ("advice", "verdict", "helps", "means", "n_topics", "former", "comparison", "version", "former_version")


@dataclass(frozen=True)
class TrainingTask:
    """What to train: topics by qid, grades by qid and docno, and `k` candidates of the first stage per topic.

    `folder` is the index, `output` the model file. The model records the name of the topic set.
    """

    folder: str
    output: str
    topic_set: str
    topics: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    ranker: str = SEARCH_RANKER
    features: str = "compact"
    k: int = 200
    seed: int = 0
    recipe: str = "tuned"
    prior: str = "auto"

    def to_line(self) -> str:
        """The task as a line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    def settings(self) -> dict[str, Any]:
        """What the journal needs to train the model again."""
        return {name: getattr(self, name) for name in SETTINGS["training"]}

    def describe(self) -> dict[str, Any]:
        """What the task is about."""
        return {name: getattr(self, name) for name in ("topic_set", "ranker", "recipe", "features")}

    def describe_result(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The outcome of cross-validation; None for all before the end."""
        return {name: result.get(name) for name in OUTCOME}

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The task that `to_line` wrote."""
        return cls(**json.loads(line))


def judgments_fingerprint(topics: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]) -> str:
    """A hash of topics and grades: a model that records another one was trained on other judgments."""
    judged = [[qid, text, sorted(qrels.get(qid, {}).items())] for qid, text in sorted(topics.items())]
    return hashlib.sha256(json.dumps(judged).encode()).hexdigest()[:16]


def train_model(
    task: TrainingTask, progress: Callable[[str, int, int], None], save: Callable[[Any], StoredModel]
) -> dict[str, Any]:
    """Train a model, store it with `save`, and return the outcome of its cross-validation.

    If there was a model of its name, the outcome has the verdict on that one, too, the comparison of the two on the
    same topics, and which of them is used now: the other one is a version of the history.
    """
    from searchlab.rankers.first_stage import FirstStage
    from searchlab.rankers.model_store.model_history import read_former
    from searchlab.records import Topic
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.training.from_index import train_from_index
    from searchlab.training.from_table import require_storable
    from searchlab.training.recipe import Recipe

    recipe = Recipe.for_search(task.ranker, name=task.recipe, seed=task.seed, prior=task.prior)
    require_storable(recipe)
    topics = [Topic(qid, text) for qid, text in task.topics.items()]
    with SearchEngine(task.folder) as engine:
        bundle = train_from_index(
            engine,
            topics,
            task.qrels,
            task.features,
            recipe=recipe,
            first_stage=FirstStage(task.k),
            source=f"judgments {task.topic_set}",
            former=read_former(Path(task.output)),
            progress=progress,
        )
    judgments = judgments_fingerprint(task.topics, task.qrels)
    of_task = {"set": task.topic_set, "judgments": judgments, "settings": task.settings()}
    bundle = replace(bundle, training={**bundle.training, **of_task})
    stored = save(bundle)
    version = None if stored.former_version is None else stored.former_version.stem
    return _outcome(bundle) | {
        "former": None if stored.former is None else _outcome(stored.former),
        "comparison": None if stored.former is None else bundle.training.get("former"),
        "version": None if stored.is_current else stored.path.stem,
        "former_version": version,
    }


def _outcome(bundle: Any) -> dict[str, Any]:
    trial = dict(bundle.trial or {})
    outcome = {name: trial.get(name) for name in ("means", "helps", "verdict", "advice")}
    return outcome | {"n_topics": trial.get("n_queries")}


def run_training(task: TrainingTask, process: TaskProcess) -> dict[str, Any]:
    """Train a model, and store it once it is complete."""

    def save(bundle: Any) -> StoredModel:
        from searchlab.rankers.model_store.model_history import store_trained_model

        with process.uninterrupted():
            return store_trained_model(Path(task.output), bundle)

    return train_model(task, process.progress, save)


if __name__ == "__main__":
    run_task_process(TrainingTask.from_line, run_training)
