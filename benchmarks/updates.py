"""Time of updates of an index, and of searches between them.

    python benchmarks/updates.py                       # OHSUMED's size, some minutes
    python benchmarks/updates.py --documents 35000     # one minute

A collection is indexed; then batches of documents are added, each in its own process, as by the command line: most are
new, some replace others. All queries are timed before each batch, and again at the end, after all shards were merged.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import mean, median

from collection import draw_documents, make_queries, make_vocabulary, write_collection
from report import table

OHSUMED = 348_566
ROUNDS = 3
# Of the documents of a batch, one in this many replaces one that is there.
ONE_REPLACES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=OHSUMED)
    parser.add_argument("--batch", type=int, default=1000, help="documents of a batch")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="where to work [default: a temporary folder]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        measure(folder, options.documents, options.batch, options.batches)


def measure(folder: Path, n_docs: int, batch_size: int, n_batches: int) -> None:
    collection, index = folder / f"collection-{n_docs}.jsonl", folder / f"updates-{n_docs}"
    write_collection(collection, n_docs)
    batches = write_batches(folder, n_docs, batch_size, n_batches)
    built = timed_command("index", collection, "-i", index, "--rebuild")
    added, searched, shards = [], [], []
    for batch in batches:
        searched.append(time_queries(index))
        shards.append(count_shards(index))
        added.append(timed_command("index", batch, "-i", index))
    merged_seconds = timed_command("merge", "-i", index)
    merged = time_queries(index)
    rows = [
        ["building the index", f"{built:.1f} s", "100 %"],
        [f"adding {batch_size:,} documents, median", f"{median(added):.2f} s", f"{median(added) / built:.1%}"],
        ["… mean, merges included", f"{mean(added):.2f} s", f"{mean(added) / built:.1%}"],
        ["… slowest, with a merge", f"{max(added):.2f} s", f"{max(added) / built:.1%}"],
        ["merging everything", f"{merged_seconds:.1f} s", f"{merged_seconds / built:.1%}"],
    ]
    print(table([f"at {n_docs:,} documents", "time", "of building"], rows))
    print()
    rows = [
        [f"k={k}, {name}", f"{1000 * choose(times[k] for times in searched):.3f} ms", f"{1000 * merged[k]:.3f} ms",
         f"{choose(times[k] for times in searched) / merged[k]:.2f}"]
        for k in (10, 1000)
        for name, choose in (("median state", lambda times: median(times)), ("slowest state", lambda times: max(times)))
    ]  # fmt: skip
    print(table(["searching, p50", f"during updates ({min(shards)}-{max(shards)} shards)", "merged", "ratio"], rows))


def write_batches(folder: Path, n_docs: int, batch_size: int, n_batches: int) -> list[Path]:
    """Files of documents that follow those of the collection; every fifth has the name of one in it."""
    words = make_vocabulary()
    later = islice(draw_documents(n_docs + batch_size * n_batches), n_docs, None)
    paths = []
    for number in range(n_batches):
        paths.append(folder / f"batch-{number}.jsonl")
        with paths[-1].open("w") as file:
            for place, tokens in enumerate(islice(later, batch_size)):
                replaces = place % ONE_REPLACES == 0
                docno = (number * batch_size + place) * 7919 % n_docs + 1 if replaces else f"new-{number}-{place}"
                body = " ".join(words[token] for token in tokens.tolist())
                file.write(json.dumps({"docno": str(docno), "title": "", "body": body}) + "\n")
    return paths


def timed_command(*arguments: object) -> float:
    """The seconds of a command, the start of the process included."""
    began = time.perf_counter()
    command = [sys.executable, "-c", "from searchlab.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def time_queries(index: Path) -> dict[int, float]:
    """The median seconds of a query for each k, after a first round that nobody counts."""
    import searchlab

    with searchlab.open(index) as engine:
        found = {}
        for k in (10, 1000):
            times = []
            for _ in range(ROUNDS + 1):
                for query in make_queries():
                    began = time.perf_counter()
                    engine.search(query, k=k)
                    times.append(time.perf_counter() - began)
            found[k] = median(times[len(times) // (ROUNDS + 1) :])
    return found


def count_shards(index: Path) -> int:
    return len(json.loads((index / "manifest.json").read_text())["shards"])


if __name__ == "__main__":
    main()
