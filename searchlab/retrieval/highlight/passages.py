"""Which passages show best why documents were found, for a whole page of them?

The same as `snippets.py` gives for each text, by one compiled pass over all of them: most of a search goes into its
snippets. Words are looked for by the forms that the index has seen of each term. Texts that are not plain ASCII, for
which folding changes places, are left to the patient way, and so is one in which a hash has deceived us.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from searchlab.analysis.analyzer import Analyzer
from searchlab.analysis.tokenizer import trim_word
from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.highlight.passage_kernels import find_passages, hash_signs, sift_of
from searchlab.retrieval.highlight.snippets import WIDTH, Snippet, cut, make_snippet, mark_line

REMEMBERED_HASHES = 1 << 14


class Finder:
    """Finds passages for the terms of one query."""

    def __init__(self, snapshot: Snapshot, terms: frozenset[str]) -> None:
        self._analyzer: Analyzer = snapshot.analyzer
        self._terms = terms
        forms = [(word, number) for number, term in enumerate(sorted(terms)) for word in snapshot.words_of(term)]
        self._forms = frozenset(word for word, _ in forms)
        self._hashes = np.array([hash_of(word) for word, _ in forms], np.uint64)
        self._hash_terms = np.array([number for _, number in forms], np.int64)
        self._sift = sift_of(self._hashes)

    def mark(self, bodies: Sequence[str], titles: Sequence[str]) -> list[tuple[Snippet, Snippet]]:
        """For each document the passage of its body, and its title."""
        texts = [*bodies, *titles]
        widths = [WIDTH] * len(bodies) + [0] * len(titles)
        plain = [number for number, text in enumerate(texts) if text.isascii()]
        found: list[Snippet | None] = [None] * len(texts)
        if plain:
            for number, snippet in zip(
                plain, self._find([texts[n] for n in plain], [widths[n] for n in plain]), strict=True
            ):
                found[number] = snippet
        marked = [
            self._slowly(text, width) if own is None else own
            for own, text, width in zip(found, texts, widths, strict=True)
        ]
        return list(zip(marked[: len(bodies)], marked[len(bodies) :], strict=True))

    def _find(self, texts: list[str], widths: list[int]) -> list[Snippet | None]:
        joined = "".join(texts)
        bounds = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=bounds[1:])
        spans = np.empty((len(texts), 4), np.int64)
        places = find_passages(
            np.frombuffer(joined.encode("ascii"), np.uint8),
            bounds,
            np.array(widths, np.int64),
            self._hashes,
            self._hash_terms,
            self._sift,
            len(self._terms),
            spans,
        ).tolist()
        cuts = zip(texts, bounds.tolist(), spans.tolist(), strict=False)
        return [self._cut(text, base, span, places) for text, base, span in cuts]

    def _cut(self, text: str, base: int, span: list[int], places: list[list[int]]) -> Snippet | None:
        start, end, first, after = span
        if start < 0:
            return Snippet("", ())
        marks = [(begin - base, stop - base) for begin, stop in places[first:after]]
        if not all(trim_word(text[begin:stop].lower()) in self._forms for begin, stop in marks):
            return None
        return cut(text, start - base, end - base, marks)

    def _slowly(self, text: str, width: int) -> Snippet:
        if width:
            return make_snippet(text, self._terms, self._analyzer, width)
        return mark_line(text, self._terms, self._analyzer)


@lru_cache(REMEMBERED_HASHES)
def hash_of(word: str) -> int:
    """The hash of a word as the index has it."""
    data = np.frombuffer(word.encode(), np.uint8)
    return int(hash_signs(data, 0, len(data)))
