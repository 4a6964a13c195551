"""Where do topics and judgments come from, if none are named? From the collection that was indexed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from searchlab.cli.app import note
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.corpus import Collection


def own_collection(folder: Path) -> Collection | None:
    """The first collection with topics that an index was made from."""
    from searchlab.indexing.places import collections_of

    return next((collection for collection in collections_of(folder) if collection.topics), None)


def own_topics(folder: Path) -> str:
    """The topics of the collection that an index was made from."""
    collection = own_collection(folder)
    if collection is None:
        raise SettingError(f"{folder}: its sources have no topics; expected a file of topics")
    note(f"topics: {collection.topics[0]}")
    return str(collection.topics[0])
