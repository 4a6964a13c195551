"""Topics as they are written, and the parts that make up their text.

A topic has several named parts: in TREC, title, desc and narr. One of them is the main part, which is the text of the
topic unless the caller chooses other parts.
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
    """A topic as it is written; `main` is the name of its main part."""

    qid: str
    parts: Mapping[str, str]
    main: str
    location: str

    def resolve(self, name: str) -> str:
        """The part that `name` stands for: `text` is the main part, unless there is a part with that name."""
        return self.main if name == MAIN and MAIN not in self.parts else name


def compose_topics(written: Sequence[TopicParts], chosen: Sequence[str] | None) -> list[Topic]:
    """Topics whose text is the chosen parts, joined by a space, and whose fields are the other parts."""
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
        found = f"found only {on_one_line(', '.join(others))}" if others else "found none"
        raise RecordError(topic.location, f"expected a text for topic {topic.qid}, {found}")
    return Topic(topic.qid, text, others, topic.location)
