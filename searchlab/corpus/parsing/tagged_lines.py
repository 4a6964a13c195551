"""How are the tagged lines of MEDLINE and RIS taken apart?

A line begins with a tag and a hyphen ("TI  - Wings"); a line without one continues what stands before it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from searchlab.corpus.text_cleaning import on_one_line


@dataclass(slots=True)
class TaggedRecord:
    """A record being read: for each tag its values, each a list of lines."""

    location: str
    number: int = 0
    values: defaultdict[str, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    last: list[str] = field(default_factory=list)

    def add(self, tag: str, text: str) -> None:
        """Begin another value."""
        self.last = [text]
        self.values[tag].append(self.last)

    def extend(self, text: str) -> None:
        """Continue the value that was begun last."""
        self.last.append(text)

    def all(self, *tags: str) -> list[str]:
        """Every value of the first of the tags that has any."""
        found = ([on_one_line(" ".join(lines)) for lines in self.values[tag]] for tag in tags if tag in self.values)
        return next((texts for texts in found if any(texts)), [])

    def text(self, *tags: str) -> str:
        """The values of the first of the tags that has any, as one text."""
        return " ".join(text for text in self.all(*tags) if text)
