"""Values that all rooms share: documents, topics, rankings and term statistics.

Names are those of TREC: `docno` identifies a document, `qid` a topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

# Relevance grades by qid, then docno: the type of all arguments that are judgments; `corpus.Qrels` is one.
Judgments = Mapping[str, Mapping[str, int]]
# Between the pages of a body, where a document has pages; readers remove it from all other texts.
PAGE_BREAK = "\f"
# Between the terms of a phrase; no term has it.
PHRASE_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Document:
    """A document: title and body to search, and other fields.

    Pages of the body, if it has any, are separated by PAGE_BREAK. `fields` has plain JSON values. `location` is where
    the document was read ("docs.jsonl:17"), for messages; equality ignores it.
    """

    docno: str
    title: str = ""
    body: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    location: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, an information need: `text` is the query, `fields` has the other parts (desc, narr, …)."""

    qid: str
    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    location: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents retrieved for a topic, best first; equal scores are in descending order of docno."""

    qid: str
    docnos: Sequence[str]
    scores: Sequence[float]


@dataclass(frozen=True, slots=True)
class TermStats:
    """The statistics of a term in one stream of a collection.

    The `n_docs` documents have `n_tokens` tokens; `doc_freq` of them have the term, `term_count` times in all.
    """

    n_docs: int
    n_tokens: int
    doc_freq: int
    term_count: int

    @property
    def mean_length(self) -> float:
        """The mean length of a document in the stream, including documents without text."""
        return self.n_tokens / self.n_docs


@dataclass(frozen=True)
class QueryTerm:
    """A term of a query: its count there (or its weight), and its statistics in the collection.

    It is looked up in one stream or field, `stream`. A wildcard or fuzzy word is one term that matches several
    terms of the index, its `variants`, and so is a word with synonyms, or in an index of several languages; every other
    term matches only itself. A variant of several words has PHRASE_SEPARATOR between its terms.
    """

    text: str
    count: float
    stats: TermStats
    stream: str = "both"
    variants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.variants:
            object.__setattr__(self, "variants", (self.text,))

    @cached_property
    def single_terms(self) -> tuple[str, ...]:
        """The terms of all variants, those of phrases one by one."""
        return tuple(term for variant in self.variants for term in variant.split(PHRASE_SEPARATOR))

    @property
    def is_class(self) -> bool:
        """Whether it matches other terms than itself."""
        return self.variants != (self.text,)
