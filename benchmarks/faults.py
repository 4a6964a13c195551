"""Fault injection: what a command says after a file system call has failed, compared with what is on disk.

Every command that writes is run again and again, always from the same state, in forked processes. Each time one call on
its files fails (see `file_calls`), once or from then on, with one of three errors. What the command said is then
compared with the truth:

    exit code 0                               the new state
    an error that says "was committed"        the new state
    an error that says it cannot be read      the old state or the new one
    any other error                           the old state

A traceback, a state that is neither old nor new, and leftovers that the next command does not remove are failures too.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crash import copy, make_documents, read, small_shards
from crash import leftovers as leftovers_of_index
from file_calls import FileCall, Hook, intercept
from parts import WHOLE, Part
from report import table

import searchlab
from searchlab.atomic_file import TEMPORARY_SUFFIX
from searchlab.cli import main as run_command_line
from searchlab.errors import IndexMissing, SearchlabError
from searchlab.features.latent_semantics.semantic_space import SemanticSpace
from searchlab.indexing.checking.index_doctor import examine
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.commit import COMMITTED, UNKNOWN
from searchlab.indexing.storage.layout import MANIFEST, WRITER_LOCK
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.report.content import Report, Section, Table
from searchlab.report.writer import write_report

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES}
# What a full disk and missing permissions go on preventing; a broken disk fails in everything.
NEED_SPACE = {"write", "pwrite", "mkdir", "rename", "replace", "fsync", "ftruncate", "link"}
NEED_PERMISSION = {"open", "mkdir", "rmdir", "unlink", "remove", "rename", "replace", "listdir", "scandir", "chmod"}
INDEX = "indexes/box"
SETTINGS = ("-i", "box", "-j", "1", "--stemmer", "none", "--stop", "none")
N_DOCS = 24
# How a warning about a leftover ends.
NEXT_RUN = "the next run tries again"


@dataclass(frozen=True)
class Operation:
    """A command: how to run it, and a value that tells the states before and after it apart.

    `watched` is the folder whose calls fail, relative to the working directory. `following` is the next run, which
    removes leftovers; by default the operation itself.
    """

    name: str
    run: Callable[[], object]
    state: Callable[[], object]
    watched: str = "."
    following: Operation | None = None


def command(
    name: str,
    arguments: str,
    state: Callable[[], object],
    watched: str = ".",
    following: Operation | None = None,
) -> Operation:
    """An operation of the command line."""

    def run() -> None:
        sys.argv = ["searchlab", *arguments.split()]
        run_command_line()

    return Operation(name, run, state, watched, following)


def documents_of_index() -> object:
    """The documents of the index; they are all readable, and the index is healthy."""
    generation, documents = read(Path(INDEX))
    assert not generation or examine(Path(INDEX)).healthy
    return documents


def shards_of_index() -> object:
    """How many shards the index has, besides its documents."""
    return len(read_index_manifest(Path(INDEX)).shards), documents_of_index()


def dimensions_of_space() -> object:
    """The dimensions of the semantic space and the number of documents without vectors, None if there is none."""
    with contextlib.closing(Snapshot(Path(INDEX))) as snapshot:
        try:
            space = SemanticSpace.open(snapshot, verify=True)
        except IndexMissing:
            return None
        return space.dims, space.n_unwritten


def latent_topics() -> object:
    """The number of latent topics of the topic model, None if there is none."""
    with contextlib.closing(Snapshot(Path(INDEX))) as snapshot:
        try:
            return searchlab.open_topic_model(snapshot, verify=True).n_topics
        except IndexMissing:
            return None


def ranker_of_model() -> object:
    """The ranker of the model, None if there is none."""
    path = Path("models/model.json")
    return searchlab.load_bundle(path).ranker if path.exists() else None


def content(path: str) -> Callable[[], object]:
    """The content of a file, None if there is none."""
    return lambda: Path(path).read_text() if Path(path).exists() else None


def report_is_complete() -> object:
    """Whether all files of the report are those of its second version."""
    files = sorted(Path("report").glob("*"))
    return len(files) == 4 and all(".75" in file.read_text() for file in files)


def make_report(value: float) -> None:
    values = Table("values", "Values", ("value",), ((value,),))
    write_report(Report("A report", "A summary.", (Section("A section", (values,)),)), "report")


def write_sources(folder: Path) -> None:
    """The documents, topics and features that the commands read."""
    folder.mkdir()
    versions = {
        "first": make_documents(range(N_DOCS)),
        "second": make_documents(range(N_DOCS // 2, N_DOCS + 6), 1),
        "third": make_documents(range(1, N_DOCS, 3), 2),
        "fourth": make_documents(range(1, N_DOCS, 2), 1),
        "next": make_documents([N_DOCS + 50]),
    }
    for name, documents in versions.items():
        lines = [json.dumps({"docno": d.docno, "title": d.title, "body": d.body, **d.fields}) for d in documents]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    (folder / "topics.tsv").write_text("1\tw1 w2\n2\tw3\n")
    rng = random.Random(1)
    rows = [
        f"{grade} qid:{query} 1:{grade + rng.random():.3f} 2:{rng.random():.3f} #docid = d{query}-{number}"
        for query in range(1, 5)
        for number, grade in enumerate([0, 1, 0, 2, 0])
    ]
    (folder / "letor.txt").write_text("\n".join(rows) + "\n")


def plan() -> list[Operation]:
    """The operations, each of which begins with the state that the one before it has left."""
    sources = "../sources"
    settings = " ".join(SETTINGS)
    train = f"train {sources}/letor.txt --folds 0 --parts 2 -o models/model.json --ranker"
    run = f"run -i box --topics {sources}/topics.tsv -o runs/a.run --tag"
    following = command("next", f"index {sources}/next.jsonl {settings}", documents_of_index)
    return [
        command("index", f"index {sources}/first.jsonl {settings}", documents_of_index),
        command("update", f"index {sources}/second.jsonl {settings}", documents_of_index),
        command("delete", "delete -i box d00000 d00005 d00013 d00020", documents_of_index, following=following),
        command("semantic", "semantic -i box --dims 2", dimensions_of_space),
        command("update and merge", f"index {sources}/third.jsonl {settings}", documents_of_index),
        command("semantic, updated", "semantic -i box --update", dimensions_of_space),
        command("semantic, replaced", "semantic -i box --dims 3", dimensions_of_space),
        command("topic-model", "topic-model -i box --n-topics 2", latent_topics),
        command("topic-model, replaced", "topic-model -i box --n-topics 3 --rebuild", latent_topics),
        command("prune", f"index {sources}/fourth.jsonl {settings} --prune", documents_of_index),
        command(
            "delete and merge",
            "delete -i box d00001 d00003 d00007 d00009 d00011 d00013",
            documents_of_index,
            following=following,
        ),
        command("merge", "merge -i box", shards_of_index, following=following),
        command("rebuild", f"index {sources}/first.jsonl {settings} --rebuild", documents_of_index),
        command("run", f"{run} first", content("runs/a.run"), "runs"),
        command("run, replaced", f"{run} second", content("runs/a.run"), "runs"),
        command("train", f"{train} rsvm", ranker_of_model, "models"),
        command("train, replaced", f"{train} maxent", ranker_of_model, "models"),
        Operation("report", lambda: make_report(0.25), content("report/values.csv")),
        Operation("report, replaced", lambda: make_report(0.75), report_is_complete),
    ]


@dataclass(frozen=True)
class Step:
    """An operation, the folder with the state before it, the values of both states, and its calls."""

    operation: Operation
    start: Path
    before: object
    after: object
    calls: tuple[FileCall, ...]


@dataclass(frozen=True)
class Fault:
    """The call, counted from 0, that fails, the name of the error, and whether later calls fail too."""

    call: int
    error: str
    lasting: bool = False

    def hook(self, calls: list[FileCall]) -> Hook:
        """The hook that makes the calls fail, and adds them to a list."""

        def fail(call: FileCall) -> None:
            calls.append(call)
            place = len(calls) - 1
            if place == self.call or (self.lasting and place > self.call and self.prevents(call)):
                code = ERRORS[self.error]
                raise OSError(code, os.strerror(code), None if call.descriptor >= 0 else call.path)

        return Hook(before=fail)

    def prevents(self, call: FileCall) -> bool:
        """Whether the error, if it lasts, makes this call fail."""
        if self.error == "EIO":
            return True
        if self.error == "ENOSPC":
            return call.name in NEED_SPACE or call.opens_for_writing
        return call.name in NEED_PERMISSION


@dataclass(frozen=True)
class Outcome:
    """What an operation with a fault said, the state that was found, and what is wrong."""

    operation: str
    fault: Fault
    call: FileCall
    code: int
    said: str
    state: str
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """How a process ended: its exit code, its standard error, and the calls that its operation made."""

    code: int
    said: str
    calls: tuple[FileCall, ...] = ()


def run_forked(operation: Operation, work: Path, fault: Fault | None = None) -> Result:
    """Run an operation in a forked process, in the folder `work`."""
    outbox = work.parent / "result"
    process = os.fork()
    if not process:
        try:
            outbox.write_bytes(pickle.dumps(_run_here(operation, work, fault)))
        except BaseException:
            outbox.write_bytes(pickle.dumps(Result(-1, traceback.format_exc())))
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    result: Result = pickle.loads(outbox.read_bytes())
    return result


def _run_here(operation: Operation, work: Path, fault: Fault | None = None) -> Result:
    """Run an operation in this process, and catch what it prints."""
    calls: list[FileCall] = []
    hook = fault.hook(calls) if fault else Hook(before=calls.append)
    os.chdir(work)
    code = 0
    with (
        (work.parent / "output").open("w") as output,
        (work.parent / "errors").open("w+") as errors,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        small_shards(),
    ):
        try:
            with intercept(work / operation.watched, hook):
                operation.run()
        except SystemExit as ended:
            code = int(ended.code or 0)
        except SearchlabError as error:
            code = error.exit_code
            print(error, file=sys.stderr)
        except Exception:
            code = -1
            traceback.print_exc()
        errors.seek(0)
        return Result(code, errors.read(), tuple(calls))


def rehearse(home: Path, operations: Iterable[Operation]) -> list[Step]:
    """Run all operations undisturbed, keeping the state before each."""
    write_sources(home / "sources")
    work = home / "work"
    for folder in ("runs", "models"):
        (work / folder).mkdir(parents=True)
    steps = []
    for number, operation in enumerate(operations):
        start = home / f"start-{number}"
        copy(work, start)
        os.chdir(work)
        before = operation.state()
        _run_here(operation, work)  # loads and compiles what the forked processes need
        restore(start, work)
        result = run_forked(operation, work)
        assert result.code == 0, (operation.name, result.said)
        after = operation.state()
        assert before != after, operation.name
        steps.append(Step(operation, start, before, after, result.calls))
    return steps


def restore(start: Path, work: Path) -> None:
    """Put the working directory into an earlier state."""
    os.chdir(work.parent)
    copy(start, work)
    os.chdir(work)


def inject(step: Step, fault: Fault, home: Path) -> Outcome:
    """Run an operation with a fault, and compare what it says with what is on disk."""
    work = home / "work"
    restore(step.start, work)
    result = run_forked(step.operation, work, fault)
    problems = []
    state = "?"
    if result.code == -1:
        problems.append("ended with a traceback")
    try:
        found = step.operation.state()
        state = "old" if found == step.before else "new" if found == step.after else "neither"
        if state not in claims(result):
            problems.append(f"said {' or '.join(claims(result))}, but the state is {state}")
        if left := leftovers(work):
            if not fault.lasting and NEXT_RUN not in result.said:
                problems.append(f"left {', '.join(left)}")
            following = run_forked(step.operation.following or step.operation, work)
            if following.code:
                problems.append(f"the next run fails: {following.said}")
            problems += [f"the next run leaves {name}" for name in leftovers(work)]
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
    call = step.calls[min(fault.call, len(step.calls) - 1)]
    return Outcome(step.operation.name, fault, call, result.code, result.said, state, problems)


def claims(result: Result) -> tuple[str, ...]:
    """The states that fit what was said."""
    if UNKNOWN in result.said:
        return ("old", "new")
    # A topic model is noted as learnt before it is printed.
    is_new = result.code == 0 or COMMITTED in result.said or "learnt from" in result.said
    return ("new",) if is_new else ("old",)


def leftovers(work: Path) -> list[str]:
    """The files that no manifest names, and temporary files."""
    index = work / INDEX
    found = [path.relative_to(work).as_posix() for path in work.rglob(f".*{TEMPORARY_SUFFIX}")]
    if (index / MANIFEST).exists():
        found += [name for name in leftovers_of_index(index) if not name.startswith(("semantic/", "topics/"))]
    elif index.exists():
        found.append(INDEX)
    for home in [index / "semantic", *(index / "topics").glob("*")]:
        if home.exists():
            files = json.loads((home / MANIFEST).read_text())["files"] if (home / MANIFEST).exists() else {}
            named = {MANIFEST, WRITER_LOCK, *files}
            found += [path.relative_to(work).as_posix() for path in home.iterdir() if path.name not in named]
    return sorted(found)


def faults_of(step: Step) -> Iterator[Fault]:
    """Every fault of a step: each call with each error, once and lasting."""
    for lasting in (False, True):
        for error in ERRORS:
            for number, call in enumerate(step.calls):
                fault = Fault(number, error, lasting)
                # A lasting fault begins where it can: a full disk at a write, missing permissions at an open.
                if not lasting or fault.prevents(call):
                    yield fault


def survey(home: Path, *, sample: int | None = None, seed: int = 1, part: Part = WHOLE) -> list[Outcome]:
    """Inject all faults, or a random sample of so many of each operation, and print what is untrue."""
    rng = random.Random(seed)
    os.fsync = lambda descriptor: None  # it fails when it is to fail, but takes no time otherwise
    outcomes = []
    for step in rehearse(home, plan()):
        faults = part.of(list(faults_of(step)))
        for fault in faults if sample is None else rng.sample(faults, min(sample, len(faults))):
            outcome = inject(step, fault, home)
            outcomes.append(outcome)
            if outcome.problems:
                print(describe_outcome(outcome), file=sys.stderr)
    return outcomes


def describe_outcome(outcome: Outcome) -> str:
    """What went wrong, in one paragraph."""
    fault = f"{outcome.fault.error}{' from' if outcome.fault.lasting else ' at'} call {outcome.fault.call}"
    place = f"{outcome.call.name} {Path(outcome.call.path).name}"
    said = " ".join(outcome.said.split()) or "nothing"
    return (
        f"{outcome.operation}, {fault} ({place}): {'; '.join(outcome.problems)}\n    exit {outcome.code}, said: {said}"
    )


def summarise(outcomes: list[Outcome]) -> str:
    """A table of the operations: faults, how they ended, and what was untrue."""
    header = ["operation", "faults", "failed", "warned", "unnoticed", "old", "new", "unknown", "untrue or damaged"]
    rows = []
    for name in [*dict.fromkeys(outcome.operation for outcome in outcomes), "all"]:
        own = [outcome for outcome in outcomes if name in (outcome.operation, "all")]
        states = Counter(outcome.state for outcome in own)
        warned = sum(outcome.code == 0 and "warning: " in outcome.said for outcome in own)
        failed = sum(outcome.code != 0 for outcome in own)
        unknown = sum(UNKNOWN in outcome.said for outcome in own)
        untrue = sum(bool(outcome.problems) for outcome in own)
        counts = [len(own), failed, warned, len(own) - failed - warned, states["old"], states["new"], unknown, untrue]
        rows.append([name, *map(str, counts)])
    return table(header, rows)
