"""Crash test: an index after its writer was killed at counted points, its disk failed, or its machine lost power.

    python benchmarks/crash.py [--kills 500] [--documents 400] [--seed 1]
    python benchmarks/crash.py --faults [--sample N]          # every file system call fails in turn: faults.py
    python benchmarks/crash.py --faults --part 3/8            # the third eighth of these faults
    python benchmarks/crash.py --power-loss [--states 1000]   # writes that were not synced are lost: power_loss.py

Seven operations follow one another: indexing, updating twice, deleting, pruning, merging, rebuilding. Each is repeated
in forked processes, always from the same state, and killed in one of three ways:

    call    at its n-th call that touches files (open, rename, remove, mkdir, fsync, …), all of them equally likely
    write   during a write, when a file has grown to n bytes
    time    after a random time

Afterwards the index must open, hold exactly the documents from before or after the operation, according to its
generation, and pass the checks of `searchlab doctor`; the next run must succeed and remove all leftover files. Exit
code 1 if not.

With --faults, what a command says after an error must be true. With --power-loss, the same must hold for the disk of a
machine that crashed at a counted event, whatever the disk had not yet written; at the end of an operation, its result.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parts import WHOLE, Part
from power_loss import crash_points, crash_state, record
from report import table

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexMissing
from searchlab.indexing.building import workers
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.checking.index_doctor import examine
from searchlab.indexing.merging import merge as merging
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.layout import MANIFEST, SHARD_PREFIX, WRITER_LOCK
from searchlab.records import Document

Documents = dict[str, Document]

PLAIN = AnalysisSettings("none", "none", frozenset())
EXTRA = Document("the-next-run", "comes", "and works")
MAX_WORDS_PER_SHARD = 3000
WAYS = ("call", "write", "time")
# Events of Python's audit hooks that come with a change on disk, or a lock.
EVENTS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "fcntl.flock"}
FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def make_documents(numbers: Iterable[int], version: int = 0) -> list[Document]:
    """Documents with these numbers; in another version each has another text."""
    documents = []
    for number in numbers:
        rng = random.Random(f"{number} {version}")
        words = [f"w{int(rng.paretovariate(0.7)) % 500}" for _ in range(rng.randrange(60))]
        fields = {"year": 1950 + number % 70, "tags": [f"t{rng.randrange(9)}"]}
        documents.append(Document(f"d{number:05}", " ".join(words[:5]), " ".join(words[5:]), fields))
    return documents


@dataclass(frozen=True)
class Operation:
    """Something that changes an index: how it is done, and which documents there are afterwards."""

    name: str
    run: Callable[[Path], object]
    change: Callable[[Documents], Documents]


def put(name: str, documents: list[Document], *, prune: bool = False, rebuild: bool = False) -> Operation:
    """Indexing documents, in one of its varieties."""

    def run(folder: Path) -> object:
        return build_index(lambda: documents, folder, PLAIN, jobs=1, prune=prune, rebuild=rebuild)

    new = {document.docno: document for document in documents}
    return Operation(name, run, lambda old: new if prune or rebuild else old | new)


def remove(name: str, docnos: list[str]) -> Operation:
    return Operation(
        name, lambda folder: delete(folder, docnos), lambda old: {d: old[d] for d in old if d not in docnos}
    )


def plan(n: int) -> list[Operation]:
    """The operations, on about n documents."""
    return [
        put("index", make_documents(range(n))),
        put("update", make_documents(range(n // 2, n + n // 4), 1)),
        remove("delete", [document.docno for document in make_documents(range(0, n, 5))]),
        put("update and merge", make_documents(range(1, n, 3), 2)),
        put("prune", make_documents(range(1, n, 2), 1), prune=True),
        Operation("merge", merge, dict),
        put("rebuild", make_documents(range(n // 2), 3), rebuild=True),
    ]


@dataclass(frozen=True)
class Step:
    """An operation between two states, and what it takes: calls, bytes of the largest new file, and seconds."""

    operation: Operation
    start: Path
    before: Documents
    after: Documents
    old: int
    new: int
    n_calls: int
    n_bytes: int
    seconds: float


def rehearse(operations: list[Operation], home: Path) -> list[Step]:
    """Do all operations undisturbed, once to load and compile, and once to keep the state before each and to count."""
    for operation in operations:
        operation.run(home / "loading")
    steps = []
    folder = home / "index"
    documents: Documents = {}
    for number, operation in enumerate(operations):
        start = home / f"start-{number}"
        copy(folder, start)
        began = time.perf_counter()
        n_calls = int(fork(lambda operation=operation: operation.run(folder))[1])
        seconds = time.perf_counter() - began
        after = operation.change(documents)
        assert read(folder) == (read(folder)[0], after), operation.name
        n_bytes = max((folder / name).stat().st_size for name in {MANIFEST} | files_of(folder) - files_of(start))
        old, new = read(start)[0], read(folder)[0]
        steps.append(Step(operation, start, documents, after, old, new, n_calls, n_bytes, seconds))
        documents = after
    return steps


def copy(folder: Path, to: Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    if folder.exists():
        shutil.copytree(folder, to)


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def read(folder: Path) -> tuple[int, Documents]:
    """The generation of an index and its documents; 0 and none if there is no index."""
    try:
        with closing(Snapshot(folder)) as snapshot:
            return snapshot.manifest.generation, {document.docno: document for document in snapshot.documents()}
    except IndexMissing:
        return 0, {}


def fork(work: Callable[[], object], *, call: int = 0, write: int = 0, seconds: float = 0.0) -> tuple[bool, str]:
    """Do something in a forked process, which may be killed at a call, in a write or after a time.

    Says whether it was killed, and what it had to say: if it was not killed, how many calls there were.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        said = b"failed"
        try:
            count = count_calls(stop=call)
            if write:
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                resource.setrlimit(resource.RLIMIT_FSIZE, (write, write))
            with small_shards():
                work()
            said = str(count()).encode()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}".encode()
        finally:
            os.write(writing, said)
            os._exit(0)
    os.close(writing)
    if seconds:
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    with os.fdopen(reading) as pipe:
        return os.WIFSIGNALED(status), pipe.read()


def count_calls(stop: int) -> Callable[[], int]:
    """Count the calls that touch files from now on; the process is killed at the call `stop`."""
    n_calls = 0

    def note(*arguments: object) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == stop:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS or (event == "open" and (arguments[2] or 0) & FOR_WRITING):
            note()

    sys.addaudithook(listen)
    os.fsync = note  # there is no audit event of it, and a killed process loses nothing that it has written
    return lambda: n_calls


@contextmanager
def small_shards() -> Iterator[None]:
    """Shards so small that all operations write several, and merge some."""
    saved = workers.MAX_WORDS_PER_SHARD, merging.SHARDS_PER_TIER
    workers.MAX_WORDS_PER_SHARD = MAX_WORDS_PER_SHARD
    merging.SHARDS_PER_TIER = 3
    try:
        yield
    finally:
        workers.MAX_WORDS_PER_SHARD, merging.SHARDS_PER_TIER = saved


@dataclass(frozen=True)
class Outcome:
    """What became of one kill: whether it came in time, which state was found, and what was wrong with it."""

    operation: str
    way: str
    killed: bool
    state: str
    problems: list[str]


def kill(step: Step, way: str, share: float, home: Path) -> Outcome:
    """Kill an operation at a share, 0 to 1, of its calls, of its largest file, or of its time; see what is left."""
    folder = home / "index"
    copy(step.start, folder)
    moments = {
        "call": {"call": 1 + int(share * step.n_calls)},
        "write": {"write": 1 + int(share * step.n_bytes)},
        "time": {"seconds": 0.001 + share * step.seconds},
    }
    killed, said = fork(lambda: step.operation.run(folder), **moments[way])
    problems = [] if killed or said.isdigit() else [f"failed with {said}"]
    state = "?"
    try:
        generation, documents = read(folder)
        state = "old" if generation == step.old else "new"
        if not killed and generation != step.new:
            problems.append("ended with another generation than undisturbed")
        problems += check(folder, generation, documents, step.before if state == "old" else step.after)
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
    return Outcome(step.operation.name, way, killed, state, problems)


def check(folder: Path, generation: int, found: Documents, expected: Documents) -> Iterator[str]:
    """What is wrong with an index after a kill, and after the next run."""
    if found != expected:
        yield f"holds {len(found)} documents that are neither those from before nor those from after"
    if generation:
        yield from (str(finding) for finding in examine(folder).findings if finding.serious)
    build_index(lambda: [EXTRA], folder, PLAIN, jobs=1)
    if read(folder)[1] != expected | {EXTRA.docno: EXTRA}:
        yield "the next run does not add its document to those"
    yield from (f"the next run leaves {name}" for name in leftovers(folder))


def leftovers(folder: Path) -> list[str]:
    """Everything in an index folder that the manifest does not name."""
    with closing(Snapshot(folder)) as snapshot:
        named = {f"{record.name}/{name}" for record in snapshot.manifest.shards for name in record.files}
    empty = {path.name for path in folder.glob(f"{SHARD_PREFIX}*") if not any(path.iterdir())}
    return sorted(files_of(folder) - named - {MANIFEST, WRITER_LOCK} | empty)


def summarise(steps: list[Step], outcomes: list[Outcome]) -> str:
    header = [
        "operation",
        "calls",
        "killed at a call",
        "in a write",
        "at a time",
        "ended first",
        "old",
        "new",
        "failures",
    ]
    rows = []
    for name in [*dict.fromkeys(step.operation.name for step in steps), "all"]:
        own = [outcome for outcome in outcomes if name in (outcome.operation, "all")]
        ways = Counter(outcome.way for outcome in own if outcome.killed)
        states = Counter(outcome.state for outcome in own if outcome.killed)
        n_calls = sum(step.n_calls for step in steps if name in (step.operation.name, "all"))
        ended = sum(not outcome.killed for outcome in own)
        failures = sum(bool(outcome.problems) for outcome in own)
        counts = [n_calls, *(ways[way] for way in WAYS), ended, states["old"], states["new"], failures]
        rows.append([name, *map(str, counts)])
    return table(header, rows)


@dataclass(frozen=True)
class PowerLoss:
    """What became of one state after a power failure: which state was found, and what was wrong with it."""

    operation: str
    state: str
    problems: list[str]


def survey_power_loss(home: Path, n_states: int, rng: random.Random, n_docs: int) -> list[PowerLoss]:
    """Make states that a power failure can leave, about equally many for each operation, and look at each."""
    operations = plan(n_docs)
    work = home / "work"
    documents: Documents = {}
    losses = []
    with small_shards():
        for operation in operations:
            operation.run(home / "loading")
        for number, operation in enumerate(operations):
            work.mkdir(exist_ok=True)
            old = read(work / "index")[0]
            with record(work) as recording:
                operation.run(work / "index")
            after = operation.change(documents)
            n_own = n_states * (number + 1) // len(operations) - n_states * number // len(operations)
            for n_events in crash_points(recording, n_own, rng):
                shutil.rmtree(home / "crashed", ignore_errors=True)
                crash_state(recording, n_events, rng, home / "crashed")
                loss = look_after_power_loss(operation.name, home / "crashed" / "index", old, documents, after)
                if n_events == len(recording.events) and loss.state == "old":
                    loss.problems.append("lost what was reported as done")
                losses.append(loss)
            documents = after
    return losses


def look_after_power_loss(operation: str, folder: Path, old: int, before: Documents, after: Documents) -> PowerLoss:
    """Open an index after a power failure."""
    state, problems = "?", []
    try:
        generation, documents = read(folder)
        state = "old" if generation == old else "new"
        problems += check(folder, generation, documents, before if state == "old" else after)
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
    return PowerLoss(operation, state, problems)


def summarise_power_loss(losses: list[PowerLoss]) -> str:
    rows = []
    for name in [*dict.fromkeys(loss.operation for loss in losses), "all"]:
        own = [loss for loss in losses if name in (loss.operation, "all")]
        states = Counter(loss.state for loss in own)
        rows.append([name, *map(str, (len(own), states["old"], states["new"], sum(bool(x.problems) for x in own)))])
    return table(["operation", "states", "old", "new", "failures"], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill writers of an index, and look at what is left.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="let file system calls fail instead")
    parser.add_argument("--sample", type=int, help="only so many faults of each command")
    parser.add_argument("--part", type=Part.parse, default=WHOLE, metavar="I/N", help="only one of N parts of them")
    parser.add_argument("--power-loss", action="store_true", help="lose what was not synced instead")
    parser.add_argument("--states", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        if options.faults:
            return survey_faults(Path(home), options)
        if options.power_loss:
            return lose_power(Path(home), options)
        return kill_writers(Path(home), options)


def survey_faults(home: Path, options: argparse.Namespace) -> int:
    import faults  # which imports this module

    outcomes = faults.survey(home, sample=options.sample, seed=options.seed, part=options.part)
    print(faults.summarise(outcomes))
    return int(any(outcome.problems for outcome in outcomes))


def lose_power(home: Path, options: argparse.Namespace) -> int:
    losses = survey_power_loss(home, options.states, random.Random(options.seed), min(options.documents, 100))
    for loss in losses:
        for problem in loss.problems:
            print(f"{loss.operation}, {loss.state} state: {problem}", file=sys.stderr)
    print(summarise_power_loss(losses))
    return int(any(loss.problems for loss in losses))


def kill_writers(home: Path, options: argparse.Namespace) -> int:
    rng = random.Random(options.seed)
    # A killed process loses nothing that it has written; only a crashed machine does.
    os.fsync = lambda descriptor: None
    outcomes: list[Outcome] = []
    steps = rehearse(plan(options.documents), home)
    while sum(outcome.killed for outcome in outcomes) < options.kills:
        place = len(outcomes)
        outcome = kill(steps[place % len(steps)], WAYS[place // len(steps) % len(WAYS)], rng.random(), home)
        outcomes.append(outcome)
        for problem in outcome.problems:
            print(f"{outcome.operation}, killed at a {outcome.way}, {outcome.state} state: {problem}", file=sys.stderr)
    print(summarise(steps, outcomes))
    return int(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
