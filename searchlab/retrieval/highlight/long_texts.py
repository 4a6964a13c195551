"""Long texts: the part of a text that a snippet is made from, so that a book takes no longer than an abstract.

Of a body that is stored in blocks, one is read, with its neighbours if needed. Which one is known from the terms of the
document in their order, which the index has: the passage with the most different terms of the query, then the most
matches, then the earliest, as in a snippet. Where the words of an index do not say which block a term is in
(`LongBody.locate_term`), blocks are read from the estimated one on, to both sides, until one has a term.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

import numpy as np

from searchlab.analysis.analyzer import TextAnalyzer
from searchlab.array_ranges import offsets_of
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.documents.long_body import LongBody
from searchlab.indexing.storage.documents.stored_documents import StoredDocument
from searchlab.records import PAGE_BREAK
from searchlab.retrieval.highlight.snippets import SNIPPET_WORDS, Snippet
from searchlab.types import Array

# A passage that begins or ends so near to the border of a block, in terms, may go on in the next one.
NEAR_BORDER = 2 * SNIPPET_WORDS
# How many terms of a text are compared at once.
TERMS_AT_ONCE = 1 << 18
# More terms of a query are looked up in a table.
MAX_COMPARISONS = 4


@dataclass(frozen=True)
class TextPart:
    """A part of a text: whether it is cut at its beginning and its end, and the number of its first page, if any.

    `start` is its first character in the text.
    """

    text: str
    is_cut_before: bool = False
    is_cut_after: bool = False
    first_page: int | None = None
    start: int = 0

    @classmethod
    def whole(cls, text: str) -> TextPart:
        """A text that is short enough to be considered as a whole."""
        return cls(text, first_page=1 if PAGE_BREAK in text else None)

    def place(self, snippet: Snippet) -> Snippet:
        """A snippet of the part as one of the text: with its page, and ellipses where the text goes on."""
        page = snippet.page or 1
        if self.first_page is not None:
            snippet = replace(snippet, page=self.first_page + page - 1)
        before = "… " if self.is_cut_before and snippet.text and not snippet.text.startswith("… ") else ""
        after = " …" if self.is_cut_after and snippet.text and not snippet.text.endswith(" …") else ""
        if not before and not after:
            return snippet
        marks = tuple((start + len(before), end + len(before)) for start, end in snippet.marks)
        return replace(snippet, text=f"{before}{snippet.text}{after}", marks=marks)


def best_part(
    snapshot: Snapshot, shard: int, doc: int, document: StoredDocument, terms: Set[str], stream: str
) -> TextPart:
    """The part of a document's body to make a snippet from, for some terms of a stream; a short body as a whole."""
    body = document.body
    if isinstance(body, str):
        return TextPart.whole(body)
    numbers = [snapshot.term_numbers(stream, term)[shard] for term in terms]
    tokens = snapshot.shards[shard].columns.document_tokens(stream).body(doc)
    wanted = np.array([number for number in numbers if number >= 0], np.int64)
    return choose_part(body, tokens, wanted, terms, analyzer_of(snapshot, document, stream))


def analyzer_of(snapshot: Snapshot, document: StoredDocument, stream: str) -> TextAnalyzer:
    """The analyzer of a document's texts."""
    # A field names the language of a text; the text itself is not needed.
    return snapshot.analyzer_of(stream).for_document(document.beginning(0))


def choose_part(body: LongBody, tokens: Array, wanted: Array, terms: Set[str], analyzer: TextAnalyzer) -> TextPart:
    """The part of a body to make a snippet from.

    `tokens` are the numbers of its terms in their order, and `wanted` those of `terms`, the terms of the query.
    """
    position = find_best_position(tokens, wanted)
    if position is None:
        return _read_part(body, 0, 1)
    block = body.locate_term(position, len(tokens))
    if not body.knows_terms(len(tokens)):
        nearest = (
            near for near in _outwards(block, body.n_blocks) if _has_term(body.read_block(near), terms, analyzer)
        )
        block = next(nearest, block)
        return _read_part(body, block, block + 1)
    begins = offsets_of(body.measures.n_terms)
    starts_early = position - begins[block] < NEAR_BORDER
    ends_late = begins[block + 1] - position <= NEAR_BORDER
    return _read_part(body, max(block - starts_early, 0), min(block + 1 + ends_late, body.n_blocks))


def find_best_position(tokens: Array, wanted: Array, width: int = SNIPPET_WORDS) -> int | None:
    """The last match of the best run of `width` terms; None if there is no match.

    The best one has the most different terms, then the most matches, then it is the earliest. The rest of the text is
    not looked at when a run has all terms. O(tokens · wanted).
    """
    best, best_value = None, 0
    for start in range(0, len(tokens), TERMS_AT_ONCE):
        # Runs that begin in the piece before this one are looked at here.
        begin = max(start - width, 0)
        position, n_different, value = _best_run(tokens[begin : start + TERMS_AT_ONCE], wanted, width)
        if value > best_value:
            best, best_value = begin + position, value
        if n_different == len(wanted):
            break
    return best


def _best_run(tokens: Array, wanted: Array, width: int) -> tuple[int, int, int]:
    """The last match of the best run, its number of different terms, and its value; zeros if there is no match."""
    matches = np.flatnonzero(_is_wanted(tokens, wanted))
    if not len(matches):
        return 0, 0, 0
    matching = tokens[matches]
    # A run ends with each match, and begins with the first match that is near enough.
    first, after = np.searchsorted(matches, matches - width, "right"), np.arange(1, len(matches) + 1)
    n_different = np.zeros(len(matches), np.int64)
    for number in wanted.tolist():
        before = offsets_of(matching == number)
        n_different += before[after] > before[first]
    values = n_different * (width + 1) + (after - first)
    best = int(np.argmax(values))
    return int(matches[best]), int(n_different[best]), int(values[best])


def _is_wanted(tokens: Array, wanted: Array) -> Array:
    """For each token whether it is one of a few numbers; faster than `np.isin`."""
    if len(wanted) > MAX_COMPARISONS:
        table = np.zeros(wanted.max() + 2, bool)
        table[wanted] = True
        looked_up: Array = table[np.minimum(tokens, wanted.max() + 1)]
        return looked_up
    found = np.zeros(len(tokens), bool)
    for number in wanted.tolist():
        found |= tokens == number
    return found


def _read_part(body: LongBody, first: int, after: int) -> TextPart:
    start, page = int(body.begins[first]), body.first_page(first)
    return TextPart(body.read_blocks(first, after), first > 0, after < body.n_blocks, page, start)


def _outwards(start: int, n_blocks: int) -> Iterator[int]:
    """All blocks, those near to the first one first."""
    yield start
    for distance in range(1, n_blocks):
        yield from (block for block in (start - distance, start + distance) if 0 <= block < n_blocks)


def _has_term(text: str, terms: Set[str], analyzer: TextAnalyzer) -> bool:
    return not terms.isdisjoint(analyzer.terms(text))
