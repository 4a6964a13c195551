"""Which parts of a topic make up its text?

A topic file gives each topic several parts under their own names: TREC has title, desc and narr. One
of them is the main part, and is the text unless the caller chooses others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import RecordError, unknown_name
from searchlab.records import Topic

MAIN = "text"


@dataclass(frozen=True, slots=True)
class TopicParts:
    """A topic as it is written; `main` names the part that is its text."""

    qid: str
    parts: Mapping[str, str]
    main: str
    location: str

    def resolve(self, name: str) -> str:
        """The part that `name` means: `text` is the main one unless a part is really called so."""
        return self.main if name == MAIN and MAIN not in self.parts else name


def compose_topics(written: Sequence[TopicParts], chosen: Sequence[str] | None) -> list[Topic]:
    """Topics whose text is the chosen parts, joined by a space; their fields are the other parts."""
    known = {MAIN}.union(*(topic.parts for topic in written))
    for name in chosen or ():
        if name not in known:
            raise unknown_name("topic part", name, known)
    return [_compose(topic, chosen or [topic.main]) for topic in written]


def _compose(topic: TopicParts, chosen: Sequence[str]) -> Topic:
    lines = {name: on_one_line(part) for name, part in topic.parts.items()}
    names = [topic.resolve(name) for name in chosen]
    text = " ".join(lines[name] for name in names if lines.get(name))
    others = {name: line for name, line in lines.items() if line and name not in names}
    if not text:
        found = f"found only {', '.join(others)}" if others else "found none"
        raise RecordError(topic.location, f"expected a text for topic {topic.qid}, {found}")
    return Topic(topic.qid, text, others, topic.location)
