"""Document formats that a user writes in Python.

    @searchlab.document_format("fasta", "FASTA, > name and sequence", suffixes=[".fa"])
    def read_fasta(opened):
        for number, line in opened.lines():
            ...
            yield {"docno": name, "body": sequence}

The function gets a file that is open for reading and yields dicts or `Document`s. The format is then known by its name
(`--format fasta`), and detected by its suffixes or by a function of the beginning of the file.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from searchlab.corpus.detection import Format
from searchlab.corpus.documents import DOCUMENT_FORMAT, DOCUMENT_FORMATS
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.values.document_values import make_document
from searchlab.errors import InputError, RecordError, SettingError, SourceError
from searchlab.extensions import failure, register
from searchlab.records import Document

ReadFunction = Callable[[OpenedFile], Iterable[Any]]
F = TypeVar("F", bound=ReadFunction)


def document_format(
    name: str,
    description: str,
    *,
    suffixes: Iterable[str] = (),
    recognises: Callable[[OpenedFile], bool] | None = None,
) -> Callable[[F], F]:
    """Register a function that reads the documents of an opened file.

    A file whose name ends in one of `suffixes` (".fa"; ".fa.gz" as well) has the format, and so has one that
    `recognises` returns True for; it can look at `opened.head`. Without both, the format is chosen by its name only.
    """
    endings = frozenset([suffixes] if isinstance(suffixes, str) else suffixes)
    if not all(isinstance(ending, str) and ending.startswith(".") and len(ending) > 1 for ending in endings):
        raise SettingError(f"document format {name}: suffixes is {suffixes!r}, expected some such as '.xyz'")
    if not isinstance(description, str) or len(description.splitlines()) != 1:
        raise SettingError(f"document format {name}: description is {description!r}, expected a line of text")
    if recognises is not None and not callable(recognises):
        raise SettingError(f"document format {name}: recognises is {recognises!r}, expected a function")
    lowered = {ending.lower() for ending in endings}

    def recognise(opened: OpenedFile) -> bool:
        if opened.suffix in lowered:
            return True
        try:
            return recognises is not None and bool(recognises(opened))
        except Exception as error:
            raise failure(f"{opened.name}: document format {name} failed", recognises, error) from error

    def add(function: F) -> F:
        if not inspect.isfunction(function):
            raise SettingError(f"document format {name} is {type(function).__name__}, expected a function")
        made = Format(description, recognise, lambda opened: _read(name, function, opened))
        register(DOCUMENT_FORMATS, DOCUMENT_FORMAT, name, made, function)
        return function

    return add


def _read(name: str, function: ReadFunction, opened: OpenedFile) -> Iterator[Document]:
    """The documents that a user's function reads, checked; one that is malformed is a bad record."""
    located = ((f"{opened.name}: document {number}", item) for number, item in _items(name, function, opened))
    return opened.reading.parse_each(lambda pair: make_document(pair[1], pair[0]), located)


def _items(name: str, function: ReadFunction, opened: OpenedFile) -> Iterator[tuple[int, Any]]:
    try:
        found = function(opened)
        if not isinstance(found, Iterable) or isinstance(found, dict | str | Document):
            what = f"returned {type(found).__name__}, expected documents: dicts or Documents, by yield or in a list"
            raise SourceError(opened.name, f"document format {name} {what}")
        yield from enumerate(found, start=1)
    except RecordError as error:
        # The function has ended: what the file has after this record is lost.
        opened.reading.reject(error)
    except (InputError, OSError, EOFError, zlib.error, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise failure(f"{opened.name}: document format {name} failed", function, error) from error
