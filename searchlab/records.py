"""Which values flow through searchlab?

Documents come in, topics are asked, a run comes out. Their parts carry the names of the field:
`docno` names a document, `qid` a topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Relevance grades by qid, then docno: what every function that needs judgments takes; `Qrels` is one.
Judgments = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Document:
    """One document: two texts to search, and whatever else is kept with it.

    `fields` holds plain JSON values. `location` says where the document was read ("docs.jsonl:17"), for
    messages; it is not part of the document's identity.
    """

    docno: str
    title: str = ""
    body: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    location: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Topic:
    """One information need: `text` is what is searched for, `fields` its other parts (desc, narr, …)."""

    qid: str
    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    location: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Qrels(Mapping[str, Mapping[str, int]]):
    """The grades by qid, then docno, in the order of the file: `qrels["7"]["doc-3"]` is a grade."""

    grades: Mapping[str, Mapping[str, int]]

    def __getitem__(self, qid: str) -> Mapping[str, int]:
        return self.grades[qid]

    def __iter__(self) -> Iterator[str]:
        return iter(self.grades)

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def n_judgments(self) -> int:
        """How many pairs were judged."""
        return sum(map(len, self.grades.values()))


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


@dataclass(frozen=True)
class QueryTerm:
    """A term of a query: its count there (or its weight), and its statistics in the collection.

    It is looked up in one stream or field, `stream`. A wildcard or fuzzy word is one term that stands for several
    terms of the index, its `variants`; every other term stands for itself.
    """

    text: str
    count: float
    stats: TermStats
    stream: str = "both"
    variants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.variants:
            object.__setattr__(self, "variants", (self.text,))
