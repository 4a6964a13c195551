"""External features: scores of topics and documents that another program has computed.

    neural = searchlab.external_feature("neural", "scores.tsv")
    table = searchlab.extract(engine, topics, candidates, ["letor45", neural])

The feature is called `external.neural`. Its scores come from a file, or from a mapping, triples, rankings or a
DataFrame. A file has lines of qid, docno and score, separated by tabs, commas or blanks, perhaps with a header that
names the columns; or it is a TREC run. A pair without a score has NaN. A model that uses the feature can only rank
topics that have scores.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.corpus.parsing.table_columns import (
    DOCNO_NAMES,
    QID_NAMES,
    SCORE_NAMES,
    check_ids,
    choose_columns,
    flatten,
)
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import OpenedFile, open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.text_cleaning import excerpt
from searchlab.dataframes import column, is_dataframe
from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError, name_some
from searchlab.features.catalogue import Feature, read_measured
from searchlab.features.feature_table import FeatureTable
from searchlab.features.query_context import QueryContext
from searchlab.records import Ranking, Topic
from searchlab.types import Array

EXTERNAL = "external"
FORMULA = "computed elsewhere, for a topic and a document"
Scores = Mapping[str, Mapping[str, float]]
_RUN_COLUMNS = 6


@dataclass(frozen=True, eq=False)
class ExternalFeature(Feature):
    """A feature with the scores of documents by qid."""

    scores: Scores = field(default_factory=dict, repr=False)

    def check_topics(self, topics: Iterable[Topic]) -> None:
        """Refuse topics that have no scores, and different topics with the same text: a model sees only the text."""
        listed = list(topics)
        missing = [topic.qid for topic in listed if topic.qid not in self.scores]
        if missing:
            raise SettingError(
                f"{self.name} has no scores for topic {name_some(missing)}, expected some for each topic that is ranked"
            )
        qids: dict[str, str] = {}
        for topic in listed:
            if qids.setdefault(topic.text, topic.qid) != topic.qid:
                raise SettingError(
                    f"topics {qids[topic.text]} and {topic.qid} have the same text, expected different ones, "
                    f"because {self.name} has scores by topic"
                )


def is_external(name: str) -> bool:
    """Whether a feature of this name is an external one."""
    return name.startswith(f"{EXTERNAL}.")


def external_feature(
    name: str, scores: str | Path | Scores | Iterable[tuple[str, str, float]] | Iterable[Ranking], *, source: str = ""
) -> ExternalFeature:
    """The feature `external.NAME`; scores are a file, {qid: {docno: score}}, triples (qid, docno, score), or a run.

    A DataFrame has columns qid, docno and score; the last may also be called value, or have the feature's name.
    `source` says for people where the scores come from; it is the name of the file by default.
    """
    if not isinstance(name, str) or len(name.split()) != 1 or "," in name or "=" in name:
        raise SettingError(f"external feature is called {name!r}, expected a word without blanks and commas")
    full_name = f"{EXTERNAL}.{name}"
    if isinstance(scores, str | Path):
        source, by_topic = source or str(scores), _read_scores(scores)
    else:
        qids, docnos, values = _columns(full_name, scores)
        ids = zip(check_ids("qid", qids), check_ids("docno", docnos), values, strict=True)
        by_topic = _collect((*each, f"{full_name}, row {row}") for row, each in enumerate(ids, start=1))
    if not by_topic:
        raise SettingError(f"{full_name}: found no scores, expected qid, docno and score")
    return ExternalFeature(
        full_name,
        FORMULA,
        "",
        source,
        partial(read_measured, full_name),
        (),
        measure=partial(_measure, full_name, by_topic),
        version=hashlib.sha256(json.dumps(by_topic, sort_keys=True).encode()).hexdigest()[:16],
        scores=by_topic,
    )


def _measure(name: str, scores: Scores, query: QueryContext) -> Array:
    if query.qid is None:
        raise SettingError(
            f"{name} has scores of {len(scores)} topics, found a query that is none of them: "
            "expected one of its topics, by the run(topics) of a pipeline"
        )
    of_topic = scores.get(query.qid, {})
    return np.array([of_topic.get(docno, math.nan) for docno in query.documents.docnos])


def require_scores(table: FeatureTable) -> None:
    """Refuse an external feature that has no score for any row of a table."""
    for name, n_missing in count_missing_scores(table).items():
        if n_missing == table.n_rows:
            raise SettingError(
                f"{name} has no score for any of {n_missing:,} pairs of topic and document, "
                "expected the qids and docnos of the candidates"
            )


def describe_missing_scores(missing: Mapping[str, int], n_rows: int) -> list[str]:
    """A line for each external feature that lacks scores."""
    counted = missing.items()
    return [f"{name} is undefined for {count:,} of {n_rows:,} pairs, which have no score" for name, count in counted]


def count_missing_scores(table: FeatureTable) -> dict[str, int]:
    """How many rows of a table lack the score of each external feature, those that lack none left out."""
    counts = {name: int(np.isnan(table.column(name)).sum()) for name in table.names if is_external(name)}
    return {name: count for name, count in counts.items() if count}


def _columns(name: str, scores: Any) -> tuple[Sequence[Any] | Array, Sequence[Any] | Array, Sequence[Any] | Array]:
    """The qids, docnos and scores given from Python; in a DataFrame, scores may have the feature's name."""
    if is_dataframe(scores):
        wanted = {"qid": QID_NAMES, "docno": DOCNO_NAMES, "score": (name.partition(".")[2], *SCORE_NAMES, "value")}
        qids, docnos, values = (column(scores, each) for each in choose_columns(scores, wanted))
        return qids, docnos, values
    if isinstance(scores, Mapping):
        return flatten(name, scores)
    try:
        triples = [triple for item in scores for triple in _triples_of(item)]
    except (TypeError, ValueError):
        expected = "a mapping, triples of qid, docno, score, rankings, or a DataFrame"
        raise SettingError(f"{name}: found {type(scores).__name__}, expected {expected}") from None
    return [qid for qid, _, _ in triples], [docno for _, docno, _ in triples], [score for _, _, score in triples]


def _triples_of(item: Any) -> Iterable[tuple[Any, Any, Any]]:
    if isinstance(item, Ranking):
        return [(item.qid, docno, score) for docno, score in zip(item.docnos, item.scores, strict=True)]
    qid, docno, score = item
    return [(qid, docno, score)]


def _collect(rows: Iterable[tuple[str, str, Any, str]]) -> dict[str, dict[str, float]]:
    """Scores by qid and docno, from rows with their locations; NaN is a score that is not known."""
    scores: dict[str, dict[str, float]] = {}
    for qid, docno, value, location in rows:
        try:
            score = math.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise RecordError(location, f"expected a number as score, found {excerpt(str(value))}") from None
        if math.isinf(score):
            raise RecordError(location, f"score is {score}, expected a finite number")
        of_topic = scores.setdefault(qid, {})
        if docno in of_topic:
            raise DuplicateError(location, f"document {docno} of topic {qid} has two scores, expected one")
        of_topic[docno] = score
    return scores


def _read_scores(path: str | Path) -> dict[str, dict[str, float]]:
    file = single_file(path)
    with open_source_file(file, ReadingContext(ReadingNotes())) as opened:
        scores = _collect(_lines(opened))
    if not scores:
        raise SourceError(file.name, "holds no scores")
    return scores


def _lines(opened: OpenedFile) -> Iterator[tuple[str, str, str, str]]:
    separator: str | None = None
    chosen: tuple[int, int, int] | None = None
    n_columns = 0
    for number, line in opened.records():
        if not line.strip():
            continue
        if chosen is None:
            separator = "\t" if "\t" in line else "," if "," in line else None
        columns = [column.strip().strip('"') for column in line.split(separator)]
        if chosen is None:
            n_columns = len(columns)
            header = _read_header(columns)
            chosen = header or ((0, 2, 4) if n_columns == _RUN_COLUMNS else (0, 1, 2))
            if header:
                continue
        if len(columns) != n_columns or len(columns) not in (3, _RUN_COLUMNS):
            expected = f"{n_columns} columns" if n_columns in (3, _RUN_COLUMNS) else "3 columns, or the 6 of a run"
            raise RecordError(opened.location(number), f"expected {expected}, found {len(columns)}")
        qid, docno, score = (columns[place] for place in chosen)
        yield qid, docno, score, opened.location(number)


def _read_header(columns: list[str]) -> tuple[int, int, int] | None:
    """The places of qid, docno and score by a header of three columns; None for a line of scores."""
    names = [column.lower() for column in columns]
    qids = [place for place, name in enumerate(names) if name in QID_NAMES]
    docnos = [place for place, name in enumerate(names) if name in DOCNO_NAMES]
    if len(columns) != 3 or len(qids) != 1 or len(docnos) != 1:
        return None
    return qids[0], docnos[0], 3 - qids[0] - docnos[0]
