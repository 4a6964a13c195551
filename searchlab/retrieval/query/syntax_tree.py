"""The syntax tree of a query.

Words, phrases, wildcards, fuzzy words and ranges are its leaves; AND, OR, NOT and the signs + and − its branches. The
tree is independent of any index: its words are as written, and analysed later. `parser.parse` makes it from a text,
`format_tree` writes it as a text again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

# The field that holds the names of documents.
DOCNO = "docno"

# Anything that could be syntax. A question mark at the end of a word and a colon before a blank are punctuation; signs
# and fields count only at the start of a word: "t-cell lymphoma: what is it?" is plain.
_SYNTAX = re.compile(
    r'["“”()\[\]{}*~^]|\?\w|(?<!\S)[-+−][\w?]|(?<!\S)[^\W\d][\w.-]*:\S|\b(?:AND|OR|NOT)\b',
)


# A query that is one phrase, perhaps with a slop; and what a phrase has at least.
_ONE_PHRASE = re.compile(r'\s*["“”](?P<text>[^"“”]*)["“”](~(?P<slop>[1-9][0-9]{0,8}))?\s*')
LETTER = re.compile(r"[^\W_]")
# Of a phrase that is read without the parser, which has its own limit.
MAX_PHRASE_LENGTH = 1_000


class QuerySyntaxError(Exception):
    """A query that breaks the rules of the syntax; `reason` says how in one clause."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written; its analysis may give several terms, or none. Without a field: in title or body."""

    text: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in this order, each at most `slop` positions after the one before it; with slop 1, adjacent."""

    text: str
    slop: int = 1
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Words that match a wildcard pattern: * stands for any characters, ? for one."""

    text: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """Words within an edit distance, with the same first `prefix` letters."""

    text: str
    distance: int = 1
    prefix: int = 0
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """Values of a field from `low` to `high`, as written; None is an open end. It restricts, and adds no score."""

    field: str
    low: str | None
    high: str | None
    low_included: bool = True
    high_included: bool = True


@dataclass(frozen=True, slots=True)
class Boost:
    """A part whose words have `factor` times their weight."""

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
class BooleanClauses:
    """Documents that match all of `must` and none of `must_not`; without any `must`, at least one of `should`."""

    must: tuple[Node, ...]
    should: tuple[Node, ...]
    must_not: tuple[Node, ...]


Leaf: TypeAlias = Word | Phrase | Wildcard | Fuzzy | Range
Node: TypeAlias = Leaf | Boost | And | Or | Not | BooleanClauses


def looks_plain(text: str) -> bool:
    """Whether a text is only words, and needs no parser."""
    return _SYNTAX.search(text) is None


def read_one_phrase(text: str) -> Phrase | None:
    """The phrase that is all of a query, as `parser.parse` reads it; None for any other query.

    Loading the parser takes longer than most searches.
    """
    found = _ONE_PHRASE.fullmatch(text) if len(text) <= MAX_PHRASE_LENGTH else None
    return Phrase(found["text"], int(found["slop"] or 1)) if found and LETTER.search(found["text"]) else None


def leaves(node: Node) -> Iterator[Leaf]:
    """Every leaf of a tree, from left to right."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case BooleanClauses(must, should, must_not):
            for part in (*must, *should, *must_not):
                yield from leaves(part)
        case Not(part) | Boost(part):
            yield from leaves(part)
        case _:
            yield node


def positive_leaves(node: Node, weight: float = 1.0) -> Iterator[tuple[Leaf, float]]:
    """The leaves outside of NOT, each with the product of its boosts; repeats are repeated."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from positive_leaves(part, weight)
        case BooleanClauses(must, should):
            for part in (*must, *should):
                yield from positive_leaves(part, weight)
        case Boost(part, factor):
            yield from positive_leaves(part, weight * factor)
        case Not():
            return
        case _:
            yield node, weight


def format_tree(node: Node) -> str:
    """The tree as the text of a query; parsed again, it gives the same tree."""
    match node:
        case And(parts):
            return " AND ".join(_operand(part, bare=Not) for part in parts)
        case Or(parts):
            return " OR ".join(_operand(part, bare=Not) for part in parts)
        case Not(part):
            return f"NOT {_operand(part)}"
        case BooleanClauses(must, should, must_not):
            required = [_signed("+", part) for part in must]
            excluded = [_signed("-", part) for part in must_not]
            return " ".join([*required, *map(_operand, should), *excluded])
        case Boost(part, factor):
            text = format_tree(part)
            is_leaf = isinstance(part, Leaf) and not text.endswith(":")  # a colon would make it a field
            return f"{text if is_leaf else f'({text})'}^{str(factor).removesuffix('.0')}"
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
    needs_brackets = isinstance(node, And | Or | Not | BooleanClauses) and not (bare and isinstance(node, bare))
    return f"({format_tree(node)})" if needs_brackets else format_tree(node)


def _signed(sign: str, node: Node) -> str:
    text = _operand(node)
    # A sign counts only before what looks like a word.
    return f"{sign}{text}" if re.match(r'[\w("*?]', text) else f"{sign}({text})"
