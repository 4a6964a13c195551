"""Queries are parsed as documented, and syntax errors are found in any text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from searchlab.retrieval.query.parser import MAX_DEPTH, MAX_LEAVES, MAX_LENGTH, parse
from searchlab.retrieval.query.syntax_tree import (
    And,
    BooleanClauses,
    Boost,
    Fuzzy,
    Not,
    Or,
    Phrase,
    QuerySyntaxError,
    Range,
    Wildcard,
    Word,
    format_tree,
    leaves,
    looks_plain,
    positive_leaves,
    read_one_phrase,
)
from tests.hypothesis_profiles import examples

FIELDS = {"title", "body", "docno", "year", "mesh", "pub-date"}
A, B, C, D = map(Word, "abcd")
EIGHTIES = Range("year", "1980", "1989")

NODES = [
    # words
    ("lymphoma", Word("lymphoma")),
    ("T-cell lymphoma", Or((Word("T-cell"), Word("lymphoma")))),
    ("  a\tb\n", Or((A, B))),
    ("a a", Or((A, A))),
    ("Crohn's 'a'", Or((Word("Crohn's"), Word("'a'")))),
    ("and or not", Or((Word("and"), Word("or"), Word("not")))),
    # operators: NOT binds tighter than AND, AND than OR, OR than a blank
    ("a OR b", Or((A, B))),
    ("a AND b", And((A, B))),
    ("a AND b AND c", And((A, B, C))),
    ("a AND b c", Or((And((A, B)), C))),
    ("a OR b AND c", Or((A, And((B, C))))),
    ("(a OR b) AND c", And((Or((A, B)), C))),
    ("(a AND b) AND (c AND d)", And((A, B, C, D))),
    ("a AND(b)", And((A, B))),
    ("((a)) ((b c))", Or((A, B, C))),
    ("NOT a", Not(A)),
    ("NOT a AND b", And((Not(A), B))),
    ("a AND NOT b", And((A, Not(B)))),
    ("a OR NOT b", Or((A, Not(B)))),
    ("NOT (a b)", Not(Or((A, B)))),
    # signs
    ("-a", Not(A)),
    ("+a", A),
    ("+a +b", And((A, B))),
    ("-a -b", And((Not(A), Not(B)))),
    ("a -b", BooleanClauses((), (A,), (B,))),
    ("a −b", BooleanClauses((), (A,), (B,))),
    ("a NOT b", BooleanClauses((), (A,), (B,))),
    ("a (NOT b)", BooleanClauses((), (A,), (B,))),
    ("+a b", BooleanClauses((A,), (B,), ())),
    ("+a b -c d", BooleanClauses((A,), (B, D), (C,))),
    ("a OR b -c", BooleanClauses((), (Or((A, B)),), (C,))),
    ("a AND -b", And((A, Not(B)))),
    ("+(a b) -(c d)", BooleanClauses((Or((A, B)),), (), (Or((C, D)),))),
    ("c OR (+a b)", Or((C, BooleanClauses((A,), (B,), ())))),
    ('-"a b" c', BooleanClauses((), (C,), (Phrase("a b"),))),
    ("a - b", Or((A, Word("-"), B))),
    ("IL-2 a+b 3+ +/- --x", Or(tuple(map(Word, ["IL-2", "a+b", "3+", "+/-", "--x"])))),
    # phrases
    ('"T cell"', Phrase("T cell")),
    ("“T cell”", Phrase("T cell")),
    ('"near words"~3', Phrase("near words", 3)),
    ('"a OR (b*"', Phrase("a OR (b*")),
    ('a"b c"d', Or((A, Phrase("b c"), D))),
    # patterns and fuzzy words
    ("rat*", Wildcard("rat*")),
    ("*cillin", Wildcard("*cillin")),
    ("wom?n", Wildcard("wom?n")),
    ("h??t*o?n", Wildcard("h??t*o?n")),
    ("what are rats? -a", BooleanClauses((), (Word("what"), Word("are"), Word("rats?")), (A,))),
    ("rat~", Fuzzy("rat")),
    ("rat~2", Fuzzy("rat", 2)),
    ("rat~2/3", Fuzzy("rat", 2, 3)),
    ("rat~/3", Fuzzy("rat", 1, 3)),
    ("~5 a~b", Or((Word("~5"), Word("a~b")))),
    # weights
    ("a^2", Boost(A, 2)),
    ("a^.5 b", Or((Boost(A, 0.5), B))),
    ("(a b)^2.5", Boost(Or((A, B)), 2.5)),
    ("(a^2)^3", Boost(Boost(A, 2), 3)),
    ('"a b"~3^2', Boost(Phrase("a b", 3), 2)),
    ("rat~2^3", Boost(Fuzzy("rat", 2), 3)),
    ("title:rat*^2", Boost(Wildcard("rat*", "title"), 2)),
    ("-a^2", Not(Boost(A, 2))),
    ("(year:[1980 TO 1989])^2", EIGHTIES),
    ("a^1 a^b ^2", Or((A, Word("a^b"), Word("^2")))),
    # fields
    ("title:a b", Or((Word("a", "title"), B))),
    ("title:(a b)", Or((Word("a", "title"), Word("b", "title")))),
    ("title:(a body:b)", Or((Word("a", "title"), Word("b", "body")))),
    ('title:"a b"', Phrase("a b", field="title")),
    ("title:rat*", Wildcard("rat*", "title")),
    ("title:rat~2", Fuzzy("rat", 2, field="title")),
    ("-title:a b", BooleanClauses((), (B,), (Word("a", "title"),))),
    ("pub-date:a", Word("a", "pub-date")),
    ("docno:med-1", Word("med-1", "docno")),
    ("title: a 5:3 -", Or((Word("title:"), A, Word("5:3"), Word("-")))),
    # ranges
    ("year:[1980 TO 1989]", EIGHTIES),
    ("year:[1980 to 1989]", EIGHTIES),
    ("year:{1980 TO 1989}", Range("year", "1980", "1989", False, False)),
    ("year:[1980 TO 1989}", Range("year", "1980", "1989", True, False)),
    ("year:[1980 TO]", Range("year", "1980", None)),
    ("year:[TO 1989]", Range("year", None, "1989")),
    ("year:[* TO 1989]", Range("year", None, "1989")),
    ("year:[TO]", Range("year", None, None)),
    ("a year:[1980 TO 1989]", And((A, EIGHTIES))),
    ("a b year:[1980 TO 1989]", And((Or((A, B)), EIGHTIES))),
    ("a (year:[1980 TO 1989])", And((A, EIGHTIES))),
    ("a -b year:[1980 TO 1989]", And((BooleanClauses((), (A,), (B,)), EIGHTIES))),
    ("a -year:[1980 TO 1989]", BooleanClauses((), (A,), (EIGHTIES,))),
    ("-a year:[1980 TO 1989]", And((Not(A), EIGHTIES))),
    ("a OR year:[1980 TO 1989]", Or((A, EIGHTIES))),
    ("+year:[1980 TO 1989] a", BooleanClauses((EIGHTIES,), (A,), ())),
    ("year:([1980 TO 1989] OR 1999)", Or((EIGHTIES, Word("1999", "year")))),
]


@pytest.mark.parametrize(("text", "node"), NODES, ids=[text for text, _ in NODES])
def test_a_query_is_understood(text, node):
    assert parse(text, FIELDS) == node


IN_1988, IN_1990 = Range("year", "1988", "1988"), Range("year", "1990", "1990")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("year:1988", IN_1988),
        ('year:"1988"', IN_1988),
        ("a b year:1988", And((Or((A, B)), IN_1988))),
        ("a -year:1988", BooleanClauses((), (A,), (IN_1988,))),
        ("a OR year:1988", Or((A, IN_1988))),
        ("pub-date:1988-03 a", And((A, Range("pub-date", "1988-03", "1988-03")))),
        # several values of one field are alternatives, ranges and other fields are not
        ("a year:1988 year:1990", And((A, Or((IN_1988, IN_1990))))),
        ("a year:(1988 1990)", And((A, Or((IN_1988, IN_1990))))),
        ("a (year:1988 OR year:1990)", And((A, Or((IN_1988, IN_1990))))),
        ("year:1988 year:[1980 TO 1989]", And((IN_1988, EIGHTIES))),
        ("year:1988 pub-date:1990", And((IN_1988, Range("pub-date", "1990", "1990")))),
        # anything else is a word that scores
        ("year:press a", Or((Word("press", "year"), A))),
        ("year:198* a", Or((Wildcard("198*", "year"), A))),
        ("mesh:1988 a", Or((Word("1988", "mesh"), A))),
        ("1988 a", Or((Word("1988"), A))),
    ],
)
def test_a_number_in_a_numeric_field_restricts_as_a_range(text, node):
    assert parse(text, FIELDS, {"year", "pub-date"}) == node
    assert parse(format_tree(node), FIELDS, {"year", "pub-date"}) == node


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("T-cell lymphoma", "T-cell OR lymphoma"),
        (
            '(lymphoma "T cell"~3) AND NOT title:rat* AND year:[1988 TO 1990]',
            '(lymphoma OR "T cell"~3) AND NOT title:rat* AND year:[1988 TO 1990]',
        ),
        ("a NOT b +title:(c d)", "+(title:c OR title:d) a -b"),
        ("lymphoma~ rat~2/3 −b year:{TO 1990]", "(lymphoma~ rat~2/3 -b) AND year:{TO 1990]"),
        ("NOT (NOT a)", "NOT (NOT a)"),
        ("((a b)^2 AND c^0.50)^3", "((a OR b)^2 AND c^0.5)^3"),
        ("(title: )^2", "(title:)^2"),
        ("a -(--b)", "a -(--b)"),
    ],
)
def test_a_tree_is_described_as_a_query(text, description):
    assert format_tree(parse(text, FIELDS)) == description


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is nothing to search for"),
        (" \n", "there is nothing to search for"),
        ('a "b', "a quotation mark is not closed"),
        ('a "b" "c', "a quotation mark is not closed"),
        ("(a", "a bracket is not closed"),
        ("(a (b)", "a bracket is not closed"),
        ("a)", "a bracket is not opened"),
        ("a ()", "a group is empty"),
        ("title:( )", "a group is empty"),
        ('""', "a phrase is empty"),
        ('a "- *"', "a phrase is empty"),
        ("AND a", "AND has nothing on its left"),
        ("(OR a)", "OR has nothing on its left"),
        ("a OR", "OR has nothing on its right"),
        ("(a OR) b", "OR has nothing on its right"),
        ("a AND OR b", "AND has nothing on its right"),
        ("NOT", "NOT has nothing on its right"),
        ("a NOT", "NOT has nothing on its right"),
        ("NOT NOT a", "NOT has nothing on its right"),
        ("NOT -a", "NOT has nothing on its right"),
        ("-NOT a", "- has nothing on its right"),
        ("NOT AND a", "NOT has nothing on its right"),
        ("+a OR b", "+ and OR contradict each other"),
        ("foo:bar", "there is no field 'foo'"),
        ("http://example.org", "there is no field 'http'"),
        ("Title:a", "there is no field 'Title'"),
        ("[1988 TO 1990]", "a range has no field"),
        ("[3H] thymidine", "'[' is not part of a range"),
        ("year:[1988 1990]", "'[' is not part of a range"),
        ("year:[1988 TO 1990", "'[' is not part of a range"),
        ("year:1988 TO 1990]", "']' is not part of a range"),
        ("a {b}", "'{' is not part of a range"),
        ("*", "a wildcard stands alone"),
        ("title:?*", "a wildcard stands alone"),
        ('"a b"*', "a wildcard touches a phrase"),
        ('a*"b"', "a wildcard touches a phrase"),
        ('"a b"~', "~ does not follow a word"),
        ('"a b"~0', "~0 does not follow a word"),
        ("(a b)~2", "~2 does not follow a word"),
        ("ra*~", "~ does not follow a word"),
        ("r*t~2", "~2 does not follow a word"),
        ("rat~0", "~0 is not a distance from 1 to 2"),
        ("rat~3", "~3 is not a distance from 1 to 2"),
        ("a^0", "^0 is not a weight from 0.001 to 1,000"),
        ("a^1000.1", "^1000.1 is not a weight from 0.001 to 1,000"),
        ("year:[1988 TO 1990]^2", "^2 has nothing to weigh"),
        ("a^2^3", "^3 has nothing to weigh"),
        ("NOT^2", "^2 has nothing to weigh"),
        ("(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1), "brackets are nested deeper than 50"),
        ("a " * (MAX_LEAVES + 1), "it has more than 1,024 parts"),
        ("a" * (MAX_LENGTH + 1), "it is longer than 10,000 characters"),
    ],
)
def test_a_malformed_query_is_refused_with_a_reason(text, reason):
    with pytest.raises(QuerySyntaxError) as error:
        parse(text, FIELDS)
    assert str(error.value) == error.value.reason == reason


def test_a_query_may_be_as_deep_and_as_long_as_is_said():
    assert parse("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH, FIELDS) == A
    assert parse("a " * MAX_LEAVES, FIELDS) == Or((A,) * MAX_LEAVES)
    assert parse("a" * MAX_LENGTH, FIELDS) == Word("a" * MAX_LENGTH)


def test_fields_are_those_that_are_given():
    assert parse("foo:bar", ["foo"]) == Word("bar", "foo")
    assert parse("a -b", ()) == BooleanClauses((), (A,), (B,))
    # A name that looks like other syntax cannot be used as a field.
    with pytest.raises(QuerySyntaxError, match="no field 'b'"):
        parse("a b:c", ["a b", "", "(", '"', "[x]"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "T-cell lymphoma",
        "what causes lymphoma?",
        "What is lymphoma? How is it treated?!",
        "Lymphoma: a review",
        "what is 5:3?",
        "IL-2 +/- 10%, 1980 - 1990 & beta-2",
        "Crohn's disease and/or not",
        "ANDROGENS, NOTHING, ORAL",
    ],
)
def test_prose_is_plain(text):
    assert looks_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        *('"a b"', "“a b”", 'a "b', "a (b)", "title:(a b)", "year:[1 TO 2]"),
        *("rat*", "wom?n", "rat~", "a^2", "title:a", "-title:a", "pub-date:a"),
        *("+a", "a -b", "a −b", "-?b", "a AND b", "a OR b", "NOT a"),
    ],
)
def test_syntax_is_not_plain(text):
    assert not looks_plain(text)


def test_leaves_are_all_words_and_positive_leaves_those_that_speak_for_a_document():
    tree = parse('+a (b^2 "c d")^3 -(x y) AND NOT z a (year:[1980 TO 1989])', FIELDS)
    assert sorted(map(format_tree, leaves(tree))) == ['"c d"', "a", "a", "b", "x", "y", "year:[1980 TO 1989]", "z"]
    assert sorted((format_tree(leaf), weight) for leaf, weight in positive_leaves(tree)) == [
        ('"c d"', 3),
        ("a", 1),
        ("a", 1),
        ("b", 6),
        ("year:[1980 TO 1989]", 1),
    ]


PIECES = [
    *"ab5é ?*~^+-−:/._'\"“”()[]{}\\\n",
    " ",
    " ",
    "AND",
    "OR",
    "NOT",
    " TO ",
    "title:",
    "year:",
    "foo:",
    "pub-date:",
]
PIECES += ["~2", "~2/3", "^2", "^1", "year:[1 TO 2]", '"a b"', "(a b)", " AND ", " OR ", " NOT "]
queries = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(max_examples=examples(2_000))
@given(queries | st.text(max_size=40))
@example('(title:)^2 -(/) "x"-a "a"AND')
def test_any_text_is_a_tree_that_can_be_written_or_malformed(text):
    try:
        tree = parse(text, FIELDS)
    except QuerySyntaxError as error:
        assert error.reason
        assert not looks_plain(text) or not text.strip()
        return
    assert parse(format_tree(tree), FIELDS) == tree
    if looks_plain(text):
        assert list(leaves(tree)) == list(map(Word, text.split()))


@pytest.mark.parametrize("piece", [*PIECES, "a ", "a AND ", "-a ", "[a ", "[a TO ", "(a", "a*", "title:(", "a-"])
def test_a_long_text_of_anything_comes_to_an_end(piece):
    text = (piece * MAX_LENGTH)[:MAX_LENGTH]
    try:
        assert format_tree(parse(text, FIELDS))
    except QuerySyntaxError as error:
        assert len(error.reason) < 200


@pytest.mark.parametrize(
    "text",
    [
        '"a b"',
        " “lung  cancer”~3\t",
        '"t-cell (AND) year:5 a* +b ~2^3"',
        '"Ünïcode ७"',
        '"a\n b"~999999999',
        "”a“",
        '"a"',
    ],
)
def test_a_query_that_is_one_phrase_is_read_as_by_the_parser(text):
    found = read_one_phrase(text)
    assert found is not None
    assert found == parse(text, FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        '""',
        '" _ "',
        '"a" "b"',
        'title:"a"',
        '"a"~0',
        '"a"~',
        '"a"^2',
        '+"a"',
        '"a',
        'a"',
        '"a"b"',
        "a",
        f'"{"a" * 1000}"',
    ],
)
def test_other_queries_are_left_to_the_parser(text):
    assert read_one_phrase(text) is None
