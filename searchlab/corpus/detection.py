"""Format detection: the first format of a registry that recognises the head of a file.

The content decides; the name of the file is used only where the content cannot decide (Markdown, tables).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from searchlab.corpus.extraction.recognition import explain_binary
from searchlab.corpus.file_ranges import SplitFile
from searchlab.corpus.source_files import OpenedFile
from searchlab.errors import SourceError, unknown_name

Record = TypeVar("Record")


def explains_nothing(opened: OpenedFile) -> str | None:
    """The explanation of a format for which no other file can be mistaken."""
    return None


@dataclass(frozen=True, slots=True)
class Format(Generic[Record]):
    """A file format: how it is recognised and read, and why a file that looks like it cannot be.

    A file of `one_document` has the path as its docno, so that this is known even if the file cannot be read. `split`
    divides a large file into ranges with the records of the whole (see `file_ranges`).
    """

    description: str
    recognises: Callable[[OpenedFile], bool]
    read: Callable[[OpenedFile], Iterator[Record]]
    explain: Callable[[OpenedFile], str | None] = explains_nothing
    one_document: bool = False
    split: SplitFile | None = None


def recognises_never(opened: OpenedFile) -> bool:
    """The recogniser of a format that must be chosen by name, because another one has the same content."""
    return False


def named_format(name: str | None, formats: Mapping[str, Format[Record]]) -> Format[Record] | None:
    """The format with this name; None if `name` is None."""
    if name is None:
        return None
    if name not in formats:
        raise unknown_name("format", name, formats)
    return formats[name]


def detect_format(opened: OpenedFile, formats: Mapping[str, Format[Record]]) -> Format[Record] | None:
    """The first format that recognises the content, None if there is none."""
    if opened.is_blank:
        return None
    return next((format for format in formats.values() if format.recognises(opened)), None)


def unrecognised_reason(opened: OpenedFile, formats: Mapping[str, Format[Record]]) -> str:
    """Why no format recognises a file."""
    if opened.is_blank:
        return "empty"
    if known := explain_binary(opened):
        return known
    if "\0" in opened.head:
        return "binary content"
    explained = next(filter(None, (format.explain(opened) for format in formats.values())), None)
    if explained:
        return explained
    return f"unknown format, suffix {opened.suffix}" if opened.suffix else "unknown format"


def unrecognised_error(opened: OpenedFile, formats: Mapping[str, Format[Record]]) -> SourceError:
    """The error for a file that no format recognises."""
    known = ", ".join(sorted(formats))
    return SourceError(opened.name, f"{unrecognised_reason(opened, formats)}; expected one of {known} (see --format)")
