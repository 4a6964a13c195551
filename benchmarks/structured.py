"""Speed of phrases, operators, patterns and fields, compared with Whoosh.

    python benchmarks/structured.py                      # 35,000 documents; Whoosh indexes them in some minutes
    python benchmarks/structured.py --documents 5000     # a minute
    python benchmarks/structured.py --work /tmp/bench    # keeps the collection and the indexes

Both engines run the same queries in one process, for the 10 best: once to warm up, then in rounds, in turn. No query is
run twice in a row. searchlab caches the terms that a pattern matches; so patterns are run only once, and other queries
warm up. The words of the queries have ranks from 10 to 20,000 by frequency. The documents that match are
compared first; the script fails if they differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from math import exp, log
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, NamedTuple

from collection import SEED, make_vocabulary, write_collection
from engines import index_searchlab, index_whoosh

LIMIT = 10
RANKS = 10, 20_000
GOAL = 3.0  # times as fast as Whoosh

Search = Callable[[str], Any]


class Draw:
    """Draws words that are neither very frequent nor very rare: neighbours, words of one text, or any."""

    def __init__(self, collection: Path, n_docs: int) -> None:
        self._chance = Random(SEED)
        self._words = make_vocabulary()[RANKS[0] : RANKS[1]]
        usual = set(self._words)
        chosen = set(self._chance.sample(range(n_docs), min(n_docs, 5000)))
        with collection.open() as file:
            texts = [json.loads(line) for number, line in enumerate(file) if number in chosen]
        self._bodies = [text["body"].split() for text in texts]
        self._chances = {
            n: [
                body[at : at + n]
                for body in self._bodies
                for at in range(len(body) - n)
                if usual >= {*body[at : at + n]}
            ]
            for n in (2, 3)
        }
        self._pairs = [
            ([word for word in text["title"].split() if word in usual], [word for word in body if word in usual])
            for text, body in zip(texts, self._bodies, strict=True)
        ]
        self._pairs = [(title, body) for title, body in self._pairs if title and len(body) > 2]

    def neighbours(self, n: int = 2) -> list[str]:
        return self._chance.choice(self._chances[n])

    def together(self) -> list[str]:
        return self._chance.sample(self._chance.choice(self._pairs)[1], 2)

    def of_title_and_body(self) -> list[str]:
        title, body = self._chance.choice(self._pairs)
        return [self._chance.choice(title), *self._chance.sample(body, 2)]

    def words(self, n: int) -> list[str]:
        """Distinct words whose ranks are log-uniform."""
        low, high = map(log, RANKS)
        ranks = (int(exp(self._chance.uniform(low, high))) for _ in range(10 * n))
        return [self._words[rank - RANKS[0]] for rank in dict.fromkeys(ranks)][:n]


class Kind(NamedTuple):
    """A kind of query."""

    make: Callable[[Draw], str]
    is_pattern: bool = False


KINDS = {
    "phrase": Kind(lambda draw: '"{} {}"'.format(*draw.neighbours())),
    "phrase of three": Kind(lambda draw: '"{} {} {}"'.format(*draw.neighbours(3))),
    "near phrase": Kind(lambda draw: '"{} {}"~5'.format(*draw.together())),
    "AND": Kind(lambda draw: "{} AND {}".format(*draw.together())),
    "OR, AND NOT": Kind(lambda draw: "({} OR {} OR {}) AND NOT {}".format(*draw.words(4))),
    "prefix": Kind(lambda draw: draw.words(1)[0][:4] + "*", is_pattern=True),
    "wildcard": Kind(lambda draw: "{0[0]}{0[1]}{0[2]}?{0[4]}*".format(draw.words(1)[0]), is_pattern=True),
    "leading wildcard": Kind(lambda draw: "*" + draw.words(1)[0][-5:], is_pattern=True),
    "fields": Kind(lambda draw: "title:{} AND ({} OR body:{})".format(*draw.of_title_and_body())),
}


def open_searchlab(folder: Path) -> tuple[Search, Search]:
    """How to search for the best, and for the docnos of all."""
    import searchlab

    engine = searchlab.open(folder)
    return (
        lambda text: engine.search(text, k=LIMIT, syntax="full"),
        lambda text: set(engine.search(text, k=None, syntax="full").docnos),
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
    queries = {name: list(islice(draw_queries(kind.make, draw), 2 * options.queries)) for name, kind in KINDS.items()}
    different = compare_matches(folders, [text for texts in queries.values() for text in texts[: options.queries]])

    ours, theirs = open_searchlab(folders["searchlab"])[0], open_whoosh(folders["whoosh"])[0]
    print(f"{options.documents:,} documents, {options.queries} queries of each kind, the {LIMIT} best\n")
    print("| queries | example | searchlab p50 ms | Whoosh p50 ms | times as fast | |")
    print("| :-- | :-- | --: | --: | --: | :-- |")
    for name, kind in KINDS.items():
        texts, others = queries[name][: options.queries], queries[name][options.queries :]
        for search in (ours, theirs):
            for text in others if kind.is_pattern else texts:
                search(text)
        times: dict[Search, list[float]] = {ours: [], theirs: []}
        for _ in range(1 if kind.is_pattern else options.rounds):
            for search, spent in times.items():
                spent += [clock(search, text) for text in texts]
        mine, whooshs = (median(spent) for spent in times.values())
        ratio = whooshs / mine
        verdict = "met" if ratio >= GOAL else "missed"
        print(f"| {name} | `{texts[0]}` | {mine * 1e3:.2f} | {whooshs * 1e3:.2f} | {ratio:.1f} | {verdict} |")
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
    parser.add_argument("--rounds", type=int, default=3, help="how often each query is timed")
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
