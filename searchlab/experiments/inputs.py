"""The inputs of an experiment: index, topics with a relevant document, their judgments, and folds.

Each has a fingerprint, so that results record what they were computed from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus import find_collection
from searchlab.corpus.text_files import read_text_file
from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.errors import IndexMissing, SettingError, SourceError, name_some
from searchlab.experiments.cache import fingerprint
from searchlab.experiments.plan import ExperimentPlan, FoldPlan
from searchlab.indexing.building.indexer import index as make_index
from searchlab.indexing.index_names import default_folder, index_folder
from searchlab.indexing.source_collection import source_collection
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.records import Judgments, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.query_folds import deal_folds
from searchlab.training.training_set import useful_topics
from searchlab.types import Progress, no_progress


@dataclass(frozen=True, eq=False)
class ExperimentInputs:
    """The inputs that all systems share; `folds` has the qids of each fold, `qrels` the judgments of these topics only.

    `n_skipped` topics have no relevant document and are left out.
    """

    engine: SearchEngine
    topics: tuple[Topic, ...]
    qrels: Judgments
    folds: tuple[tuple[str, ...], ...]
    n_skipped: int

    @property
    def qids(self) -> tuple[str, ...]:
        """The qids of the topics."""
        return tuple(topic.qid for topic in self.topics)

    def fold_of(self) -> dict[str, int]:
        """The fold of each topic, from 1."""
        return {qid: number for number, fold in enumerate(self.folds, start=1) for qid in fold}

    def fingerprints(self) -> dict[str, str]:
        """Fingerprints of the index, the models learnt from it, the topics, the judgments and the folds."""
        return {
            "index": index_fingerprint(self.engine),
            "learnt from the index": learnt_fingerprint(self.engine),
            "topics": fingerprint([[topic.qid, topic.text] for topic in self.topics]),
            "judgments": fingerprint({qid: dict(grades) for qid, grades in self.qrels.items()}),
            "folds": fingerprint([list(fold) for fold in self.folds]),
        }


def open_inputs(plan: ExperimentPlan, progress: Progress = no_progress) -> ExperimentInputs:
    """Open the inputs of a plan; a collection without an index is indexed first."""
    folder = find_index(plan, progress)
    engine = SearchEngine(folder)
    topics_file, qrels_file = _find_files(plan, folder)
    return make_inputs(engine, read_topics(topics_file), read_qrels(qrels_file), plan)


def make_inputs(
    engine: SearchEngine, topics: Sequence[Topic], qrels: Judgments, plan: ExperimentPlan
) -> ExperimentInputs:
    """The inputs of an experiment: the topics with a relevant document, their judgments, and the folds of the plan."""
    useful = useful_topics(topics, qrels)
    useful_qrels = {topic.qid: dict(qrels[topic.qid]) for topic in useful}
    try:
        folds = deal_topics(plan.folds, [topic.qid for topic in useful], [topic.qid for topic in topics])
    except SettingError as error:
        raise SourceError(plan.file, f"[folds]: {error}") from None
    return ExperimentInputs(engine, tuple(useful), useful_qrels, folds, len(topics) - len(useful))


def find_index(plan: ExperimentPlan, progress: Progress = no_progress) -> Path:
    """The folder of the index, relative to the plan or by name in `indexes/`; without an index it is built."""
    if plan.index is not None:
        beside = plan.file.parent / plan.index
        folder = beside if (beside / MANIFEST).exists() else index_folder(plan.index)
    elif plan.collection is not None:
        folder = default_folder([plan.collection])
    else:
        raise SourceError(plan.file, "found neither index nor collection, expected at least one of them")
    if not (folder / MANIFEST).exists():
        if plan.collection is None:
            raise IndexMissing(f"{folder}: no index here; `searchlab index SOURCE -i {folder}` makes one")
        make_index(
            [plan.collection], folder, progress=lambda stage, done, total: progress(f"indexing: {stage}", done, total)
        )
    return folder


def _find_files(plan: ExperimentPlan, folder: Path) -> tuple[Path | str, Path | str]:
    if plan.topics is not None and plan.qrels is not None:
        return plan.topics, plan.qrels
    if plan.collection is None:
        collection = source_collection(folder, with_qrels=True)
    else:
        collection = find_collection(plan.collection)
    if collection is not None and collection.topics and collection.qrels:
        return collection.topics[0], collection.qrels[0]
    where = plan.collection or f"the sources of {folder}"
    raise SourceError(plan.file, f"{where}: found no topics with judgments, expected topics and qrels")


def deal_topics(plan: FoldPlan, qids: list[str], known: list[str]) -> tuple[tuple[str, ...], ...]:
    """The qids of each fold; of folds listed in the plan, `known` topics that are not in `qids` are left out."""
    if not plan.queries:
        dealt = deal_folds(len(qids), plan.number, plan.seed)
        return tuple(tuple(qids[row] for row in fold.tolist()) for fold in dealt)
    listed = {qid for fold in plan.queries for qid in fold}
    unknown = sorted(listed.difference(known))
    if unknown:
        raise SettingError(f"found topics that do not exist: {name_some(unknown)}, expected qids of the topics")
    missing = [qid for qid in qids if qid not in listed]
    if missing:
        raise SettingError(f"found no fold with {name_some(missing)}, expected each judged topic in a fold")
    folds = [tuple(qid for qid in qids if qid in fold) for fold in map(set, plan.queries)]
    for number, fold in enumerate(folds, start=1):
        if not fold:
            raise SettingError(f"found no topic with a relevant document in fold {number}, expected some")
    return tuple(folds)


def index_fingerprint(engine: SearchEngine) -> str:
    """The fingerprint of the index: the columns of all shards, the deleted documents, and the analyser."""
    manifest = engine.snapshot.manifest
    shards = sorted(
        [
            shard.n_docs,
            shard.n_words,
            shard.n_deleted,
            list(shard.files["columns"]),
            list(shard.files.get(shard.deleted_file, [])),
        ]
        for shard in manifest.shards
    )
    return fingerprint(manifest.settings.fingerprint, shards)


def learnt_fingerprint(engine: SearchEngine) -> str:
    """The fingerprint of the semantic space and the topic models of an index, if it has any."""
    folder = engine.snapshot.folder
    checksums = {}
    for path in [*folder.glob(f"semantic/{MANIFEST}"), *folder.glob(f"topics/*/{MANIFEST}")]:
        try:
            # Sizes and checksums; names of files and times differ from build to build.
            files = sorted(json.loads(read_text_file(path))["files"].values())
        except (SourceError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
            files = []
        checksums[path.parent.relative_to(folder).as_posix()] = files
    return fingerprint(checksums)
