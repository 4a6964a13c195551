"""Time and memory of a phrase query in a new process, for phrases of frequent and of rare words.

    python benchmarks/cold_phrases.py                        # 2,000,000 documents: some minutes, and 5 GB of disk
    python benchmarks/cold_phrases.py --work /tmp/bench      # keeps the collection and the index
    python benchmarks/cold_phrases.py --evict                # the index is not in the page cache

Each phrase is asked by `searchlab query`, in rounds, in turn. The words are those of the collection (`collection.py`)
with the given ranks by frequency, 0 for the most frequent. The number of documents found is compared with a count over
the collection's texts; the script fails if they differ. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from collection import make_vocabulary, write_collection
from engines import index_searchlab, read

RANKS = ("0,1", "30,50", "300,500", "0,300", "0,1500", "0,3000", "3000,50", "0,1,2")
GOAL_SECONDS, GOAL_MB = 0.2, 300.0
SEARCHLAB = Path(sys.executable).with_name("searchlab")


class Asked(NamedTuple):
    """A query in a process of its own: documents found, ms of the search, and seconds and MB of the process."""

    n_found: int
    search: float
    wall: float
    processor: float
    megabytes: float


def ask(phrase: str, folder: Path) -> Asked:
    command = [SEARCHLAB, "query", f'"{phrase}"', "-i", folder, "--json"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        answer = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    return Asked(
        answer["n_matches"], 1e3 * answer["seconds"], wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    )


def count_documents(collection: Path, phrases: list[str]) -> list[int]:
    """How many documents have each phrase in their title or their body."""
    patterns = [re.compile(rf"(?<!\S){phrase}(?!\S)") for phrase in phrases]
    counts = [0] * len(phrases)
    for document in read(collection):
        for place, pattern in enumerate(patterns):
            counts[place] += bool(pattern.search(document["title"]) or pattern.search(document["body"]))
    return counts


def evict(folder: Path) -> None:
    """Let the files of an index leave the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(options: argparse.Namespace, work: Path) -> bool:
    """Measure and print; whether every number of documents is right."""
    collection = work / f"words-{options.documents}.jsonl"
    folder = work / f"searchlab-words-{options.documents}"
    write_collection(collection, options.documents)
    if not folder.exists():
        index_searchlab(collection, folder)
    words = make_vocabulary()
    phrases = [" ".join(words[int(rank)] for rank in ranks.split(",")) for ranks in options.ranks]
    asked: list[list[Asked]] = [[] for _ in phrases]
    for _ in range(options.rounds):
        for phrase, each in zip(phrases, asked, strict=True):
            if options.evict:
                evict(folder)
            each.append(ask(phrase, folder))
    expected = count_documents(collection, phrases)
    print(f"{options.documents:,} documents, medians of {options.rounds} processes\n")
    print("| words with ranks | documents | search ms | process s | processor s | MB | |")
    print("| :-- | --: | --: | --: | --: | --: | :-- |")
    wrong = []
    for ranks, each, n_expected in zip(options.ranks, asked, expected, strict=True):
        search, wall, processor, megabytes = (median(numbers) for numbers in list(zip(*each, strict=True))[1:])
        verdict = "met" if search <= 1e3 * GOAL_SECONDS and megabytes <= GOAL_MB else "missed"
        times = f"{search:.0f} | {wall:.2f} | {processor:.2f}"
        print(f"| {ranks} | {n_expected:,} | {times} | {megabytes:.0f} | {verdict} |")
        wrong += [f"{ranks}: {one.n_found}, expected {n_expected}" for one in each if one.n_found != n_expected]
    print(f"\nThe right number of documents: {'; '.join(wrong) or 'yes'}")
    return not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=2_000_000, help="size of the collection")
    parser.add_argument("--ranks", nargs="+", default=list(RANKS), help="the ranks of each phrase's words, as in 30,50")
    parser.add_argument("--rounds", type=int, default=3, help="how often each phrase is asked")
    parser.add_argument("--evict", action="store_true", help="let the index leave the page cache before each query")
    parser.add_argument("--work", type=Path, help="a folder that keeps everything [default: a temporary one]")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        right = run(options, options.work)
    else:
        with tempfile.TemporaryDirectory() as work:
            right = run(options, Path(work))
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
