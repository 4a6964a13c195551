"""Query parser: from the text of a query to its syntax tree.

Whoosh's query parser does most of the work: its plugins split the text into tokens, gather brackets into groups, and
bind fields, boosts and operators to their operands. We stop at its syntax tree, before Whoosh would analyse words,
and convert that to the nodes of `syntax_tree`. Two things differ from Whoosh:

- Whoosh accepts every mistake, often by dropping part of the query. The tokens are checked before it groups them.
- Its plugin for + and − sees only the outermost group, and takes operators for words. Here signs are operators that
  bind to the next word or group; their meaning is decided in the group that holds them.

Words without an operator between them are joined by OR, as in a plain query; but a range among them restricts. In a
field of numbers, a number or date is a range, too: `year:2008` is `year:[2008 TO 2008]`. Several of one field are
alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from whoosh.qparser import QueryParser, plugins
from whoosh.qparser import syntax as tokens

from searchlab.indexing.storage.field_values import parse_number
from searchlab.retrieval.query.ranges import parse_period
from searchlab.retrieval.query.syntax_tree import (
    LETTER,
    And,
    BooleanClauses,
    Boost,
    Fuzzy,
    Node,
    Not,
    Or,
    Phrase,
    QuerySyntaxError,
    Range,
    Wildcard,
    Word,
)

MAX_LENGTH = 10_000
MAX_DEPTH = 50
# Words, phrases and ranges; each piece of a wildcard counts.
MAX_LEAVES = 1_024
MAX_DISTANCE = 2
# So that products of nested boosts, as deep as brackets go, are neither infinite nor zero.
MIN_BOOST, MAX_BOOST = 0.001, 1_000

# Whoosh tries its expressions at every character, so each must state where it may begin and end: Whoosh's defaults
# would take the hyphen of "t-cell" for a sign, and "5:3" for a field.
_BEGIN = r'(?<![^\s()"“”\]}])'
_BEGIN_OR_SIGN = rf"(?:{_BEGIN}|(?<={_BEGIN}[-+−]))"
_END = r'(?![^\s()"“”\[{^~])'
_AFTER_WORD = r"(?<=[^\s(:])"
_VALUE = r'(?!(?:TO|to)[\s\]}])[^\s()"“”\[\]{}]+'

_PHRASE = rf'["“”](?P<text>[^"“”]*)["“”](~(?P<slop>[1-9][0-9]{{0,8}}){_END})?'
# A question mark that ends a word is punctuation.
_WILDCARD = r"(?<![*?])(?P<text>[?]*[*][*?]*|[?]+(?=\w))"
_FUZZY = rf"{_AFTER_WORD}~(?P<maxdist>[0-9]{{1,9}})?(/(?P<prefix>[0-9]{{1,9}}))?{_END}"
_BOOST = rf"{_AFTER_WORD}\^(?P<boost>[0-9]{{1,9}}(\.[0-9]{{0,9}})?|\.[0-9]{{1,9}}){_END}"
_RANGE = rf"(?P<open>[\[{{])\s*((?P<start>{_VALUE})\s+)?(TO|to)(\s+(?P<end>{_VALUE}))?\s*(?P<close>[\]}}])"
_SIGNED = r'(?=[\w("“”*?])'

_FIELD_NAME = re.compile(r"[^\W\d][\w.-]*")
# Marks that remain in a word: those of phrases and ranges have been consumed.
_MARK = re.compile(r'["“”\[\]{}]')

# The tokens of Whoosh's plugins.
OpeningToken, ClosingToken = plugins.GroupPlugin.OpenBracket, plugins.GroupPlugin.CloseBracket
PhraseToken = plugins.PhrasePlugin.PhraseNode
WildcardToken, PrefixToken = plugins.WildcardPlugin.WildcardNode, plugins.PrefixPlugin.PrefixNode
FuzzinessToken, BoostToken = plugins.FuzzyTermPlugin.FuzzinessNode, plugins.BoostPlugin.BoostNode


class DefaultGroup(tokens.GroupNode):  # type: ignore[misc]
    """Whoosh's group for words without operators between them; not its OrGroup, which an explicit OR makes."""


class Required(tokens.Wrapper):  # type: ignore[misc]
    """What follows a +."""


def parse(text: str, fields: Collection[str], numeric: Collection[str] = ()) -> Node:
    """The tree of a query over an index with these fields, some of them `numeric`.

    Raises `QuerySyntaxError`, and nothing else.
    """
    if len(text) > MAX_LENGTH:
        raise QuerySyntaxError(f"it is longer than {MAX_LENGTH:,} characters")
    known = frozenset(fields)
    parser = _make_parser(known)
    tagged = parser.tag(text)
    if sum(token.is_text() or isinstance(token, tokens.RangeNode) for token in tagged) > MAX_LEAVES:
        raise QuerySyntaxError(f"it has more than {MAX_LEAVES:,} parts")
    _check(tagged, known)
    return _Converter(frozenset(numeric)).convert(parser.filterize(tagged))


@lru_cache(maxsize=8)
def _make_parser(fields: frozenset[str]) -> Any:
    names = [*(re.escape(name) for name in sorted(fields) if _FIELD_NAME.fullmatch(name)), r"[^\W\d]\w{0,63}"]
    # Plugins act in this order: groups before what applies to them, distances before boosts ("rat~2^3").
    used = [
        plugins.FieldsPlugin(rf"{_BEGIN_OR_SIGN}(?P<text>{'|'.join(names)}):(?=[^\s)])", remove_unknown=False),
        plugins.PhrasePlugin(_PHRASE),
        plugins.WildcardPlugin(_WILDCARD),
        plugins.RangePlugin(re.compile(_RANGE)),
        plugins.GroupPlugin(),
        plugins.FuzzyTermPlugin(_FUZZY),
        plugins.BoostPlugin(_BOOST),
        plugins.OperatorsPlugin(
            [(plugins.OperatorsPlugin.OpTagger(rf"{_BEGIN}[+]{_SIGNED}", Required, tokens.PrefixOperator), 0)],
            Not=rf"{_BEGIN}[-−]{_SIGNED}|{_BEGIN_OR_SIGN}NOT{_END}",
            And=rf"{_BEGIN_OR_SIGN}AND{_END}",
            Or=rf"{_BEGIN_OR_SIGN}OR{_END}",
            AndNot=None,
            AndMaybe=None,
            Require=None,
        ),
    ]
    # Without a schema, Whoosh leaves words and fields as they are.
    return QueryParser(None, None, used, group=DefaultGroup)


def _check(tagged: Iterable[Any], fields: frozenset[str]) -> None:
    """Raise QuerySyntaxError for mistakes that Whoosh would ignore."""
    opened = 0
    before: Any = None  # the last token that is not white space
    row = [None, None, *tagged, None]
    for second_last, last, token, following in zip(row, row[1:], row[2:], row[3:], strict=False):
        match token:
            case tokens.Whitespace():
                continue
            case tokens.InfixOperator():
                _check_operand(before, f"{token.text} has nothing on its left")
            case tokens.PrefixOperator() if isinstance(before, tokens.PrefixOperator):
                raise QuerySyntaxError(f"{before.text} has nothing on its right")
            case tokens.FieldnameNode() if token.fieldname not in fields:
                raise QuerySyntaxError(f"there is no field {token.fieldname!r}")
            case OpeningToken():
                opened += 1
                if opened > MAX_DEPTH:
                    raise QuerySyntaxError(f"brackets are nested deeper than {MAX_DEPTH}")
            case ClosingToken():
                if not opened:
                    raise QuerySyntaxError("a bracket is not opened")
                opened -= 1
                _check_operand(before, "a group is empty")
            case PhraseToken() if not LETTER.search(token.text):
                raise QuerySyntaxError("a phrase is empty")
            case WildcardToken():
                if PhraseToken in (type(last), type(following)):
                    raise QuerySyntaxError("a wildcard touches a phrase")
            case FuzzinessToken():
                if not isinstance(last, tokens.WordNode) or isinstance(second_last, WildcardToken):
                    raise QuerySyntaxError(f"{token.original} does not follow a word")
                if not 1 <= token.maxdist <= MAX_DISTANCE:
                    raise QuerySyntaxError(f"{token.original} is not a distance from 1 to {MAX_DISTANCE}")
            case BoostToken():
                # Some versions of Whoosh take a weight of a range, which adds no score.
                if isinstance(last, tokens.RangeNode) or not (
                    last.has_boost or isinstance(last, FuzzinessToken | ClosingToken)
                ):
                    raise QuerySyntaxError(f"{token.original} has nothing to weigh")
                if not MIN_BOOST <= token.boost <= MAX_BOOST:
                    raise QuerySyntaxError(f"{token.original} is not a weight from {MIN_BOOST} to {MAX_BOOST:,}")
            case tokens.WordNode() if mark := _MARK.search(token.text):
                quote = mark[0] in '"“”'
                raise QuerySyntaxError(
                    "a quotation mark is not closed" if quote else f"{mark[0]!r} is not part of a range"
                )
        before = token
    _check_operand(before, "there is nothing to search for")
    if opened:
        raise QuerySyntaxError("a bracket is not closed")


def _check_operand(before: Any, otherwise: str) -> None:
    """Raise QuerySyntaxError if no operand stands before the end of a query or group, or before an operator."""
    if isinstance(before, tokens.Operator):
        raise QuerySyntaxError(f"{before.text} has nothing on its right")
    if before is None or isinstance(before, OpeningToken):
        raise QuerySyntaxError(otherwise)


class _Converter:
    """Converts Whoosh's tree to a syntax tree; numbers and dates in `numeric` fields become ranges."""

    def __init__(self, numeric: frozenset[str]) -> None:
        self._numeric = numeric

    def convert(self, token: Any) -> Node:
        """A token of Whoosh's tree as a node of the syntax tree."""
        node = self._convert_group(token) if isinstance(token, tokens.GroupNode) else self._convert_leaf(token)
        # Ranges and NOT add no score, so a boost means nothing.
        return node if token.boost == 1 or isinstance(node, Range | Not) else Boost(node, token.boost)

    def _convert_leaf(self, token: Any) -> Node:
        match token:
            case PhraseToken() | tokens.WordNode() if self._is_number(token):
                return Range(token.fieldname, token.text.strip(), token.text.strip())
            case PhraseToken():
                return Phrase(token.text, token.slop, token.fieldname)
            case plugins.FuzzyTermPlugin.FuzzyTermNode():
                return Fuzzy(token.text, token.maxdist, token.prefixlength, token.fieldname)
            case WildcardToken() | PrefixToken():
                if not LETTER.search(token.text):
                    raise QuerySyntaxError("a wildcard stands alone")
                return Wildcard(token.text + "*" * isinstance(token, PrefixToken), token.fieldname)
            case tokens.RangeNode():
                if token.fieldname is None:
                    raise QuerySyntaxError("a range has no field")
                low, high = (None if end == "*" else end for end in (token.start, token.end))
                return Range(token.fieldname, low, high, not token.startexcl, not token.endexcl)
            case _:
                return Word(token.text, token.fieldname)

    def _is_number(self, token: Any) -> bool:
        written = token.text.strip()
        return token.fieldname in self._numeric and (
            parse_number(written) is not None or parse_period(written) is not None
        )

    def _convert_group(self, group: Any) -> Node:
        match group:
            case tokens.NotGroup():
                return Not(self.convert(group[0]))
            case Required():
                return self.convert(group[0])
            case tokens.AndGroup():
                return _join(And, map(self.convert, group))
            case tokens.OrGroup():
                if any(isinstance(part, Required) for part in group):
                    raise QuerySyntaxError("+ and OR contradict each other")
                return _join(Or, map(self.convert, group))
        nodes = [(self.convert(part), isinstance(part, Required)) for part in group]
        others = [node for node, required in nodes if not required]
        must = [node for node, required in nodes if required]
        should = [node for node in others if not (isinstance(node, Not) or _restricts(node))]
        must_not = [node.part for node in others if isinstance(node, Not)]
        ranges = _join_values(node for node in others if _restricts(node))
        if sum(map(bool, (must, should, must_not))) > 1:
            return _join(And, [BooleanClauses(tuple(must), tuple(should), tuple(must_not)), *ranges])
        return _join(And, [*must, *([_join(Or, should)] if should else []), *map(Not, must_not), *ranges])


def _restricts(node: Node) -> bool:
    """Whether a part of a group is a range, or several, and so restricts."""
    return isinstance(node, Range) or (isinstance(node, And | Or) and all(map(_restricts, node.parts)))


def _join_values(restrictions: Iterable[Node]) -> list[Node]:
    """What restricts in a group; single values of one field are alternatives."""
    joined: dict[str | Node, list[Node]] = {}
    for node in restrictions:
        is_value = isinstance(node, Range) and node.low is not None and node == Range(node.field, node.low, node.low)
        joined.setdefault(node.field if isinstance(node, Range) and is_value else node, []).append(node)
    return [_join(Or, nodes) for nodes in joined.values()]


def _join(kind: type[And] | type[Or], nodes: Iterable[Node]) -> Node:
    """The nodes as one: without groups of one, or groups within groups of the same kind."""
    parts: list[Node] = []
    for node in nodes:
        parts.extend(node.parts if isinstance(node, kind) else [node])
    return parts[0] if len(parts) == 1 else kind(tuple(parts))
