"""What does a query ask for, beyond its words?

A query is a tree: words, phrases and patterns are its leaves, AND, OR, NOT and the signs + and − its branches. The
tree says what was asked and knows no index; its words are as written, to be analysed later. `whoosh_parser` makes
it from a text, `describe` writes it as a text again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

# The field that holds the names of documents.
DOCNO = "docno"

# Anything that could be syntax. A question mark that ends a word and a colon before a blank are punctuation; signs
# and fields count at the start of a word only: "t-cell lymphoma: what is it?" is plain.
_SYNTAX = re.compile(
    r'["“”()\[\]{}*~^]|\?\w|(?<!\S)[-+−][\w?]|(?<!\S)[^\W\d][\w.-]*:\S|\b(?:AND|OR|NOT)\b',
)


class Malformed(Exception):
    """A query that cannot be understood; `reason` says why in one clause."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written: its analysis may give several terms, or none. Without a field: in title or body."""

    text: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in this order, each at most `slop` after the one before it; with slop 1, one right after the other."""

    text: str
    slop: int = 1
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Words of this shape: * stands for any characters, ? for one."""

    text: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """Words that differ in at most `distance` letters, but not in the first `prefix`."""

    text: str
    distance: int = 1
    prefix: int = 0
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """Values of a field from `low` to `high`, as written; None is an open end. It selects, and adds no score."""

    field: str
    low: str | None
    high: str | None
    low_included: bool = True
    high_included: bool = True


@dataclass(frozen=True, slots=True)
class Boost:
    """A part whose words weigh `factor` times as much."""

    part: Node
    factor: float


@dataclass(frozen=True, slots=True)
class And:
    """Documents that match every part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Documents that match at least one part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Documents that do not match the part."""

    part: Node


@dataclass(frozen=True, slots=True)
class Some:
    """Documents that match all of `must` and none of `must_not`; without any `must`, at least one of `may`."""

    must: tuple[Node, ...]
    may: tuple[Node, ...]
    must_not: tuple[Node, ...]


Leaf: TypeAlias = Word | Phrase | Pattern | Fuzzy | Range
Node: TypeAlias = Leaf | Boost | And | Or | Not | Some


def looks_plain(text: str) -> bool:
    """Whether a text is nothing but words: it then needs no parser."""
    return _SYNTAX.search(text) is None


def leaves(node: Node) -> Iterator[Leaf]:
    """Every leaf of a tree, from left to right."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case Some(must, may, must_not):
            for part in (*must, *may, *must_not):
                yield from leaves(part)
        case Not(part) | Boost(part):
            yield from leaves(part)
        case _:
            yield node


def positive_leaves(node: Node, weight: float = 1.0) -> Iterator[tuple[Leaf, float]]:
    """The leaves that speak for a document, each with the product of its boosts; repeats are repeated."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from positive_leaves(part, weight)
        case Some(must, may):
            for part in (*must, *may):
                yield from positive_leaves(part, weight)
        case Boost(part, factor):
            yield from positive_leaves(part, weight * factor)
        case Not():
            return
        case _:
            yield node, weight


def describe(node: Node) -> str:
    """The tree as a query: parsed again, it gives the same tree."""
    match node:
        case And(parts):
            return " AND ".join(_operand(part, bare=Not) for part in parts)
        case Or(parts):
            return " OR ".join(_operand(part, bare=Not) for part in parts)
        case Not(part):
            return f"NOT {_operand(part)}"
        case Some(must, may, must_not):
            required = [_signed("+", part) for part in must]
            refused = [_signed("-", part) for part in must_not]
            return " ".join([*required, *map(_operand, may), *refused])
        case Boost(part, factor):
            text = describe(part)
            alone = isinstance(part, Leaf) and not text.endswith(":")  # a colon would make it a field
            return f"{text if alone else f'({text})'}^{str(factor).removesuffix('.0')}"
    field = f"{node.field}:" if node.field else ""
    match node:
        case Phrase(text, slop):
            return f'{field}"{text}"' + (f"~{slop}" if slop > 1 else "")
        case Fuzzy(text, distance, prefix):
            return f"{field}{text}~" + (str(distance) if distance > 1 else "") + (f"/{prefix}" if prefix else "")
        case Range(_, low, high, low_included, high_included):
            ends = " ".join([*([low] if low else []), "TO", *([high] if high else [])])
            return f"{field}{'[' if low_included else '{'}{ends}{']' if high_included else '}'}"
        case _:
            return f"{field}{node.text}"


def _operand(node: Node, bare: type[Node] | None = None) -> str:
    """A part of a branch, in brackets where it is a branch itself."""
    needs_brackets = isinstance(node, And | Or | Not | Some) and not (bare and isinstance(node, bare))
    return f"({describe(node)})" if needs_brackets else describe(node)


def _signed(sign: str, node: Node) -> str:
    text = _operand(node)
    # A sign counts only before what looks like a word.
    return f"{sign}{text}" if re.match(r'[\w("*?]', text) else f"{sign}({text})"
