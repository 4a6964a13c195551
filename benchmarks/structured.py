"""How fast are phrases, operators, patterns and fields, beside Whoosh?

    python benchmarks/structured.py                      # 35,000 documents; Whoosh indexes them in some minutes
    python benchmarks/structured.py --documents 5000     # half a minute
    python benchmarks/structured.py --work /tmp/bench    # keeps the collection and the indexes

Both engines are asked the same queries in one process, each query once, by turns; other queries of the same kind
warm them up, so that nothing is answered from memory. Both find the 10 best. Before anything is timed, the documents
that match each query are compared; the script fails if they differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from collection import SEED, make_vocabulary, write_collection
from engines import index_searchlab, index_whoosh

LIMIT = 10
GOAL = 3.0  # times as fast as Whoosh

Search = Callable[[str], Any]


class Draw:
    """Draws words: neighbours in a text, words of one text, or words of any frequency."""

    def __init__(self, collection: Path, n_docs: int) -> None:
        self._chance = Random(SEED)
        self._vocabulary = make_vocabulary()
        chosen = set(self._chance.sample(range(n_docs), min(n_docs, 2000)))
        with collection.open() as file:
            texts = [json.loads(line) for number, line in enumerate(file) if number in chosen]
        self._texts = [text for text in texts if len(text["title"].split()) > 1 and len(text["body"].split()) > 10]

    def neighbours(self, n: int = 2) -> list[str]:
        words = self._chance.choice(self._texts)["body"].split()
        start = self._chance.randrange(len(words) - n)
        return words[start : start + n]

    def together(self, n: int = 2) -> list[str]:
        return self._chance.sample(self._chance.choice(self._texts)["body"].split(), n)

    def title_and_body(self) -> list[str]:
        text = self._chance.choice(self._texts)
        return [self._chance.choice(text[part].split()) for part in ("title", "body")]

    def words(self, n: int) -> list[str]:
        """Words whose ranks are log-uniform from 10 to 10,000."""
        return [self._vocabulary[int(10 ** self._chance.uniform(1, 4))] for _ in range(n)]


KINDS: dict[str, Callable[[Draw], str]] = {
    "phrase": lambda draw: '"{} {}"'.format(*draw.neighbours()),
    "phrase of three": lambda draw: '"{} {} {}"'.format(*draw.neighbours(3)),
    "near phrase": lambda draw: '"{} {}"~5'.format(*draw.together()),
    "AND": lambda draw: "{} AND {}".format(*draw.together()),
    "OR, AND NOT": lambda draw: "({} OR {} OR {}) AND NOT {}".format(*draw.words(4)),
    "prefix": lambda draw: draw.words(1)[0][:4] + "*",
    "wildcard": lambda draw: "{0[0]}{0[1]}{0[2]}?{0[4]}*".format(draw.words(1)[0]),
    "leading wildcard": lambda draw: "*" + draw.words(1)[0][-5:],
    "fields": lambda draw: "title:{} AND body:{}".format(*draw.title_and_body()),
}


def open_searchlab(folder: Path) -> tuple[Search, Search]:
    """How to search for the best, and for the docnos of all."""
    import searchlab

    engine = searchlab.open(folder)
    return (
        lambda text: engine.search(text, k=LIMIT, language="full"),
        lambda text: set(engine.search(text, k=None, language="full").docnos),
    )


def open_whoosh(folder: Path) -> tuple[Search, Search]:
    from whoosh.index import open_dir
    from whoosh.qparser import MultifieldParser, OrGroup

    index = open_dir(folder)
    searcher = index.searcher()
    parser = MultifieldParser(["title", "body"], index.schema, group=OrGroup)
    return (
        lambda text: searcher.search(parser.parse(text), limit=LIMIT),
        lambda text: {searcher.stored_fields(doc)["docno"] for doc in searcher.docs_for_query(parser.parse(text))},
    )


def draw_queries(make: Callable[[Draw], str], draw: Draw) -> Iterator[str]:
    """Distinct queries of a kind."""
    seen: set[str] = set()
    while True:
        query = make(draw)
        if query not in seen:
            seen.add(query)
            yield query


def clock(search: Search, text: str) -> float:
    began = time.perf_counter()
    search(text)
    return time.perf_counter() - began


def run(options: argparse.Namespace, work: Path) -> bool:
    """Measure and print; whether all matches were the same."""
    collection = work / f"collection-{options.documents}.jsonl"
    write_collection(collection, options.documents)
    folders = {name: work / f"structured-{name}-{options.documents}" for name in ("searchlab", "whoosh")}
    for name, index in (("searchlab", index_searchlab), ("whoosh", index_whoosh)):
        if not folders[name].exists():
            index(collection, folders[name])
    draw = Draw(collection, options.documents)
    kinds = {kind: list(islice(draw_queries(make, draw), 2 * options.queries)) for kind, make in KINDS.items()}
    different = compare_matches(folders, [query for queries in kinds.values() for query in queries[options.queries :]])

    ours, theirs = open_searchlab(folders["searchlab"])[0], open_whoosh(folders["whoosh"])[0]
    print(f"{options.documents:,} documents, {options.queries} queries of each kind, the {LIMIT} best\n")
    print("| queries | example | searchlab p50 ms | Whoosh p50 ms | times as fast | |")
    print("| :-- | :-- | --: | --: | --: | :-- |")
    for kind, queries in kinds.items():
        warm_up, timed = queries[: options.queries], queries[options.queries :]
        for text in warm_up:
            ours(text), theirs(text)
        times = [(clock(ours, text), clock(theirs, text)) for text in timed]
        mine, whooshs = (median(column) for column in zip(*times, strict=True))
        ratio = whooshs / mine
        verdict = "met" if ratio >= GOAL else "missed"
        print(f"| {kind} | `{timed[0]}` | {mine * 1e3:.2f} | {whooshs * 1e3:.2f} | {ratio:.1f} | {verdict} |")
    print(f"\nThe same documents match: {'yes' if not different else 'no: ' + ', '.join(different)}")
    return not different


def compare_matches(folders: dict[str, Path], queries: list[str]) -> list[str]:
    """The queries for which the engines match different documents."""
    ours, theirs = open_searchlab(folders["searchlab"])[1], open_whoosh(folders["whoosh"])[1]
    return [query for query in queries if ours(query) != theirs(query)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=35_000, help="size of the collection")
    parser.add_argument("--queries", type=int, default=20, help="queries of each kind")
    parser.add_argument("--work", type=Path, help="a folder that keeps everything [default: a temporary one]")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        same = run(options, options.work)
    else:
        with tempfile.TemporaryDirectory() as work:
            same = run(options, Path(work))
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
