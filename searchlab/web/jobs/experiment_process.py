"""An experiment in a separate process (`task_process.py`), so that no search waits for it.

The results are those of `searchlab experiment`, in a folder of their own: an experiment that was interrupted continues
where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from searchlab.web.jobs.job_journal import SETTINGS
from searchlab.web.jobs.task_process import TaskProcess, run_task_process


@dataclass(frozen=True)
class ExperimentTask:
    """What to compare: `systems` search, `rankers` are trained, each on folds without the topics it is measured on.

    `folder` is the index, `output` the folder of the results. Topics are given by qid, grades by qid and docno.
    """

    folder: str
    output: str
    title: str
    topic_set: str
    topics: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    systems: tuple[str, ...]
    rankers: tuple[str, ...]
    measures: tuple[str, ...]

    def to_line(self) -> str:
        """The task as a line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The task that `to_line` wrote."""
        values = json.loads(line)
        return cls(**values | {name: tuple(values[name]) for name in ("systems", "rankers", "measures")})

    def settings(self) -> dict[str, Any]:
        """What the journal needs to start the experiment again."""
        return {name: _plain(getattr(self, name)) for name in SETTINGS["experiment"]}

    def describe(self) -> dict[str, Any]:
        """What the task is about."""
        return self.settings()

    def describe_result(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The result in one sentence; None before the end."""
        return {"lead": result.get("lead")}


def run_web_experiment(task: ExperimentTask, process: TaskProcess) -> dict[str, Any]:
    """Run an experiment, and write its results."""
    from searchlab.experiments.experiment import run_experiment
    from searchlab.experiments.inputs import make_inputs
    from searchlab.experiments.system_plans import plan_systems
    from searchlab.records import Topic
    from searchlab.retrieval.engine import SearchEngine

    topics = [Topic(qid, text) for qid, text in task.topics.items()]
    plan = plan_systems(task.title, Path(task.output), task.systems, task.rankers, task.measures)
    with SearchEngine(task.folder) as engine:
        inputs = make_inputs(engine, topics, task.qrels, plan)
        # One process: searches of the server need the other cores.
        finished = run_experiment(plan, inputs=inputs, n_jobs=1, progress=process.progress)
    return {"lead": finished.manifest["lead"]}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    run_task_process(ExperimentTask.from_line, run_web_experiment)
