"""Snippets of long texts show the best passage, wherever it is, and read little else."""

import random
import re

import numpy as np
import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.indexing.storage.documents.long_body import BLOCK_LENGTH, MAX_WHOLE_LENGTH
from searchlab.indexing.storage.documents.stored_documents import StoredDocuments
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.highlight.long_texts import TERMS_AT_ONCE, TextPart, find_best_position
from searchlab.retrieval.highlight.snippets import Snippet

CHANCE = random.Random(5)
WORDS = [f"w{number}" for number in range(500)]
N_WORDS = 120_000
# Where some words are put, and which; the pair is together in one place only.
PLACES = {
    3_000: "Mice",
    50_000: "mouse",
    80_000: "Lymphomas of mice.",
    100_000: "lymphoma",
    N_WORDS - 1: "Ending",
}


def make_book():
    words = CHANCE.choices(WORDS, k=N_WORDS)
    for place, text in PLACES.items():
        words[place] = text
    # A page has 1,000 words.
    return "\f".join(" ".join(words[start : start + 1000]) for start in range(0, N_WORDS, 1000))


BOOK = Document("book", "A book", make_book())
NOTE = Document("note", "A note", "A lymphoma.")


@pytest.fixture(scope="module")
def library(build):
    return build([BOOK, NOTE], settings=AnalysisSettings())


def find_book(folder, query, compiled=False, **settings):
    with SearchEngine(folder, compiled=compiled) as engine:
        hits = engine.search(query, **settings)
        return next(hit for hit in hits if hit.docno == "book")


def marked(snippet):
    return [snippet.text[start:end] for start, end in snippet.marks]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("query", "words", "page"),
    [
        ("lymphoma mice", ["Lymphomas", "mice"], 81),
        ("lymphoma", ["Lymphomas"], 81),
        ("mouse", ["mouse"], 51),
        ("mice", ["Mice"], 4),
        ("ending", ["Ending"], 120),
        ("ending lymphoma mice", ["Lymphomas", "mice"], 81),
    ],
)
def test_the_snippet_is_the_best_passage_with_its_page(library, query, words, page, compiled):
    hit = find_book(library, query, compiled)
    assert marked(hit.snippet) == words
    assert hit.page == page
    assert hit.snippet.text.startswith("… ")
    assert hit.snippet.text.endswith(" …") == (query != "ending")
    # The passage is in the text as it stands.
    assert " ".join(hit.snippet.text.strip("… ").split()) in " ".join(BOOK.body.split())


def test_a_snippet_reads_few_blocks(library, monkeypatch):
    read = []
    decompress = StoredDocuments._decompress

    def count(self, start, end, max_bytes):
        content = decompress(self, start, end, max_bytes)
        read.append(len(content))
        return content

    monkeypatch.setattr(StoredDocuments, "_decompress", count)
    hit = find_book(library, "lymphoma mice")
    # The JSON of two documents, and at most two blocks.
    assert len(read) <= 4
    assert max(read) < 2 * BLOCK_LENGTH
    assert len(hit.document.body) == len(BOOK.body) > 30 * BLOCK_LENGTH
    assert hit.document == BOOK


def test_passages_at_the_borders_of_blocks_are_whole(build):
    # A word each 100 characters or so: some are the first or the last of their block, and all are shown amid others.
    words = CHANCE.choices(WORDS, k=20_000)
    words[10::20] = [f"border{number}" for number in range(len(words[10::20]))]
    folder = build([Document("book", "", " ".join(words))], settings=AnalysisSettings())
    with SearchEngine(folder) as engine:
        body = engine.snapshot.shards[0].stored.read(0).body
        for begin in body.begins[1:-1].tolist():
            text = body.read(begin - 150, begin + 150)
            name = re.findall(r"border\d+", text)[0]
            (hit,) = engine.search(name)
            assert marked(hit.snippet) == [name]
            assert len(hit.snippet.text.strip("… ").split()) == 30


def test_n_grams_are_found_though_their_blocks_are_estimated(build):
    # N-grams are dense at the beginning and sparse at the end, so the estimate is off.
    text = f"{'abcdefgh' * 10} " * 1_000 + f"{'- ' * 40}x " * 2_000 + "信息检索 " + f"{'abcdefgh' * 10} " * 1_000
    folder = build([Document("book", "", text)], settings=AnalysisSettings(ngrams=2))
    assert len(text) > MAX_WHOLE_LENGTH
    assert marked(find_book(folder, "信息检索", stream="ngrams").snippet) == ["信息检索"]


@pytest.mark.usefixtures("registered_here")
def test_an_analyzer_of_a_users_own_sees_the_whole_text(build):
    lengths = []

    @searchlab.analyzer("bare")
    def split(text):
        lengths.append(len(text))
        return text.split()

    folder = build([BOOK], settings=AnalysisSettings.from_names("none", "none", analyzer="bare"))
    assert len(BOOK.body) in lengths
    assert marked(find_book(folder, "Ending").snippet) == ["Ending"]


def brute_force(tokens, wanted, width):
    """The last match of the best run, by looking at every run."""
    best, best_value = None, (0, 0)
    for end, last in enumerate(tokens):
        if last in wanted:
            run = [token for token in tokens[max(end - width + 1, 0) : end + 1] if token in wanted]
            if (value := (len(set(run)), len(run))) > best_value:
                best, best_value = end, value
    return best


@pytest.mark.parametrize("n_wanted", [1, 2, 3, 9])
def test_the_best_position_is_that_of_brute_force(n_wanted, monkeypatch):
    # All in one piece, or in pieces of which the first with all terms would be the last.
    rng = np.random.default_rng(n_wanted)
    wanted = np.arange(n_wanted) * 3
    for _ in range(50):
        tokens = rng.integers(0, 60, size=rng.integers(1, 200)).astype(np.uint32)
        expected = brute_force(tokens.tolist(), set(wanted.tolist()), 6)
        assert find_best_position(tokens, wanted, 6) == expected
        monkeypatch.setattr("searchlab.retrieval.highlight.long_texts.TERMS_AT_ONCE", 10)
        found = find_best_position(tokens, wanted, 6)
        monkeypatch.undo()
        present = set(tokens.tolist()) & set(wanted.tolist())
        if found is not None and found != expected:
            # Only where a piece had all terms, and so the pieces after it were left out.
            run = set(tokens[max(found - 5, 0) : found + 1].tolist())
            assert set(wanted.tolist()) <= run
        assert (found is None) == (not present)


def test_a_run_may_go_over_the_border_of_pieces():
    tokens = np.full(TERMS_AT_ONCE + 100, 9, np.uint32)
    tokens[[10, TERMS_AT_ONCE - 1, TERMS_AT_ONCE + 1]] = [1, 1, 2]
    assert find_best_position(tokens, np.array([1, 2, 3])) == TERMS_AT_ONCE + 1


def test_ellipses_say_that_the_text_goes_on():
    snippet = Snippet("a mouse", ((2, 7),))
    assert TextPart("", True, True).place(snippet) == Snippet("… a mouse …", ((4, 9),))
    assert TextPart("").place(snippet) is snippet
    whole = Snippet("… a mouse …", ((4, 9),))
    assert TextPart("", True, True).place(whole) is whole


def test_pages_of_a_part_are_counted_from_its_first():
    assert TextPart("", first_page=7).place(Snippet("a", (), 3)).page == 9
    assert TextPart("", first_page=7).place(Snippet("a", ())).page == 7
    assert TextPart.whole("a").place(Snippet("a", ())).page is None
    assert TextPart.whole("a\fb").place(Snippet("b", (), 2)).page == 2
