"""What does the manifest of a semantic space say?

The space is an artefact in the folder `semantic` of the index (see `artefacts`): its terms' file holds the terms, their
idf, and V; its vectors are U·Σ.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from searchlab.indexing.storage import artefacts

FOLDER = "semantic"


@dataclass(frozen=True)
class SpaceRecord(artefacts.ArtefactRecord):
    """How and from what a space was made, and its files."""

    dims: int
    seed: int
    made: str
    fingerprint: str
    n_docs: int
    n_terms: int
    mean_length: float

    @classmethod
    def remedy(cls, home: Path) -> str:
        """What to do about a space that cannot be read."""
        return f"`searchlab semantic -i {home.parent}` makes it anew"

    @classmethod
    def missing(cls, home: Path) -> str:
        """What is said where there is none."""
        return f"{home.parent}: no semantic space; `searchlab semantic -i {home.parent}` makes one"


def read_record(home: Path) -> SpaceRecord:
    """The committed record of the space in `home`."""
    return artefacts.read_artefact_record(home, SpaceRecord)
