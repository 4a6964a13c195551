"""Datasets of the package ir_datasets.

`ir_datasets:cord19/trec-covid` names the documents, topics or judgments of that dataset, which the package downloads
and reads. The package is optional and imported only when such a name is used. Records are read by their keys, like JSON
lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from searchlab.corpus.parsing.keyed_records import keyed_document, keyed_topic
from searchlab.corpus.parsing.topic_parts import TopicParts
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.text_cleaning import clean, on_one_line, shown_path
from searchlab.errors import SourceError
from searchlab.records import Document

PREFIX = "ir_datasets:"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of ir_datasets; `name` is the name as the user wrote it."""

    name: str
    loaded: Any


def is_dataset(source: str | Path) -> bool:
    """Whether a source is the name of a dataset."""
    return str(source).startswith(PREFIX)


def find_dataset(source: str | Path) -> Dataset:
    """The dataset with this name; nothing is downloaded yet."""
    name = shown_path(source)
    try:
        ir_datasets = import_module("ir_datasets")
    except ImportError as error:
        message = 'needs the package ir-datasets: pip install "searchlab[datasets]"'
        raise SourceError(name, message) from error
    return Dataset(name, _call(name, lambda: ir_datasets.load(str(source).removeprefix(PREFIX))))


def read_dataset_documents(dataset: Dataset, reading: ReadingContext) -> Iterator[Document]:
    """The documents of the dataset."""
    records = _read_records(dataset, "documents", dataset.loaded.has_docs, lambda: dataset.loaded.docs_iter())
    return reading.parse_each(lambda record: keyed_document(*record), records)


def read_dataset_topics(dataset: Dataset, reading: ReadingContext) -> Iterator[TopicParts]:
    """The topics of the dataset."""
    records = _read_records(dataset, "topics", dataset.loaded.has_queries, lambda: dataset.loaded.queries_iter())
    return reading.parse_each(lambda record: keyed_topic(*record), records)


def read_dataset_qrels(dataset: Dataset) -> Iterator[tuple[str, dict[str, Any]]]:
    """The judgments of the dataset: the location of each, and its parts (query_id, doc_id, relevance)."""
    return _read_records(dataset, "judgments", dataset.loaded.has_qrels, lambda: dataset.loaded.qrels_iter())


def _read_records(
    dataset: Dataset, kind: str, has_any: Callable[[], bool], iterate: Callable[[], Iterable[Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if not _call(dataset.name, has_any):
        raise SourceError(dataset.name, f"this dataset has no {kind}")
    records = _call(dataset.name, lambda: iter(iterate()))
    end = object()
    number = 0
    while (record := _call(dataset.name, lambda: next(records, end))) is not end:
        number += 1
        yield f"{dataset.name}:{number}", _plain(record._asdict())


def _call(name: str, function: Callable[[], Any]) -> Any:
    """Call ir_datasets, which downloads files and can raise any kind of error."""
    try:
        return function()
    except Exception as error:
        message = on_one_line(str(error)) or "no reason given"
        raise SourceError(name, f"cannot be read by ir_datasets ({type(error).__name__}: {message})") from error


def _plain(value: Any) -> Any:
    """`value` as plain JSON: records of ir_datasets are named tuples, some with nested tuples or bytes."""
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {clean(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return clean(value.decode("utf-8", "replace"))
    if value is None or isinstance(value, bool | int | float):
        return value
    return clean(str(value))
