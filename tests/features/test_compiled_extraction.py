"""Compiled extraction: every feature of the catalogue is equal, to the last bit, to that of the formulas without it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import IndexCorrupt
from searchlab.features import counts as counts_module
from searchlab.features.candidates import searched
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.extraction import extract
from searchlab.features.latent_semantics.neighbours import DenseVectors, neighbour_means
from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space
from searchlab.features.latent_semantics.word_vectors import WordVectors
from searchlab.indexing.building.deletion import delete
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline

WORDS = ["heat", "flow", "wing", "lift", "drag", "plate", "shock", "wave", "tube", "valve", "pump", "ice"]
# Words that several documents share, and one that each has alone; some have no title, one has no text at all.
chance = np.random.default_rng(20)
DOCUMENTS = [
    Document(
        f"d{number:02}",
        " ".join(chance.choice(WORDS, number % 4)),
        " ".join([*chance.choice(WORDS, 3 + 2 * (number % 9)), f"own{number}", f"pair{number // 3}"]) * (number != 7),
    )
    for number in range(40)
]
TOPICS = [
    Topic("1", "heat flow heat"),
    Topic("2", "wing unheard plate ice"),
    Topic("3", "shock wave"),
    Topic("4", "own3"),
]
FEATURES = [name for name, feature in CATALOGUE.items() if feature.needs not in ("topics", "mixture")]


@pytest.fixture(scope="module", params=[10_000, 120], ids=["one shard", "several shards"])
def folder(build, request):
    folder = build(DOCUMENTS, words_per_shard=request.param)
    build_space(folder, dims=200)
    delete(folder, ["d05"])
    return folder


def extracted(folder, *, compiled):
    with SearchEngine(folder, compiled=compiled) as engine:
        return extract(engine, TOPICS, searched(Pipeline(engine), TOPICS, k=30), FEATURES)


def test_compiled_features_are_those_of_the_formulas_to_the_last_bit(folder):
    plain, fast = extracted(folder, compiled=False), extracted(folder, compiled=True)
    assert fast.docnos.tolist() == plain.docnos.tolist()
    assert fast.n_rows > 60
    for name in FEATURES:
        np.testing.assert_array_equal(fast.column(name), plain.column(name), err_msg=name)


@pytest.mark.parametrize("most", [0, 1_000_000], ids=["postings", "texts"])
def test_counts_of_postings_and_of_texts_are_those_of_the_documents(folder, monkeypatch, most):
    monkeypatch.setattr(counts_module, "MAX_READ_TOKENS", most)
    with SearchEngine(folder) as engine:
        documents = searched(Pipeline(engine), TOPICS, k=30).of("1")
        found = counts_module.CandidateCounts(engine, documents.shards, documents.docs)
        counts = found.collect({"heat": 2, "nothing": 1, "flow": 1})
    by_docno = {document.docno: document for document in DOCUMENTS}
    assert len(documents)
    for row, docno in enumerate(documents.docnos):
        texts = {"title": by_docno[docno].title.split(), "body": by_docno[docno].body.split()}
        texts["both"] = texts["title"] + texts["body"]
        for name, words in texts.items():
            assert counts.streams[name].tf[:, row].tolist() == [words.count("heat"), 0, words.count("flow")]


def test_word_vectors_are_the_same_array_by_array(folder):
    with SearchEngine(folder) as engine:
        space = SemanticSpace.open(engine.snapshot)
        documents = searched(Pipeline(engine), TOPICS, k=30).of("1")
        for _ in range(2):  # the second time with memory that was used
            columns = documents.shards, documents.docs
            plain = WordVectors.join(len(documents), space.word_entries(*columns))
            fast = space.word_vectors(*columns)
            assert len(plain.rows)
            np.testing.assert_array_equal(fast.dense, plain.dense)
            np.testing.assert_array_equal(np.sort(fast.rows), np.sort(plain.rows))
            np.testing.assert_array_equal(fast.cosines(0, len(fast)), plain.cosines(0, len(plain)))
            np.testing.assert_array_equal(fast.cosines(3, 9), plain.cosines(3, 9))


# Products of these are exact, and ties are frequent.
coordinates = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 9)), max_size=12)


@given(coordinates, st.integers(1, 5), st.integers(1, 14))
def test_compiled_means_are_those_of_numpy(rows, one, other):
    vectors = DenseVectors(np.array([row[:2] for row in rows], np.float32).reshape(-1, 2))
    scores = np.array([row[2] for row in rows], float)
    given_scores = [scores, np.column_stack([scores, 1 - scores])]
    fast = neighbour_means(vectors, given_scores, [one, other], compiled=True)
    for mine, expected in zip(fast, neighbour_means(vectors, given_scores, [one, other]), strict=True):
        np.testing.assert_array_equal(mine, expected)


def test_products_of_rare_words_are_added_in_any_part_of_the_rows():
    words, rows = np.array([0, 0, 1, 1, 1]), np.array([0, 2, 1, 2, 3])
    weights = np.array([0.5, 0.25, 1, 0.5, 2], np.float32)
    plain = WordVectors.of(4, words, rows, weights)
    fast = WordVectors(plain.dense, plain.rows, plain.weights, plain.starts, plain.ends, compiled=True)
    # By hand: rows 1 to 3 share word 1, rows 0 and 2 word 0.
    expected = [[0.25, 0, 0.125, 0], [0, 1, 0.5, 2], [0.125, 0.5, 0.3125, 1], [0, 2, 1, 4]]
    assert fast.cosines(0, 4).tolist() == plain.cosines(0, 4).tolist() == expected
    assert fast.cosines(1, 3).tolist() == expected[1:3]


def test_tokens_beyond_the_vocabulary_of_a_shard_are_damage(folder):
    with SearchEngine(folder) as engine:
        space = SemanticSpace.open(engine.snapshot)
        documents = searched(Pipeline(engine), TOPICS, k=30).of("1")
        for shard in range(len(engine.snapshot.shards)):
            space._term_numbers[shard] = np.zeros(0, np.int32)
        with pytest.raises(IndexCorrupt, match="tokens are damaged"):
            space.word_vectors(documents.shards, documents.docs)
