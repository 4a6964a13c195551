"""All matching words of a text are marked, and nothing else is changed."""

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.highlight.full_text import mark_all


def test_every_form_of_a_word_is_marked_wherever_it_stands(build):
    text = "Lymphomas of T cells.\n\nA lymphoma, caf\u00e9 and ½ lymphoma's."
    with searchlab.open(build([Document("a", "Lymphoma", text)], settings=AnalysisSettings())) as engine:
        query = engine.parse("lymphoma year:1988 cafe 1 2", syntax="full")
        marked = mark_all(text, query.to_mark, engine.snapshot.analyzer)
    assert marked.text == text
    assert [text[start:end] for start, end in marked.marks] == ["Lymphomas", "lymphoma", "caf\u00e9", "½", "lymphoma's"]


def test_overlapping_ngrams_are_one_mark(build):
    settings = AnalysisSettings(ngrams=2)
    with searchlab.open(build([Document("a", "信息检索", "x")], settings=settings)) as engine:
        query = engine.parse("信息检 x", stream="ngrams")
        analyzer = engine.snapshot.analyzer_of(query.stream_to_mark)
        assert mark_all("的信息检索", query.to_mark, analyzer).marks == ((1, 4),)
        (hit,) = engine.search(query, stream="ngrams")
        assert (hit.marked_title.marked("[", "]"), hit.snippet.marked("[", "]")) == ("[信息检]索", "[x]")


def test_without_terms_nothing_is_marked(build):
    with searchlab.open(build([Document("a", "x", "y")])) as engine:
        assert mark_all("x y", frozenset(), engine.snapshot.analyzer).marks == ()
