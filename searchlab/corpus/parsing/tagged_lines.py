"""Records of tagged lines, as in MEDLINE and RIS.

A line begins with a tag and a hyphen ("TI  - Wings"); a line without a tag continues the line before.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from searchlab.corpus.text_cleaning import on_one_line


@dataclass(slots=True)
class TaggedRecord:
    """A record that is being read: for each tag its values, each a list of lines; `length` counts its characters."""

    location: str
    number: int = 0
    values: defaultdict[str, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    last: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, tag: str, text: str) -> None:
        """Start a new value of a tag."""
        self.last = [text]
        self.values[tag].append(self.last)

    def extend(self, text: str) -> None:
        """Continue the last value."""
        self.last.append(text)

    def all(self, *tags: str) -> list[str]:
        """Every value of the first of the tags that has any."""
        values = ([on_one_line(" ".join(lines)) for lines in self.values[tag]] for tag in tags if tag in self.values)
        return next((texts for texts in values if any(texts)), [])

    def text(self, *tags: str) -> str:
        """The values of the first of the tags that has any, as one text."""
        return " ".join(text for text in self.all(*tags) if text)
