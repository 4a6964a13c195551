"""Which values flow through searchlab?

Documents come in, topics are asked, a run comes out. Their parts carry the names of the field:
`docno` names a document, `qid` a topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """One document: two texts to search, and whatever else is kept with it.

    `fields` holds plain JSON values. `place` says where the document was read ("docs.jsonl:17"), for
    messages; it is not part of the document's identity.
    """

    docno: str
    title: str = ""
    body: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Topic:
    """One information need: `text` is what is searched for, `fields` its other parts (desc, narr, …)."""

    qid: str
    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one topic retrieved, best first; equal scores stand in descending order of docno."""

    qid: str
    docnos: Sequence[str]
    scores: Sequence[float]


@dataclass(frozen=True, slots=True)
class TermStats:
    """What a collection knows of a term in one stream.

    `n_docs` documents hold `n_tokens` terms in all; `doc_freq` of them have this one, `term_count` times.
    """

    n_docs: int
    n_tokens: int
    doc_freq: int
    term_count: int

    @property
    def mean_length(self) -> float:
        """The average length of a document in the stream, documents without any text included."""
        return self.n_tokens / self.n_docs
