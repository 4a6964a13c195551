"""Where are topics kept, and what does their manifest say?

In a folder `topics` of the index, each kind under its name, as an artefact with manifest and lock of its own (see
`artefacts`): `topics/plsa`, `topics/wtm`. The terms' file holds what was learnt: the terms, P(w|T), P(w|C), P(T), the
documents by their digests with P(T|D) if it was learnt, and P(T|w) if words have topics. The vectors of a shard are the
P(T|D) of its documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from searchlab.errors import SettingError
from searchlab.indexing.storage.artefacts import ArtefactRecord

FOLDER = "topics"
METHODS = ("plsa", "wtm")


@dataclass(frozen=True)
class TopicRecord(ArtefactRecord):
    """How and from what topics were made, and their files.

    `alpha` and `beta` are the weights that were trained with the topics of documents; -1 where nothing was trained.
    """

    method: str
    n_topics: int
    seed: int
    made: str
    analysis: str
    n_docs: int
    n_terms: int
    temperature: float
    perplexity: float
    alpha: float = -1.0
    beta: float = -1.0

    @classmethod
    def remedy(cls, home: Path) -> str:
        """What to do about topics that cannot be read."""
        return f"`{_command(home)} --rebuild` makes them anew"

    @classmethod
    def missing(cls, home: Path) -> str:
        """What is said where there are none."""
        return f"{home.parent.parent}: no topics {home.name!r}; `{_command(home)}` makes them"

    @property
    def fingerprint(self) -> str:
        """What tells these topics from all others: their kind and number, and a checksum of what was learnt."""
        return f"{self.method}-{self.n_topics}-{self.files[self.terms][1]:08x}"


def _command(home: Path) -> str:
    method = home.name.partition("-")[0]
    return f"searchlab topics -i {home.parent.parent} --method {method if method in METHODS else METHODS[0]}"


def home_of(folder: Path, name: str) -> Path:
    """Where the topics of an index with this name are kept."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,40}", name):
        raise SettingError(f"topics are called {name!r}, expected a word of small letters, digits and hyphens")
    return folder / FOLDER / name
