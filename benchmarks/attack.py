"""Attacks on an index: damaged and hostile files.

    python benchmarks/attack.py --cases 1000                 # damage of every file of an index
    python benchmarks/attack.py --cases 1000 --sealed        # the same, all checksums computed again
    python benchmarks/attack.py --seed 7 --work DIR

Each case alters one file of a small index of several shards with deleted documents, and then asks everything of it:
plain, structured and expanded searches by several scorers, explanations, documents, suggestions, statistics. Every
answer must be the right one or an error of searchlab; never another number where a checksum is wrong, never a
traceback, never a signal. With --sealed, checksums are right, so other numbers are possible, but nothing else is.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import searchlab
from searchlab.errors import SearchlabError
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.statistics import index_statistics
from searchlab.indexing.storage.arrays.block_checksums import FOOTER_BYTES, BlockWriter
from searchlab.indexing.storage.file_sync import sync_file
from searchlab.indexing.storage.layout import COLUMNS, DELETED_PREFIX, MANIFEST, STORED_DOCUMENTS
from searchlab.indexing.storage.manifest import json_checksum
from searchlab.retrieval.suggest.autocomplete import complete_word
from searchlab.retrieval.suggest.spelling import correct_spelling

TEXT = "heat wing cell flow lymphoma t-cell autoimmune river prison gene blood pressure skin lung air boundary layer"
WORDS = (*TEXT.split(), "shock")
QUERIES = (
    "heat wing",
    "t-cell lymphoma blood w7",
    '"boundary layer"',
    "he* OR sh?ck",
    "hext~1",
    "year:[1985 TO 1990] AND skin",
    "mesh:lung",
    "day:[1975 TO 1980]",
    "docno:d00*",
    'NEAR(heat, "air flow")~3 OR heat -wing',
)
SCORERS = ("dirichlet", "jm", "tfidf", "bm25f")
EXTREMES = (0, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
ALTERATIONS = ("bit", "byte", "extreme", "cut")

Answers = list[Any]


def make_index(folder: Path, n_docs: int = 300) -> None:
    """An index of three shards, one of them with deleted documents, always the same."""
    draw = random.Random(5)
    documents = [
        searchlab.Document(
            f"d{n:04d}",
            " ".join(draw.choices(WORDS, k=4)),
            " ".join(draw.choices([*WORDS, f"w{n % 50}"], k=30)),
            {"year": 1980 + n % 30, "mesh": [draw.choice(WORDS)], "day": f"19{70 + n % 30}-03-0{1 + n % 9}"},
        )
        for n in range(n_docs)
    ]
    half = 2 * n_docs // 3
    build_index(lambda: iter(documents[:half]), folder)
    build_index(lambda: iter(documents[half:]), folder)
    searchlab.delete(folder, [document.docno for document in documents[5:20]])
    build_index(lambda: iter([searchlab.Document("zz", "heat again", "heat heat heat")]), folder)


def ask_everything(folder: Path) -> Answers:
    """The answers to all questions; the class of the error where one is raised."""
    try:
        engine = searchlab.open(folder)
    except SearchlabError as error:
        return [type(error)]
    with engine:
        return [_answer(question) for question in _questions(engine)]


def _answer(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except SearchlabError as error:
        return type(error)


def _questions(engine: searchlab.SearchEngine) -> Iterator[Callable[[], Any]]:
    for query in QUERIES:
        yield partial(_shown_hits, engine, query)
    for name in SCORERS:
        yield partial(_all_scores, engine, name)
    expanded = searchlab.Pipeline(engine, expansion=searchlab.RM3())
    yield lambda: _ranking(expanded.search("heat wing", k=30))
    yield lambda: _ranking(engine.search(searchlab.similar_query(engine, "d0003"), k=None))
    yield lambda: str(engine.explain("heat wing", "d0003"))
    yield lambda: engine.document("d0003")
    yield lambda: correct_spelling(engine.snapshot, "hext")
    yield lambda: complete_word(engine.snapshot, "l")
    yield lambda: list(engine.snapshot.docnos())
    yield lambda: str(index_statistics(engine.snapshot).streams)


def _shown_hits(engine: searchlab.SearchEngine, query: str) -> Any:
    hits = engine.search(query, k=50, syntax="full")
    return [(hit.docno, hit.score, hit.title, str(hit.snippet)) for hit in hits]


def _all_scores(engine: searchlab.SearchEngine, scorer: str) -> Any:
    return _ranking(engine.search("heat wing cell", k=None, scorer=searchlab.make_scorer(scorer)))


def _ranking(hits: Any) -> list[tuple[str, float]]:
    return list(zip(hits.docnos, hits.scores.tolist(), strict=True))


def differ(answers: Answers, right: Answers) -> bool:
    """Whether an answer that is no error is not the right one."""
    return any(not isinstance(ours, type) and ours != theirs for ours, theirs in zip(answers, right, strict=False))


def alter(content: bytes, draw: random.Random) -> bytes:
    """A file with a bit, a byte or eight bytes altered, or cut off."""
    altered = bytearray(content)
    position = draw.randrange(len(altered))
    match draw.choice(ALTERATIONS):
        case "bit":
            altered[position] ^= 1 << draw.randrange(8)
        case "byte":
            altered[position] = draw.randrange(256)
        case "extreme":
            altered[position : position + 8] = draw.choice(EXTREMES).to_bytes(8, "little")[: len(altered) - position]
        case "cut":
            del altered[position:]
    return bytes(altered)


def seal_blocks(content: bytes) -> bytes:
    """An array file with the checksums of its blocks computed again."""
    n_blocks = int.from_bytes(content[-FOOTER_BYTES : -FOOTER_BYTES + 8], "little")
    data = content[: len(content) - FOOTER_BYTES - 4 * n_blocks] if 4 * n_blocks < len(content) else content
    file = io.BytesIO()
    writer = BlockWriter(file)
    writer.write(data)
    writer.finish()
    return file.getvalue()


def seal_manifest(folder: Path) -> None:
    """Compute the sizes and checksums in the manifest again."""
    record = json.loads((folder / MANIFEST).read_text())
    del record["checksum"]
    for shard in record["shards"]:
        shard["files"] = {name: list(sync_file(folder / shard["name"] / name)) for name in shard["files"]}
    record["checksum"] = json_checksum(record)
    (folder / MANIFEST).write_text(json.dumps(record))


@dataclass
class AttackResult:
    """How often each outcome occurred, and the cases in which it was a bad one."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def attack(folder: Path, n_cases: int, seed: int, *, sealed: bool) -> AttackResult:
    """Alter one file of an index after the other, and compare the answers with the right ones."""
    draw = random.Random(seed)
    right = ask_everything(folder)
    assert not any(isinstance(answer, type) for answer in right)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    # Most of the columns and documents, which every question reads.
    weights = [10 if path.name in (COLUMNS, STORED_DOCUMENTS, MANIFEST) else 1 for path in files]
    result = AttackResult()
    for number in range(n_cases):
        (path,) = draw.choices(files, weights)
        content, manifest = path.read_bytes(), (folder / MANIFEST).read_bytes()
        is_array_file = path.name in (COLUMNS, STORED_DOCUMENTS) or path.name.startswith(DELETED_PREFIX)
        altered = alter(content, draw)
        path.write_bytes(seal_blocks(altered) if sealed and is_array_file else altered)
        if sealed and path.name != MANIFEST:
            seal_manifest(folder)
        try:
            answers = ask_everything(folder)
        except Exception:
            result.outcomes["traceback"] += 1
            result.failures.append(f"case {number}, {path.name}: {traceback.format_exc(limit=-4)}")
        else:
            outcome = _compare(answers, right)
            result.outcomes[outcome] += 1
            if outcome == "other numbers" and not sealed:
                result.failures.append(f"case {number}, {path.name}: other numbers")
        path.write_bytes(content)
        (folder / MANIFEST).write_bytes(manifest)
    return result


def _compare(answers: Answers, right: Answers) -> str:
    if len(answers) < len(right):
        return "error on opening"
    if differ(answers, right):
        return "other numbers"
    return "right" if answers == right else "error"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--documents", type=int, default=300, help="documents of the index: more have more blocks")
    parser.add_argument("--sealed", action="store_true", help="compute all checksums again after each alteration")
    parser.add_argument("--work", type=Path, help="where the index is made [default: a temporary folder]")
    arguments = parser.parse_args()
    work = arguments.work or Path(tempfile.mkdtemp())
    folder = work / "attacked"
    shutil.rmtree(folder, ignore_errors=True)
    make_index(folder, arguments.documents)
    result = attack(folder, arguments.cases, arguments.seed, sealed=arguments.sealed)
    shutil.rmtree(work if arguments.work is None else folder)
    kind = "sealed" if arguments.sealed else "plain"
    print(f"{arguments.cases:,} cases, {kind}, seed {arguments.seed}, {arguments.documents:,} documents:")
    for outcome, count in result.outcomes.most_common():
        print(f"  {outcome}: {count}")
    print("\n".join(result.failures))
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
