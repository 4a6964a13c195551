"""Features: as published by LETOR, worked by hand, and properties of the whole catalogue."""

from math import exp, log, nan, sqrt

import numpy as np
import pytest

from searchlab.features.candidates import judged
from searchlab.features.catalogue import CATALOGUE, compute_features
from searchlab.features.counts import Counts, bare_counts
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import find_feature, make_feature_set
from searchlab.features.formulas.measured_features import NEIGHBOUR_FEATURES
from searchlab.features.latent_semantics.word_vectors import WordEntries, WordVectors
from searchlab.features.measuring.suppliers import SUPPLIERS
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document, TermStats, Topic
from searchlab.retrieval.engine import SearchEngine

# LETOR 3.0 OHSUMED, as published: counts from Meta, features from Feature-null, which has six decimals. Query 46 has a
# word twice, query 98 a word that no title has; some titles match nothing, and some abstracts are empty.

COLLECTION = {"title": 2_770_138, "body": 23_680_877, "both": 26_451_015}
N_DOCS = 348_566


def letor_counts(words: dict[str, list[tuple[int, int]]], order: list[str], documents: list[tuple]) -> Counts:  # type: ignore[type-arg]
    """`words` has df and cf in each stream, a document for each stream its length, unique length, and tf of words."""
    streams = {}
    for place, stream in enumerate(STREAMS):
        texts = [document[place] for document in documents]
        streams[stream] = (
            np.array([tfs for _, _, tfs in texts]).T,
            np.array([length for length, _, _ in texts]),
            np.array([unique for _, unique, _ in texts]),
            [TermStats(N_DOCS, COLLECTION[stream], *words[word][place]) for word in order],
        )
    return bare_counts(order, streams)


QUERY_46 = letor_counts(
    {
        "occult": [(352, 352), (703, 994), (866, 1346)],
        "blood": [(6985, 7215), (29438, 59201), (31556, 66416)],
        "screen": [(2283, 2323), (5295, 8859), (6452, 11182)],
        "routin": [(522, 524), (4833, 5646), (5092, 6170)],
    },
    ["occult", "blood", "screen", "routin", "screen"],
    [
        ((5, 5, [0, 0, 0, 0, 0]), (122, 80, [3, 0, 5, 3, 5]), (127, 80, [3, 0, 5, 3, 5])),
        ((8, 8, [0, 0, 1, 0, 1]), (45, 38, [1, 1, 1, 1, 1]), (53, 41, [1, 1, 2, 1, 2])),
        ((6, 6, [1, 1, 1, 0, 1]), (0, 0, [0, 0, 0, 0, 0]), (6, 6, [1, 1, 1, 0, 1])),
    ],
)
QUERY_98 = letor_counts(
    {
        "scheurmann": [(0, 0), (1, 1), (1, 1)],
        "diseas": [(15508, 15864), (39755, 73491), (46049, 89355)],
        "treatment": [(13670, 13782), (42163, 73201), (48692, 86983)],
    },
    ["scheurmann", "diseas", "treatment"],
    [
        ((10, 10, [0, 0, 0]), (87, 69, [1, 1, 0]), (97, 72, [1, 1, 0])),
        ((13, 13, [0, 0, 1]), (156, 96, [0, 7, 4]), (169, 101, [0, 7, 5])),
        ((2, 2, [0, 1, 0]), (0, 0, [0, 0, 0]), (2, 2, [0, 1, 0])),
    ],
)
NULL = nan
PUBLISHED = {
    "46, document 342641": (
        *(0, 0, 0, 0, 27.368604, 8.397361, 27.333929, 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
        *(16, 6.356108, 0.131148, 0.128917, 21.330257, 7.047965, 19.326382, 0.558805, 73.324405, 5.108317),
        *(25.84849, 3.252252, -22.388701, -23.227677, -21.470856),
        *(16, 6.356108, 0.125984, 0.123924, 20.604794, 6.876298, 18.386714, 0.519427, 70.565939, 4.411852),
        *(25.423555, 3.235676, -22.526572, -23.380157, -21.666391),
    ),
    "46, document 160013": (
        *(2, 1.386294, 0.25, 0.235566, 27.368604, 8.397361, 27.333929, 0.97537, 10.056674, 5.966939),
        *(8.903018, 2.18639, -31.978181, -31.105429, -31.105429),
        *(5, 3.465736, 0.111111, 0.109895, 21.330257, 7.047965, 19.326382, 0.451425, 21.330257, 4.417112),
        *(23.515363, 3.157654, -22.600592, -22.346493, -22.369451),
        *(7, 4.276666, 0.132075, 0.130159, 20.604794, 6.876298, 18.386714, 0.508722, 28.583668, 4.14785),
        *(24.879827, 3.214057, -21.63392, -21.768702, -20.998861),
    ),
    "46, document 61916": (
        *(4, 2.772589, 0.666667, 0.616603, 27.368604, 8.397361, 27.333929, 2.484517, 20.864689, 13.832039),
        *(21.908485, 3.086874, -24.57675, -19.179383, -19.179383),
        *(0, 0, 0, 0, 21.330257, 7.047965, 19.326382, 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
        *(4, 2.772589, 0.666667, 0.616603, 20.604794, 6.876298, 18.386714, 2.049211, 16.378637, 8.063882),
        *(24.646064, 3.204617, -24.415444, -18.9758, -18.9758),
    ),
    "98, document 337569": (
        *(0, 0, 0, 0, 6.351096, 2.310566, 6.403524, 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
        *(2, 1.386294, 0.022989, 0.022857, 17.044959, 4.06944, 16.260807, 0.161524, 14.932675, 8.349007),
        *(12.92279, 2.558992, -16.482885, -16.551455, -16.82824),
        *(2, 1.386294, 0.020619, 0.020513, 16.754017, 3.928752, 15.961902, 0.144252, 14.785704, 8.226578),
        *(12.783425, 2.548149, -16.620541, -16.662765, -17.026534),
    ),
    "98, document 98787": (
        *(1, 0.693147, 0.076923, 0.074108, 6.351096, 2.310566, 6.403524, 0.222443, 3.238624, 1.080276),
        *(2.538365, 0.93152, -9.314695, -9.051172, -9.051172),
        *(11, 3.688879, 0.070513, 0.069212, 17.044959, 4.06944, 16.260807, 0.145708, 23.646782, 0.308152),
        *(6.111876, 1.810234, -25.659743, -25.646429, -25.069803),
        *(12, 3.871201, 0.071006, 0.069742, 16.754017, 3.928752, 15.961902, 0.137111, 24.010415, 0.261819),
        *(5.853255, 1.766998, -25.734451, -25.690898, -25.120502),
    ),
    "98, document 261157": (
        *(1, 0.693147, 0.5, 0.405465, 6.351096, 2.310566, 6.403524, 0.938536, 3.112472, 2.483745),
        *(4.420094, 1.486161, -9.041953, -7.371342, -7.371342),
        *(0, 0, 0, 0, 17.044959, 4.06944, 16.260807, 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
        *(1, 0.693147, 0.5, 0.405465, 16.754017, 3.928752, 15.961902, 0.699159, 2.024122, 1.08196),
        *(3.128553, 1.140571, -26.681759, -25.573997, -25.573997),
    ),
}


@pytest.mark.parametrize("place", range(len(PUBLISHED)), ids=PUBLISHED)
def test_the_features_of_letor_equal_the_published_ones(place):
    counts = (QUERY_46, QUERY_98)[place // 3]
    values = compute_features(make_feature_set("letor45").features, counts)[place % 3]
    assert values.tolist() == pytest.approx(list(PUBLISHED.values())[place], abs=1e-6, rel=0, nan_ok=True)


# Worked by hand.
#          title       body                          both: 4 documents, 14 words
#     a    heat flow   heat flow over heat wings     heat: in 1 document, 3 times; flow: in 2, 4 times
#     b    wings
#     c                cold flow flow
#     d    cold        over over

DOCUMENTS = [
    Document("a", "heat flow", "heat flow over heat wings"),
    Document("b", "wings", ""),
    Document("c", "", "cold flow flow"),
    Document("d", "cold", "over over"),
]


@pytest.fixture(scope="module")
def engine(build):
    return SearchEngine(build(DOCUMENTS))


class Compass:
    """A space of two dimensions: documents a and b on the first axis, c and the query on the second, d at 0."""

    def vectors_by_dims(self, shards, docs, dims):
        return [np.array([[1, 0], [1, 0], [0, 1], [0, 0]], np.float32)[docs] for _ in dims]

    def query_vector(self, terms, dims):
        assert terms == {"heat": 1, "flow": 1}
        return np.array([0, 1], np.float32)

    def word_entries(self, shards, docs):
        rows = np.flatnonzero(docs < 3)  # a word of a and b, and another one of c
        words = np.array([0, 0, 1])[docs[rows]]
        return [WordEntries(0, words, rows, np.ones(len(rows)))]

    def word_vectors(self, shards, docs):
        return WordVectors.join(len(docs), self.word_entries(shards, docs))


class Weather:
    """Two latent topics: heat occurs in the first alone, flow in both, cold in neither."""

    def term_given_topic(self, terms):
        known = {"heat": [0.5, 0.0], "flow": [0.25, 0.4]}
        return np.array([known.get(term, [0.0, 0.0]) for term in terms]).reshape(-1, 2)

    def topics_given_document(self, shards, docs):
        return np.array([[0.6, 0.4], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])[docs]

    def topics_given_words(self, terms):
        return np.array([0.8, 0.2])


def value(engine, name, query, docno):
    candidates = judged(engine, {"1": {docno: 0}})
    table = extract(engine, [Topic("1", query)], candidates, [name], space=Compass(), topic_model=Weather())
    return table.values[0, 0]


# BM25 by hand: |d| is twice the mean of 3.5 in document a, so k1·(1 - b + b·|d|/avgdl) = 1.2·1.75 = 2.1.
HEAT, FLOW = log(1 + 3.5 / 1.5), log(1 + 2.5 / 2.5)
BM25_A = HEAT * 3 * 2.2 / (3 + 2.1) + FLOW * 2 * 2.2 / (2 + 2.1)
BM25_C = FLOW * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3.5))
# BM25F: |d|/avgdl is 2/1 in the title of a and 5/2.5 in its body.
F_HEAT, F_FLOW = (2 * 1 + 2) / 1.75, (2 * 1 + 1) / 1.75
# RM3 learns from documents a and c. P(a|Q) and P(c|Q), then P(w|R).
BELIEF = 1 / (1 + exp((BM25_C - BM25_A) / sqrt(2)))
MODEL = {
    "heat": BELIEF * 3 / 7,
    "flow": BELIEF * 2 / 7 + (1 - BELIEF) * 2 / 3,
    "over": BELIEF / 7,
    "wings": BELIEF / 7,
    "cold": (1 - BELIEF) / 3,
}
COLLECTION_COUNTS = {"heat": 3, "flow": 4, "over": 3, "wings": 2, "cold": 2}
OTHER = log(2) * 2.2 / (1 + 2.1)  # a word that two documents have, once in document a
RM3_A = (1 / 2 + MODEL["heat"]) * HEAT * 3 * 2.2 / 5.1 + (1 / 2 + MODEL["flow"]) * FLOW * 2 * 2.2 / 4.1
RM3_A += (MODEL["over"] + MODEL["wings"]) * OTHER

BY_HAND = {
    "letor.both.tf": 5,
    "letor.both.log_tf": log(4) + log(3),
    "letor.both.share": 5 / 7,
    "letor.both.log_share": log(3 / 7 + 1) + log(2 / 7 + 1),
    "letor.both.idf": log(4 / 1) + log(4 / 2),
    "letor.both.log_idf": log(log(4)) + log(log(2)),
    "letor.both.icf": log(4 / 3 + 1) + log(4 / 4 + 1),
    "letor.both.log_share_idf": log(3 / 7 * log(4) + 1) + log(2 / 7 * log(2) + 1),
    "letor.both.tf_idf": 3 * log(4) + 2 * log(2),
    "letor.both.log_share_icf": log(3 / 7 * 4 / 3 + 1) + log(2 / 7 * 4 / 4 + 1),
    "letor.both.bm25": log(3.5 / 1.5) * 3 * 2.2 / (3 + 2.1) + log(2.5 / 2.5) * 2 * 2.2 / (2 + 2.1),
    "letor.both.log_bm25": log(log(3.5 / 1.5) * 3 * 2.2 / (3 + 2.1)),
    "letor.both.dirichlet": log((3 + 50 * 3 / 14) / 57) + log((2 + 50 * 4 / 14) / 57),
    "letor.both.jm": log(0.5 * 3 / 7 + 0.5 * 3 / 14) + log(0.5 * 2 / 7 + 0.5 * 4 / 14),
    "letor.both.absolute": log(2.5 / 7 + 0.5 * 4 / 7 * 3 / 14) + log(1.5 / 7 + 0.5 * 4 / 7 * 4 / 14),
    "table1.both.log_tf": log(4) + log(3),
    "table1.both.log_icf": log(14 / 3 + 1) + log(14 / 4 + 1),
    "table1.both.log_idf": log(log(4)) + log(log(2)),
    "table1.both.log_share": log(3 / 7 + 1) + log(2 / 7 + 1),
    "table1.both.log_share_idf": log(3 / 7 * log(4) + 1) + log(2 / 7 * log(2) + 1),
    "table1.both.log_share_icf": log(3 / 7 * 14 / 3 + 1) + log(2 / 7 * 14 / 4 + 1),
    "table1.both.log_bm25": log(log(3.5 / 1.5) * 3 * 2.2 / (3 + 2.1)),
    "nallapati.both.log_tf": log(3) + log(2),
    "nallapati.both.log_share": log(1 + 3 / 7) + log(1 + 2 / 7),
    "nallapati.both.log_idf": log(log(4)) + log(log(2)),
    "nallapati.both.icf": log(14 / 3) + log(14 / 4),
    "nallapati.both.log_share_idf": log(1 + 3 / 7 * log(4)) + log(1 + 2 / 7 * log(2)),
    "nallapati.both.log_share_icf": log(1 + 3 / 7 * 14 / 3) + log(1 + 2 / 7 * 14 / 4),
    "ordrank.both.L5": log(4 / 1) + log(4 / 2),
    "ordrank.both.L6": 3 * log(4) + 4 * log(2),
    "ordrank.both.L7": log(log(4)) + log(log(2)),
    "ordrank.both.L8": log(4 / 3 + 1) + log(4 / 4 + 1),
    "match.both.coverage": 1,
    "match.both.tf_min": 2,
    "match.both.tf_max": 3,
    "match.both.tf_mean": 2.5,
    "match.both.tf_variance": 0.25,
    "match.both.tfidf_min": 2 * log(2),
    "match.both.tfidf_max": 3 * log(4),
    "match.both.tfidf_mean": 4 * log(2),
    "match.both.tfidf_variance": (2 * log(2)) ** 2,
    "doc.both.length": 7,
    "doc.both.unique": 4,
    "near.both.phrase": 2,
    "near.both.bigrams": 2,
    "near.both.window": 2,
    "near.both.distance": 1,
    "score.both.bm25": BM25_A,
    "score.both.dirichlet": log((3 + 1000 * 3 / 14) / 1007) + log((2 + 1000 * 4 / 14) / 1007),
    "score.both.two-stage": log(0.9 * (3 + 1000 * 3 / 14) / 1007 + 0.1 * 3 / 14)
    + log(0.9 * (2 + 1000 * 4 / 14) / 1007 + 0.1 * 4 / 14),
    "score.both.bm25f": HEAT * F_HEAT * 2.2 / (F_HEAT + 1.2) + FLOW * F_FLOW * 2.2 / (F_FLOW + 1.2),
    "score.both.rm3": RM3_A,
    "query.both.length": 2,
    "query.both.idf_sum": log(4) + log(2),
    "query.both.idf_max": log(4),
    "query.both.simple_clarity": 0.5 * log(0.5 * 14 / 3) + 0.5 * log(0.5 * 14 / 4),
    "query.both.scope": log(4 / 2),
    "query.both.clarity": sum(p * log(p * 14 / COLLECTION_COUNTS[word]) for word, p in MODEL.items()),
    "semantic.both.query_50": 0,
    "semantic.both.query_200": 0,
    "semantic.both.bm25_50": BM25_A / sqrt(BM25_A**2 + BM25_C**2),
    "semantic.both.bm25_200": BM25_A / sqrt(BM25_A**2 + BM25_C**2),
    # Heat comes first, so its bigrams are its unigrams; flow follows two of the three.
    "mixture.both.bigrams": log(0.35 * 3 / 7 + 0.65 * 3 / 14) + log(0.3 * 2 / 7 + 0.65 * 4 / 14 + 0.05 * 2 / 3),
    "mixture.both.fields": log(0.2 * 3 / 7 + 0.6 * 3 / 14 + 0.1 * 1 / 2 + 0.1 * 2 / 5)
    + log(0.2 * 2 / 7 + 0.6 * 4 / 14 + 0.1 * 1 / 2 + 0.1 * 1 / 5),
    "topic.both.cosine": (0.6 * 0.8 + 0.4 * 0.2) / sqrt(0.52 * 0.68),
    "topic.both.likelihood": log(0.6 * 0.5) + log(0.6 * 0.25 + 0.4 * 0.4),
    "topic.both.plsa": log(0.7 * (0.3 * 0.3 + 0.7 * 3 / 14) + 0.3 * 3 / 7)
    + log(0.7 * (0.3 * 0.31 + 0.7 * 4 / 14) + 0.3 * 2 / 7),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_feature_of_heat_flow_and_document_a_is_as_worked_by_hand(engine, name):
    assert value(engine, name, "heat flow", "a") == pytest.approx(BY_HAND[name], rel=1e-6)


# The names of OrdRank's Table I, and LETOR's numbers, where both have the same formula.
LOW = {"L1": 1, "L2": 2, "L3": 3, "L4": 4, "L9": 10, "L10": 8}
LETOR_OF_ORDRANK = LOW | {"H1": 11, "H2": 12, "H3": 13, "H4": 14, "H5": 15}


def test_every_kind_of_feature_is_worked_by_hand():
    kinds = {name.replace("title", "both").replace("body", "both") for name in CATALOGUE}
    shared_with_letor = {f"ordrank.both.{level}" for level in LETOR_OF_ORDRANK}
    of_several = {"semantic.both.rm3_50", "semantic.both.rm3_200", *NEIGHBOUR_FEATURES}
    assert kinds - set(BY_HAND) == shared_with_letor | of_several


def test_the_scores_of_neighbours_are_those_of_the_candidates_on_the_same_axis(engine):
    candidates = judged(engine, {"1": dict.fromkeys("abcd", 0)})
    names = [*NEIGHBOUR_FEATURES, "score.both.rm3"]
    table = extract(engine, [Topic("1", "heat flow")], candidates, names, space=Compass())
    # Only a and b are near to each other, on one axis and by a word: c is alone, and d has no vector and no word.
    scores = table.column("score.both.rm3")
    assert scores[0] == pytest.approx(RM3_A)
    for name in ("neighbours.both.bm25_5", "neighbours.both.bm25_words_3"):
        assert table.column(name) == pytest.approx([0, BM25_A, nan, nan], nan_ok=True)
    for name in ("neighbours.both.rm3_10", "neighbours.both.rm3_words_3"):
        assert table.column(name) == pytest.approx([scores[1], scores[0], nan, nan], nan_ok=True)
    # The means of a and b: heat 1.5 times, flow once, in 4 words; c keeps its own counts.
    norm = 1.2 * (0.25 + 0.75 * 4 / 3.5)
    smoothed = HEAT * 1.5 * 2.2 / (1.5 + norm) + FLOW * 2.2 / (1 + norm)
    expected = [smoothed, smoothed, BM25_C, 0]
    assert table.column("neighbours.both.smoothed_words_3") == pytest.approx(expected)


def test_the_centroid_of_rm3_is_that_of_ten_documents_by_their_scores(engine):
    from searchlab.retrieval.expansion import RM3
    from searchlab.retrieval.pipeline import Pipeline

    hits = Pipeline(engine, expansion=RM3()).search("heat flow", k=10)
    scores = dict(zip(hits.docnos, hits.scores.tolist(), strict=True))
    assert set(scores) == {"a", "b", "c", "d"}  # d has no vector
    east, north = scores["a"] + scores["b"], scores["c"]
    for dims in (50, 200):
        cosine = value(engine, f"semantic.both.rm3_{dims}", "heat flow", "b")
        assert cosine == pytest.approx(east / sqrt(east**2 + north**2))


@pytest.mark.parametrize(
    ("level", "letor"),
    LETOR_OF_ORDRANK.items(),
)
def test_the_names_of_ordrank_stand_for_features_of_letor(engine, level, letor):
    for docno in "abcd":
        pair = [value(engine, name, "heat flow", docno) for name in (f"ordrank.both.{level}", f"letor.{30 + letor}")]
        assert pair[0] == pytest.approx(pair[1], nan_ok=True)


# Other documents and queries, where something is absent.
ELSEWHERE = [
    # a repeated word counts each time, but 8·2/9 times in Lemur's BM25
    ("letor.both.tf", "heat flow heat", "a", 3 + 2 + 3),
    ("letor.both.bm25", "heat flow heat", "a", log(3.5 / 1.5) * 3 * 2.2 / (3 + 2.1) * 16 / 9),
    ("match.both.tf_mean", "heat flow heat", "a", (3 + 2 + 3) / 3),
    ("match.both.coverage", "heat flow heat", "c", 1 / 2),
    ("query.both.length", "heat flow heat", "a", 3),
    ("query.both.simple_clarity", "heat heat", "b", log(14 / 3)),
    # a word in no document: only coverage and the query's length depend on it
    ("letor.both.idf", "heat unknown", "c", log(4)),
    ("match.both.coverage", "heat unknown", "a", 1 / 2),
    ("match.both.tf_min", "heat unknown", "a", 3),
    ("query.both.length", "heat unknown", "a", 2),
    ("near.both.phrase", "heat unknown", "a", 0),
    ("near.both.bigrams", "heat flow unknown", "a", 2),
    # a word that does not occur in the stream of the collection
    ("letor.title.idf", "over heat", "a", log(4)),
    # no word of the query in the document, or no text at all: sums over q∩d are 0, models are undefined
    ("letor.both.tf", "heat", "b", 0),
    ("letor.both.share", "heat", "b", 0),
    ("letor.title.share", "heat", "c", 0),
    ("letor.both.idf", "heat", "b", log(4)),
    ("letor.both.bm25", "heat", "b", nan),
    ("letor.both.log_bm25", "heat", "b", nan),
    ("letor.both.dirichlet", "heat", "b", nan),
    ("letor.title.jm", "heat", "c", nan),
    ("letor.title.absolute", "heat", "c", nan),
    ("table1.both.log_idf", "heat flow", "c", log(log(2))),
    ("table1.both.log_icf", "heat flow", "c", log(14 / 4 + 1)),
    ("nallapati.both.icf", "heat flow", "b", 0),
    ("match.body.tf_max", "heat", "b", 0),
    ("doc.body.length", "heat", "b", 0),
    ("score.both.bm25", "heat", "b", 0),
    ("score.both.bm25f", "heat", "b", 0),
    ("score.both.dirichlet", "heat", "b", log(1000 * 3 / 14 / 1001)),
    ("near.both.window", "heat", "b", nan),
    ("near.both.phrase", "heat", "b", 0),
    # the logarithm of 0, and of less: half of the documents have "flow", whose Robertson idf is 0
    ("letor.both.log_bm25", "flow", "c", nan),
    # no word of the query is known
    ("letor.both.tf", "unknown", "a", 0),
    ("match.both.tf_min", "unknown", "a", nan),
    ("match.both.coverage", "unknown", "a", 0),
    ("match.both.coverage", "", "a", nan),
    ("query.both.length", "", "a", 0),
    ("query.both.idf_max", "unknown", "a", nan),
    ("query.both.simple_clarity", "unknown", "a", nan),
    ("query.both.scope", "unknown", "a", nan),
    ("query.both.clarity", "unknown", "a", nan),
    ("score.both.rm3", "unknown", "a", 0),
    ("score.both.bm25f", "", "a", 0),
    ("near.both.phrase", "", "a", nan),
    ("near.both.bigrams", "", "a", 0),
    # title and body are one text, but no phrase spans the two
    ("near.both.phrase", "flow heat", "a", 0),
    ("near.both.distance", "flow heat", "a", 1),
    ("near.title.phrase", "heat flow", "a", 1),
    ("near.body.phrase", "heat flow", "a", 1),
    ("near.body.window", "flow wings", "a", 4),
    ("near.both.window", "flow wings", "a", 4),
    ("near.body.window", "heat flow wings", "a", 4),
    ("near.body.distance", "flow wings", "a", 3),
    ("near.both.distance", "flow", "a", nan),
    ("near.both.window", "flow", "a", 1),
    ("near.both.bigrams", "flow flow over", "c", 1),
    ("near.both.phrase", "flow", "c", 2),
    # zero vectors have no cosine
    ("semantic.both.query_50", "heat flow", "c", 1),
    ("semantic.both.query_50", "heat flow", "d", nan),
    ("semantic.both.bm25_50", "unknown", "a", nan),
    # a word of no latent topic is left out; the logarithm is undefined for a word of none of the document's topics
    ("topic.both.likelihood", "cold flow flow", "b", 2 * log(0.5 * 0.25 + 0.5 * 0.4)),
    ("topic.both.likelihood", "heat", "c", nan),
    ("topic.both.likelihood", "cold", "c", nan),
    ("topic.both.likelihood", "unknown", "a", nan),
    ("topic.both.plsa", "cold cold", "c", 2 * log(0.7 * 0.7 * 2 / 14 + 0.3 / 3)),
    ("topic.both.plsa", "unknown", "a", nan),
    ("topic.both.plsa", "unknown flow", "b", log(0.7 * (0.3 * 0.325 + 0.7 * 4 / 14))),
]


@pytest.mark.parametrize(("name", "query", "docno", "expected"), ELSEWHERE, ids=lambda given: str(given))
def test_a_feature_where_something_is_absent_is_as_worked_by_hand(engine, name, query, docno, expected):
    assert value(engine, name, query, docno) == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_a_term_that_all_documents_have_has_no_logarithm_of_its_idf(build):
    engine = SearchEngine(build([Document("x", "", "all some"), Document("y", "", "all")]))
    assert np.isnan(value(engine, "letor.both.log_idf", "all some", "x"))
    assert value(engine, "letor.both.idf", "all some", "x") == pytest.approx(log(2))
    # A sum over q∩d is undefined only for documents that have the word.
    assert np.isnan(value(engine, "table1.both.log_idf", "all some", "x"))


# Properties of every feature.


def test_features_are_named_by_family_stream_and_kind():
    assert len(CATALOGUE) > 150
    for name, feature in CATALOGUE.items():
        _, stream, kind = name.split(".")
        assert (name, stream) == (feature.name, feature.stream)
        assert stream in STREAMS
        assert kind


def test_features_have_a_formula_and_a_source_that_fit_on_a_line():
    for feature in CATALOGUE.values():
        assert 0 < len(feature.formula) < 100
        assert 0 < len(feature.source) < 50
        assert "\n" not in feature.formula + feature.source


def test_every_needed_supplier_exists():
    needs = {feature.needs for feature in CATALOGUE.values()}
    assert needs == {"", *SUPPLIERS}
    for feature in CATALOGUE.values():
        assert bool(feature.counted) != bool(feature.needs)


def test_features_of_one_formula_and_stream_are_equal(engine):
    by_formula: dict[tuple[str, str], list[str]] = {}
    for feature in CATALOGUE.values():
        by_formula.setdefault((feature.formula, feature.stream), []).append(feature.name)
    twins = [names for names in by_formula.values() if len(names) > 1]
    assert len(twins) > 30
    names = [name for names in twins for name in names]
    candidates = judged(engine, {"1": dict.fromkeys("abcd", 0)})
    table = extract(engine, [Topic("1", "heat flow over flow unknown")], candidates, names)
    for first, *others in twins:
        for other in others:
            np.testing.assert_array_equal(table.column(first), table.column(other))


def test_features_have_letors_numbers_as_names():
    assert [find_feature(f"letor.{number}").name for number in (1, 17, 45)] == [
        "letor.title.tf",
        "letor.body.log_tf",
        "letor.both.absolute",
    ]
    assert find_feature("letor.17").source == "LETOR 3.0 OHSUMED, feature 17"


def test_the_printed_table_of_ordrank_counts_only_words_that_the_document_has(engine):
    # Document c has flow twice, but not heat: N = 4, df(flow) = 2, cf(flow) = 4.
    printed = {"L5": log(4 / 2), "L6": 4 * log(4 / 2), "L7": log(log(4 / 2)), "L8": log(4 / 4 + 1)}
    for level, expected in printed.items():
        assert value(engine, f"ordrank.both.{level}", "heat flow", "c") == pytest.approx(expected)
    # LETOR's reading adds heat (df = 1, cf = 3), and its tf·idf has the count in the document.
    read = {"idf": log(4) + log(2), "log_idf": log(log(4)) + log(log(2)), "icf": log(4 / 3 + 1) + log(4 / 4 + 1)}
    for what, expected in read.items():
        assert value(engine, f"letor.both.{what}", "heat flow", "c") == pytest.approx(expected)
    assert value(engine, "letor.both.tf_idf", "heat flow", "c") == pytest.approx(2 * log(2))
