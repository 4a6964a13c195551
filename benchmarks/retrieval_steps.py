"""Steps of `retrieval.py`: each is run in a process of its own, so that its memory and its imports are its own.

    python benchmarks/retrieval_steps.py NAME ARGUMENT…

Arguments are texts, and the result is printed as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engines import ENGINES
from process_memory import PeakMemory
from report import LIMITS

CHECKED_QUERIES = 20
CHECKED_DEPTH = 1000
PRUNING_QUERIES = 100


def collection_step(kind: str, path: str, queries: str, n_docs: str, source: str) -> None:
    import collection
    import inflected_collection

    if kind == "text":
        import text_collection

        text_collection.write_collection(Path(path), int(n_docs), Path(source))
        texts = text_collection.make_queries(Path(source))
    else:
        synthetic = collection if kind == "words" else inflected_collection
        synthetic.write_collection(Path(path), int(n_docs))
        texts = synthetic.make_queries()
    Path(queries).write_text(json.dumps(texts))


def terms_step(folder: str, collection: str, queries: str, term_collection: str, term_queries: str) -> None:
    """Write the collection and the queries as terms; queries that have none are left out of both lists."""
    from engines import read

    import searchlab

    terms_of = searchlab.open(folder).snapshot.analyzer.terms
    with Path(term_collection).open("w") as file:
        for document in read(Path(collection)):
            body = " ".join(terms_of(f"{document['title']} {document['body']}"))
            file.write(json.dumps({"docno": document["docno"], "title": "", "body": body}) + "\n")
    texts = [text for text in json.loads(Path(queries).read_text()) if terms_of(text)]
    Path(queries).write_text(json.dumps(texts))
    Path(term_queries).write_text(json.dumps([" ".join(terms_of(text)) for text in texts]))


def peak_step(engine: str, collection: str, folder: str) -> dict[str, Any]:
    with PeakMemory() as memory:
        ENGINES[engine].index(Path(collection), Path(folder))
    return {"index_peak": memory.peak or peak_memory()}


def index_step(engine: str, collection: str, folder: str) -> dict[str, Any]:
    return _time_index(ENGINES[engine].index, collection, folder)


def english_step(engine: str, collection: str, folder: str) -> dict[str, Any]:
    """Index texts with the engine's own analysis of English, which is most of the work."""
    index = ENGINES[engine].index_english
    assert index is not None
    return _time_index(index, collection, folder)


def _time_index(index: Callable[[Path, Path], None], collection: str, folder: str) -> dict[str, Any]:
    began = time.perf_counter()
    index(Path(collection), Path(folder))
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    for path in files:
        with path.open("rb+") as file:
            os.fsync(file)  # not every engine does
    return {
        "index_seconds": time.perf_counter() - began,
        "index_bytes": sum(path.stat().st_size for path in files),
        "source_bytes": Path(collection).stat().st_size,
        "index_peak": peak_memory(),
    }


def query_step(engine: str, folder: str, queries: str, n_queries: str, rounds: str) -> dict[str, Any]:
    texts = json.loads(Path(queries).read_text())[: int(n_queries)]
    began = time.perf_counter()
    search, docnos = ENGINES[engine].open(Path(folder))
    opened = time.perf_counter()
    search(texts[0], LIMITS[0])
    answered = time.perf_counter()
    times = {}
    for k in LIMITS:
        times[str(k)] = time_queries(lambda text, k=k: search(text, k), texts, int(rounds))
        times[f"{k} docnos"] = time_queries(lambda text, k=k: docnos(search(text, k)), texts, int(rounds))
    return {
        "n_queries": len(texts),
        "open_seconds": opened - began,
        "first_query_seconds": answered - opened,
        "query_peak": peak_memory(),
        "times": times,
    }


def time_queries(search: Callable[[Any], Any], texts: list[Any], rounds: int) -> list[float]:
    """Ask all queries once to warm up, then round after round: the same one never comes twice in a row."""
    for text in texts:
        search(text)
    times = []
    for text in texts * rounds:
        began = time.perf_counter()
        search(text)
        times.append(time.perf_counter() - began)
    return times


def exact_step(term_collection: str, folder: str, queries: str, term_queries: str) -> list[str]:
    """The queries whose rankings are not what the formula says: documents, order or scores."""
    import numpy as np
    from brute_force import rank, read_texts

    import searchlab

    texts, terms = (json.loads(Path(path).read_text())[:CHECKED_QUERIES] for path in (queries, term_queries))
    counted = read_texts(Path(term_collection), {word for text in terms for word in text.split()})
    engine = searchlab.open(folder)
    wrong = []
    for text, words in zip(texts, terms, strict=True):
        hits = engine.search(text, k=CHECKED_DEPTH)
        docnos, scores = zip(*rank(counted, words, CHECKED_DEPTH), strict=True)
        if not same_ranking(hits.docnos, hits.scores, docnos, np.array(scores)):
            wrong.append(text)
    return wrong


def same_ranking(docnos: list[str], scores: Any, expected_docnos: tuple[str, ...], expected_scores: Any) -> bool:
    """Whether scores are equal to 1e-9, and docnos except where scores differ by no more than rounding."""
    import numpy as np

    if len(docnos) != len(expected_docnos) or not np.allclose(scores, expected_scores, rtol=0, atol=1e-9):
        return False
    differing = [i for i, (a, b) in enumerate(zip(docnos, expected_docnos, strict=True)) if a != b]
    places = {docno: i for i, docno in enumerate(expected_docnos)}
    return all(abs(expected_scores[places.get(docnos[i], -1)] - expected_scores[i]) < 1e-9 for i in differing)


def pruning_step(folder: str, queries: str, rounds: str) -> list[dict[str, Any]]:
    from exhaustive import measure_pruning

    texts = json.loads(Path(queries).read_text())[:PRUNING_QUERIES]
    measured = measure_pruning(Path(folder), texts, lambda search, asked: time_queries(search, asked, int(rounds)))
    return [asdict(each) for each in measured]


def memory_step() -> None:
    """Read and write far more memory than fits into any cache, until the process is ended."""
    import numpy as np

    numbers = np.random.default_rng(0).random(1 << 25)
    places = np.random.default_rng(1).integers(len(numbers), size=1 << 22)
    while True:
        numbers[places] += 1.0
        numbers *= 0.999


def peak_memory() -> int:
    """The most bytes that this process had in memory, and its children: as many as cores, the largest counts."""
    own, largest_child = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * (own + largest_child * (os.cpu_count() or 1))


STEPS: dict[str, Callable[..., Any]] = {
    "collection": collection_step,
    "terms": terms_step,
    "peak": peak_step,
    "index": index_step,
    "english": english_step,
    "query": query_step,
    "exact": exact_step,
    "pruning": pruning_step,
    "memory": memory_step,
}

if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](*sys.argv[2:])))
