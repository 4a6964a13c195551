"""Judging while the server is killed: what was acknowledged is stored, exactly once, and nothing else.

    python -m benchmarks.attacks.judging --minutes 60 [--judges 6] [--seed 1]

Judges work through the JSON API and through the forms of the pages, one thing after the other: they grade documents
for topics and for queries, withdraw grades, undo, and look at what they have done. Again and again the server is killed
(SIGKILL), while it works or while it starts, and started again. After each restart the stored acts are compared with
those that were acknowledged:

    lost       an act that was acknowledged is missing, or another one is undone
    twice      an act is stored more than once
    invented   an act that no judge has sent
    wrong      an answer of the server that is not what was acknowledged, or an error without a kill
    unhealthy  the file of judgments fails its verification
"""

from __future__ import annotations

import argparse
import http.client
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.attack import make_index
from benchmarks.attacks.judge_client import SEARCHES, Act, Judge, Session, Wrong
from benchmarks.server_process import Server, searchlab_command, served
from searchlab.judgments.judgment_store import judgments_file
from searchlab.judgments.storage.judgment_backup import examine_judgments

KINDS = ("lost", "twice", "invented", "wrong", "unhealthy")
N_TOPICS = 12
# Seconds until a kill, at most.
MAX_SECONDS = 8.0
# One start in this many is preceded by one that is killed before the server answers, after so many seconds.
STARTS_PER_EARLY_KILL = 6
EARLY_SECONDS = (0.2, 1.5)
# Between two acts of a judge: the attack is long, not heavy. Shortly before a kill there are no pauses.
PAUSE_SECONDS = 0.05
HASTE_SECONDS = 0.3

_ACTS = "SELECT judge, note, text, docno, grade FROM acts JOIN topics ON topics.id = acts.topic ORDER BY acts.id"
_UNDONE = "SELECT judge, note FROM undone JOIN acts ON acts.id = undone.act ORDER BY undone.id"


@dataclass
class JudgingResult:
    """How often each thing happened, what was wrong, and how long each restart took."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    restart_seconds: list[float] = field(default_factory=list)

    def fail(self, kind: str, what: str) -> None:
        """Note something that must not happen."""
        self.counts[kind] += 1
        self.failures.append(f"{kind}: {what}")


def compare(judge: Judge, acts: Sequence[Act], undone: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the stored acts of a judge, and the notes of those that are undone.

    The act that is pending may be there or not.
    """
    counts = Counter(act.note for act in acts)
    yield from (("twice", f"{note} is stored {n} times") for note, n in counts.items() if n > 1)
    stored, acknowledged = set(acts), set(judge.acts)
    sent = acknowledged | {judge.pending} if isinstance(judge.pending, Act) else acknowledged
    yield from (("lost", str(act)) for act in judge.acts if act not in stored)
    yield from (("invented", str(act)) for act in acts if act not in sent)
    last = judge.last_act()
    may_be_undone = [[*judge.undone, last.note]] if judge.pending is True and last else []
    if list(undone) not in [judge.undone, *may_be_undone]:
        differing = set(undone) ^ set(judge.undone)
        yield "lost", f"{judge.name} has undone {len(judge.undone)} acts, stored are {len(undone)}: {differing}"


def read_acts(path: Path) -> tuple[dict[str, list[Act]], dict[str, list[str]]]:
    """All acts in the file of judgments, and the notes of those that are undone, by judge."""
    acts: dict[str, list[Act]] = {}
    undone: dict[str, list[str]] = {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        for judge, *act in connection.execute(_ACTS):
            acts.setdefault(judge, []).append(Act(*act))
        for judge, note in connection.execute(_UNDONE):
            undone.setdefault(judge, []).append(note)
    return acts, undone


@dataclass
class JudgingAttack:
    """The judges, the index that they judge, and what became of it."""

    folder: Path
    judges: Sequence[Judge]
    draw: random.Random
    max_seconds: float = MAX_SECONDS
    result: JudgingResult = field(default_factory=JudgingResult)

    @property
    def command(self) -> list[str]:
        """The command that starts the server."""
        return searchlab_command("serve", "-i", self.folder, "--port", "0")

    def run(self, seconds: float) -> JudgingResult:
        """Start and kill the server until the time is up; then compare once more."""
        with served("searchlab", self.command) as server, closing(Session(server.port, self.judges[0])) as session:
            for number in range(N_TOPICS):
                session.add_topic(f"topic {number}")
            session.add_topic("query 0", SEARCHES)  # other queries become topics when they are judged
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.kill_once()
        with served("searchlab", self.command) as server:
            self.check(server)
        for judge in self.judges:
            self.result.counts.update(judge.counts)
        return self.result

    def kill_once(self) -> None:
        """Start the server, compare, let the judges work, and kill it."""
        if self.draw.randrange(STARTS_PER_EARLY_KILL) == 0:
            self._kill_early()
        began = time.monotonic()
        with served("searchlab", self.command) as server:
            self.result.restart_seconds.append(time.monotonic() - began)
            self.check(server)
            haste, killed = threading.Event(), threading.Event()
            arguments = [(judge, server, haste, killed) for judge in self.judges]
            threads = [threading.Thread(target=self._work, args=each) for each in arguments]
            for thread in threads:
                thread.start()
            time.sleep(self.draw.uniform(0, self.max_seconds))
            haste.set()
            time.sleep(self.draw.uniform(0, HASTE_SECONDS))
            killed.set()
            server.kill()
            for thread in threads:
                thread.join()
        self.result.counts["kills"] += 1

    def _kill_early(self) -> None:
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        time.sleep(self.draw.uniform(*EARLY_SECONDS))
        process.kill()
        process.wait()
        self.result.counts["kills at the start"] += 1

    def _work(self, judge: Judge, server: Server, haste: threading.Event, killed: threading.Event) -> None:
        try:
            with closing(Session(server.port, judge)) as session:
                while not killed.is_set():
                    judge.work_once(session)
                    haste.wait(judge.draw.uniform(0, 2 * PAUSE_SECONDS))
        except (OSError, http.client.HTTPException) as error:
            if not killed.is_set():
                self.result.fail("wrong", f"{judge.name}: {type(error).__name__}: {error}, without a kill")
        except Wrong as error:
            self.result.fail("wrong", str(error))

    def check(self, server: Server) -> None:
        """Compare the stored acts, and the answers of the server, with what was acknowledged."""
        path = judgments_file(self.folder)
        if problem := examine_judgments(path):
            self.result.fail("unhealthy", problem)
            return
        acts, undone = read_acts(path)
        for name in acts.keys() - {judge.name for judge in self.judges}:
            self.result.fail("invented", f"acts of {name}")
        for judge in self.judges:
            own_acts, own_undone = acts.get(judge.name, []), undone.get(judge.name, [])
            for kind, what in compare(judge, own_acts, own_undone):
                self.result.fail(kind, what)
            self._settle(judge, own_acts, own_undone)
            try:
                with closing(Session(server.port, judge)) as session:
                    judge.look(session)
            except Wrong as error:
                self.result.fail("wrong", str(error))

    def _settle(self, judge: Judge, acts: Sequence[Act], undone: Sequence[str]) -> None:
        if judge.pending:
            is_stored = judge.pending in acts if isinstance(judge.pending, Act) else len(undone) > len(judge.undone)
            self.result.counts["unacknowledged, stored" if is_stored else "unacknowledged, not stored"] += 1
            judge.settle(stored=is_stored)


def make_judges(n: int, seed: int) -> list[Judge]:
    """Judges, every third of whom uses the forms of the pages."""
    return [Judge(f"judge{n}", n % 3 == 2, random.Random(f"{seed} {n}")) for n in range(n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--judges", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "attacked")
        make_index(folder)
        judges = make_judges(arguments.judges, arguments.seed)
        result = JudgingAttack(folder, judges, random.Random(arguments.seed)).run(60 * arguments.minutes)
        n_acts = sum(len(judge.acts) for judge in judges)
    print(f"{arguments.minutes:g} minutes, {arguments.judges} judges, seed {arguments.seed}: {n_acts:,} acts stored")
    for name, count in result.counts.most_common():
        print(f"  {name}: {count:,}")
    print(f"  restart, longest: {max(result.restart_seconds):.1f} s")
    print(", ".join(f"{kind}: {result.counts[kind]}" for kind in KINDS))
    print("\n".join(result.failures[:100]))
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
