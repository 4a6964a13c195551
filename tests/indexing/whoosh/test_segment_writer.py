"""What is written is what Whoosh reads back: postings, weights, positions, lengths, statistics of terms, docnos."""

import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
import whoosh.index
from whoosh.qparser import QueryParser
from whoosh.util.numeric import byte_to_length, length_to_byte

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.indexing.inversion.inversion import InvertedStream
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.whoosh import segment_writer, term_table
from searchlab.indexing.whoosh.posting_encoding import encode_terms
from searchlab.indexing.whoosh.schema import GapPositions
from searchlab.indexing.whoosh.segment_writer import write_whoosh
from searchlab.indexing.whoosh.shard_reader import open_whoosh

N_DOCS = 70_000


def pack(texts):
    return PackedStrings.pack(texts)


def invert(postings):
    """A stream of postings: for each term a dictionary of documents with their positions."""
    offsets = np.cumsum([0, *(len(docs) for docs in postings)]).astype(np.int64)
    docs = [doc for entry in postings for doc in sorted(entry)]
    lists = [entry[doc] for entry in postings for doc in sorted(entry)]
    return InvertedStream(
        offsets,
        np.array(docs, np.uint32),
        np.array([len(positions) for positions in lists], np.uint32),
        np.array([position for positions in lists for position in positions], np.uint32),
    )


def random_postings(rng, n_terms):
    """Rare and frequent terms, terms without postings, long texts, distant positions, one term very often in a text."""
    postings = []
    for term in range(n_terms):
        n_docs = rng.choice([0, 1, 2, 127, 128, 129, 300]) if term else 1
        docs = rng.sample(range(N_DOCS), n_docs)
        reach = rng.choice([40, 5_000, 3_000_000])
        postings.append({doc: sorted(rng.sample(range(reach), rng.choice([1, 1, 1, 2, 30]))) for doc in docs})
    postings[0][7] = list(range(5, 5 + 3 * 4200, 3))
    return postings


def read_back(reader, field, term):
    matcher = reader.postings(field, term.encode())
    found = {}
    while matcher.is_active():
        positions = matcher.value_as("positions")
        assert matcher.weight() == len(positions) == matcher.value_as("frequency")
        found[matcher.id()] = positions
        matcher.next()
    return found


@pytest.fixture
def settings():
    return AnalysisSettings(stemmer="none")


@pytest.mark.parametrize("compiled", [False, True])
def test_whoosh_reads_all_that_was_written(tmp_path, settings, monkeypatch, compiled):
    monkeypatch.setattr(segment_writer, "MIN_COMPILED_POSTINGS", 0 if compiled else 1 << 60)
    monkeypatch.setattr(term_table, "MIN_COMPILED_ENTRIES", 0 if compiled else 1 << 60)
    monkeypatch.setattr(segment_writer, "BATCH_POSTINGS", 1000)
    rng = random.Random(5)
    terms = sorted({"".join(rng.choices("abcäß漢", k=rng.randint(1, 9))) for _ in range(90)}, key=str.encode)
    streams = {name: random_postings(rng, len(terms)) for name in ("title", "body")}
    lengths = {name: np.array([rng.randint(0, 900) for _ in range(N_DOCS)]) for name in streams}
    docnos = sorted(f"d{number}" for number in range(N_DOCS))
    inverted = {name: invert(postings) for name, postings in streams.items()}
    write_whoosh(tmp_path / "whoosh", settings, pack(docnos), pack(terms), inverted, lengths)

    index = whoosh.index.open_dir(str(tmp_path / "whoosh"))
    with index.reader() as reader:
        assert reader.doc_count() == N_DOCS
        assert [reader.stored_fields(number) for number in (0, 7, N_DOCS - 1)] == [
            {"docno": docnos[number]} for number in (0, 7, N_DOCS - 1)
        ]
        assert read_docs(reader, "docno", "d12") == [docnos.index("d12")]
        for name, postings in streams.items():
            assert [term.decode() for term in reader.lexicon(name)] == [
                term for term, docs in zip(terms, postings, strict=True) if docs
            ]
            assert reader.field_length(name) == lengths[name].sum()
            codes = [byte_to_length(length_to_byte(int(length))) for length in lengths[name]]
            assert [reader.doc_field_length(doc, name, 0) or 0 for doc in range(300)] == codes[:300]
            for term, docs in zip(terms, postings, strict=True):
                if not docs:
                    assert (name, term.encode()) not in reader
                    continue
                assert read_back(reader, name, term) == docs
                info = reader.term_info(name, term)
                assert info.doc_frequency() == len(docs)
                assert info.weight() == sum(map(len, docs.values()))
                assert info.max_weight() == max(map(len, docs.values()))
                assert (info.min_id(), info.max_id()) == (min(docs), max(docs))
                of_docs = [codes[doc] for doc in docs]
                assert (info.min_length(), info.max_length()) == (min(of_docs), max(of_docs))


def read_docs(reader, field, term):
    matcher = reader.postings(field, term.encode())
    return list(matcher.all_ids())


def test_compiled_and_plain_code_write_the_same_bytes(tmp_path, settings, monkeypatch):
    rng = random.Random(6)
    terms = [f"t{number:03}" for number in range(40)]
    streams = {name: invert(random_postings(rng, len(terms))) for name in ("title", "body")}
    lengths = {name: np.array([rng.randint(0, 900) for _ in range(N_DOCS)]) for name in streams}
    docnos = pack(f"d{number:05}" for number in range(N_DOCS))
    contents = []
    for limit in (0, 1 << 60):
        monkeypatch.setattr(segment_writer, "MIN_COMPILED_POSTINGS", limit)
        monkeypatch.setattr(term_table, "MIN_COMPILED_ENTRIES", limit)
        folder = tmp_path / str(limit)
        write_whoosh(folder, settings, docnos, pack(terms), streams, lengths)
        contents.append([next(folder.glob(f"*{suffix}")).read_bytes() for suffix in (".pst", ".trm")])
    assert contents[0] == contents[1]


def test_no_document_has_a_word(tmp_path, settings):
    nothing = {name: invert([]) for name in ("title", "body")}
    lengths = {name: np.zeros(2, np.int32) for name in nothing}
    write_whoosh(tmp_path / "whoosh", settings, pack(["a", "b"]), pack([]), nothing, lengths)
    with whoosh.index.open_dir(str(tmp_path / "whoosh")).reader() as reader:
        assert [reader.stored_fields(number)["docno"] for number in (0, 1)] == ["a", "b"]
        assert list(reader.lexicon("body")) == []


def test_whoosh_finds_phrases_by_our_positions(tmp_path, settings):
    # 0: "small red house", 1: "red small house"
    body = invert([{0: [2], 1: [2]}, {0: [1], 1: [0]}, {0: [0], 1: [1]}])
    inverted = {"title": invert([{}, {}, {}]), "body": body}
    lengths = {"title": np.zeros(2, np.int32), "body": np.full(2, 3)}
    write_whoosh(tmp_path / "whoosh", settings, pack(["a", "b"]), pack(["house", "red", "small"]), inverted, lengths)
    index = whoosh.index.open_dir(str(tmp_path / "whoosh"))
    with index.searcher() as searcher:
        query = QueryParser("body", index.schema).parse('"red house"')
        assert [hit["docno"] for hit in searcher.search(query)] == ["a"]


def test_a_block_worked_by_hand():
    # One term in the documents 3 (at 4) and 300 (at 4 and 6).
    out, entries = bytearray(200), [0] * 9
    weights = np.arange(3, dtype=">f8").tobytes()
    n_bytes, position = encode_terms(0, 1, [0, 2], [3, 300], [1, 2], [4, 4, 6], 0, [9] * 301, weights, out, entries)
    assert bytes(out[:4]) == b"W3Bl"
    assert int.from_bytes(out[4:8], "big", signed=True) == -(n_bytes - 8)
    assert position == 3
    head = pickle.loads(out[8:n_bytes])
    assert head == (2, 300, 2.0, 0, 9, 9)
    data = pickle.loads(out[8 + out[8:n_bytes].index(b".") + 1 : n_bytes])
    assert data == ((3, 297), b"\x01\x02", (4, b"\x04\x02"))
    assert entries == [3, 2, 9, 9, 2, 3, 300, n_bytes, 0]


def test_small_numbers_of_a_block_are_bytes():
    # One term in the documents 3 (at 4) and 258 (at 255): gaps and positions below 256, weights alike.
    out, entries = bytearray(200), [0] * 9
    weights = np.arange(3, dtype=">f8").tobytes()
    n_bytes, _ = encode_terms(0, 1, [0, 2], [3, 258], [1, 1], [4, 255], 0, [9] * 259, weights, out, entries)
    data = pickle.loads(out[8 + out[8:n_bytes].index(b".") + 1 : n_bytes])
    assert data == (b"\x03\xff", None, b"\x04\xff")


def test_a_single_posting_of_weight_1_is_in_the_entry_of_the_term():
    out, entries = bytearray(200), [0] * 18
    weights = np.arange(3, dtype=">f8").tobytes()
    n_bytes, position = encode_terms(
        0, 2, [0, 1, 2], [3, 1], [1, 2], [700, 0, 5], 0, [8, 9, 9, 7], weights, out, entries
    )
    assert position == 3
    assert entries[:9] == [1, 1, 7, 7, 1, 3, 3, 0, 700]
    # The second term has weight 2 and a block.
    assert entries[9:] == [2, 1, 9, 9, 2, 1, 1, n_bytes, 0]


def test_positions_worked_by_hand():
    positions = GapPositions()
    assert positions.encode([5]) == b"\x05"
    assert positions.decode_positions(5) == [5]
    assert positions.decode_frequency(5) == 1
    assert positions.encode([3, 130, 430]) == b"\x03\x7f\xac\x02"  # 300 = 2·128 + 44
    assert positions.decode_positions(b"\x03\x7f\xac\x02") == [3, 130, 430]
    assert positions.decode_frequency(b"\x03\x7f\xac\x02") == 3


def test_every_entry_gets_a_slot_of_its_table():
    rng = np.random.default_rng(7)
    hashes = rng.integers(0, 5, 400)  # many collide
    bounds = np.array([0, 0, 150, 150, 400])
    slots = term_table.fill_tables(hashes, bounds)
    assert len(set(slots.tolist())) == 400
    for first, last in pairwise(bounds.tolist()):
        assert ((2 * first <= slots[first:last]) & (slots[first:last] < 2 * last)).all()


def test_the_doctors_reader_reads_what_was_written(tmp_path, settings):
    body = invert([{0: [0, 2], 1: [1]}])
    inverted = {"title": invert([{}]), "body": body}
    lengths = {"title": np.zeros(2, np.int32), "body": np.full(2, 3)}
    write_whoosh(tmp_path / "whoosh", settings, pack(["a", "b"]), pack(["red"]), inverted, lengths)
    with open_whoosh(tmp_path / "whoosh", settings, 2) as reader:
        assert read_back(reader, "body", "red") == {0: [0, 2], 1: [1]}
