"""Access to the Whoosh index of a shard through Whoosh's reader, for one thread at a time.

Whoosh's own `open_dir` unpickles a table of contents, which can run any code. Here the schema comes from the manifest
and the segment from the names of its files, and the pickles of the segment are read as plain values (`plain_pickle`):
an index of an unknown origin can be examined.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from whoosh.codec.whoosh3 import W3Codec, W3Segment
from whoosh.filedb.filestore import FileStorage
from whoosh.reading import SegmentReader

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexCorrupt
from searchlab.indexing.whoosh.plain_pickle import plain_pickles
from searchlab.indexing.whoosh.schema import make_schema

# Whoosh's name of an index in a folder, which begins the names of its files.
INDEX_NAME = "MAIN"


@contextmanager
def open_whoosh(folder: Path, settings: AnalysisSettings, n_docs: int) -> Iterator[Any]:
    """Whoosh's reader of the index in `folder`, which has one segment of `n_docs` documents.

    Damaged files can raise anything in Whoosh.
    """
    postings = [*folder.glob(f"{INDEX_NAME}_*{W3Codec.POSTS_EXT}")]
    if len(postings) != 1:
        raise IndexCorrupt(f"{folder}: {len(postings)} files of postings, expected one")
    segment_id = postings[0].stem.removeprefix(f"{INDEX_NAME}_")
    segment = W3Segment(W3Codec(), INDEX_NAME, n_docs, segment_id)
    storage = FileStorage(str(folder), readonly=True)
    with plain_pickles(), closing(SegmentReader(storage, make_schema(settings), segment)) as reader:
        yield reader
