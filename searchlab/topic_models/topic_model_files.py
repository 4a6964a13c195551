"""Files of topic models: their folder in an index, and the record in their manifest.

Each topic model is an artefact in a folder of the index, `topics/NAME`, with its manifest and lock (see `artefacts`);
by default the name is the method, `topics/plsa` or `topics/wtm`. The terms file holds what was learnt: the terms,
P(w|T), P(w|C), P(T), the digests of the training documents with their P(T|D) (PLSA), or P(T|w) (WTM). The vectors of a
shard are the P(T|D) of its documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from searchlab.errors import SettingError
from searchlab.indexing.storage.artefacts import ArtefactRecord, checked_origin
from searchlab.json_records import MAX_INTEGER, finite_number, one_line, whole_number
from searchlab.topic_models.plsa import MAX_TOPICS

FOLDER = "topics"
METHODS = ("plsa", "wtm")


@dataclass(frozen=True)
class TopicModelRecord(ArtefactRecord):
    """How and from what a topic model was made, and its files.

    `alpha` and `beta` are the weights of the scorer that were trained with the model; -1 if none were.
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

    @property
    def analysis_fingerprint(self) -> str:
        """The fingerprint of the analysis settings of the index that the topics were learnt from."""
        return self.analysis

    @classmethod
    def checked(cls, record: dict[str, Any]) -> dict[str, Any]:
        """The values of a record that was read."""
        if record["method"] not in METHODS:
            raise ValueError("found another method")
        return {
            **checked_origin(record),
            "n_topics": whole_number(record, "n_topics", 1, MAX_TOPICS),
            "analysis": one_line(record, "analysis"),
            "temperature": finite_number(record, "temperature", 0, 1),
            "perplexity": finite_number(record, "perplexity", 0, MAX_INTEGER),
            "alpha": finite_number(record, "alpha", -1, 1),
            "beta": finite_number(record, "beta", -1, 1),
        }

    @classmethod
    def remedy(cls, home: Path) -> str:
        """How to repair a topic model that cannot be read."""
        return f"`{_command(home)} --rebuild` makes a new one"

    @classmethod
    def missing(cls, home: Path) -> str:
        """The message for an index without this topic model."""
        return f"{home.parent.parent}: no topic model {home.name!r}; `{_command(home)}` makes one"

    @property
    def fingerprint(self) -> str:
        """An identifier of what was learnt: the method, the number of latent topics, and a checksum."""
        return f"{self.method}-{self.n_topics}-{self.files[self.terms][1]:08x}"


def _command(home: Path) -> str:
    method = home.name.partition("-")[0]
    return f"searchlab topic-model -i {home.parent.parent} --method {method if method in METHODS else METHODS[0]}"


def topic_model_folder(folder: Path, name: str) -> Path:
    """The folder of a topic model of an index."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,40}", name):
        raise SettingError(f"topic model {name!r}, expected a name of lower-case letters, digits, _ and -")
    return folder / FOLDER / name
