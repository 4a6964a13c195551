"""On what is an experiment made?

The index, the topics with a relevant document, their judgments, and the folds that topics are dealt into; each with a
fingerprint, so that results say what they were computed from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus import find_collection
from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.errors import IndexMissing, SettingError, SourceError, name_some
from searchlab.experiments.cache import fingerprint
from searchlab.experiments.plan import FoldPlan, Plan
from searchlab.experiments.scorer_tuning import useful_topics
from searchlab.indexing.building.indexer import index as make_index
from searchlab.indexing.index_names import default_folder, index_folder
from searchlab.indexing.source_collection import source_collection
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.records import Judgments, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.from_table import deal
from searchlab.types import Progress, no_progress


@dataclass(frozen=True, eq=False)
class Setting:
    """What all systems share; `folds` has the qids of each fold, `qrels` judgments of these topics alone.

    `n_skipped` topics have no relevant document: they say nothing, and are left out.
    """

    engine: SearchEngine
    topics: tuple[Topic, ...]
    qrels: Judgments
    folds: tuple[tuple[str, ...], ...]
    n_skipped: int

    @property
    def qids(self) -> tuple[str, ...]:
        """The topics by name."""
        return tuple(topic.qid for topic in self.topics)

    def fold_of(self) -> dict[str, int]:
        """The fold of each topic, from 1."""
        return {qid: number for number, fold in enumerate(self.folds, start=1) for qid in fold}

    def fingerprints(self) -> dict[str, str]:
        """Of the index, what was learnt from it, the topics, the judgments, and the folds."""
        return {
            "index": index_fingerprint(self.engine),
            "learnt from the index": learnt_fingerprint(self.engine),
            "topics": fingerprint([[topic.qid, topic.text] for topic in self.topics]),
            "judgments": fingerprint({qid: dict(own) for qid, own in self.qrels.items()}),
            "folds": fingerprint([list(fold) for fold in self.folds]),
        }


def open_setting(plan: Plan, progress: Progress = no_progress) -> Setting:
    """Open what a plan names; a collection without an index is indexed first."""
    folder = find_index(plan, progress)
    engine = SearchEngine(folder)
    topics_file, qrels_file = _find_files(plan, folder)
    topics, qrels = read_topics(topics_file), read_qrels(qrels_file)
    useful = useful_topics(topics, qrels)
    own = {topic.qid: dict(qrels[topic.qid]) for topic in useful}
    try:
        folds = deal_topics(plan.folds, [topic.qid for topic in useful], [topic.qid for topic in topics])
    except SettingError as error:
        raise SourceError(plan.file, f"[folds]: {error}") from None
    return Setting(engine, tuple(useful), own, folds, len(topics) - len(useful))


def find_index(plan: Plan, progress: Progress = no_progress) -> Path:
    """The folder of the index: beside the plan, or by its name in `indexes/`."""
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


def _find_files(plan: Plan, folder: Path) -> tuple[Path | str, Path | str]:
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
    """The topics of each fold; of folds that are given, topics that are `known` but not taken are left out."""
    if not plan.queries:
        return tuple(tuple(qids[place] for place in fold.tolist()) for fold in deal(len(qids), plan.number, plan.seed))
    listed = {qid for fold in plan.queries for qid in fold}
    strangers = sorted(listed.difference(known))
    if strangers:
        raise SettingError(f"found topics that do not exist: {name_some(strangers)}, expected qids of the topics")
    homeless = [qid for qid in qids if qid not in listed]
    if homeless:
        raise SettingError(f"found no fold with {name_some(homeless)}, expected each judged topic in a fold")
    folds = [tuple(qid for qid in qids if qid in own) for own in map(set, plan.queries)]
    for number, fold in enumerate(folds, start=1):
        if not fold:
            raise SettingError(f"found no topic with a relevant document in fold {number}, expected some")
    return tuple(folds)


def index_fingerprint(engine: SearchEngine) -> str:
    """That of what is searched: the columns of all shards, the dead, and how texts are analysed."""
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
    """That of the semantic space and the topics of an index, as far as it has them."""
    folder = engine.snapshot.folder
    found = {}
    for path in [*folder.glob(f"semantic/{MANIFEST}"), *folder.glob(f"topics/*/{MANIFEST}")]:
        try:
            # Their sizes and checksums; names of files and times differ from one making to the next.
            files = sorted(json.loads(path.read_text(encoding="utf-8"))["files"].values())
        except (OSError, ValueError, LookupError, AttributeError, TypeError):
            files = []
        found[path.parent.relative_to(folder).as_posix()] = files
    return fingerprint(found)
