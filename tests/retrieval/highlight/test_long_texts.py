"""Snippets of very long texts show the terms, wherever they are, and take no longer than those of others."""

import random
import time

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.highlight.long_texts import AFTER, BEFORE, MAX_LENGTH, add_ellipses, choose_part
from searchlab.retrieval.highlight.snippets import Snippet

FILLER = "words of no use " * (MAX_LENGTH // 10)
FORMS = {"lymphoma": ("lymphoma", "lymphomas"), "mous": ("mice", "mouse")}


def chosen(text, forms=FORMS):
    return text[choose_part(text, forms)]


def test_a_short_text_is_considered_whole():
    text = "x" * MAX_LENGTH
    assert choose_part(text, FORMS) == slice(0, MAX_LENGTH)


@pytest.mark.parametrize("place", [0, 0.3, 0.99])
def test_the_part_of_a_long_text_surrounds_the_first_occurrence(place):
    cut = FILLER.index(" ", int(place * len(FILLER)))
    text = f"{FILLER[:cut]} Lymphomas. {FILLER[cut:]}"
    part = chosen(text)
    assert "Lymphomas." in part
    assert len(part) <= BEFORE + AFTER
    assert part.split()[0] in {"words", "of", "no", "use"}, "no word is cut"


def test_the_part_with_the_most_terms_is_taken():
    text = f"mice {FILLER} lymphoma here {FILLER} lymphoma in a mouse"
    assert "mice" in chosen(text), "of equal parts the first"
    text = f"mice {FILLER} a lymphoma and another mouse {FILLER}"
    assert "another mouse" in chosen(text)


def test_a_word_within_a_longer_one_is_passed_over():
    assert "a mouse" in chosen(f"dormouse mousetrap {FILLER} a mouse")


def test_accents_are_ignored_and_capitals_may_change_the_length():
    forms = {"crohn": ("crohn",), "etude": ("etude",)}
    assert "Étude" in chosen(f"é {FILLER} Une Étude {FILLER}", forms)
    assert "CROHN" in chosen(f"İİİ {FILLER} CROHN {FILLER}", forms)


def test_a_text_without_the_terms_is_shown_from_its_beginning():
    assert chosen("Here it begins. " + FILLER, FORMS).startswith("Here it begins.")
    assert chosen("Here it begins. " + FILLER, {}).startswith("Here it begins.")


def test_ellipses_say_that_the_text_goes_on():
    snippet = Snippet("a mouse", ((2, 7),))
    assert add_ellipses(snippet, "x" * 100, slice(10, 20)) == Snippet("… a mouse …", ((4, 9),))
    assert add_ellipses(snippet, "x" * 100, slice(0, 100)) is snippet
    whole = Snippet("… a mouse …", ((4, 9),))
    assert add_ellipses(whole, "x" * 100, slice(10, 20)) is whole


@pytest.fixture(scope="module")
def library(build):
    chance = random.Random(5)
    words = [f"w{number}" for number in range(5000)]
    body = " ".join(chance.choices(words, k=1_000_000))
    cut = body.index(" ", int(len(body) * 0.7))
    book = Document("book", "A book", f"{body[:cut]} Lymphomas of mice. {body[cut:]}")
    return build([book, Document("note", "A note", "A lymphoma.")], settings=AnalysisSettings())


@pytest.mark.parametrize("compiled", [False, True])
def test_the_snippet_of_a_book_takes_little_more_than_reading_it(library, compiled):
    with SearchEngine(library, compiled=compiled) as engine:
        hits = engine.search("lymphoma mice")
        list(hits)  # compiled code is loaded
        began = time.process_time()
        engine.document("book")
        read = time.process_time() - began
        began = time.process_time()
        book = next(hit for hit in hits if hit.docno == "book")
        # The words of the whole text take more than ten times as long as reading it.
        assert time.process_time() - began < 4 * read + 0.1
        assert [book.snippet.text[start:end] for start, end in book.snippet.marks] == ["Lymphomas", "mice"]
        assert book.snippet.text.startswith("… ")
        assert book.snippet.text.endswith(" …")
