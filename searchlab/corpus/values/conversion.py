"""Topics, judgments and runs from whatever the caller has: files, dicts, lists, DataFrames.

Functions for users accept all of these by calling `make_topics`, `make_qrels` or `make_run` first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from searchlab.corpus.parsing.keyed_records import QID_KEYS, keyed_topic
from searchlab.corpus.parsing.topic_parts import TopicParts, compose_topics
from searchlab.corpus.trec.evaluation_tools import is_ranx
from searchlab.corpus.trec.qrels import Qrels
from searchlab.corpus.trec.runs import Run
from searchlab.corpus.trec.topics import check_qids, read_topics
from searchlab.corpus.values.plain_values import describe_type, plain_record, refuse_float_id
from searchlab.errors import SettingError
from searchlab.records import Judgments, Ranking, Topic

TOPICS_EXPECTED = "a file, a dict {qid: text}, a DataFrame, or a list of Topics, pairs (qid, text) or texts"
QRELS_EXPECTED = "a file, Qrels, a dict {qid: {docno: grade}}, a DataFrame, or a list of triples (qid, docno, grade)"
RUN_EXPECTED = "a file, a Run, a dict {qid: {docno: score}}, a DataFrame, or a list of Rankings or triples"


def make_topics(topics: Any) -> list[Topic]:
    """Topics from a file, a dict {qid: text}, a DataFrame, or a list of Topics, pairs (qid, text) or texts.

    Texts without qids are numbered from 1. A DataFrame has the columns `qid` (or query_id, …) and `query` (or text).
    """
    from searchlab.dataframes import is_dataframe, refuse_id_in_index, rows

    if isinstance(topics, str | Path):
        return read_topics(topics)
    if is_dataframe(topics):
        refuse_id_in_index(topics, "qid", QID_KEYS)
        written = [_written(row, f"row {number}") for number, row in enumerate(rows(topics), start=1)]
    elif isinstance(topics, Mapping):
        written = [_written({"qid": qid, "query": text}, "topics") for qid, text in topics.items()]
    else:
        items = _items(topics, "topics", TOPICS_EXPECTED)
        if all(isinstance(item, Topic) for item in items):
            return items
        written = [_written(_record(item, number), f"topic {number}") for number, item in enumerate(items, start=1)]
    check_qids(written)
    return compose_topics(written, None)


def make_qrels(qrels: Any) -> Judgments:
    """Judgments from a file, a dict of dicts, a DataFrame, or a list of triples (qid, docno, grade).

    Those of ranx and ir_measures are taken, too.
    """
    from searchlab.dataframes import is_dataframe

    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, str | Path):
        return Qrels.read(qrels)
    if isinstance(qrels, Mapping):
        return Qrels.from_dict(qrels)
    if is_dataframe(qrels):
        return Qrels.from_dataframe(qrels)
    if is_ranx(qrels):
        return Qrels.from_ranx(qrels)
    items = _items(qrels, "qrels", QRELS_EXPECTED)
    if items and all(hasattr(item, "query_id") for item in items):
        return Qrels.from_ir_measures(items)
    return Qrels.from_columns(*_triples(items, QRELS_EXPECTED))


def make_run(run: Any, *, name: str = "run") -> Run:
    """A run from a file, a dict of dicts, a DataFrame, or a list of Rankings or of triples (qid, docno, score).

    Those of ranx and ir_measures are taken, too.
    """
    from searchlab.dataframes import is_dataframe

    if isinstance(run, Run):
        return run
    if isinstance(run, str | Path):
        return Run.read(run)
    if isinstance(run, Mapping):
        return Run.from_dict(run, name=name)
    if is_dataframe(run):
        return Run.from_dataframe(run, name=name)
    if is_ranx(run):
        return Run.from_ranx(run)
    items = _items(run, "run", RUN_EXPECTED)
    if all(isinstance(item, Ranking) for item in items):
        return Run.from_rankings(items, name=name)
    if items and all(hasattr(item, "query_id") for item in items):
        return Run.from_ir_measures(items, name=name)
    return Run.from_columns(*_triples(items, RUN_EXPECTED), name=name)


def make_grades(qrels: Any) -> Mapping[str, Mapping[str, float]]:
    """The grades of judgments: those of `make_qrels`, but a mapping is passed on as it is, with any numbers."""
    return qrels if isinstance(qrels, Mapping) else make_qrels(qrels)


def make_rankings(run: Any) -> Iterable[Ranking]:
    """The rankings of a run: those of `make_run`, but rankings are passed on as they are, in any order of documents."""
    if isinstance(run, list | tuple) and all(isinstance(item, Ranking) for item in run):
        return run
    if isinstance(run, Iterator):
        return make_rankings(list(run))
    return make_run(run)


def _items(values: Any, kind: str, expected: str) -> list[Any]:
    from searchlab.dataframes import frame_hint

    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise SettingError(f"{kind} is {describe_type(values)}, expected {expected}{frame_hint(values)}")
    return list(values)


def _triples(items: list[Any], expected: str) -> list[list[Any]]:
    for number, item in enumerate(items, start=1):
        if not isinstance(item, list | tuple) or len(item) != 3:
            found = f"{len(item)} values" if isinstance(item, list | tuple) else describe_type(item)
            raise SettingError(f"item {number} is {found}, expected {expected}")
    return [[item[column] for item in items] for column in range(3)]


def _record(item: Any, number: int) -> dict[str, Any]:
    if isinstance(item, Topic):
        return {"qid": item.qid, "query": item.text, **item.fields}
    if isinstance(item, str):
        return {"qid": number, "query": item}
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, list | tuple) and len(item) == 2:
        return {"qid": item[0], "query": item[1]}
    found = f"{len(item)} values" if isinstance(item, list | tuple) else describe_type(item)
    raise SettingError(f"topic {number} is {found}, expected {TOPICS_EXPECTED}")


def _written(record: Mapping[Any, Any], location: str) -> TopicParts:
    plain = plain_record(record, location)
    refuse_float_id(plain, "qid", QID_KEYS, location)
    return keyed_topic(location, plain)
