"""Columns and Whoosh postings hold the numbers that counting the texts gives."""

import gc
import warnings
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh import index as whoosh_index
from whoosh.qparser import QueryParser
from whoosh.util.numeric import byte_to_length, length_to_byte

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.layout import WHOOSH
from searchlab.indexing.whoosh.schema import make_schema
from searchlab.indexing.whoosh.shard_reader import open_whoosh
from searchlab.records import Document, TermStats
from tests.hypothesis_profiles import examples

# Texts of these words can be split at blanks: the analyzer is not needed to count them.
ODD_WORDS = ["a", "b", "cell", "0.05", "il", "2", "don't", "naive", "日本", "x" * 255, "z9"]
texts = st.lists(st.sampled_from(ODD_WORDS), max_size=12).map(" ".join)
docnos = st.text("abZ09-.é日", min_size=1, max_size=4)
corpora = st.lists(
    st.builds(Document, docnos, texts, texts, st.just({})),
    min_size=1,
    max_size=12,
    unique_by=lambda document: document.docno,
)


def count(documents: list[Document], stream: str) -> dict[str, Counter[str]]:
    """The terms of each document, counted from its text."""
    parts = {"title": lambda d: d.title, "body": lambda d: d.body, "both": lambda d: f"{d.title} {d.body}"}
    return {document.docno: Counter(parts[stream](document).split()) for document in documents}


def assert_columns_are_those_counted(snapshot: Snapshot, documents: list[Document]) -> None:
    terms = {word for document in documents for word in f"{document.title} {document.body}".split()}
    assert snapshot.n_terms == len(terms)
    assert sorted(snapshot.docnos()) == sorted(document.docno for document in documents)
    for stream in STREAMS:
        counted = count(documents, stream)
        assert snapshot.n_tokens[stream] == sum(tfs.total() for tfs in counted.values())
        for term in terms | {"unknown"}:
            doc_freq = sum(term in tfs for tfs in counted.values())
            term_count = sum(tfs[term] for tfs in counted.values())
            expected = TermStats(len(documents), snapshot.n_tokens[stream], doc_freq, term_count)
            assert snapshot.term_stats(stream, term) == expected
        for shard in snapshot.shards:
            assert_shard_is_counted(shard.columns, stream, counted)


def assert_shard_is_counted(columns, stream: str, counted: dict[str, Counter[str]]) -> None:
    here, column = list(columns.docnos), columns.streams[stream]
    assert column.lengths.tolist() == [counted[docno].total() for docno in here]
    assert column.uniques.tolist() == [len(counted[docno]) for docno in here]
    for number, term in enumerate(columns.terms):
        rows = slice(column.offsets[number], column.offsets[number + 1])
        postings = [(doc, counted[docno][term]) for doc, docno in enumerate(here) if term in counted[docno]]
        assert list(zip(column.docs[rows].tolist(), column.tfs[rows].tolist(), strict=True)) == postings
        assert column.max_tfs[number] == max((tf for _, tf in postings), default=0)
        assert column.counts[number] == sum(tf for _, tf in postings)


def whoosh_postings(reader, field: str, term: str) -> dict[str, list[int]]:
    """The positions of a term in each document, read by Whoosh's matcher."""
    found = {}
    matcher = reader.postings(field, term.encode())
    while matcher.is_active():
        positions = matcher.value_as("positions")
        assert matcher.weight() == len(positions)
        found[reader.stored_fields(matcher.id())["docno"]] = positions
        matcher.next()
    return found


def assert_whoosh_agrees(snapshot: Snapshot, documents: list[Document]) -> None:
    texts = {name: {d.docno: getattr(d, name).split() for d in documents} for name in ("title", "body")}
    for shard in snapshot.shards:
        here = list(shard.columns.docnos)
        index = whoosh_index.open_dir(str(snapshot.folder / shard.record.name / WHOOSH))
        with index.reader() as reader:
            assert reader.doc_count() == len(here)
            assert sorted(reader.lexicon("docno")) == [docno.encode() for docno in here]
            for field, words in texts.items():
                expected = {term for docno in here for term in words[docno]}
                assert {term.decode() for term in reader.lexicon(field)} == expected
                assert [reader.doc_field_length(i, field) or 0 for i in range(len(here))] == [
                    byte_to_length(length_to_byte(len(words[docno]))) for docno in here
                ]
                for term in expected:
                    positions = {
                        docno: [position for position, word in enumerate(words[docno]) if word == term]
                        for docno in here
                        if term in words[docno]
                    }
                    assert whoosh_postings(reader, field, term) == positions
                    assert reader.doc_frequency(field, term) == len(positions)
                    assert reader.frequency(field, term) == sum(map(len, positions.values()))
                    info = reader.term_info(field, term.encode())
                    assert info.max_weight() == max(map(len, positions.values()))
                    assert here[info.min_id()] == min(positions)
                    assert here[info.max_id()] == max(positions)


@settings(max_examples=examples(40))
@given(documents=corpora, words_per_shard=st.sampled_from([1, 15, 1000]))
def test_columns_and_whoosh_hold_what_counting_the_texts_gives(indexed, documents, words_per_shard):
    with indexed(documents, words_per_shard=words_per_shard) as folder:
        snapshot = Snapshot(folder)
        assert_columns_are_those_counted(snapshot, documents)
        assert_whoosh_agrees(snapshot, documents)
        for document in documents:
            assert snapshot.document(document.docno) == document


@pytest.fixture(scope="module")
def long_lists(build):
    """Posting lists of 127, 128, 129, 256 and 300 documents, around the edges of Whoosh's blocks of 128."""
    documents = [
        Document(
            f"d{number:03}",
            "title " * (number % 3),
            " ".join(f"in{n}" for n in (127, 128, 129, 256, 300) if number < n) + " many" * (number % 7 * 100),
        )
        for number in range(300)
    ]
    return documents, Snapshot(build(documents))


def test_posting_lists_longer_than_a_block_are_whole(long_lists):
    documents, snapshot = long_lists
    assert snapshot.term_stats("body", "in129").doc_freq == 129
    assert_columns_are_those_counted(snapshot, documents)
    assert_whoosh_agrees(snapshot, documents)


def test_a_word_more_than_65535_times_in_a_text_is_counted(build):
    documents = [Document("long", "", "word " * 70_000), Document("short", "", "word")]
    assert_columns_are_those_counted(Snapshot(build(documents)), documents)


def test_an_index_of_documents_without_any_word_opens(build):
    documents = [Document("a"), Document("b", "!", "…")]
    snapshot = Snapshot(build(documents))
    assert snapshot.n_tokens == {"title": 0, "body": 0, "both": 0}
    assert [snapshot.document(docno) for docno in ("a", "b")] == documents


def test_whoosh_reads_of_each_term_what_its_own_writer_would_have_written(long_lists, tmp_path):
    documents, snapshot = long_lists
    reference = whoosh_index.create_in(str(tmp_path), make_schema(snapshot.manifest.settings))
    with reference.writer() as writer:
        for document in documents:
            writer.add_document(docno=document.docno, title=document.title, body=document.body)
    (shard,) = snapshot.shards
    whoosh = open_whoosh(shard.folder / WHOOSH, snapshot.manifest.settings, len(documents))
    with reference.reader() as golden:
        terms = list(golden.all_terms())
        golden_ids = {term: list(golden.postings(*term).all_ids()) for term in terms}
    with reference.reader() as golden, whoosh as ours:
        assert terms == list(ours.all_terms())
        assert len(terms) == len(documents) + len(["title"]) + len([127, 128, 129, 256, 300]) + len(["many"])
        for field, term in terms:
            expected, found = golden.term_info(field, term), ours.term_info(field, term)
            for name in ("weight", "doc_frequency", "min_length", "max_length", "max_weight", "min_id", "max_id"):
                assert getattr(found, name)() == getattr(expected, name)(), (field, term, name)
            assert list(ours.postings(field, term).all_ids()) == golden_ids[field, term]


def test_whoosh_phrase_queries_find_the_documents_with_the_phrase(build):
    documents = [
        Document("right", "", "Relapsed T-cell lymphomas of the skin"),
        Document("apart", "", "lymphoma without any T-cell"),
        Document("title", "T-cell lymphoma", "nothing"),
    ]
    folder = build(documents, settings=AnalysisSettings())
    (shard,) = Snapshot(folder).shards
    index = whoosh_index.open_dir(str(folder / shard.record.name / WHOOSH))
    with index.searcher() as searcher:
        query = QueryParser("body", index.schema).parse('"T-cell lymphoma"')
        assert [hit["docno"] for hit in searcher.search(query)] == ["right"]
        # The query parser drops the stop words as the index did, so that their neighbours are neighbours.
        query = QueryParser("body", index.schema).parse('"lymphomas of the skin"')
        assert [hit["docno"] for hit in searcher.search(query)] == ["right"]
        query = QueryParser("title", index.schema).parse('"t cells lymphoma"')
        assert [hit["docno"] for hit in searcher.search(query)] == ["title"]


def test_stored_documents_come_back_equal(build):
    documents = [
        Document("plain", "A title", "A body,\n with lines."),
        Document("empty"),
        Document("fields", "t", "b", {"year": 1999, "deep": {"list": [1, None, 2.5, "é"]}, "": ""}),
        Document("odd/é日", "\ud800", "\x00\r\n\t"),
    ]
    snapshot = Snapshot(build(documents))
    assert [snapshot.document(document.docno) for document in documents] == documents


def test_documents_are_numbered_in_the_byte_order_of_their_docnos(build):
    # In UTF-16 order the face would come before the half-width ｱ, in a dictionary é before z.
    names = ["z", "é", "10", "9", "Z", "\U0001f600", "\uff71", "a", "aa"]
    (shard,) = Snapshot(build([Document(name) for name in names])).shards
    assert list(shard.columns.docnos) == ["10", "9", "Z", "a", "aa", "z", "é", "\uff71", "\U0001f600"]
    assert list(shard.columns.docnos) == sorted(names, key=str.encode)


def test_a_snapshot_that_is_dropped_leaves_no_file_open(build):
    folder = build([Document("a", "", "word")])
    gc.collect()  # objects of other tests
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert Snapshot(folder).document("a").body == "word"
        gc.collect()
    assert [str(warning.message) for warning in caught if "unclosed" in str(warning.message)] == []
