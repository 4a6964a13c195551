"""Speed of feature extraction, compared with Whoosh.

    python benchmarks/extraction.py                  # indexes a collection of OHSUMED's size first: some minutes
    python benchmarks/extraction.py --index DIR      # an index of that collection that is there already
    python benchmarks/extraction.py --documents 35000

LETOR's 45 features are extracted for the 1,000 best documents of queries of six words. Whoosh is asked for the counts
that they are functions of, from the Whoosh side of the same index: for each document the lengths of its fields, and
for each word and field a matcher that skips to the document. It is also asked in a way that suits it better, with one
matcher for a word and field that skips from document to document. The script fails if a count differs.

Then as many pairs as OHSUMED has judgments are extracted, from docnos to a table. If the index has a semantic space,
the default features are extracted for up to 400 candidates of each query. At last the time is shown for more and more
candidates and words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from collection import SEED, make_queries, make_vocabulary, write_collection
from report import Target, table

import searchlab
from searchlab.features.candidates import judged, searched
from searchlab.features.counts import collect_counts
from searchlab.features.extraction import extract, extract_query
from searchlab.features.feature_sets import DEFAULT_SET, make_feature_set
from searchlab.features.latent_semantics.semantic_space import FOLDER, SemanticSpace
from searchlab.features.query_context import QueryContext
from searchlab.indexing.storage.layout import WHOOSH
from searchlab.indexing.whoosh.shard_reader import open_whoosh
from searchlab.rankers.first_stage import FirstStage
from searchlab.retrieval.document_list import DocumentList

OHSUMED = 348_566
PAIRS = 16_140
CANDIDATES = 1000
MOST_CANDIDATES = 16_000  # when they grow
N_WORDS = 6
FIELDS = ("title", "body")
WHOOSH_QUERIES = 5
FEATURES = make_feature_set("letor45").features


@contextmanager
def whoosh_readers(engine: searchlab.SearchEngine) -> Iterator[list[Any]]:
    """Whoosh's readers of the shards."""
    settings = engine.snapshot.manifest.settings
    with ExitStack() as stack:
        yield [
            stack.enter_context(open_whoosh(shard.folder / WHOOSH, settings, shard.columns.n_docs))
            for shard in engine.snapshot.shards
        ]


def ask_for_documents(readers: Sequence[Any], words: Sequence[str], chosen: DocumentList) -> np.ndarray:
    """tf (fields × words × candidates) from Whoosh, document by document."""
    tfs = np.zeros((len(FIELDS), len(words), len(chosen)))
    for row, (place, doc) in enumerate(zip(chosen.shards.tolist(), chosen.docs.tolist(), strict=True)):
        reader = readers[place]
        for number, field in enumerate(FIELDS):
            reader.doc_field_length(doc, field)
            for at, word in enumerate(words):
                if (field, word) not in reader:
                    continue
                matcher = reader.postings(field, word)
                if matcher.id() < doc:
                    matcher.skip_to(doc)
                if matcher.is_active() and matcher.id() == doc:
                    tfs[number, at, row] = matcher.weight()
    return tfs


def ask_for_words(readers: Sequence[Any], words: Sequence[str], chosen: DocumentList) -> np.ndarray:
    """The same with one matcher for each word and field, and the documents in their order."""
    tfs = np.zeros((len(FIELDS), len(words), len(chosen)))
    for place, reader in enumerate(readers):
        rows = np.flatnonzero(chosen.shards == place)
        rows = rows[np.argsort(chosen.docs[rows])]
        asked = list(zip(rows.tolist(), chosen.docs[rows].tolist(), strict=True))
        for number, field in enumerate(FIELDS):
            for _, doc in asked:
                reader.doc_field_length(doc, field)
            for at, word in enumerate(words):
                if (field, word) not in reader:
                    continue
                matcher = reader.postings(field, word)
                for row, doc in asked:
                    if matcher.id() < doc:
                        matcher.skip_to(doc)
                    if not matcher.is_active():
                        break
                    if matcher.id() == doc:
                        tfs[number, at, row] = matcher.weight()
    return tfs


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare_with_whoosh(
    engine: searchlab.SearchEngine, readers: Sequence[Any], queries: list[str], rounds: int
) -> dict[str, list[float]]:
    """Seconds for each query, ours and Whoosh's in both ways."""
    topics = [searchlab.Topic(str(number), query) for number, query in enumerate(queries)]
    candidates = searched(searchlab.Pipeline(engine), topics, k=CANDIDATES)
    ways: dict[str, Callable[[list[str], DocumentList], Any]] = {
        "ours": lambda words, chosen: extract_query(QueryContext(engine, " ".join(words), chosen), FEATURES),
        "by document": lambda words, chosen: ask_for_documents(readers, words, chosen),
        "by word": lambda words, chosen: ask_for_words(readers, words, chosen),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(rounds + 1):
        for way, ask in ways.items():
            # Whoosh, which is slow, is asked only once; ours are asked again and again after they have warmed up.
            for topic in topics if way == "ours" else topics[:WHOOSH_QUERIES] if not turn else ():
                words, chosen = topic.text.split(), candidates.of(topic.qid)
                began = time.perf_counter()
                found = ask(words, chosen)
                if turn or way != "ours":
                    times[way].append(time.perf_counter() - began)
                if way != "ours":
                    check(engine, words, chosen, found)
    return times


def check(engine: searchlab.SearchEngine, words: list[str], chosen: DocumentList, tfs: np.ndarray) -> None:
    """Whether Whoosh counts as we do."""
    counts = collect_counts(engine, Counter(words), chosen.shards, chosen.docs, FIELDS)
    for field, theirs in zip(FIELDS, tfs, strict=True):
        if not np.array_equal(counts.streams[field].tf, theirs):
            sys.exit(f"query {' '.join(words)!r}: Whoosh counts otherwise in {field}")


def extract_judged(engine: searchlab.SearchEngine, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds from docnos to a table for as many pairs as OHSUMED has, and for finding the documents alone."""
    chance = np.random.default_rng(SEED)
    queries = make_queries()
    topics = [searchlab.Topic(str(number), query) for number, query in enumerate(queries)]
    sizes = np.full(len(topics), PAIRS // len(topics)) + (np.arange(len(topics)) < PAIRS % len(topics))
    everything = list(engine.snapshot.docnos())
    qrels = {}
    for topic, size in zip(topics, sizes.tolist(), strict=True):
        # Half of the judged documents are found by a search, half are any.
        docnos = dict.fromkeys(engine.search(topic.text, k=size // 2).docnos)
        while len(docnos) < size:
            docnos[everything[chance.integers(len(everything))]] = None
        qrels[topic.qid] = dict.fromkeys(docnos, 1)
    finding, whole = [], []
    for _ in range(rounds + 1):
        finding.append(seconds(lambda: judged(engine, qrels)))
        whole.append(seconds(lambda: extract(engine, topics, judged(engine, qrels), "letor45", qrels=qrels)))
    return whole[1:], finding[1:]  # the first one warms up


def extract_default(engine: searchlab.SearchEngine, queries: list[str], rounds: int) -> tuple[list[float], list[float]]:
    """Seconds for the default features of the default candidates, and for these with the searches before them."""
    features, pipeline = make_feature_set(DEFAULT_SET).features, FirstStage().pipeline(engine)
    space = SemanticSpace.open(engine.snapshot)
    alone, whole = [], []
    for query in queries * (rounds + 1):
        began = time.perf_counter()
        search = pipeline.start(pipeline.parse(query))
        documents = search.candidates(FirstStage().k)
        found = time.perf_counter()
        extract_query(QueryContext(engine, query, documents, space, search=search), features)
        alone.append(time.perf_counter() - found)
        whole.append(time.perf_counter() - began)
    return alone[len(queries) :], whole[len(queries) :]  # the first round warms up


def growth(engine: searchlab.SearchEngine, rounds: int) -> Iterator[tuple[int, int, float]]:
    """Seconds for more and more candidates, then words; the candidates are any documents."""
    chance = np.random.default_rng(SEED)
    words = [str(word) for word in chance.permutation(make_vocabulary()[10:2000])[:48]]
    everything = list(engine.snapshot.docnos())
    sizes = [(n, N_WORDS) for n in (1000, 2000, 4000, 8000, MOST_CANDIDATES)] + [
        (CANDIDATES, n) for n in (3, 6, 12, 24, 48)
    ]
    for n_candidates, n_words in sizes:
        drawn = chance.permutation(len(everything))[:n_candidates].tolist()
        chosen = judged(engine, {"1": {everything[place]: 0 for place in drawn}}).of("1")
        text = " ".join(words[:n_words])
        query = QueryContext(engine, text, chosen)
        least = min(seconds(lambda q=query: extract_query(replace(q), FEATURES)) for _ in range(5 * rounds))
        yield n_candidates, n_words, least


@contextmanager
def opened(index: Path | None, n_docs: int) -> Iterator[searchlab.SearchEngine]:
    """An index that is given, or one of a collection that is made for it."""
    if index:
        yield searchlab.open(index)
        return
    with tempfile.TemporaryDirectory() as work:
        write_collection(Path(work) / "collection.jsonl", n_docs)
        searchlab.index(Path(work) / "collection.jsonl", Path(work) / "index")
        yield searchlab.open(Path(work) / "index")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, metavar="DIR", help="an index of the collection [default: built]")
    parser.add_argument("--documents", type=int, default=OHSUMED, help="the size of the collection that is made")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.documents < MOST_CANDIDATES:
        parser.error(f"a collection needs at least {MOST_CANDIDATES} documents")
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    with opened(options.index, options.documents) as engine:
        print(f"{len(engine):,} documents in {len(engine.snapshot.shards)} shards, {len(FEATURES)} features\n")
        queries = [query for query in make_queries() if len(query.split()) == N_WORDS]
        with whoosh_readers(engine) as readers:
            times = compare_with_whoosh(engine, readers, queries, options.rounds)
        whole, finding = extract_judged(engine, options.rounds)
        rows = {
            f"{CANDIDATES:,} candidates of {N_WORDS} words": times["ours"],
            "the same counts from Whoosh, document by document": times["by document"],
            "the same counts from Whoosh, word by word": times["by word"],
            f"{PAIRS:,} judged pairs of {len(make_queries())} queries": whole,
            "of which finding the documents": finding,
        }
        if (engine.snapshot.folder / FOLDER).exists():
            alone, with_search = extract_default(engine, make_queries(), options.rounds)
            rows |= {"default features of up to 400 candidates": alone, "with both searches before": with_search}
        cells = [[what, f"{1000 * median(found):.2f}", f"{1000 * min(found):.2f}"] for what, found in rows.items()]
        print(table(["", "p50 ms", "least ms"], cells), end="\n\n")
        grown = [
            [f"{n:,}", str(n_words), f"{1000 * least:.2f}", f"{1e9 * least / n / n_words:.0f}"]
            for n, n_words, least in growth(engine, options.rounds)
        ]
        print(table(["candidates", "words", "least ms", "ns for each of both"], grown, n_labels=2), end="\n\n")
    ours, by_document = median(times["ours"]), median(times["by document"])
    targets = [
        Target(f"{CANDIDATES:,} candidates of {N_WORDS} words take less than 5 ms", 1000 * ours, "ms", below=5),
        Target("at least 50 times as fast as asking Whoosh for each document", by_document / ours, "times", 50),
        Target(f"{PAIRS:,} judged pairs take less than 1 s", median(whole), "s", below=1),
    ]
    print(*targets, sep="\n")


if __name__ == "__main__":
    main()
