"""One cluster of two worker processes for all tests of this folder, one that outlives its clients, and documents."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from searchlab import Cluster
from searchlab.cluster import local_processes
from searchlab.cluster.local_processes import LocalProcesses
from searchlab.records import Document, Topic

WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster("local:2") as connected:
        yield connected


@pytest.fixture(scope="session")
def external() -> Iterator[LocalProcesses]:
    """A scheduler with a worker, as Dask's users start them; clients come and go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_processes, "DASK_SETTINGS", {})
        processes = LocalProcesses(1)
    try:
        yield processes
    finally:
        processes.close()


@pytest.fixture(scope="session")
def documents() -> list[Document]:
    """Documents of few words, so that many scores are equal, with a copy of every tenth under another docno."""
    draw = random.Random(7)
    made = [
        Document(f"d{number:03}", draw.choice(WORDS), " ".join(draw.choices(WORDS, k=draw.randint(1, 12))))
        for number in range(300)
    ]
    return [*made, *(Document(f"copy-{each.docno}", each.title, each.body) for each in made[::10])]


@pytest.fixture(scope="session")
def topics() -> list[Topic]:
    draw = random.Random(8)
    texts = [*(" ".join(draw.choices(WORDS, k=draw.randint(1, 5))) for _ in range(40)), "nothing", ""]
    return [Topic(str(number), text) for number, text in enumerate(texts)]


@pytest.fixture(scope="session")
def folder(build, documents) -> Path:
    """An index in several shards."""
    return build(documents, words_per_shard=400)
