"""Meta files of LETOR 3.0: the counts that its features were computed from.

`Meta/collectioninfo.xml` has the sizes of the collection, `Meta/query-*.xml` the statistics of each query's terms and
their frequencies in its documents, for the streams title, abstract, and both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SourceError
from searchlab.features.counts import Counts, bare_counts
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import TermStats

COLLECTION_FILE = "collectioninfo.xml"


@dataclass(frozen=True, eq=False)
class QueryCounts:
    """A query: the counts of its terms in its documents."""

    qid: str
    counts: Counts
    docnos: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MetaFiles:
    """The number of documents of the collection, and all queries in the order of their numbers."""

    n_docs: int
    queries: tuple[QueryCounts, ...]


def has_meta_files(folder: Path) -> bool:
    """Whether a folder has Meta files."""
    return (folder / "Meta" / COLLECTION_FILE).is_file()


def read_meta_files(folder: Path) -> MetaFiles:
    """Read `Meta` in a folder of LETOR 3.0."""
    meta = folder / "Meta"
    collection = _parse(meta / COLLECTION_FILE)
    path = meta / COLLECTION_FILE
    n_docs = _number(collection, "docnum", path)
    n_tokens = [_number(stream, "totaltermnum", path) for stream in _streams(collection, path)]
    queries = sorted(_read_queries(meta, n_docs, n_tokens), key=lambda query: (len(query.qid), query.qid))
    if not queries:
        raise SourceError(shown_path(meta), "expected files query-1.xml, query-2.xml, …, found none")
    return MetaFiles(n_docs, tuple(queries))


def _read_queries(meta: Path, n_docs: int, n_tokens: list[int]) -> Iterator[QueryCounts]:
    for path in sorted(meta.glob("query-*.xml")):
        query = _parse(path)
        terms = [_streams(term, path) for term in query.findall("terminfo/term")]
        documents = query.findall("docinfo/doc")
        texts = [_streams(document, path) for document in documents]
        streams = {}
        for place, name in enumerate(STREAMS):
            own = [text[place] for text in texts]
            frequencies = [[_number(term, "termfrequency", path) for term in text.findall("term")] for text in own]
            if any(len(row) != len(terms) for row in frequencies):
                raise SourceError(shown_path(path), f"expected {len(terms)} terms in each stream of a document")
            streams[name] = (
                np.array(frequencies).T,
                np.array([_number(text, "length", path) for text in own]),
                np.array([_number(text, "uniquelength", path) for text in own]),
                [
                    TermStats(
                        n_docs,
                        n_tokens[place],
                        _number(term[place], "streamfrequency", path),
                        _number(term[place], "streamtermfrequency", path),
                    )
                    for term in terms
                ],
            )
        words = [_text(term, "word", path) for term in query.findall("terminfo/term")]
        docnos = tuple(_text(document, "docid", path) for document in documents)
        yield QueryCounts(_text(query, "id", path), bare_counts(words, streams), docnos)


def _parse(path: Path) -> ElementTree.Element:
    try:
        return ElementTree.parse(path).getroot()
    except OSError as error:
        raise SourceError(shown_path(path), error.strerror or str(error)) from error
    except ElementTree.ParseError as error:
        raise SourceError(shown_path(path), f"not an XML file ({error})") from None


def _streams(element: ElementTree.Element, path: Path) -> list[ElementTree.Element]:
    found = element.findall("stream")
    if len(found) != len(STREAMS):
        raise SourceError(shown_path(path), f"expected {len(STREAMS)} streams, found {len(found)}")
    return found


def _text(element: ElementTree.Element, name: str, path: Path) -> str:
    text = element.findtext(name)
    if text is None:
        raise SourceError(shown_path(path), f"expected {name} in {element.tag}, found none")
    return text.strip()


def _number(element: ElementTree.Element, name: str, path: Path) -> int:
    text = _text(element, name, path)
    if not text.isdecimal():
        raise SourceError(shown_path(path), f"{name} is {text!r}, expected a whole number")
    return int(text)
