"""Training of one model in a separate process, so that no search waits for it.

`python -m searchlab.web.jobs.training_process` reads one line of JSON from standard input, a `TrainingTask`, and writes
lines of JSON to standard output:

    {"stage": "searching", "done": 3, "total": 40}
    {"result": {"means": …, "helps": …, "verdict": …, "advice": …, "n_topics": …, …}}   or   {"error": "one line"}

The process runs with low priority. It ends when standard input is closed, which happens also when the server dies, for
whatever reason. The model file appears when it is complete: a terminated process leaves nothing behind, and one that is
already writing the model finishes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from searchlab.errors import SearchlabError
from searchlab.extensions import load_extensions
from searchlab.rankers.ranker_registry import SEARCH_RANKER

if TYPE_CHECKING:
    from searchlab.rankers.model_store.model_history import StoredModel

# How far the process yields to others; the maximum is 19.
NICENESS = 15
# Progress within one stage is written at most this often.
MIN_PROGRESS_SECONDS = 0.1


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

    If there was a model of its name, the outcome has the verdict on that one, too, and which of the two is used now.
    """
    from searchlab.rankers.first_stage import FirstStage
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
            progress=progress,
        )
    judgments = judgments_fingerprint(task.topics, task.qrels)
    bundle = replace(bundle, training={**bundle.training, "set": task.topic_set, "judgments": judgments})
    stored = save(bundle)
    former = None if stored.former is None else _outcome(stored.former)
    version = None if stored.is_current else stored.path.stem
    return _outcome(bundle) | {"former": former, "version": version}


def _outcome(bundle: Any) -> dict[str, Any]:
    trial = dict(bundle.trial or {})
    outcome = {name: trial.get(name) for name in ("means", "helps", "verdict", "advice")}
    return outcome | {"n_topics": trial.get("n_queries")}


class ProgressWriter:
    """Writes lines of JSON; lines of progress at most every `MIN_PROGRESS_SECONDS`."""

    def __init__(self, output: IO[str]) -> None:
        self._output = output
        self._last_stage = ""
        self._last_written = 0.0

    def write(self, **line: Any) -> None:
        """Write a line now."""
        print(json.dumps(line), file=self._output, flush=True)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Write the progress, unless the last line of the same stage is too recent."""
        now = time.monotonic()
        if stage == self._last_stage and done != total and now - self._last_written < MIN_PROGRESS_SECONDS:
            return
        self._last_stage, self._last_written = stage, now
        self.write(stage=stage, done=done, total=total)


def run_training_process() -> None:
    """Train the task on standard input."""
    # Ctrl-C reaches every process of the terminal; the server decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # Windows has no nice
        os.nice(NICENESS)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write between the lines of JSON
    line = sys.stdin.readline()
    saving = threading.Lock()
    threading.Thread(target=_exit_at_end_of_input, args=(saving,), daemon=True).start()
    writer = ProgressWriter(output)

    def save(bundle: Any) -> StoredModel:
        from searchlab.rankers.model_store.model_history import store_trained_model

        # From here on the process must not be stopped: it would leave a file that is half written.
        with saving:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            return store_trained_model(Path(task.output), bundle)

    try:
        load_extensions()
        task = TrainingTask.from_line(line)
        writer.write(result=train_model(task, writer.progress, save))
    except BrokenPipeError:
        return
    except SearchlabError as error:
        writer.write(error=" ".join(str(error).split()))
    except MemoryError:
        writer.write(error="out of memory: too many documents and features to train with")
    except OSError as error:
        writer.write(error=f"the model could not be trained or written ({error.strerror})")


def _exit_at_end_of_input(saving: threading.Lock) -> None:
    """Wait until the server closes standard input, then exit at once."""
    while os.read(sys.stdin.fileno(), 4096):
        continue
    with saving:
        os._exit(0)


if __name__ == "__main__":
    run_training_process()
