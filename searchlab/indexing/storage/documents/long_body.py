"""Long bodies: texts in blocks, of which only those are read that are needed.

A block ends after white space, or after the punctuation of scripts without spaces, so that no word is in two blocks:
the words of the blocks, one after the other, are those of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.records import PAGE_BREAK
from searchlab.types import Array

# Bodies of more characters are stored in blocks.
MAX_WHOLE_LENGTH = 1 << 16
# The least number of characters of a block but the last: small, so that a passage is found fast, and large enough that
# it is compressed nearly as well as the whole.
BLOCK_LENGTH = 1 << 14
_END_OF_BLOCK = re.compile(r"[\s。、！？，；：]")


def cut_body(body: str) -> list[str]:
    """The blocks of a body; one if it is not long."""
    if len(body) <= MAX_WHOLE_LENGTH:
        return [body]
    blocks, start = [], 0
    while start < len(body):
        found = _END_OF_BLOCK.search(body, start + BLOCK_LENGTH - 1)
        end = found.end() if found else len(body)
        blocks.append(body[start:end])
        start = end
    return blocks


@dataclass(frozen=True, eq=False)
class BlockMeasures:
    """For each block its characters, its page breaks, and its terms, as in the tokens of the document.

    The numbers of terms are 0 if an analyzer of a user's own has found them, whose words may depend on the whole text.
    """

    n_characters: Array
    n_page_breaks: Array
    n_terms: Array

    @classmethod
    def of(cls, blocks: Sequence[str], n_terms: Iterable[int] = ()) -> BlockMeasures:
        """The measures of blocks."""
        return cls(
            np.array([len(block) for block in blocks], np.int64),
            np.array([block.count(PAGE_BREAK) for block in blocks], np.int64),
            np.array(list(n_terms) or [0] * len(blocks), np.int64),
        )

    def lists(self) -> list[list[int]]:
        """The measures as lists of plain numbers, in the order of the arguments of this class."""
        return [self.n_characters.tolist(), self.n_page_breaks.tolist(), self.n_terms.tolist()]


@dataclass(frozen=True, eq=False)
class LongBody:
    """A body in blocks, which `read_block` reads."""

    measures: BlockMeasures
    read_block: Callable[[int], str]

    def __len__(self) -> int:
        return int(self.begins[-1])

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.measures.n_characters)

    @cached_property
    def begins(self) -> Array:
        """Where each block begins, in characters, and where the last one ends."""
        return offsets_of(self.measures.n_characters)

    def read(self, start: int, stop: int) -> str:
        """The characters from `start` up to `stop`, of which there may be fewer."""
        stop = min(stop, len(self))
        if not 0 <= start < stop:
            return ""
        first, last = (np.searchsorted(self.begins, [start, stop - 1], "right") - 1).tolist()
        text = self.read_blocks(first, last + 1)
        begin = int(self.begins[first])
        return text[start - begin : stop - begin]

    def read_blocks(self, first: int, after: int) -> str:
        """The text of blocks that follow each other."""
        return "".join(map(self.read_block, range(first, after)))

    def locate_term(self, position: int, n_terms: int) -> int:
        """The block with the term at a position among the `n_terms` terms of the body.

        If the numbers of terms in the blocks are unknown or of other terms, they are taken to be proportional to the
        characters.
        """
        exact = np.cumsum(self.measures.n_terms)
        ends = exact if self.knows_terms(n_terms) else self.begins[1:] * (n_terms / len(self))
        return min(int(np.searchsorted(ends, position, "right")), self.n_blocks - 1)

    def knows_terms(self, n_terms: int) -> bool:
        """Whether the numbers of terms in the blocks are known, and are those of a body with `n_terms`."""
        return int(self.measures.n_terms.sum()) == n_terms

    def first_page(self, block: int) -> int | None:
        """The number of the page on which a block begins; None if the body has no pages."""
        before = self.measures.n_page_breaks[:block].sum()
        return 1 + int(before) if self.measures.n_page_breaks.any() else None
