"""Attacks on an index: damaged and hostile files.

    python benchmarks/attack.py --cases 1000                 # damage of every file of an index
    python benchmarks/attack.py --cases 1000 --sealed        # the same, all checksums computed again
    python benchmarks/attack.py --seed 7 --work DIR

Each case alters one file of a small index of several shards with deleted documents, of its semantic space and topic
models, or of the judgments and the model beside it, and then asks everything of them: plain, structured and expanded
searches by several scorers, explanations, documents, suggestions, statistics, vectors, latent topics, judgments, and
re-ranking. Every answer must be the right one or an error of searchlab; never another number where a checksum is wrong,
never a traceback, never a signal. With --sealed, checksums are right, so other numbers are possible, but nothing else
is.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import searchlab
from searchlab.errors import SearchlabError
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.feature_table import FeatureTable
from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.statistics import index_statistics
from searchlab.indexing.storage.arrays.block_checksums import FOOTER_BYTES, BlockWriter
from searchlab.indexing.storage.file_sync import sync_file
from searchlab.indexing.storage.layout import COLUMNS, DELETED_PREFIX, MANIFEST, STORED_DOCUMENTS
from searchlab.json_records import json_checksum
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.judgments.storage import integrity
from searchlab.judgments.storage.judgment_backup import SIDE_FILES
from searchlab.rankers.bundle import Bundle, analysis_record, load_bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.reranking import Reranker
from searchlab.retrieval.suggest.autocomplete import complete_word
from searchlab.retrieval.suggest.spelling import correct_spelling
from searchlab.topic_models.topic_model import TopicModel
from searchlab.topic_models.topic_model_files import METHODS
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model

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
    '"air flow"~3 OR heat -wing',
)
SCORERS = ("dirichlet", "jm", "tfidf", "bm25f")
EXTREMES = (0, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
ARRAY_FILE_PREFIXES = (DELETED_PREFIX, "terms-", "vectors-")
ALTERATIONS = ("bit", "byte", "extreme", "cut")

ARTEFACTS = ("semantic", "topics/plsa", "topics/wtm")
JUDGES = ("ann", "bob")
MODEL_FEATURES = ("score.both.bm25", "semantic.both.query_50", "doc.both.length")

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


def make_all(folder: Path, n_docs: int = 300) -> None:
    """The index with a semantic space, topic models, judgments and a model."""
    make_index(folder, n_docs)
    build_space(folder, dims=50)
    for method in METHODS:
        build_topic_model(folder, method=method, n_topics=3)
    # Documents that the artefacts do not know.
    build_index(lambda: iter([searchlab.Document("zzz", "river", "river prison heat")]), folder)
    with JudgmentStore(judgments_file(folder)) as store:
        store.add_topic("trials", "heat wing", "q1")
        for number in range(60):
            grade = number % 3
            store.judge("trials", "q1", f"d{number % 40:04d}", judge=JUDGES[number % 2], grade=grade, note="x" * number)
        store.undo("ann")
        store.record_queries("heat flow")
    _make_model(folder)


def _make_model(folder: Path) -> None:
    with searchlab.open(folder) as engine:
        settings = engine.snapshot.manifest.settings
    table = FeatureTable(MODEL_FEATURES, ["1", "1"], ["a", "b"], [[1.0, 0.5, 3.0], [2.0, 0.25, 9.0]])
    preprocessor = Preprocessor.named("query-minimum", "query-minmax", False).fit(table)
    definitions = {name: CATALOGUE[name].formula for name in MODEL_FEATURES}
    Bundle(
        "linear",
        {"weights": [0.5, 0.25, 0.125]},
        LinearModel(np.array([0.5, 0.25, 0.125])),
        MODEL_FEATURES,
        preprocessor,
        definitions,
        analysis_record(settings),
        FirstStage(20),
    ).save(_model_file(folder))


def _model_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.model.json")


def ask_everything(folder: Path) -> Answers:
    """The answers to all questions; the class of the error where one is raised."""
    try:
        engine = searchlab.open(folder)
    except SearchlabError as error:
        return [type(error)]
    with engine:
        questions = [*_questions(engine), *_artefact_questions(engine), *_questions_beside(engine)]
        return [_answer(question) for question in questions]


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


def _artefact_questions(engine: searchlab.SearchEngine) -> Iterator[Callable[[], Any]]:
    snapshot = engine.snapshot
    # The last shard's documents are not in the files of the artefacts.
    shards = np.arange(len(snapshot.shards))
    docs = np.zeros(len(shards), np.int64)
    if (snapshot.folder / ARTEFACTS[0]).is_dir():
        yield lambda: SemanticSpace.open(snapshot).vectors(shards, docs).tolist()
        yield lambda: SemanticSpace.open(snapshot).query_vector({"heat": 1.0, "lung": 2.0}).tolist()
        yield lambda: SemanticSpace.open(snapshot).staleness
    for name in METHODS:
        if (snapshot.folder / "topics" / name).is_dir():
            yield partial(_topics, snapshot, name, lambda model: model.topics_given_document(shards, docs).tolist())
            yield partial(_topics, snapshot, name, lambda model: model.topics_given_words({"heat": 1.0}).tolist())
            yield partial(_topics, snapshot, name, lambda model: [model.top_terms(topic) for topic in range(3)])
            yield partial(_all_scores, engine, name)


def _topics(snapshot: Snapshot, name: str, ask: Callable[[TopicModel], Any]) -> Any:
    return ask(open_topic_model(snapshot, name))


def _questions_beside(engine: searchlab.SearchEngine) -> Iterator[Callable[[], Any]]:
    folder = engine.snapshot.folder
    if judgments_file(folder).exists():
        yield lambda: _judged(folder)
    if _model_file(folder).exists():
        yield lambda: _ranking(Reranker(engine, load_bundle(_model_file(folder))).pipeline().search("heat wing", k=20))


def _judged(folder: Path) -> Any:
    with JudgmentStore(judgments_file(folder)) as store:
        judgments = [store.judgments("trials", "q1", judge) for judge in JUDGES]
        return store.topic_sets(), store.topics("trials"), store.grades("trials"), judgments, store.past_queries("h", 9)


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
    """Compute the sizes and checksums in the manifest of an index or of an artefact again."""
    record = json.loads((folder / MANIFEST).read_text())
    del record["checksum"]
    for part in record.get("shards", [record]):
        home = folder / part["name"] if "shards" in record else folder
        part["files"] = {name: list(sync_file(home / name)) for name in part["files"]}
    record["checksum"] = json_checksum(record)
    (folder / MANIFEST).write_text(json.dumps(record))


def seal_record(content: bytes) -> bytes:
    """A JSON record with its checksum computed again; as it is if it is no longer one."""
    try:
        record = json.loads(content)
        del record["checksum"]
        return json.dumps(record | {"checksum": json_checksum(record)}).encode()
    except (ValueError, LookupError, TypeError, AttributeError):
        return content


def seal_judgments(path: Path) -> None:
    """Compute the seals of a database again, and what follows from its acts, as far as it can be read."""
    with suppress(sqlite3.Error, ValueError, TypeError), closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM last")
        connection.execute(f"INSERT INTO last {integrity._DERIVED}")
        connection.execute("DELETE FROM seals")
        integrity.extend_seals(connection)


def write_altered(folder: Path, path: Path, content: bytes, *, sealed: bool) -> None:
    """Write an altered file; `sealed` computes all checksums of it again."""
    is_json = path.suffix == ".json"
    is_array_file = path.name in (COLUMNS, STORED_DOCUMENTS) or path.name.startswith(ARRAY_FILE_PREFIXES)
    if sealed and (is_json or is_array_file):
        content = seal_record(content) if is_json else seal_blocks(content)
    path.write_bytes(content)
    if sealed and path == judgments_file(folder):
        seal_judgments(path)
    elif sealed and not is_json:
        seal_manifest(path.parent if path.parent.relative_to(folder).as_posix() in ARTEFACTS else folder)


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
    beside = [path for path in (judgments_file(folder), _model_file(folder)) if path.exists()]
    files = [path for path in [*sorted(folder.rglob("*")), *beside] if path.is_file() and path.stat().st_size]
    # Most of the files that many questions read.
    often = (COLUMNS, STORED_DOCUMENTS, MANIFEST, *(path.name for path in beside))
    weights = [10 if path.name in often else 4 if path.name.startswith(ARRAY_FILE_PREFIXES) else 1 for path in files]
    result = AttackResult()
    for number in range(n_cases):
        (path,) = draw.choices(files, weights)
        saved = {each: each.read_bytes() for each in {path, *folder.rglob(MANIFEST)}}
        write_altered(folder, path, alter(saved[path], draw), sealed=sealed)
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
        for each, content in saved.items():
            each.write_bytes(content)
        for suffix in SIDE_FILES:
            Path(f"{judgments_file(folder)}{suffix}").unlink(missing_ok=True)
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
    make_all(folder, arguments.documents)
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
