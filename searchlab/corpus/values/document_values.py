"""Documents that are given as values: dicts, `Document`s, or the rows of a DataFrame.

Keys are chosen as in JSON lines (see `keyed_records`), or named by the caller. Documents are streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.parsing.keyed_records import DOCNO_KEYS, keyed_document
from searchlab.corpus.text_cleaning import clean
from searchlab.corpus.values.plain_values import describe_type, plain_record, refuse_float_id
from searchlab.errors import RecordError, SettingError, SourceError, name_some
from searchlab.records import Document

EXPECTED = "expected files, folders, or documents: dicts, Documents or a DataFrame"


@dataclass(frozen=True)
class DocumentValues:
    """Documents given as values; `fields` has the key of the docno, the title, the body or another field, by its name.

    `can_repeat` is whether they can be read twice.
    """

    read_items: Callable[[], Iterable[Any]]
    fields: Mapping[str, str]
    can_repeat: bool

    def read(self) -> Iterator[Document]:
        """Stream the documents; an item that is no document is an error that names its position."""
        unseen = set(self.fields.values())
        n_items = 0
        for n_items, item in enumerate(self.read_items(), start=1):
            if unseen and isinstance(item, Mapping):
                unseen.difference_update(item)
            yield make_document(self._rename(item), f"document {n_items}")
        if unseen and n_items:
            raise SourceError("fields", f"no document has {name_some(sorted(unseen))}, expected the keys of documents")

    def _rename(self, item: Any) -> Any:
        """The item under the keys that `keyed_records` knows."""
        if not self.fields or not isinstance(item, Mapping):
            return item
        renamed = {key: value for key, value in item.items() if key not in self.fields.values()}
        return renamed | {name: item[key] for name, key in self.fields.items() if key in item}


def make_document(item: Any, location: str) -> Document:
    """The document of a dict or a `Document`, checked; anything else is a RecordError."""
    if isinstance(item, Document):
        return _check_document(item, location)
    if not isinstance(item, Mapping):
        raise RecordError(location, f"expected a dict or a Document, found {describe_type(item)}")
    record = plain_record(item, location)
    refuse_float_id(record, "docno", DOCNO_KEYS, location)
    return keyed_document(location, record)


def split_sources(
    sources: Any, fields: Mapping[str, str] | None = None
) -> tuple[list[str | Path], DocumentValues | None]:
    """What is to be indexed: the paths of files and folders, or documents given as values."""
    from searchlab.dataframes import column_names, frame_hint, is_dataframe, refuse_id_in_index, rows

    wanted = _check_fields(fields)
    if isinstance(sources, str | Path):
        return _check_paths([sources]), None
    if is_dataframe(sources):
        missing = [key for key in wanted.values() if key not in column_names(sources)]
        if missing:
            found = ", ".join(map(str, column_names(sources)))
            raise SettingError(
                f"fields names {name_some(missing)}, but the DataFrame has the columns {found}"
                f"{_turn_hint(wanted, column_names(sources))}"
            )
        refuse_id_in_index(sources, "docno", [wanted.get(key, key) for key in DOCNO_KEYS])
        return [], DocumentValues(lambda: rows(sources), wanted, can_repeat=True)
    hint = frame_hint(sources)
    if hint or isinstance(sources, Mapping | Document | bytes) or not isinstance(sources, Iterable):
        raise SettingError(f"{EXPECTED}; found {describe_type(sources)}, not a list of them{hint}")
    items = iter(sources)
    first = next(items, None)
    if first is None or isinstance(first, str | Path):
        return _check_paths([] if first is None else [first, *items]), None
    if items is sources:
        return [], DocumentValues(lambda: chain([first], items), wanted, can_repeat=False)
    return [], DocumentValues(lambda: sources, wanted, can_repeat=True)


def _check_paths(paths: list[Any]) -> list[str | Path]:
    for position, path in enumerate(paths, start=1):
        if not isinstance(path, str | Path):
            raise SettingError(f"source {position} is {describe_type(path)}, expected a path, as the first one")
    return paths


def _check_fields(fields: Any) -> dict[str, str]:
    if fields is None:
        return {}
    if not isinstance(fields, Mapping) or not all(isinstance(part, str) for item in fields.items() for part in item):
        raise SettingError(f"fields is {fields!r}, expected a dict of names and keys such as {{'title': 'Title'}}")
    return dict(fields)


def _turn_hint(fields: Mapping[str, str], columns: list[Any]) -> str:
    """How `fields` would be the other way round, for one that renames columns as pandas does; or nothing."""
    turned = {("docno" if name in DOCNO_KEYS else name): key for key, name in fields.items() if key in columns}
    return f"; fields has the column of each name, as in fields={turned}" if turned else ""


def _check_document(document: Document, location: str) -> Document:
    for name in ("docno", "title", "body"):
        if not isinstance(getattr(document, name), str):
            raise RecordError(location, f"expected text as {name}, found {describe_type(getattr(document, name))}")
    if not isinstance(document.fields, Mapping):
        raise RecordError(location, f"expected a dict as fields, found {describe_type(document.fields)}")
    return Document(
        check_name("docno", document.docno, location),
        clean(document.title),
        clean(document.body),
        plain_record(document.fields, location),
        document.location or location,
    )
