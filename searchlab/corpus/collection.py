"""Test collections: the documents, topics and judgments (qrels) in a folder.

Two layouts are recognised, and mixtures of them:

    docs.*, documents.* or corpus.*    topics*.* or queries*.*    qrels*.*
    corpus.jsonl                       queries.jsonl              qrels/*.tsv      (BEIR)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SourceError

DOCUMENT_NAMES = frozenset({"docs", "documents", "corpus"})
TOPIC_NAMES = ("topics", "queries")
QRELS_NAME = "qrels"
# BEIR has one file of judgments a split; its published results are those of this split.
MAIN_SPLIT = "test"


@dataclass(frozen=True, slots=True)
class Collection:
    """The files of a test collection; the main file of topics, and of judgments, comes first."""

    folder: Path
    documents: Path
    topics: tuple[Path, ...] = ()
    qrels: tuple[Path, ...] = ()


def find_collection(folder: str | Path) -> Collection | None:
    """The collection in `folder`; None if it is not a folder or does not have exactly one file of documents."""
    folder = Path(folder)
    try:
        if not folder.is_dir():
            return None
        documents = _documents_file(folder)
        if documents is None:
            return None
        files = [path for path in visible_entries(folder) if path.is_file()]
        topics = [path for path in files if path.name.startswith(TOPIC_NAMES)]
        qrels = [path for path in files if path.name.startswith(QRELS_NAME)]
        return Collection(folder, documents, _main_first(topics), _main_first(qrels) + _main_first(_splits(folder)))
    except OSError as error:
        raise SourceError(shown_path(error.filename or folder), error.strerror or str(error)) from error


def _documents_file(folder: Path) -> Path | None:
    """The only file directly in `folder` with a name for documents; None if there is none, or more than one."""
    files = [path for path in visible_entries(folder) if _stem(path) in DOCUMENT_NAMES and path.is_file()]
    return files[0] if len(files) == 1 else None


def visible_entries(folder: Path) -> list[Path]:
    """The files and folders directly in `folder` that are not hidden, sorted."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def hidden_entries(folder: Path) -> list[Path]:
    """The files and folders directly in `folder` that are hidden, sorted."""
    return sorted(path for path in folder.iterdir() if path.name.startswith("."))


def _splits(folder: Path) -> list[Path]:
    inner = folder / QRELS_NAME
    if not inner.is_dir():
        return []
    return [
        path for path in visible_entries(inner) if path.is_file() and path.name.removesuffix(".gz").endswith(".tsv")
    ]


def _main_first(paths: Iterable[Path]) -> tuple[Path, ...]:
    main = {*TOPIC_NAMES, QRELS_NAME, MAIN_SPLIT}
    return tuple(sorted(paths, key=lambda path: (_stem(path) not in main, path.name)))


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]
