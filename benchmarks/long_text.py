"""A text of 50 MB among short ones: does a search that finds it take longer than one that does not?

    python -m benchmarks.long_text                 a text of 50 MB among 20,000 documents, in a temporary folder
    python -m benchmarks.long_text --megabytes 5

Searches of four kinds, each by `searchlab query` in a process of its own and by a server's JSON API: words of short
documents only; a word that is at the end of the long text only; with two frequent words;
two words that are near each other once. The ratio is to the first kind.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np

from benchmarks.collection import SEED, make_vocabulary, write_collection
from benchmarks.server_process import Server, searchlab_command, served

# Words that the vocabulary of the collection does not have.
LAST, NEAR, NEARBY = "zzlast", "zznear", "zznearby"
WORDS_PER_PAGE = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        write_collection(folder / "docs.jsonl", options.documents)
        write_long_text(folder / "docs.jsonl", options.megabytes)
        began = time.perf_counter()
        subprocess.run(
            searchlab_command("index", folder / "docs.jsonl", "-i", folder / "index", "--jobs", "1"),
            check=True,
            capture_output=True,
        )
        print(f"indexed in {time.perf_counter() - began:.1f} s")
        print(f"stored documents: {sum(path.stat().st_size for path in folder.rglob('documents')) / 1e6:.1f} MB")
        print(f"{'milliseconds, median':28}{'query':>8}{'ratio':>7}{'server':>9}{'ratio':>7}")
        with served("searchlab", searchlab_command("serve", "-i", folder / "index", "--port", "0")) as server:
            first: tuple[float, float] | None = None
            for name, text in make_searches().items():
                times = (
                    measure(lambda text=text: ask_terminal(folder / "index", text), options.rounds),
                    measure(lambda text=text: ask_server(server, text), 3 * options.rounds),
                )
                first = first or times
                ratios = [time / base for time, base in zip(times, first, strict=True)]
                print(f"{name:28}{times[0]:8.0f}{ratios[0]:7.2f}{times[1]:9.1f}{ratios[1]:7.2f}")


def make_searches() -> dict[str, str]:
    """The queries by their kinds."""
    words = make_vocabulary()
    return {
        "short documents": f"{words[500]} {words[60_000]}",
        "its last word": LAST,
        "frequent words": f"{words[1]} AND {words[5]} AND {LAST}",
        "words near each other": f"{NEAR} {NEARBY}",
    }


def write_long_text(path: Path, megabytes: int) -> None:
    """Append the long text, with pages, to a file of documents; only it has the words of three of the searches."""
    rng = np.random.default_rng((SEED, megabytes))
    vocabulary = np.array(make_vocabulary()[:50_000], dtype=object)
    words: list[str] = vocabulary[(rng.random(megabytes * 130_000) ** 3 * len(vocabulary)).astype(int)].tolist()
    # One of the pair is everywhere, the other far from it but for one place.
    for place in range(0, len(words) // 2, 1_000):
        words[place] = NEAR
    words[2 * len(words) // 3 : 2 * len(words) // 3 + 2] = [NEAR, NEARBY]
    words[-1] = LAST
    pages = [" ".join(words[start : start + WORDS_PER_PAGE]) for start in range(0, len(words), WORDS_PER_PAGE)]
    with path.open("a") as file:
        file.write(json.dumps({"docno": "long", "title": "A long text", "body": "\f".join(pages)}) + "\n")


def ask_terminal(index: Path, text: str) -> None:
    subprocess.run(searchlab_command("query", "-i", index, text), check=True, capture_output=True)


def ask_server(server: Server, text: str) -> None:
    server.get(f"/api/search?q={quote(text)}")


def measure(search: Callable[[], None], rounds: int) -> float:
    """The median of the milliseconds that a search takes, after one that fills caches."""
    search()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        search()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
