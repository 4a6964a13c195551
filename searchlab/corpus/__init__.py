"""Reading documents, topics, judgments and runs from files.

`read_documents` and `read_topics` stream records out of files; each format is one module, and two registries list the
formats. `find_collection` finds the files of a test collection in a folder.
"""

from searchlab.corpus.collection import Collection, find_collection
from searchlab.corpus.documents import DOCUMENT_FORMATS, read_documents
from searchlab.corpus.reading_notes import ReadingNotes, SkippedFile
from searchlab.corpus.trec.qrels import Qrels, read_qrels
from searchlab.corpus.trec.runs import Run, read_run
from searchlab.corpus.trec.topics import TOPIC_FORMATS, read_topics

__all__ = [
    "DOCUMENT_FORMATS",
    "TOPIC_FORMATS",
    "Collection",
    "Qrels",
    "ReadingNotes",
    "Run",
    "SkippedFile",
    "find_collection",
    "read_documents",
    "read_qrels",
    "read_run",
    "read_topics",
]
