"""The test collection that an index was built from: its topics and judgments.

The manifest of an index records its sources; a source that is the folder of a collection has topics and judgments
beside the documents, which are used if no others are named.
"""

from __future__ import annotations

from pathlib import Path

from searchlab.corpus import Collection, find_collection
from searchlab.indexing.storage.manifest import read_index_manifest


def source_collection(folder: Path, *, with_qrels: bool = False) -> Collection | None:
    """The first collection with topics, and with judgments if `with_qrels`, that the index in `folder` was built from.

    None if no source is such a collection, or none exists any longer.
    """
    for source in read_index_manifest(folder).sources:
        collection = find_collection(source)
        if collection is not None and collection.topics and (collection.qrels or not with_qrels):
            return collection
    return None
