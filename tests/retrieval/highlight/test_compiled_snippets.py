"""Compiled snippets equal those of `snippets.py`, word for word."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.highlight import compiled_snippets
from searchlab.retrieval.highlight.compiled_snippets import SnippetMaker
from searchlab.retrieval.highlight.snippet_kernels import hash_characters
from searchlab.retrieval.highlight.snippets import make_snippet, mark_line

WORDS = [
    "lymphoma",
    "Lymphomas",
    "cell",
    "CELLS",
    "the",
    "of",
    "1.5",
    "1.5mg",
    "2",
    "crohn's",
    "Crohn",
    "o'neil",
    "x's's",
    "ab",
]
GAPS = [" ", "  ", ". ", "! ", "? ", "-", "_", ".", "'", ",\n", "\t", "''", "½", " é ", ".5"]
QUERY = "lymphoma cell 1.5 crohn o'neil 2 x's"

texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=120).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


@pytest.fixture(scope="module")
def engine(build):
    everything = " ".join(word + gap for gap in GAPS for word in WORDS)
    documents = [Document("a", everything, everything), Document("b", "Lymphomas", "x" * 300 + " " + "y" * 255 + "z")]
    return searchlab.open(build(documents, settings=AnalysisSettings(), words_per_shard=20))


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
@example([("", "")])
@example([("...", "'s"), ("a" * 300, "lymphoma's")])
@example([("cell " * 40 + "lymphoma cell", "1.5.2 1.5. .5 1.5mg's")])
@example([("x " * 35 + "cell " + "x " * 40 + "cell lymphoma " + "x " * 40, "")])
def test_compiled_snippets_are_those_of_each_text(engine, documents):
    terms = engine.parse(QUERY).to_mark
    analyzer = engine.snapshot.analyzer
    found = SnippetMaker(engine.snapshot, terms).make(
        [body for body, _ in documents], [title for _, title in documents]
    )
    assert found == [
        (make_snippet(body, terms, analyzer), mark_line(title, terms, analyzer)) for body, title in documents
    ]


def test_long_words_match_by_the_letters_that_words_have(engine):
    long = "x" * 300
    terms = engine.parse(long).to_mark
    (((_, title)),) = SnippetMaker(engine.snapshot, terms).make([""], [f"{long} {long[:254]} {long[:256]}"])
    assert title.marks == ((0, 300), (556, 812))


def test_a_hash_collision_is_found_out(engine, monkeypatch):
    monkeypatch.setattr(
        compiled_snippets, "hash_word", lambda word: int(hash_characters(np.frombuffer(b"of", "u1"), 0, 2))
    )
    terms = engine.parse("lymphoma").to_mark
    (((body, _)),) = SnippetMaker(engine.snapshot, terms).make(["of lymphoma"], [""])
    assert body.marked("[", "]") == "of [lymphoma]"


def test_both_engines_show_the_same(build):
    documents = [
        Document(f"d{n:02}", f"Lymphoma {n}", "A cell. " * n + "Lymphomas of café cells! " + "x " * 50, {"n": n})
        for n in range(40)
    ]
    folder = build(documents, settings=AnalysisSettings(), words_per_shard=300)
    with searchlab.open(folder) as fast, searchlab.open(folder, compiled=False) as slow:
        for k in (1, 16, 17, 40):
            assert list(fast.search("lymphoma cell", k=k)) == list(slow.search("lymphoma cell", k=k))
        assert fast.search("lymphoma", k=40)[5:30:7] == slow.search("lymphoma", k=40)[5:30:7]
        assert fast.search("lymphoma", k=40)[-1] == slow.search("lymphoma", k=40)[-1]


def test_without_terms_nothing_is_marked(engine):
    (((body, title)),) = SnippetMaker(engine.snapshot, frozenset()).make(["lymphoma cell."], ["lymphoma"])
    assert (body.text, body.marks, title.marks) == ("lymphoma cell.", (), ())


def test_no_documents_give_no_snippets(engine):
    assert SnippetMaker(engine.snapshot, frozenset({"cell"})).make([], []) == []
