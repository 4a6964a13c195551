"""Snippets are the best passages, with their matching words marked."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer, NgramAnalyzer
from searchlab.analysis.tokenizer import split_words
from searchlab.retrieval.highlight.snippets import Snippet, make_snippet, mark_line

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
        assert len(split_words(snippet.text)) == 30
        assert snippet.marked("[", "]").count(f"[{wanted}]") == 1


def test_a_match_is_shown_with_some_words_before_it():
    text = "grey " * 100 + "red " + "grey " * 100
    before = marked(text, "red", width=30).partition("[red]")[0]
    assert 1 <= len(split_words(before)) <= 10


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
        assert set(split_words(snippet.text[start:end])) & terms
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
    for term in set(split_words(text)):
        assert make_snippet(text, {term}, PLAIN, width).marks


def snippet_by_trying(text, terms, width):
    """The snippet by the rules as documented, over every run of words."""
    spans = list(PLAIN.spans(text))
    if not spans:
        return Snippet("", ())
    runs = [range(max(0, end - width + 1), end + 1) for end in range(len(spans))]
    held = [[spans[place].term for place in run if spans[place].term in terms] for run in runs]
    best = max(range(len(runs)), key=lambda end: (len(set(held[end])), len(held[end]), -end)) if any(held) else 0
    first = next((place for place in runs[best] if spans[place].term in terms), 0)
    begins = [
        place
        for place in range(max(0, best - width + 1), first + 1)
        if place == 0 or re.search("[.!?]", text[spans[place - 1].end : spans[place].start])
    ]
    usual = max(0, best - width + 1, min(first - width // 5, len(spans) - width))
    begin = begins[-1] if begins else usual
    window = spans[begin : begin + width]
    start = window[0].start if begin else 0
    end = window[-1].end if begin + width < len(spans) else len(text)
    return cut_one_by_one(text, start, end, [span for span in window if span.term in terms])


def cut_one_by_one(text, start, end, matched):
    """A stretch of a text on one line, character by character; of matches that overlap, the first is marked."""
    of_character, last = {}, start
    for number, span in enumerate(matched):
        if span.start >= last:
            of_character |= dict.fromkeys(range(span.start, span.end), number)
            last = span.end
    line, places = "… " if start else "", {}
    for place in range(start, end):
        if place in of_character:
            line += text[place]
            begin, _ = places.get(of_character[place], (len(line) - 1, 0))
            places[of_character[place]] = (begin, len(line))
        elif not text[place].isspace():
            line += text[place]
        elif line.removeprefix("… ") and not line.endswith(" "):
            line += " "
    return Snippet(line.rstrip() + (" …" if end < len(text) else ""), tuple(places.values()))


plain_texts = st.lists(st.sampled_from(["a", "b", "c", "d. ", " ", "  ", "\n", "! ", "0.5", "a's"]), max_size=60).map(
    " ".join
)
wanted = st.sets(st.sampled_from(["a", "b", "c", "ab", "0.5", "1", "2", "fi", "e"]))


@given(st.one_of(texts, plain_texts), wanted, st.integers(1, 8))
@example("a b c a b", {"a", "b"}, 2)
@example("½½ ½", {"1", "2"}, 1)
def test_a_snippet_is_the_one_found_by_trying_all(text, terms, width):
    assert make_snippet(text, terms, PLAIN, width) == snippet_by_trying(text, terms, width)


@given(st.one_of(texts, plain_texts), wanted)
def test_a_line_has_all_of_the_text_with_every_match(text, terms):
    spans = [span for span in PLAIN.spans(text) if span.term in terms]
    assert mark_line(text, terms, PLAIN) == cut_one_by_one(text, 0, len(text), spans)


def test_a_line_begins_where_the_text_does_also_if_a_later_sentence_matches():
    line = mark_line("Crohn disease.  A review\nof cells", {"review", "cell"}, ANALYZER)
    assert line.marked("[", "]") == "Crohn disease. A [review] of [cells]"
    assert mark_line(" ?! ", {"a"}, ANALYZER) == Snippet("?!", ())


@pytest.mark.parametrize(
    ("text", "query", "n", "expected"),
    [
        ("信息检索系统", "检索", 2, "信息[检索]系统"),
        ("信息检索系统", "信息检", 2, "[信息检]索系统"),  # overlapping n-grams are one mark
        ("信息检索", "索信", 1, "[信]息检[索]"),
        ("信息检索", "息信", 1, "[信息]检索"),  # and so are adjacent ones
        ("Lymphoma cells", "lymphma", 3, "[Lymph]oma cells"),
        ("caf\u00e9s", "cafe", 3, "[caf\u00e9]s"),
    ],
)
def test_matching_ngrams_are_marked(text, query, n, expected):
    assert marked(text, query, analyzer=NgramAnalyzer(n)) == expected


def test_words_of_two_characters_that_overlap_are_one_mark_and_sentences_begin_after_a_full_stop():
    text = "今天天气很好。" * 20 + "信息检索系统按照相关性排列文档。" + "今天天气很好。" * 20
    assert marked(text, "信息检索", width=12) == "… [信息检索]系统按照相关性排列 …"


def test_a_snippet_has_the_page_of_its_first_match():
    text = "One fish.\fTwo cats\nand cells.\fThree cells."
    assert make_snippet(text, {"cell"}, ANALYZER, 3) == Snippet("… cells. Three cells.", ((2, 7), (15, 20)), 2)
    assert make_snippet(text, {"three"}, ANALYZER).page == 3
    assert make_snippet(text, {"nothing"}, ANALYZER, 3).page == 1
    assert make_snippet("One cell.", {"cell"}, ANALYZER).page is None
