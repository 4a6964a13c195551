"""Syntax trees match the documents that they should, and score them as plain words do."""

import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh import index as whoosh_index
from whoosh import query as whoosh_query

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexCorrupt, QueryWarning, SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage import streams
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.layout import WHOOSH
from searchlab.indexing.storage.manifest import Manifest, commit_manifest, read_index_manifest
from searchlab.indexing.storage.shard import write_deletions
from searchlab.records import Document, TermStats
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.query import query_analyzer, term_patterns
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.syntax_tree import (
    And,
    BooleanClauses,
    Boost,
    Fuzzy,
    Leaf,
    Node,
    Not,
    Or,
    Phrase,
    Range,
    Wildcard,
    Word,
    positive_leaves,
)
from searchlab.retrieval.results import Hits
from searchlab.scorers.base import Scorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.execution import posting_scoring
from tests.hypothesis_profiles import examples
from tests.retrieval.reference import ALL_SCORERS, CLOSE, POSTING_SCORERS

# A slow and obvious matcher over the texts of documents. Words are split at blanks and hyphens.

WORDS = ["a", "b", "ab", "ba", "abc", "bca", "cab", "é", "aა", "აბa"]
PUNCTUATION = "…"


def passages(document: Document, stream: str) -> list[list[str]]:
    """The texts that a phrase can lie in."""
    if stream == "both":
        return [document.title.split(), document.body.split()]
    if stream in ("title", "body"):
        return [getattr(document, stream).split()]
    return [str(value).split() for value in document.fields.get(stream, [])]


def text_of(document: Document, stream: str) -> list[str]:
    return [word for passage in passages(document, stream) for word in passage]


def unaccented(text: str) -> str:
    return text.replace("é", "e")


def as_indexed(document: Document) -> Document:
    """The document with folded texts."""
    fields = {name: [unaccented(str(value)) for value in values] for name, values in document.fields.items()}
    return Document(document.docno, unaccented(document.title), unaccented(document.body), fields)


def words_of(text: str) -> list[str]:
    return unaccented(text).replace("-", " ").replace(PUNCTUATION, " ").split()


def has_phrase(passage: list[str], words: list[str], slop: int) -> bool:
    places = [[place for place, word in enumerate(passage) if word == wanted] for wanted in words]
    return any(all(0 < after - before <= slop for before, after in pairwise(chosen)) for chosen in product(*places))


@cache
def edit_distance(one: str, two: str) -> int:
    if not one or not two:
        return len(one) + len(two)
    return min(
        edit_distance(one[1:], two) + 1,
        edit_distance(one, two[1:]) + 1,
        edit_distance(one[1:], two[1:]) + (one[0] != two[0]),
    )


def stands_for(leaf: Wildcard | Fuzzy, word: str) -> bool:
    text = unaccented(leaf.text)
    if isinstance(leaf, Wildcard):
        return fnmatchcase(word, text)
    return edit_distance(text, word) <= leaf.distance and word.startswith(text[: leaf.prefix])


def in_range(asked: Range, value) -> bool:
    low, high = (bound if bound is None else type(value)(bound) for bound in (asked.low, asked.high))
    return (low is None or low < value or (asked.low_included and low == value)) and (
        high is None or value < high or (asked.high_included and high == value)
    )


def folded(asked: Range) -> Range:
    low, high = (bound and bound.lower() for bound in (asked.low, asked.high))
    return replace(asked, low=low, high=high)


def matches_leaf(leaf: Leaf, document: Document, stream: str) -> bool | None:
    name = leaf.field or stream
    match leaf:
        case Range(field="year"):
            return any(in_range(leaf, float(year)) for year in document.fields.get("year", []))
        case Range(field="docno"):
            return in_range(leaf, document.docno)
        case Range():
            return any(in_range(folded(leaf), word) for word in text_of(document, name))
        case Wildcard() | Fuzzy() if name == "docno":
            return fnmatchcase(document.docno, leaf.text)
        case Wildcard() | Fuzzy():
            return any(stands_for(leaf, word) for word in text_of(document, name))
        case Word() | Phrase() if name == "docno":
            return document.docno == leaf.text
    words = words_of(leaf.text)
    slop = leaf.slop if isinstance(leaf, Phrase) else 1
    return any(has_phrase(passage, words, slop) for passage in passages(document, name)) if words else None


def matches(node: Node, document: Document, stream: str) -> bool | None:
    """Whether a document matches; None if the node asks for nothing."""

    def decided(parts: Iterable[Node]) -> list[bool]:
        return [found for part in parts if (found := matches(part, document, stream)) is not None]

    match node:
        case And(parts):
            return all(found) if (found := decided(parts)) else None
        case Or(parts):
            return any(found) if (found := decided(parts)) else None
        case Not(part):
            return None if (found := matches(part, document, stream)) is None else not found  # type: ignore[assignment]
        case Boost(part):
            return matches(part, document, stream)
        case BooleanClauses(must, should, must_not):
            required, excluded = decided(must), decided(must_not)
            one = [any(found)] if not required and (found := decided(should)) else []
            conditions = [*required, *one, *(not found for found in excluded)]
            return all(conditions) if conditions else None
    return matches_leaf(node, document, stream)


def scored_words(node: Node, documents: list[Document], stream: str) -> list[tuple[float, str, frozenset[str]]]:
    """Each word that scores: its weight, the text that it is looked up in, the words that it matches."""
    found = []
    for leaf, boost in positive_leaves(node):
        name = leaf.field or stream
        if isinstance(leaf, Range) or name == "docno":
            continue
        if isinstance(leaf, Word | Phrase):
            classes = [frozenset([word]) for word in words_of(leaf.text)]
        else:
            known = {word for document in documents for word in text_of(document, name)}
            classes = [frozenset(word for word in known if stands_for(leaf, word))]
        found += [(boost, name, words) for words in classes]
    return found


def expected_scores(node: Node, documents: list[Document], scorer: Scorer, stream: str) -> dict[str, float]:
    documents = [as_indexed(document) for document in documents]
    found = {document.docno: 0.0 for document in documents if matches(node, document, stream)}
    for boost, name, words in scored_words(node, documents, stream):
        texts = {document.docno: text_of(document, name) for document in documents}
        tfs = {docno: sum(word in words for word in text) for docno, text in texts.items()}
        doc_freq = sum(map(bool, tfs.values()))
        stats = TermStats(len(documents), sum(map(len, texts.values())), doc_freq, sum(tfs.values()))
        own = scorer.in_stream(name) if isinstance(scorer, BM25F) and name != "both" else scorer
        for document in documents:
            if document.docno in found and doc_freq:
                text = texts[document.docno]
                tf = tfs[document.docno]
                if isinstance(own, BM25F):
                    tf = pseudo_frequency(own, words, document, documents)  # type: ignore[assignment]
                found[document.docno] += boost * float(own.weigh(tf, len(text), stats, len(set(text))))  # type: ignore[attr-defined]
    return found


def pseudo_frequency(scorer: BM25F, words: frozenset[str], document: Document, documents: list[Document]) -> float:
    total = 0.0
    for field in ("title", "body"):
        mean = sum(len(text_of(other, field)) for other in documents) / len(documents)
        text = text_of(document, field)
        if text:
            total += scorer.pseudo_tf(field, sum(word in words for word in text), len(text), mean)
    return total


# Random documents and trees.

texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
fields = st.fixed_dictionaries(
    {},
    optional={
        "mesh": st.lists(texts.filter(bool), min_size=1, max_size=2),
        "year": st.lists(st.sampled_from([1988, 1989.5, 1990, 7]), min_size=1, max_size=2),
    },
)
corpora = st.lists(
    st.builds(Document, st.text("abC1", min_size=1, max_size=3), texts, texts, fields),
    min_size=1,
    max_size=12,
    unique_by=lambda document: document.docno,
)
some_words = st.lists(st.sampled_from([*WORDS, "a-b", "zz", PUNCTUATION]), min_size=1, max_size=4).map(" ".join)
patterns = st.text("abc*?éა", min_size=2, max_size=4).filter(lambda text: set(text) & set("*?"))
bounds = st.one_of(st.none(), st.sampled_from(["a", "b", "ba", "c", "C", "1"]))


def make_leaves(places) -> st.SearchStrategy[Leaf]:
    return st.one_of(
        st.builds(Word, st.sampled_from([*WORDS, "a-b", "zz", PUNCTUATION]), places),
        st.builds(Phrase, some_words, st.integers(1, 3), places),
        st.builds(Wildcard, patterns, places),
        st.builds(Fuzzy, st.sampled_from(WORDS), st.integers(1, 2), st.integers(0, 2), places),
    )


text_ranges = st.builds(Range, st.sampled_from(["title", "body"]), bounds, bounds, st.booleans(), st.booleans())
other_ranges = st.one_of(
    st.builds(Range, st.just("docno"), bounds, bounds, st.booleans(), st.booleans()),
    st.builds(Range, st.just("mesh"), bounds, st.sampled_from(["ab", "b"]), st.booleans(), st.booleans()),
    st.builds(
        Range,
        st.just("year"),
        st.sampled_from(["1989", "7"]),
        st.sampled_from(["1990", None]),
        st.booleans(),
        st.booleans(),
    ),
)
named = st.one_of(
    st.builds(Word, st.text("abC1", min_size=1, max_size=3), st.just("docno")),
    st.builds(Wildcard, st.sampled_from(["a*", "*C", "?b*", "1?"]), st.just("docno")),
)


def make_trees(all_leaves) -> st.SearchStrategy[Node]:
    def grow(parts):
        several = st.lists(parts, min_size=1, max_size=3).map(tuple)
        few = st.lists(parts, max_size=2).map(tuple)
        return st.one_of(
            st.builds(And, several),
            st.builds(Or, several),
            st.builds(Not, parts),
            st.builds(Boost, parts, st.sampled_from([0.5, 2.0, 3.5])),
            st.builds(BooleanClauses, few, several, few),
        )

    return st.recursive(all_leaves, grow, max_leaves=6)


trees = make_trees(
    st.one_of(
        make_leaves(st.sampled_from([None, None, "title", "body", "mesh", "nowhere"])), text_ranges, other_ranges, named
    )
)
whoosh_trees = make_trees(st.one_of(make_leaves(st.sampled_from([None, "title", "body"])), text_ranges))


def found_by(engine: SearchEngine, node: Node, **options) -> dict[str, float]:
    hits = engine.search(engine.interpret(node, options.get("stream", "both")), k=None, **options)
    assert len(set(hits.docnos)) == len(hits)
    return scores_of(hits)


def scores_of(hits: Hits) -> dict[str, float]:
    return dict(zip(hits.docnos, hits.scores.tolist(), strict=True))


@settings(max_examples=examples(90))
@given(
    documents=corpora,
    asked=st.lists(trees, min_size=8, max_size=8),
    words_per_shard=st.sampled_from([None, 20]),
    sparingly=st.booleans(),
)
def test_trees_match_and_score_as_reading_every_text_says(indexed, documents, asked, words_per_shard, sparingly):
    with indexed(documents, words_per_shard=words_per_shard) as folder, pytest.MonkeyPatch.context() as patch:
        if sparingly:  # as in a large collection, where few documents match
            patch.setattr(posting_scoring, "LOOKUP_RATIO", 0)
            patch.setattr(streams, "SCAN_RATIO", 0)
        engine = SearchEngine(folder, compiled=False)
        for place, node in enumerate(asked):
            for scorer, stream in ((ALL_SCORERS[place % len(ALL_SCORERS)], "both"), (BM25(), STREAMS[place % 3])):
                found = found_by(engine, node, scorer=scorer, stream=stream)
                assert found == pytest.approx(expected_scores(node, documents, scorer, stream), rel=CLOSE, abs=CLOSE)


few_words = st.lists(st.sampled_from(["a", "b", "a-b"]), min_size=2, max_size=4).map(" ".join)
sparse_texts = st.lists(st.sampled_from(["a", "b", "c"]), max_size=8).map(" ".join)
documents_for_phrases = st.lists(
    st.tuples(sparse_texts, sparse_texts, st.lists(sparse_texts.filter(bool), min_size=1, max_size=3)),
    min_size=1,
    max_size=8,
).map(lambda rows: [Document(str(n), title, body, {"mesh": mesh}) for n, (title, body, mesh) in enumerate(rows)])


@settings(max_examples=examples(60))
@given(
    documents=documents_for_phrases,
    asked=st.lists(
        st.builds(Phrase, few_words, st.integers(1, 3), st.sampled_from([None, "title", "body", "mesh"])),
        min_size=15,
        max_size=15,
    ),
    sparingly=st.booleans(),
)
def test_phrases_match_as_reading_every_text_says(indexed, documents, asked, sparingly):
    with indexed(documents) as folder, pytest.MonkeyPatch.context() as patch:
        if sparingly:
            patch.setattr(streams, "SCAN_RATIO", 0)
        engine = SearchEngine(folder, compiled=False)
        for phrase in asked:
            expected = {document.docno for document in documents if matches(phrase, document, "both")}
            assert set(found_by(engine, phrase)) == expected, phrase


@settings(max_examples=examples(40))
@given(documents=corpora, node=trees)
def test_every_scorer_scores_the_words_of_a_tree(indexed, documents, node):
    with indexed(documents, words_per_shard=30) as folder:
        engine = SearchEngine(folder, compiled=False)
        for scorer in ALL_SCORERS:
            expected = expected_scores(node, documents, scorer, "both")
            assert found_by(engine, node, scorer=scorer) == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
            query = engine.interpret(node)
            for docno, score in expected.items():
                assert engine.explain(query, docno, scorer=scorer).score == pytest.approx(score, rel=CLOSE, abs=CLOSE)


def for_whoosh(node: Node) -> whoosh_query.Query:
    """A tree as Whoosh's own query."""

    def either(make, field):
        return make(field) if field else whoosh_query.Or([make("title"), make("body")])

    match node:
        case Word(text, field) | Phrase(text, field=field):
            words, slop = words_of(text), node.slop if isinstance(node, Phrase) else 1
            if len(words) == 1:
                return either(lambda name: whoosh_query.Term(name, words[0]), field)
            return either(lambda name: whoosh_query.Phrase(name, words, slop), field)
        case Wildcard(text, field):
            return either(lambda name: whoosh_query.Wildcard(name, unaccented(text)), field)
        case Fuzzy(text, distance, prefix, field):
            shared = min(prefix, len(text))
            return either(lambda name: whoosh_query.FuzzyTerm(name, unaccented(text), 1.0, distance, shared), field)
        case Range(field):
            asked = folded(node)
            return whoosh_query.TermRange(field, asked.low, asked.high, not asked.low_included, not asked.high_included)
        case And(parts):
            return whoosh_query.And([for_whoosh(part) for part in parts])
        case Or(parts):
            return whoosh_query.Or([for_whoosh(part) for part in parts])
        case Not(part):
            return whoosh_query.And([whoosh_query.Every("docno"), whoosh_query.Not(for_whoosh(part))])
        case Boost(part):
            return for_whoosh(part)
        case BooleanClauses(must, should, must_not):
            wanted = whoosh_query.And([for_whoosh(part) for part in must]) if must else for_whoosh(Or(should))
            return whoosh_query.And([wanted, *(for_whoosh(Not(part)) for part in must_not)])
    raise AssertionError(node)


def asks_for_nothing(node: Node) -> bool:
    return PUNCTUATION in str(node)


@settings(max_examples=examples(60))
@given(documents=corpora, asked=st.lists(whoosh_trees, min_size=8, max_size=8))
def test_trees_match_what_whoosh_matches(indexed, documents, asked):
    with indexed(documents) as folder:
        engine = SearchEngine(folder, compiled=False)
        (shard,) = engine.snapshot.shards
        with whoosh_index.open_dir(str(shard.folder / WHOOSH)).searcher() as searcher:
            for node in asked:
                if asks_for_nothing(node):
                    continue  # Whoosh's queries have no words that are none
                found = set(searcher.docs_for_query(for_whoosh(node)))
                assert set(found_by(engine, node)) == {shard.columns.docnos[doc] for doc in found}, node


@settings(max_examples=examples(20))
@given(documents=corpora, asked=st.lists(trees, min_size=5, max_size=5))
def test_shards_change_neither_matches_nor_scores(indexed, documents, asked):
    found = []
    for words_per_shard in (None, 1, 25):
        with indexed(documents, words_per_shard=words_per_shard) as folder:
            engine = SearchEngine(folder, compiled=False)
            found.append([[found_by(engine, node, scorer=s) for s in (BM25(), BM25F())] for node in asked])
            assert (len(engine.snapshot.shards) == 1) or words_per_shard
    assert found[0] == found[1] == found[2]


def mark_deleted(folder, docnos: set[str]) -> None:
    """Delete some documents of an index, without merging its shards."""
    manifest, records = read_index_manifest(folder), []
    for record in manifest.shards:
        with_docnos = Snapshot(folder)
        (shard,) = [shard for shard in with_docnos.shards if shard.record.name == record.name]
        deleted = [number for number, docno in enumerate(shard.columns.docnos) if docno in docnos]
        with_docnos.close()
        records.append(
            write_deletions(folder / record.name, record, np.array(deleted, np.int64)) if deleted else record
        )
    commit_manifest(folder, Manifest(manifest.settings, tuple(records), manifest.sources, manifest.generation + 1))


@settings(max_examples=examples(60))
@given(
    documents=corpora,
    asked=st.lists(trees, min_size=5, max_size=5),
    chance=st.randoms(use_true_random=False),
    words_per_shard=st.sampled_from([None, 20]),
)
def test_deleted_documents_count_for_nothing(indexed, documents, asked, chance, words_per_shard):
    deleted = {document.docno for document in documents if chance.random() < 0.4}
    live = [document for document in documents if document.docno not in deleted]
    with indexed(documents, words_per_shard=words_per_shard) as folder:
        mark_deleted(folder, deleted)
        engine = SearchEngine(folder, compiled=False)
        for node in asked:
            for scorer in (BM25(), BM25F(), POSTING_SCORERS["dirichlet"]()):
                expected = expected_scores(node, live, scorer, "both") if live else {}
                found = found_by(engine, node, scorer=scorer)
                assert found == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
            filtered = engine.search("a ab", filters=["docno=a"], k=None)
            assert set(filtered.docnos) <= {document.docno for document in live}


@settings(max_examples=examples(60))
@given(
    documents=corpora, words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), stream=st.sampled_from(STREAMS)
)
def test_a_tree_of_words_scores_to_the_last_bit_as_the_plain_words(indexed, documents, words, stream):
    with indexed(documents, words_per_shard=30) as folder:
        # Plain words go through the compiled kernel, which shares no sum with the trees.
        engine, kernel = SearchEngine(folder, compiled=False), SearchEngine(folder, compiled=True)
        leaves = tuple(map(Word, words))
        for scorer in ALL_SCORERS:
            if isinstance(scorer, BM25F) and stream != "both":
                continue
            options = {"scorer": scorer, "stream": stream}
            by_kernel, plain = (
                scores_of(other.search(" ".join(words), k=None, **options)) for other in (kernel, engine)
            )
            assert plain == by_kernel
            assert found_by(engine, Or(leaves), **options) == plain
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(posting_scoring, "LOOKUP_RATIO", 0)
                assert found_by(engine, Or(leaves), **options) == plain
            for node in (And(leaves), Phrase(" ".join(words), slop=3)):
                for docno, score in found_by(engine, node, **options).items():
                    assert score == plain[docno]


def test_terms_are_added_in_the_order_of_the_kernel(build):
    # Sums of five numbers and more, in many documents: another order would show in the last bit of some.
    chance = random.Random(5)
    documents = [
        Document(f"d{n:03}", "", " ".join(chance.choices("abcdefgh", k=chance.randint(1, 30)))) for n in range(300)
    ]
    folder = build(documents)
    engine, kernel = SearchEngine(folder, compiled=False), SearchEngine(folder, compiled=True)
    for _ in range(20):
        words = chance.sample("abcdefgh", chance.randint(5, 8))
        for scorer in ALL_SCORERS:
            plain = scores_of(kernel.search(" ".join(words), k=None, scorer=scorer))
            assert found_by(engine, Or(tuple(map(Word, words))), scorer=scorer) == plain


def test_of_a_pattern_only_what_live_documents_have_counts(build, tmp_path, monkeypatch):
    documents = [Document("1", "", "wa wb"), Document("2", "", "wa"), Document("3", "", "wb"), Document("4", "", "wc")]
    folder = build([*documents, Document("5", "", "wa")], folder=tmp_path / "it")
    assert SearchEngine(folder).parse("w*", syntax="full").terms[0].variants == ("wa", "wb", "wc")
    mark_deleted(folder, {"2", "4", "5"})
    assert SearchEngine(folder).parse("w*", syntax="full").terms[0].variants == ("wa", "wb")
    for module in (query_analyzer, term_patterns):
        monkeypatch.setattr(module, "MAX_VARIANTS", 1)
    # Three documents had wa and two wb; of the live, one has wa and two have wb.
    assert SearchEngine(folder).parse("w*", syntax="full").terms[0].variants == ("wb",)


# Examples by hand.

DOCUMENTS = [
    Document(
        "med-1",
        "T-cell lymphoma",
        "Lymphomas of T cells. New York, New York.",
        {"mesh": ["Lung Neoplasms", "Mice"], "year": 1988, "source": "Lancet", "date": "1988-03-12"},
    ),
    Document(
        "med-2",
        "Lung cell",
        "A cell of the lung; t cells. York is new.",
        {"mesh": ["Mice, Nude", "Lung"], "year": 1990, "source": "The Lancet", "date": "1990-12-31"},
    ),
    Document("aero", "Wings", "Heat flow over wings, and flow of heat.", {"year": 1989.5, "date": "1988-04"}),
    Document("MED-3", "", "Lymphatic cells", {"year": 2001}),
]


@pytest.fixture(scope="module", params=[None, 6])
def engine(build, request):
    folder = build(DOCUMENTS, settings=AnalysisSettings(), words_per_shard=request.param)
    return SearchEngine(folder, compiled=False)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"t cell"', {"med-1", "med-2"}),
        ('"cell t"', set()),
        ("t-cell", {"med-1", "med-2", "MED-3"}),  # plain: either word
        ("+t-cell", {"med-1", "med-2"}),
        ("(t-cell)", {"med-1", "med-2"}),
        ('"lymphoma of the cells"~2', {"med-1"}),
        ('"lymphoma of the cells"', set()),
        ('"new york new york"', {"med-1"}),
        ('"york new york new"', set()),
        ('"york new york"~2', {"med-1"}),
        ('"flow heat"', {"aero"}),
        ('"wings heat"', set()),
        ('"heat flow"', {"aero"}),
        ('title:"lung cell"', {"med-2"}),
        ('"lymphoma lymphomas"', set()),  # the end of a title and the beginning of a body
        ("lymphomas*", {"med-1"}),
        ("lymph*", {"med-1", "MED-3"}),
        ("*phoma", {"med-1"}),
        ("w?ngs", {"aero"}),
        ("LYMPHÓ*", {"med-1"}),
        ("title:lymph*", {"med-1"}),
        ("lymphma~", {"med-1"}),
        ("lmyphma~", set()),
        ("lmphma~2", {"med-1"}),
        ("cell AND lung", {"med-2"}),
        ("cell NOT lung", {"med-1", "MED-3"}),
        ("cell -lung", {"med-1", "MED-3"}),
        ("+cell lung", {"med-1", "med-2", "MED-3"}),
        ("NOT cell", {"aero"}),
        ("the AND cell", {"med-1", "med-2", "MED-3"}),
        ("cell NOT the", {"med-1", "med-2", "MED-3"}),
        ('the "of"', set()),
        ("wings OR lymphatic", {"aero", "MED-3"}),
        ("unheard AND cell", set()),
        ("unheard OR wing", {"aero"}),
        ("mesh:mice", {"med-1", "med-2"}),
        ('mesh:"lung neoplasms"', {"med-1"}),
        ('mesh:"neoplasms mice"', set()),
        ('mesh:"neoplasms mice"~9', set()),
        ('mesh:"mice nude"', {"med-2"}),
        ("mesh:neop*", {"med-1"}),
        ("mesh:mouse", set()),
        ("mesh:ludg~", {"med-1", "med-2"}),
        ("year:1988", {"med-1"}),
        ("year:[1988 TO 1990]", {"med-1", "med-2", "aero"}),
        ("year:{1988 TO 1990}", {"aero"}),
        ("year:[1990 TO]", {"med-2", "MED-3"}),
        ("cell year:[TO 1999]", {"med-1", "med-2"}),
        ("year:[1988 TO 1990] OR lymphatic", {"med-1", "med-2", "aero", "MED-3"}),
        ("date:[1988 TO 1988]", {"med-1", "aero"}),
        ("date:[1988-03 TO 1988-03]", {"med-1"}),
        ("date:{1988-03 TO 1990]", {"aero", "med-2"}),
        ("date:[1988-03-13 TO 1990-12-30]", {"aero"}),
        ("date:[1988-03-12 TO 1990-12-31}", {"med-1", "aero"}),
        ("source:[l TO m]", {"med-1", "med-2"}),
        ("source:[m TO z]", set()),
        ("title:[l TO lz]", {"med-1", "med-2"}),
        ("docno:med-1", {"med-1"}),
        ("docno:MED*", {"MED-3"}),
        ("docno:?ed-1", {"med-1"}),
        ("docno:[a TO med-1]", {"aero", "med-1"}),
        ("docno:[a TO med-1}", {"aero"}),
        ("NOT docno:med*", {"aero", "MED-3"}),
    ],
)
def test_queries_find(engine, query, found):
    assert set(engine.search(query, syntax="full").docnos) == found


def test_a_query_that_looks_plain_is_plain(engine):
    query = engine.parse("t-cell lymphoma: what is it?", syntax="full")
    assert query == engine.parse("t-cell lymphoma: what is it?")
    assert query.node is None
    assert [(term.text, term.stream, term.variants) for term in query.terms] == [
        ("t", "both", ("t",)),
        ("cell", "both", ("cell",)),
        ("lymphoma", "both", ("lymphoma",)),
    ]


def test_in_the_plain_language_nothing_is_syntax(engine):
    hits = engine.search('"york heat" NOT cell*')
    assert hits.query.node is None
    assert set(hits.docnos) == {"med-1", "med-2", "aero", "MED-3"}


def test_an_unknown_language_is_refused(engine):
    with pytest.raises(SettingError, match=r"unknown query syntax 'lucene'.*there is: full, plain"):
        engine.search("cell", syntax="lucene")


def test_what_cannot_be_understood_is_searched_as_words(engine):
    with pytest.warns(QueryWarning, match="a quotation mark is not closed: searched for the plain words"):
        hits = engine.search('"heat flow', syntax="full")
    assert hits.query.remarks == ("a quotation mark is not closed: searched for the plain words",)
    assert hits.docnos == engine.search("heat flow").docnos == ["aero"]
    assert engine.parse("author:smith", syntax="full").remarks[0].startswith("there is no field 'author'")


def test_words_that_score_name_their_text_and_their_variants(engine):
    query = engine.parse("lymph* OR title:wings^3 OR (wing AND wings) NOT flow*", syntax="full")
    assert [(term.text, term.count, term.stream, term.variants) for term in query.terms] == [
        ("lymph*", 1, "both", ("lymphat", "lymphoma")),
        ("wing", 3, "title", ("wing",)),
        ("wing", 2, "both", ("wing",)),
    ]
    # med-1 has lymphoma twice; MED-3 lymphatic once.
    assert (query.terms[0].stats.doc_freq, query.terms[0].stats.term_count) == (2, 3)


def test_a_pattern_for_one_word_scores_as_the_word(engine):
    word, pattern = (engine.search(query, syntax="full") for query in ("wings", "wing?"))
    assert pattern.docnos == word.docnos == ["aero"]
    assert pattern.scores.tolist() == word.scores.tolist()


def test_a_boost_multiplies_what_its_words_add(engine):
    once, twice = (engine.search(query, syntax="full").scores for query in ("(wing)", "wing^2.5"))
    assert twice == pytest.approx(2.5 * once)


def test_what_adds_no_score_scores_zero(engine):
    for query in ("NOT cell", "docno:aero", "year:[1989 TO 1989.9]"):
        hits = engine.search(query, syntax="full")
        assert (hits.docnos, hits.scores.tolist()) == (["aero"], [0.0])


def test_bm25f_scores_a_word_of_one_field_by_bm25(engine):
    scorer = BM25F(k1=0.9, title_b=0.3)
    found = engine.search("title:lung OR mesh:mice", scorer=scorer, syntax="full")
    title = engine.search("lung", scorer=BM25(0.9, 0.3), stream="title")
    mesh = engine.search("mesh:mice", scorer=BM25(0.9, 0.75), syntax="full")
    scores = dict(zip(mesh.docnos, mesh.scores, strict=True))
    assert found.docnos == ["med-2", "med-1"]
    assert found.scores.tolist() == pytest.approx([title.scores[0] + scores["med-2"], scores["med-1"]])


def test_an_explanation_has_a_part_for_each_word_that_scores(engine):
    query = '+lymph* mesh:mice^2 "t cell" -flow'
    hits = engine.search(query, syntax="full")
    explained = engine.explain(query, "med-1", syntax="full")
    assert {(part.label, part.query_count, part.raw) for part in explained.parts} == {
        ("lymph*", 1, 2),
        ("mesh:mice", 2, 1),
        ("t", 1, 2),
        ("cell", 1, 2),
    }
    assert explained.score == pytest.approx(hits.scores[hits.docnos.index("med-1")], abs=1e-9)
    assert engine.explain(hits.query, "med-1") == explained


def test_snippets_mark_all_variants_but_no_words_of_other_fields(engine):
    (hit,) = engine.search("lymphom* AND docno:med-1", syntax="full")
    assert hit.snippet.marked("[", "]") == "[Lymphomas] of T cells. New York, New York."
    assert hit.marked_title.marked("[", "]") == "T-cell [lymphoma]"
    (hit,) = engine.search("cell AND mesh:lung AND mesh:nude", syntax="full")
    assert [term.stream for term in engine.parse("cell AND mesh:lung", syntax="full").terms] == ["both", "mesh"]
    assert hit.snippet.marked("[", "]") == "A [cell] of the lung; t [cells]. York is new."


def test_hits_say_where_their_documents_stand(engine):
    hits = engine.search("cell")
    columns = [shard.columns for shard in engine.snapshot.shards]
    assert [columns[s].docnos[d] for s, d in zip(hits.shards, hits.docs, strict=True)] == hits.docnos


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["source=lancet"], {"med-1"}),
        (["source=THE  Lancet"], {"med-2"}),
        (["year=[1988 TO 1990]"], {"med-1", "med-2"}),
        (["year={1988 TO *]"], {"med-2", "MED-3"}),
        (["year=[TO 1990]", "mesh=mice"], {"med-1"}),
        (["year=1988", "source=the lancet"], set()),
        (["docno=MED-3"], {"MED-3"}),
        (["docno=med-3"], set()),
        (["docno=[a TO med-1]"], {"med-1"}),
        ([Filter("date", "[1990 TO 1990]")], {"med-2"}),
        (["date=1990-12-31"], {"med-2"}),
    ],
)
@pytest.mark.parametrize("query", ["cell", "cell*"])
def test_filters_restrict_and_change_no_score(engine, query, given, found):
    every = engine.search(query, syntax="full")
    scores = dict(zip(every.docnos, every.scores, strict=True))
    for compiled in (True, False):
        other = SearchEngine(engine.snapshot.folder, compiled=compiled)
        hits = other.search(query, syntax="full", filters=given)
        assert set(hits.docnos) == found
        assert hits.scores.tolist() == [scores[docno] for docno in hits.docnos]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("year", "filter is 'year', expected field=value"),
        ("=1988", "filter is '=1988', expected field=value"),
        ("year=", "filter is 'year=', expected field=value"),
        ("yaer=1988", r"unknown field 'yaer' \(did you mean year\?\); there is: date, docno, mesh, source, year"),
        ("title=wings", "unknown field 'title'"),
    ],
)
def test_a_filter_that_is_none_is_refused(engine, given, message):
    with pytest.raises(SettingError, match=message):
        engine.search("cell", filters=[given])


def test_of_too_many_variants_the_most_frequent_count(build, monkeypatch):
    for module in (query_analyzer, term_patterns):
        monkeypatch.setattr(module, "MAX_VARIANTS", 2)
    documents = [
        Document("1", "", "wa wb wc"),
        Document("2", "", "wb"),
        Document("3", "", "wc"),
        Document("4", "", "wa0"),
    ]
    engine = SearchEngine(build(documents), compiled=False)
    hits = engine.search(engine.parse("w* NOT unheard*", syntax="full"))
    assert hits.query.terms[0].variants == ("wb", "wc")
    assert hits.query.remarks == ("w* matches 4 words: the 2 most frequent count",)
    assert set(hits.docnos) == {"1", "2", "3"}


def test_words_that_no_document_has_are_named_with_their_field(engine):
    query = engine.parse("Unheard OR title:flow OR wings OR xyz* OR mesh:unseen NOT nothing", syntax="full")
    assert query.unknown == ("Unheard", "title:flow", "xyz*", "mesh:unseen")


@pytest.mark.parametrize("query", ["cell", "cel*", "NOT cell", '"t cell"', "cell~", "year:[1988 TO 1990]", "docno:a*"])
@pytest.mark.parametrize("scorer", POSTING_SCORERS)
@pytest.mark.parametrize("shards", ["deleted", "none"])
def test_an_index_without_live_documents_finds_nothing(build, tmp_path, query, scorer, shards):
    folder = build(DOCUMENTS, folder=tmp_path / "it", words_per_shard=6)
    if shards == "deleted":
        mark_deleted(folder, {document.docno for document in DOCUMENTS})
    else:
        manifest = read_index_manifest(folder)
        commit_manifest(folder, Manifest(manifest.settings, (), (), manifest.generation + 1))
    for compiled in (True, False):
        engine = SearchEngine(folder, compiled=compiled)
        parsed = engine.parse(query, syntax="full")
        hits = engine.search(parsed, scorer=POSTING_SCORERS[scorer](), filters=["docno=med-1"])
        assert (len(hits), hits.docnos) == (0, [])


@pytest.mark.parametrize("scorer", POSTING_SCORERS)
@pytest.mark.parametrize("compiled", [True, False])
def test_a_shard_of_deleted_documents_does_no_harm(build, tmp_path, scorer, compiled):
    folder = build(DOCUMENTS, folder=tmp_path / "it", words_per_shard=6)
    mark_deleted(folder, {"med-1", "aero"})
    engine = SearchEngine(folder, compiled=compiled)
    for query in ("cells york", '"york is"', "cells NOT lymphatic*"):
        hits = engine.search(query, syntax="full", scorer=POSTING_SCORERS[scorer]())
        assert np.isfinite(hits.scores).all()
        assert "med-2" in hits.docnos
        assert "med-1" not in hits.docnos


@pytest.mark.parametrize("column", ["docs", "tokens", "word_terms"])
def test_damage_is_reported(build, column):
    engine = SearchEngine(build([Document("a", "", "heat flow"), Document("b", "", "heat")]), compiled=False)
    (shard,) = engine.snapshot.shards
    columns = shard.columns
    damaged = {
        "docs": (columns.streams["both"], "docs"),
        "tokens": (columns, "token_offsets"),
        "word_terms": (columns, "word_terms"),
    }
    owner, name = damaged[column]
    object.__setattr__(owner, name, Column(np.asarray(getattr(owner, name)) + 1000))
    with pytest.raises(IndexCorrupt, match="damaged"):
        engine.search('"heat flow" OR hea*', syntax="full")


def test_a_tree_is_searched_without_compiler_and_stemmer(build, tmp_path):
    folder = build(DOCUMENTS, settings=AnalysisSettings())
    script = (
        "import sys, searchlab\n"
        "engine = searchlab.open(sys.argv[1], compiled=False)\n"
        "hits = engine.search('\"t cell\" OR lymph* NOT wings', syntax='full')\n"
        "assert len(hits) == 3\n"
        "assert not {'numba', 'nltk', 'rich'} & set(sys.modules)\n"
        "searchlab.open(sys.argv[1], compiled=False)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script, str(folder)], cwd=tmp_path, check=True)


def test_a_query_that_looks_plain_does_not_load_the_parser(build, tmp_path):
    folder = build(DOCUMENTS, settings=AnalysisSettings())
    script = (
        "import sys, searchlab\n"
        "assert len(searchlab.open(sys.argv[1], compiled=False).search('lymphoma', syntax='full')) == 1\n"
        "assert not {'whoosh', 'numba', 'nltk'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script, str(folder)], cwd=tmp_path, check=True)


def test_a_number_in_a_field_of_numbers_restricts_and_adds_no_score(build):
    documents = [
        Document("d1", "", "a a", {"year": 2008, "seen": "2008-03-05", "no": "7"}),
        Document("d2", "", "a", {"year": "2008", "seen": "2009-01-01", "no": "7b"}),
        Document("d3", "", "a", {"year": 2009, "seen": "2008-12-31", "no": "x 7"}),
        Document("d4", "", "b", {"year": "in press"}),
    ]
    with SearchEngine(build(documents, words_per_shard=2)) as engine:
        assert engine.snapshot.numeric_fields == {"year", "seen"}
        for query, docnos in [
            ("a year:2008", ["d1", "d2"]),
            ("a seen:2008", ["d1", "d3"]),
            ("a seen:2008-12", ["d3"]),
            ("a year:2008 year:2009", ["d1", "d3", "d2"]),
            ("a no:7", ["d1", "d3", "d2"]),  # a field of words: one more word
        ]:
            assert engine.search(query, syntax="full").docnos == docnos, query
        hits, words = engine.search("a year:2008", syntax="full"), engine.search("a", filters=["year=2008"])
        assert (hits.docnos, hits.scores.tolist()) == (words.docnos, words.scores.tolist())
        assert engine.search("year:press", syntax="full").docnos == ["d4"]
