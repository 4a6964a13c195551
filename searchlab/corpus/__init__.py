"""Reading documents, topics, judgments and runs from files.

`read_documents` and `read_topics` stream records out of files; each format is one module, and two registries list the
formats. `find_collection` finds the files of a test collection in a folder.

Names are loaded when they are first used: a search needs some modules of this room, but none of the formats.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from searchlab.corpus.collection import Collection as Collection
    from searchlab.corpus.collection import find_collection as find_collection
    from searchlab.corpus.documents import DOCUMENT_FORMATS as DOCUMENT_FORMATS
    from searchlab.corpus.documents import read_documents as read_documents
    from searchlab.corpus.reading_notes import ReadingNotes as ReadingNotes
    from searchlab.corpus.reading_notes import SkippedFile as SkippedFile
    from searchlab.corpus.trec.qrels import Qrels as Qrels
    from searchlab.corpus.trec.qrels import read_qrels as read_qrels
    from searchlab.corpus.trec.runs import Run as Run
    from searchlab.corpus.trec.runs import read_run as read_run
    from searchlab.corpus.trec.topics import TOPIC_FORMATS as TOPIC_FORMATS
    from searchlab.corpus.trec.topics import read_topics as read_topics

_HOMES = {
    "searchlab.corpus.collection": ("Collection", "find_collection"),
    "searchlab.corpus.documents": ("DOCUMENT_FORMATS", "read_documents"),
    "searchlab.corpus.reading_notes": ("ReadingNotes", "SkippedFile"),
    "searchlab.corpus.trec.qrels": ("Qrels", "read_qrels"),
    "searchlab.corpus.trec.runs": ("Run", "read_run"),
    "searchlab.corpus.trec.topics": ("TOPIC_FORMATS", "read_topics"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'searchlab.corpus' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value
