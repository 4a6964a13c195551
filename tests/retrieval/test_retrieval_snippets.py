import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchlab.indexing.analysis import AnalysisSettings, Analyzer, words
from searchlab.retrieval.snippets import Snippet, make_snippet

ANALYZER = Analyzer(AnalysisSettings())
PLAIN = Analyzer(AnalysisSettings("none", "none", frozenset()))


def marked(text, query, width=30, analyzer=ANALYZER):
    return make_snippet(text, set(analyzer.terms(query)), analyzer, width).marked("[", "]")


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Lymphomas of the T-cell.", "t-cell lymphoma", "[Lymphomas] of the [T]-[cell]."),
        ("Treated, treating and TREATS.", "treatment treat", "[Treated], [treating] and [TREATS]."),
        ("The naïve ﬁbrosis of Crohn’s", "naive fibrosis crohn", "The [naïve] [ﬁbrosis] of [Crohn’s]"),
        ("Nothing to see.", "lymphoma", "Nothing to see."),
        ("One\n\n two\t three  ", "two", "One [two] three"),
        ("  (cell)", "cell", "([cell])"),
        ("", "cell", ""),
        (" … ", "cell", ""),
    ],
)
def test_every_form_of_a_query_word_is_marked(text, query, expected):
    assert marked(text, query) == expected


def test_a_character_that_holds_two_words_is_shown_once():
    assert marked("drink ½ glass", "1 2 glass") == "drink [½] [glass]"
    assert marked("at 5㎧ now", "s") == "at 5[㎧] now"


def test_the_passage_with_the_most_different_terms_is_shown():
    text = "red " * 20 + "grey " * 20 + "red blue " + "grey " * 20
    assert "[red] [blue]" in marked(text, "red blue", width=6)


def test_of_passages_with_as_many_terms_the_one_with_more_matches_is_shown():
    text = "red " + "grey " * 20 + "red red red " + "grey " * 20
    assert marked(text, "red", width=5).count("[red]") == 3


def test_of_equal_passages_the_first_is_shown():
    text = "red one " + "grey " * 20 + "red two"
    assert marked(text, "red", width=4).startswith("[red] one")


def test_dots_stand_where_text_was_left_out():
    text = "one two three four five six seven eight nine ten"
    assert marked(text, "one", width=3) == "[one] two three …"
    assert marked(text, "ten", width=3).startswith("… ")
    assert marked(text, "ten", width=3).endswith("[ten]")
    middle = marked(text, "five", width=3)
    assert middle.startswith("… ")
    assert middle.endswith(" …")
    assert "[five]" in middle
    assert "…" not in marked(text, "five", width=10)


def test_a_passage_has_about_the_width_that_was_asked_for():
    text = " ".join(f"w{number}" for number in range(1000))
    for wanted in ("w0", "w500", "w999"):
        snippet = make_snippet(text, {wanted}, PLAIN, 30)
        assert len(words(snippet.text)) == 30
        assert snippet.marked("[", "]").count(f"[{wanted}]") == 1


def test_a_match_is_shown_with_some_words_before_it():
    text = "grey " * 100 + "red " + "grey " * 100
    before = marked(text, "red", width=30).partition("[red]")[0]
    assert 1 <= len(words(before)) <= 10


def test_marks_are_put_around_words():
    assert Snippet("a bc d", ((0, 1), (2, 4))).marked("<b>", "</b>") == "<b>a</b> <b>bc</b> d"


texts = st.text(
    st.one_of(st.sampled_from("abc  \n\t-.'’éé\u0301\u00adﬁ½⒈"), st.characters(exclude_categories=["Cs"])), max_size=60
)


@given(texts, st.sets(st.sampled_from(["a", "b", "c", "ab", "1", "2", "fi", "e"])), st.integers(1, 8))
@example("1½ c", {"11", "2", "c"}, 8)
def test_marks_lie_inside_and_what_they_mark_matched(text, terms, width):
    snippet = make_snippet(text, terms, PLAIN, width)
    last = 0
    for start, end in snippet.marks:
        assert last <= start < end <= len(snippet.text)
        assert set(words(snippet.text[start:end])) & terms
        last = end


@given(texts, st.sets(st.sampled_from(["a", "b", "c", "1", "2"])), st.integers(1, 8))
@example("1½ c", {"11", "2", "c"}, 8)
def test_a_snippet_is_a_passage_of_the_text_on_one_line(text, terms, width):
    snippet = make_snippet(text, terms, PLAIN, width)
    assert snippet.text.splitlines() in ([], [snippet.text])
    passage = re.sub(r"\s+", "", snippet.text.removeprefix("… ").removesuffix(" …"))
    assert passage in re.sub(r"\s+", "", text)


@given(texts, st.integers(1, 8))
def test_a_text_with_a_match_shows_a_match(text, width):
    for term in set(words(text)):
        assert make_snippet(text, {term}, PLAIN, width).marks
