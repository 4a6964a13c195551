"""Words in other fields: the documents that have the words of a query only in a field that it does not search.

A query of words searches title and body. Documents that have its words in authors, journal or headings alone are not
found, and scores do not depend on them. Here they are counted, and the query is given that finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from searchlab.indexing.storage.columns import NGRAMS
from searchlab.retrieval.fields.matches import Marks
from searchlab.retrieval.query.syntax_tree import And, Node, Word, format_tree

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.query.filters import Filter
    from searchlab.retrieval.results import Query
    from searchlab.scorers.base import Scorer

# Longer queries are texts: they are not looked up in fields.
MAX_WORDS = 10
# An index with more fields has names of fields that are data; only the first are looked up.
MAX_FIELDS = 100
MAX_OFFERED = 5


@dataclass(frozen=True)
class OtherField:
    """A field that has the words of a query, or an unknown word of it.

    `query` searches there; it finds `n_docs` documents that the query itself does not find.
    """

    field: str
    n_docs: int
    query: str

    def to_json(self) -> dict[str, Any]:
        """The field as JSON values, the same on the command line and in the JSON API."""
        return asdict(self)


def find_other_fields(
    engine: SearchEngine,
    query: Query,
    scorer: Scorer,
    stream: str,
    filters: Sequence[Filter],
    found: Callable[[], Marks],
) -> tuple[OtherField, ...]:
    """The fields with the most further documents; `found` gives those that the query finds, if there are others.

    Fields of numbers are left out, and so are queries that are more than words: these name their fields.
    """
    if query.node is not None or stream == NGRAMS:
        return ()
    snapshot = engine.snapshot
    words = {span.term: query.text[span.start : span.end] for span in snapshot.analyzer.spans(query.text) if span.term}
    if not 0 < len(words) <= MAX_WORDS:
        return ()
    unknown = [{term: word} for term, word in words.items() if word in query.unknown and len(words) > 1]
    fields = [name for name in snapshot.field_names[:MAX_FIELDS] if name not in snapshot.numeric_fields]
    offered = []
    with snapshot.report_damage():
        for field, wanted in product(fields, (words, *unknown)):
            if not all(_occurs(engine, field, term) for term in wanted):
                continue
            leaves = [Word(word, field) for word in wanted.values()]
            node: Node = And(tuple(leaves)) if len(leaves) > 1 else leaves[0]
            marks = engine.matching(engine.interpret(node, stream), scorer, stream, filters)
            n_docs = sum(int(np.count_nonzero(more & ~known)) for more, known in zip(marks, found(), strict=True))
            if n_docs:
                offered.append(OtherField(field, n_docs, format_tree(node)))
    return tuple(sorted(offered, key=lambda each: -each.n_docs)[:MAX_OFFERED])


def _occurs(engine: SearchEngine, field: str, term: str) -> bool:
    return any(shard.columns.fields.has_term(field, term) for shard in engine.snapshot.shards)
