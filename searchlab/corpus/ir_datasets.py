"""How do the collections of ir_datasets get in?

`ir_datasets:cord19/trec-covid` stands for the documents or topics of that dataset, which the package
ir_datasets fetches and reads. It is an extra, imported only when such a name is given. The parts of its
records have names, which are understood as the keys of JSON lines are.
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
    """A dataset that ir_datasets knows; `name` is what the user wrote."""

    name: str
    loaded: Any


def is_dataset(given: str | Path) -> bool:
    """Whether a source is to be had from ir_datasets."""
    return str(given).startswith(PREFIX)


def find_dataset(given: str | Path) -> Dataset:
    """The dataset of this name; nothing is fetched yet."""
    name = shown_path(given)
    try:
        ir_datasets = import_module("ir_datasets")
    except ImportError as error:
        message = 'needs the package ir-datasets: pip install "searchlab[datasets]"'
        raise SourceError(name, message) from error
    return Dataset(name, _asked(name, lambda: ir_datasets.load(str(given).removeprefix(PREFIX))))


def read_dataset_documents(dataset: Dataset, reading: ReadingContext) -> Iterator[Document]:
    """The documents of the dataset."""
    drawn = _drawn(dataset, "documents", dataset.loaded.has_docs, lambda: dataset.loaded.docs_iter())
    return reading.parse_each(lambda record: keyed_document(*record), drawn)


def read_dataset_topics(dataset: Dataset, reading: ReadingContext) -> Iterator[TopicParts]:
    """The topics of the dataset."""
    drawn = _drawn(dataset, "topics", dataset.loaded.has_queries, lambda: dataset.loaded.queries_iter())
    return reading.parse_each(lambda record: keyed_topic(*record), drawn)


def read_dataset_qrels(dataset: Dataset) -> Iterator[tuple[str, dict[str, Any]]]:
    """The judgments of the dataset: where each stands, and its parts (query_id, doc_id, relevance)."""
    return _drawn(dataset, "judgments", dataset.loaded.has_qrels, lambda: dataset.loaded.qrels_iter())


def _drawn(
    dataset: Dataset, kind: str, has_any: Callable[[], bool], draw: Callable[[], Iterable[Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if not _asked(dataset.name, has_any):
        raise SourceError(dataset.name, f"this dataset has no {kind}")
    records = _asked(dataset.name, lambda: iter(draw()))
    end = object()
    number = 0
    while (record := _asked(dataset.name, lambda: next(records, end))) is not end:
        number += 1
        yield f"{dataset.name}:{number}", _plain(record._asdict())


def _asked(name: str, question: Callable[[], Any]) -> Any:
    """The answer of ir_datasets, which fetches files and may fail in any way that the net can."""
    try:
        return question()
    except Exception as error:
        message = on_one_line(str(error)) or "no reason given"
        raise SourceError(name, f"cannot be had from ir_datasets ({type(error).__name__}: {message})") from error


def _plain(value: Any) -> Any:
    """`value` as plain JSON: its records are named tuples, some of which hold others, or bytes."""
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
