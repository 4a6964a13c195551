"""Parts of a long run: `3/8` is the third of eight, and all eight together are the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Every `n_parts`-th case, beginning with the case `number`, counted from 1."""

    number: int
    n_parts: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """The part that a text like `3/8` names; a ValueError if it names none."""
        number, n_parts = map(int, text.split("/"))
        if not 1 <= number <= n_parts:
            raise ValueError(f"expected I/N with I from 1 to N, found {text}")
        return cls(number, n_parts)

    def of(self, cases: Sequence[T]) -> Sequence[T]:
        """The cases of this part."""
        return cases[self.number - 1 :: self.n_parts]


WHOLE = Part(1, 1)
