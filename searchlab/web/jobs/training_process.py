"""How is a model trained beside the server, so that no search waits for it?

A process of its own: `python -m searchlab.web.jobs.training_process`. One line of JSON on standard input is what to
learn, and where to put the model; lines of JSON on standard output say how far it is:

    {"stage": "searching", "done": 3, "of": 40}
    {"result": {"means": …, "helps": …, "verdict": …, "advice": …, "n_topics": …}}   or   {"error": "one line"}

It yields the processor to whoever asks for it. It ends when standard input is closed, which also happens when the
server dies, however it dies. The model appears when it is complete; a process that is terminated leaves nothing behind,
and one that is already writing the model finishes it.
"""

from __future__ import annotations

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
from typing import IO, Any, Self

from searchlab.errors import SearchlabError

# How much it yields to other processes, of 19 at most.
NICENESS = 15
# So many seconds lie between two lines at least, unless a stage begins or ends.
PAUSE = 0.1


@dataclass(frozen=True)
class Lesson:
    """What is to be learnt from what: topics by qid, grades by qid and docno; `k` candidates of the first search.

    `set` is the set of topics that was judged; a model keeps its name.
    """

    folder: str
    output: str
    set: str
    topics: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    ranker: str = "rsvm-ir"
    features: str = "semantic"
    k: int = 200
    seed: int = 0

    def to_line(self) -> str:
        """The lesson as a line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The lesson that `to_line` wrote."""
        return cls(**json.loads(line))


def learn(lesson: Lesson, progress: Callable[[str, int, int], None], save: Callable[[Any], None]) -> dict[str, Any]:
    """Train the model, hand it over to be saved, and say how well it does."""
    from searchlab.rankers.first_stage import FirstStage
    from searchlab.records import Topic
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.training.from_index import USUAL, train_from_index
    from searchlab.training.recipe import Recipe

    topics = [Topic(qid, text) for qid, text in lesson.topics.items()]
    with SearchEngine(lesson.folder) as engine:
        bundle = train_from_index(
            engine,
            topics,
            lesson.qrels,
            lesson.features,
            recipe=Recipe(lesson.ranker, seed=lesson.seed, **USUAL),
            first_stage=FirstStage(lesson.k),
            source=f"judgments {lesson.set}",
            progress=progress,
        )
    bundle = replace(bundle, training={**bundle.training, "set": lesson.set})
    save(bundle)
    trial = dict(bundle.trial or {})
    told = {name: trial.get(name) for name in ("means", "helps", "verdict", "advice")}
    return told | {"n_topics": trial.get("n_queries")}


class Teller:
    """Writes lines; of progress, not more than can be looked at."""

    def __init__(self, outbox: IO[str]) -> None:
        self._outbox = outbox
        self._stage = ""
        self._when = 0.0

    def tell(self, **line: Any) -> None:
        """Write a line now."""
        print(json.dumps(line), file=self._outbox, flush=True)

    def progress(self, stage: str, done: int, of: int) -> None:
        """Write how far it is, unless that was told just before."""
        now = time.monotonic()
        if stage == self._stage and done != of and now - self._when < PAUSE:
            return
        self._stage, self._when = stage, now
        self.tell(stage=stage, done=done, of=of)


def main() -> None:
    """Train what standard input says."""
    # Ctrl-C reaches every process of the terminal; the server decides, and ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(NICENESS)
    outbox = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write into the answer
    line = sys.stdin.readline()
    saving = threading.Lock()
    threading.Thread(target=_end_with_input, args=(saving,), daemon=True).start()
    teller = Teller(outbox)

    def save(bundle: Any) -> None:
        # From here on it is too late to stop: what is half-written would be left behind.
        with saving:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            Path(lesson.output).parent.mkdir(exist_ok=True)
            bundle.save(lesson.output)

    try:
        lesson = Lesson.from_line(line)
        teller.tell(result=learn(lesson, teller.progress, save))
    except BrokenPipeError:
        return
    except SearchlabError as error:
        teller.tell(error=" ".join(str(error).split()))
    except MemoryError:
        teller.tell(error="there is not enough memory to train with so many documents and features")
    except OSError as error:
        teller.tell(error=f"the model could not be trained or written ({error.strerror})")


def _end_with_input(saving: threading.Lock) -> None:
    """Wait until the server lets go of standard input, then end at once."""
    while os.read(sys.stdin.fileno(), 4096):
        continue
    with saving:
        os._exit(0)


if __name__ == "__main__":
    main()
