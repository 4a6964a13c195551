"""Small indexes for tests of artefacts: semantic spaces and topic models.

"car" and "auto" never occur together but share their contexts; so do "fruit" and "apple".
"""

from searchlab.indexing.building.indexer import build_index
from searchlab.records import Document

CARS = ["car engine wheel road", "auto engine wheel road", "car road engine", "auto wheel road"]
FRUIT = ["fruit tree juice sweet", "apple tree juice sweet", "fruit sweet juice", "apple tree sweet"]
WORDS = ["apple", "auto", "car", "engine", "fruit", "juice", "road", "sweet", "tree", "wheel"]


def documents(texts, prefix="d"):
    """Documents with these texts as bodies, d0000, d0001, …"""
    return [Document(f"{prefix}{number:04}", "", text) for number, text in enumerate(texts)]


def build_cars_and_fruit(build, folder):
    """An index of eight documents in several shards."""
    return build(documents(CARS + FRUIT), folder=folder, words_per_shard=12)


def add(folder, new, **options):
    """Add documents to an index."""
    build_index(lambda: iter(new), folder, jobs=1, **options)
