"""Judged collections of the benchmarks: folders with docs.jsonl, topics.tsv and qrels.txt, gzipped or not."""

from __future__ import annotations

import sys
from pathlib import Path

import searchlab
from searchlab.features.feature_table import FeatureTable, concat
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Ranking, Topic
from searchlab.training.training_set import TrainingSet, prepare_training

COLLECTIONS = ("cf", "cranfield", "cisi", "nfcorpus", "npl")


def load_training_set(folder: Path, index: Path, features: str, first_stage: FirstStage) -> TrainingSet:
    """The features of a collection's candidates; its index is made unless it is there."""
    if not index.exists():
        searchlab.index(_file(folder, "docs.jsonl"), index)
    topics = searchlab.read_topics(_file(folder, "topics.tsv"))
    qrels = searchlab.read_qrels(_file(folder, "qrels.txt"))
    with searchlab.open(index) as engine:
        return prepare_training(engine, topics, qrels, features, first_stage)


def pool(sets: dict[str, TrainingSet]) -> TrainingSet:
    """Several collections as one; topics have the name of their collection before their qid."""
    topics, qrels, tables = [], {}, []
    baselines: dict[str, list[Ranking]] = {}
    for name, data in sets.items():
        topics += [Topic(f"{name}-{topic.qid}", topic.text) for topic in data.topics]
        qrels |= {f"{name}-{topic.qid}": data.qrels[topic.qid] for topic in data.topics}
        table = data.table
        qids = [f"{name}-{qid}" for qid in table.qids.tolist()]
        tables.append(FeatureTable(table.names, qids, table.docnos, table.values, table.grades))
        for system, rankings in data.baselines.items():
            renamed = [Ranking(f"{name}-{each.qid}", each.docnos, each.scores) for each in rankings]
            baselines.setdefault(system, []).extend(renamed)
    return TrainingSet(tuple(topics), qrels, concat(tables), baselines, sum(data.n_skipped for data in sets.values()))


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    sys.exit(f"{folder}: has no {name}, expected it, gzipped or not")
