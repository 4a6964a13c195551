"""Snippets for a whole page of documents, by one compiled pass.

They equal those of `snippets.py`; a page of them took most of the time of a search. Words are matched by the hashes of
the forms that the index has seen of each term. Texts that are not ASCII, in which folding changes positions, are left
to `snippets.py`, and so are texts with a hash collision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from searchlab.analysis.tokenizer import trim_word
from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.highlight.snippet_kernels import find_passages, hash_characters, make_hash_filter
from searchlab.retrieval.highlight.snippets import SNIPPET_WORDS, Snippet, cut_snippet, make_snippet, mark_line

MAX_CACHED_HASHES = 1 << 14


class SnippetMaker:
    """Makes the snippets for the terms of one query."""

    def __init__(self, snapshot: Snapshot, terms: frozenset[str]) -> None:
        self._analyzer = snapshot.analyzer
        self._terms = terms
        forms = [(word, number) for number, term in enumerate(sorted(terms)) for word in snapshot.words_of(term)]
        self._forms = frozenset(word for word, _ in forms)
        self._hashes = np.array([hash_word(word) for word, _ in forms], np.uint64)
        self._hash_terms = np.array([number for _, number in forms], np.int64)
        self._hash_filter = make_hash_filter(self._hashes)

    def make(self, bodies: Sequence[str], titles: Sequence[str]) -> list[tuple[Snippet, Snippet]]:
        """For each document the snippet of its body, and its marked title."""
        texts = [*bodies, *titles]
        widths = [SNIPPET_WORDS] * len(bodies) + [0] * len(titles)
        ascii_texts = [number for number, text in enumerate(texts) if text.isascii()]
        found: list[Snippet | None] = [None] * len(texts)
        if ascii_texts:
            snippets = self._find([texts[n] for n in ascii_texts], [widths[n] for n in ascii_texts])
            for number, snippet in zip(ascii_texts, snippets, strict=True):
                found[number] = snippet
        marked = [
            self._make_slowly(text, width) if snippet is None else snippet
            for snippet, text, width in zip(found, texts, widths, strict=True)
        ]
        return list(zip(marked[: len(bodies)], marked[len(bodies) :], strict=True))

    def _find(self, texts: list[str], widths: list[int]) -> list[Snippet | None]:
        joined = "".join(texts)
        bounds = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=bounds[1:])
        spans = np.empty((len(texts), 4), np.int64)
        matches = find_passages(
            np.frombuffer(joined.encode("ascii"), np.uint8),
            bounds,
            np.array(widths, np.int64),
            self._hashes,
            self._hash_terms,
            self._hash_filter,
            len(self._terms),
            spans,
        ).tolist()
        cuts = zip(texts, bounds.tolist(), spans.tolist(), strict=False)
        return [self._cut(text, base, span, matches) for text, base, span in cuts]

    def _cut(self, text: str, base: int, span: list[int], matches: list[list[int]]) -> Snippet | None:
        """The snippet; None if a word matched by its hash alone."""
        start, end, first, after = span
        if start < 0:
            return Snippet("", ())
        marks = [(begin - base, stop - base) for begin, stop in matches[first:after]]
        if not all(trim_word(text[begin:stop].lower()) in self._forms for begin, stop in marks):
            return None
        return cut_snippet(text, start - base, end - base, marks)

    def _make_slowly(self, text: str, width: int) -> Snippet:
        if width:
            return make_snippet(text, self._terms, self._analyzer, width)
        return mark_line(text, self._terms, self._analyzer)


@lru_cache(MAX_CACHED_HASHES)
def hash_word(word: str) -> int:
    """The hash of a word in the form of the index."""
    data = np.frombuffer(word.encode(), np.uint8)
    return int(hash_characters(data, 0, len(data)))
