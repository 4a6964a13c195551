"""The manifest of a semantic space.

The space is an artefact in the folder `semantic` of the index (see `artefacts`): its terms' file holds the terms, their
idf, and V; its vectors are U·Σ.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from searchlab.indexing.storage.artefacts import ArtefactRecord, checked_origin
from searchlab.json_records import MAX_INTEGER, finite_number, one_line, whole_number

FOLDER = "semantic"
MAX_DIMS = 500
# Less than one word in a billion documents.
MIN_MEAN_LENGTH = 1e-9


@dataclass(frozen=True)
class SpaceRecord(ArtefactRecord):
    """The settings and the index that a space was made from, and its files."""

    dims: int
    seed: int
    made: str
    fingerprint: str
    n_docs: int
    n_terms: int
    mean_length: float

    @property
    def analysis_fingerprint(self) -> str:
        """The fingerprint of the analysis settings of the index that the space was made from."""
        return self.fingerprint

    @classmethod
    def checked(cls, record: dict[str, Any]) -> dict[str, Any]:
        """The values of a record that was read."""
        return {
            **checked_origin(record),
            "dims": whole_number(record, "dims", 1, MAX_DIMS),
            "fingerprint": one_line(record, "fingerprint"),
            "mean_length": finite_number(record, "mean_length", MIN_MEAN_LENGTH, MAX_INTEGER),
        }

    @classmethod
    def remedy(cls, home: Path) -> str:
        """What to do about a space that cannot be read."""
        return f"`searchlab semantic -i {home.parent}` rebuilds it"

    @classmethod
    def missing(cls, home: Path) -> str:
        """The message if there is none."""
        return f"{home.parent}: no semantic space; `searchlab semantic -i {home.parent}` makes one"
