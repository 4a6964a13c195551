"""Fuzzing: every reader and parser gets inputs that are nearly valid, and random ones.

    python -m benchmarks.attacks.fuzz --cases 1000000 --processes 2 --seed 1
    python -m benchmarks.attacks.fuzz --only "queries full" --case 123     # one case again, with its traceback

Each case must end with a result or an error of searchlab. Any other exception, a warning, more than CASE_SECONDS of
processor time, a case that takes more than CASE_MEGABYTES of memory, a signal, and memory that grows with the number of
cases are failures. A case is drawn by its seed, its target and its number alone, so that it can be run again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from benchmarks.attacks.fuzz_targets import Target, make_targets
from benchmarks.attacks.mutation import mutate
from benchmarks.parts import WHOLE, Part
from benchmarks.report import table
from searchlab.errors import QueryWarning, SearchlabError

# Of one case.
CASE_SECONDS = 5.0
CASE_MEGABYTES = 150
# Of a process, from a fifth of its cases to the end.
MAX_GROWTH_MEGABYTES = 60
# A process that is at the same case for so long is killed.
STUCK_SECONDS = 180
RESULT, ERROR, FAILURE = "result", "error", "failure"
PLACE_BYTES = 100


class Stuck(BaseException):
    """A case takes too long; no handler of ordinary exceptions stops it."""


@dataclass
class FuzzResult:
    """How the cases of each target ended, the first case of each failure, and what they took.

    `failures` has a description by target and place of the failure; `n_failures` how often each occurred. `megabytes`
    is the memory after each fifth of the cases, of the process whose memory grew most.
    """

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    n_failures: Counter[str] = field(default_factory=Counter)
    megabytes: list[float] = field(default_factory=list)
    peak_megabytes: float = 0.0

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return sum(counts.total() for counts in self.outcomes.values())

    def count(self, target: str, outcome: str) -> None:
        """Note how a case ended."""
        self.outcomes.setdefault(target, Counter())[outcome] += 1

    def fail(self, key: str, description: str) -> None:
        """Note a failure."""
        self.failures.setdefault(key, description)
        self.n_failures[key] += 1

    def add(self, other: FuzzResult) -> None:
        """Add the result of another process."""
        for target, counts in other.outcomes.items():
            self.outcomes.setdefault(target, Counter()).update(counts)
        self.failures = other.failures | self.failures
        self.n_failures.update(other.n_failures)
        self.megabytes = max(self.megabytes, other.megabytes, key=_growth)
        self.peak_megabytes = max(self.peak_megabytes, other.peak_megabytes)


def make_case(target: Target, seed: int, number: int) -> tuple[bytes, random.Random]:
    """The input of a case, and the source of its other choices."""
    draw = random.Random(f"{seed} {target.name} {number}")
    return mutate(target.seeds, target.tokens, draw), draw


def fuzz(
    targets: Sequence[Target], n_cases: int, seed: int, part: Part = WHOLE, place: int | None = None
) -> FuzzResult:
    """Attack all targets in turn; the case under way is written to the file `place`."""
    result = FuzzResult()
    chosen = part.of(range(n_cases))
    with _bounded():
        for count, (target, number) in enumerate(plan_cases(targets, chosen)):
            if count and count % max(1, len(chosen) // 5) == 0:
                result.megabytes.append(_megabytes())
            if place is not None:
                os.pwrite(place, f"{target.name} {number}".encode().ljust(PLACE_BYTES), 0)
            _run_case(target, seed, number, result)
    result.megabytes.append(_megabytes())
    result.peak_megabytes = _peak_megabytes()
    if _growth(result.megabytes) > MAX_GROWTH_MEGABYTES:
        result.fail("memory", f"memory grew by {_growth(result.megabytes):.0f} MB")
    return result


def plan_cases(targets: Sequence[Target], counts: Iterable[int]) -> Iterator[tuple[Target, int]]:
    """The targets in turn, each with the number of its case; `counts` are places in the whole sequence."""
    turns = [(target, place) for target in targets for place in range(target.share)]
    for count in counts:
        target, place = turns[count % len(turns)]
        yield target, count // len(turns) * target.share + place


def _run_case(target: Target, seed: int, number: int, result: FuzzResult) -> None:
    content, draw = make_case(target, seed, number)
    peak = _peak_megabytes()
    try:
        signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)
        target.attack(content, draw)
        outcome = RESULT
    except SearchlabError as error:
        outcome = ERROR if len(str(error).splitlines()) == 1 else "error of several lines"
    except Stuck:
        outcome = "stuck"
    except Exception as error:
        outcome = type(error).__name__
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome += f" in {Path(last.filename).name}:{last.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if _peak_megabytes() - peak > CASE_MEGABYTES:
        outcome = f"{_peak_megabytes() - peak:.0f} MB"
    result.count(target.name, outcome if outcome in (RESULT, ERROR) else FAILURE)
    if outcome not in (RESULT, ERROR):
        result.fail(f"{target.name}: {outcome}", f"case {number}: {content[:300]!r}")


@contextmanager
def _bounded() -> Iterator[None]:
    """Warnings are errors, and a signal ends a case that takes too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stuck

    before = signal.signal(signal.SIGPROF, stop)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=SyntaxWarning, module="whoosh")
            warnings.simplefilter("ignore", QueryWarning)  # a query that was searched as plain words
            yield
    finally:
        signal.signal(signal.SIGPROF, before)


def _growth(megabytes: Sequence[float]) -> float:
    return megabytes[-1] - megabytes[0] if megabytes else 0.0


def _megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _run_process(folder: Path, arguments: argparse.Namespace, part: Part) -> None:
    targets = [target for target in make_targets(folder) if arguments.only in (None, target.name)]
    place = os.open(folder / "place", os.O_RDWR | os.O_CREAT)
    result = fuzz(targets, arguments.cases, arguments.seed, part, place)
    (folder / "result").write_bytes(pickle.dumps(result))


def fuzz_in_processes(home: Path, arguments: argparse.Namespace) -> FuzzResult:
    """Divide the cases among processes; one that ends by a signal, or is stuck, is a failure."""
    total = FuzzResult()
    folders = [home / f"process-{number}" for number in range(arguments.processes)]
    processes = []
    for number, folder in enumerate(folders, start=1):
        folder.mkdir()
        part = Part(number, arguments.processes)
        processes.append(multiprocessing.Process(target=_run_process, args=(folder, arguments, part)))
        processes[-1].start()
    for process, folder in zip(processes, folders, strict=True):
        _watch(process, folder / "place")
        if (folder / "result").exists():
            total.add(pickle.loads((folder / "result").read_bytes()))
        else:
            place = (folder / "place").read_text().strip() if (folder / "place").exists() else "the start"
            total.fail("signal", f"a process ended with {process.exitcode} at {place}")
    return total


def _watch(process: multiprocessing.Process, place: Path) -> None:
    last, since = b"", time.monotonic()
    while process.is_alive():
        process.join(2)
        now = place.read_bytes() if place.exists() else b""
        if now != last:
            last, since = now, time.monotonic()
        elif now and time.monotonic() - since > STUCK_SECONDS:
            process.kill()


def describe(result: FuzzResult) -> str:
    """A table of the targets, and the failures."""
    header = ["target", "cases", "results", "errors", "failures"]
    total = sum(result.outcomes.values(), Counter())
    rows = [
        [target, *(f"{number:,}" for number in (counts.total(), counts[RESULT], counts[ERROR], counts[FAILURE]))]
        for target, counts in [*sorted(result.outcomes.items()), ("all", total)]
    ]
    fifths = ", ".join(f"{megabytes:.0f}" for megabytes in result.megabytes)
    memory = f"memory: {fifths} MB after each fifth, at most {result.peak_megabytes:.0f} MB"
    failures = [f"{result.n_failures[key]} × {key}\n    {text}" for key, text in result.failures.items()]
    return "\n".join([table(header, rows), memory, *failures])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TARGET", help="attack this target alone")
    parser.add_argument("--case", type=int, metavar="N", help="run this case of the target alone, unprotected")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        if arguments.case is not None:
            (target,) = [target for target in make_targets(Path(home)) if target.name == arguments.only]
            content, draw = make_case(target, arguments.seed, arguments.case)
            print(content)
            target.attack(content, draw)
            return
        began = time.monotonic()
        result = fuzz_in_processes(Path(home), arguments)
    print(f"{arguments.cases:,} cases, seed {arguments.seed}, {time.monotonic() - began:.0f} s")
    print(describe(result))
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
