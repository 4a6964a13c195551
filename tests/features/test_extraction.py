import gc
import weakref
from collections import Counter
from functools import cached_property
from itertools import pairwise
from math import log, log1p, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import searchlab.features.candidates
from searchlab.errors import DuplicateError, IndexCorrupt, IndexMissing, SettingError
from searchlab.features import extraction
from searchlab.features.candidates import Candidates, judged, ranked, searched
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.counts import CandidateCounts, CountReading
from searchlab.features.extraction import extract
from searchlab.features.formulas.measured_features import MIXTURE_FEATURES
from searchlab.features.latent_semantics.neighbours import DenseVectors
from searchlab.features.measuring.suppliers import SUPPLIERS
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document, Ranking, TermStats, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.two_stage import TwoStage
from tests.hypothesis_profiles import examples

# What the features should be, said as slowly and plainly as possible: texts are split at blanks and counted by Python.


class Slow:
    """One document, one query and one stream over a pile of documents."""

    def __init__(self, documents: list[Document], query: list[str], document: Document, stream: str) -> None:
        self.documents, self.query, self.document, self.stream = documents, query, document, stream
        self.passages = {
            "title": [document.title.split()],
            "body": [document.body.split()],
            "both": [document.title.split(), document.body.split()],
        }[stream]
        self.text = [word for passage in self.passages for word in passage]
        self.n = len(documents)
        self.texts = [text_of(other, stream) for other in documents]
        self.size = sum(map(len, self.texts))
        self.doc_freqs = Counter(word for text in self.texts for word in set(text))
        self.term_counts = Counter(word for text in self.texts for word in text)
        # Words that the stream of the collection does not have are left out.
        self.known = [word for word in query if self.df(word)]
        self.matched = [word for word in query if word in self.text]

    def c(self, word: str) -> int:
        return self.text.count(word)

    def df(self, word: str) -> int:
        return self.doc_freqs[word]

    def cf(self, word: str) -> int:
        return self.term_counts[word]

    def idf(self, word: str) -> float:
        return log(self.n / self.df(word))

    def stats(self, word: str) -> TermStats:
        return TermStats(self.n, self.size, self.df(word), self.cf(word))

    def share(self, word: str) -> float:
        return self.c(word) / len(self.text)

    def score(self, scorer) -> float:
        length, unique = len(self.text), len(set(self.text))
        return sum(float(scorer.weigh(self.c(word), length, self.stats(word), unique)) for word in self.known)

    def bm25f(self) -> float:
        total = 0.0
        for word in self.known:
            f = 0.0
            for field in ("title", "body"):
                own = Slow(self.documents, self.query, self.document, field)
                if own.c(word):
                    f += BM25F().pseudo_tf(field, own.c(word), len(own.text), own.size / own.n)
            total += float(BM25F().weigh(f, None, self.stats(word)))
        return total

    def letor_bm25(self) -> float:
        if not self.matched:
            return nan
        total = 0.0
        mean = float(f"{self.size / self.n:.6g}")
        for word, times in Counter(self.known).items():
            idf = log((self.n - self.df(word) + 0.5) / (self.df(word) + 0.5))
            norm = 1.2 * (0.25 + 0.75 * len(self.text) / mean)
            total += idf * self.c(word) * 2.2 / (self.c(word) + norm) * 8 * times / (7 + times)
        return total

    def likelihood(self, probability) -> float:
        return sum(log(probability(word)) for word in self.known) if self.matched else nan

    def sequences(self, words: list[str]) -> int:
        return sum(
            passage[start : start + len(words)] == words for passage in self.passages for start in range(len(passage))
        )

    def window(self) -> float:
        stretches = (
            end - start
            for start in range(len(self.text))
            for end in range(start + 1, len(self.text) + 1)
            if set(self.matched) <= set(self.text[start:end])
        )
        return min(stretches) if self.matched else nan

    def distance(self) -> float:
        places = [place for place, word in enumerate(self.text) if word in self.matched]
        pairs = [b - a for a in places for b in places if a < b and self.text[a] != self.text[b]]
        return min(pairs) if pairs else nan

    def scope(self) -> float:
        return -log(sum(bool(set(self.query) & set(text)) for text in self.texts) / self.n)

    def simple_clarity(self) -> float:
        shares = {word: self.known.count(word) / len(self.known) for word in self.known}
        return sum(p * log(p / (self.cf(word) / self.size)) for word, p in shares.items()) if shares else nan

    def value(self, name: str) -> float:
        family, _, what = name.split(".")
        try:
            return float(self.formulas[family, what]())
        except (ValueError, ZeroDivisionError, IndexError):  # the logarithm of 0, a share of nothing, the least of none
            return nan

    @cached_property
    def formulas(self):
        m, q = self.matched, self.known
        length, unique = len(self.text), len(set(self.text))
        prior = {word: self.cf(word) / self.size for word in q}
        letor = {
            "tf": lambda: sum(self.c(w) for w in m),
            "log_tf": lambda: sum(log(self.c(w) + 1) for w in m),
            "share": lambda: sum(self.share(w) for w in m),
            "log_share": lambda: sum(log(self.share(w) + 1) for w in m),
            "idf": lambda: sum(self.idf(w) for w in q),
            "log_idf": lambda: sum(log(self.idf(w)) for w in q),
            "icf": lambda: sum(log(self.n / self.cf(w) + 1) for w in q),
            "log_share_idf": lambda: sum(log(self.share(w) * self.idf(w) + 1) for w in m),
            "tf_idf": lambda: sum(self.c(w) * self.idf(w) for w in m),
            "log_share_icf": lambda: sum(log(self.share(w) * self.n / self.cf(w) + 1) for w in m),
            "bm25": self.letor_bm25,
            "log_bm25": lambda: log(self.letor_bm25()) if self.letor_bm25() > 1e-12 else nan,
            "dirichlet": lambda: self.likelihood(lambda w: (self.c(w) + 50 * prior[w]) / (length + 50)),
            "jm": lambda: self.likelihood(lambda w: self.share(w) / 2 + prior[w] / 2),
            "absolute": lambda: self.likelihood(
                lambda w: max(self.c(w) - 0.5, 0) / length + 0.5 * unique / length * prior[w]
            ),
        }
        levels = "L1 L2 L3 L4 L10 L9 H1 H2 H3 H4 H5"
        kinds = "tf log_tf share log_share log_share_idf log_share_icf bm25 log_bm25 dirichlet jm absolute"
        c, tfidf = [self.c(w) for w in q], [self.c(w) * self.idf(w) for w in q]
        table1 = {
            **letor,
            "log_icf": lambda: sum(log(self.size / self.cf(w) + 1) for w in m),
            "log_idf": lambda: sum(log(self.idf(w)) for w in m),
            "log_share_icf": lambda: sum(log(self.share(w) * self.size / self.cf(w) + 1) for w in m),
        }
        return {
            **{("letor", what): function for what, function in letor.items()},
            **{("table1", what): function for what, function in table1.items()},
            **{("nallapati", what): function for what, function in table1.items()},
            ("nallapati", "log_tf"): lambda: sum(log(self.c(w)) for w in m),
            ("nallapati", "icf"): lambda: sum(log(self.size / self.cf(w)) for w in m),
            **{("ordrank", lev): letor[kind] for lev, kind in zip(levels.split(), kinds.split(), strict=True)},
            ("ordrank", "L5"): lambda: sum(self.idf(w) for w in m),
            ("ordrank", "L7"): lambda: sum(log(self.idf(w)) for w in m),
            ("ordrank", "L8"): lambda: sum(log(self.n / self.cf(w) + 1) for w in m),
            ("ordrank", "L6"): lambda: sum(self.cf(w) * self.idf(w) for w in m),
            ("match", "coverage"): lambda: len(set(m)) / len(set(self.query)),
            **{("match", f"tf_{how}"): lambda how=how: summarise(c, how) for how in SUMMARIES},
            **{("match", f"tfidf_{how}"): lambda how=how: summarise(tfidf, how) for how in SUMMARIES},
            ("doc", "length"): lambda: length,
            ("doc", "unique"): lambda: unique,
            ("near", "phrase"): lambda: self.sequences(self.query) if self.query else nan,
            ("near", "bigrams"): lambda: sum(self.sequences(list(pair)) for pair in pairwise(self.query)),
            ("near", "window"): self.window,
            ("near", "distance"): self.distance,
            ("score", "bm25"): lambda: self.score(BM25()),
            ("score", "dirichlet"): lambda: self.score(Dirichlet()),
            ("score", "two-stage"): lambda: self.score(TwoStage()),
            ("score", "bm25f"): self.bm25f,
            ("query", "length"): lambda: len(self.query),
            ("query", "idf_sum"): letor["idf"],
            ("query", "idf_max"): lambda: max(self.idf(w) for w in q),
            ("query", "simple_clarity"): self.simple_clarity,
            ("query", "scope"): self.scope,
        }


SUMMARIES = ("min", "max", "mean", "variance")


def text_of(document: Document, stream: str) -> list[str]:
    texts = {"title": document.title, "body": document.body, "both": f"{document.title} {document.body}"}
    return texts[stream].split()


def summarise(numbers: list[float], how: str) -> float:
    mean = sum(numbers) / len(numbers)
    if how == "variance":
        return sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return {"min": min(numbers), "max": max(numbers), "mean": mean}[how]


# Searching again, and a semantic space, are compared with the engine below and by hand elsewhere.
COMPARED = [name for name, feature in CATALOGUE.items() if feature.needs in {"", "positions", "scope"}]
WORDS = ["a", "b", "c", "d"]
words = st.sampled_from(WORDS)
corpora = st.lists(st.tuples(st.lists(words, max_size=3), st.lists(words, max_size=9)), min_size=1, max_size=9).map(
    lambda texts: [
        Document(f"d{number}", " ".join(title), " ".join(body)) for number, (title, body) in enumerate(texts)
    ]
)
queries = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=6)


@settings(max_examples=examples(80))
@given(corpora, queries, st.sampled_from([None, 4, 12]), st.randoms(use_true_random=False))
def test_features_are_those_of_a_plain_computation(indexed, documents, query, words_per_shard, chance):
    with indexed(documents, words_per_shard=words_per_shard) as folder, SearchEngine(folder, compiled=False) as engine:
        order = chance.sample(documents, len(documents))
        candidates = judged(engine, {"1": {document.docno: 0 for document in order}})
        table = extract(engine, [Topic("1", " ".join(query))], candidates, COMPARED)
    assert table.docnos.tolist() == [document.docno for document in order]
    slow = {
        (stream, document.docno): Slow(documents, query, document, stream) for document in order for stream in STREAMS
    }
    for name in COMPARED:
        expected = [slow[CATALOGUE[name].stream, document.docno].value(name) for document in order]
        assert table.column(name).tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), name


def test_the_plain_computation_knows_the_whole_catalogue():
    assert len(COMPARED) > 130
    known = Slow([Document("d", "a", "")], ["a"], Document("d", "a", ""), "both").formulas
    assert {(name.split(".")[0], name.split(".")[2]) for name in COMPARED} <= set(known)


@settings(max_examples=examples(60))
@given(corpora, queries, st.sampled_from([None, 6]))
def test_scores_are_those_of_the_engine(indexed, documents, query, words_per_shard):
    text = " ".join(query)
    with indexed(documents, words_per_shard=words_per_shard) as folder, SearchEngine(folder, compiled=False) as engine:
        expanded = Pipeline(engine, expansion=RM3()).start(text).expanded_query
        searches = {f"score.{stream}.bm25": engine.search(text, k=None, stream=stream) for stream in STREAMS}
        for name, scorer in {"dirichlet": Dirichlet(), "two-stage": TwoStage(), "bm25f": BM25F()}.items():
            searches[f"score.both.{name}"] = engine.search(text, k=None, scorer=scorer)
        searches["score.both.rm3"] = engine.search(expanded, k=None)
        for name, hits in searches.items():
            if len(hits):
                candidates = judged(engine, {"1": dict.fromkeys(hits.docnos, 0)})
                found = extract(engine, [Topic("1", text)], candidates, [name]).column(name)
                assert found.tolist() == pytest.approx(hits.scores.tolist(), rel=1e-9, abs=1e-9), name


# A small library.

DOCUMENTS = [
    Document("flu", "influenza", "fever and cough with influenza"),
    Document("cold", "common cold", "cough without fever"),
    Document("bone", "broken bone", "a cast for six weeks"),
    Document("void", "", ""),
]
TOPICS = [Topic("1", "fever cough"), Topic("2", "bone"), Topic("3", "influenza fever")]
QRELS = {"1": {"flu": 2, "bone": 0}, "2": {"bone": 1}}


@pytest.fixture(scope="module")
def engine(build):
    return SearchEngine(build(DOCUMENTS, words_per_shard=8))


def rows_of(table):
    return list(zip(table.qids.tolist(), table.docnos.tolist(), strict=True))


def test_a_table_has_names_pairs_and_grades_in_the_order_given(engine):
    table = extract(engine, TOPICS, judged(engine, QRELS), "table1", qrels=QRELS)
    assert table.names[0] == "table1.both.log_tf"
    assert rows_of(table) == [("1", "flu"), ("1", "bone"), ("2", "bone")]
    assert table.grades.tolist() == [2, 0, 1]
    assert table.values.shape == (3, 7)
    assert table.values[0, 0] == pytest.approx(2 * log1p(1))


def test_without_judgments_there_are_no_grades(engine):
    assert extract(engine, TOPICS, judged(engine, QRELS), "table1").grades is None


def test_unjudged_candidates_have_the_grade_0_or_are_left_out(engine):
    candidates = ranked(engine, [Ranking("1", ["cold", "flu", "void"], [3, 2, 1]), Ranking("3", ["cold"], [1])])
    zero = extract(engine, TOPICS, candidates, "table1", qrels=QRELS)
    assert (rows_of(zero), zero.grades.tolist()) == (
        [("1", "cold"), ("1", "flu"), ("1", "void"), ("3", "cold")],
        [0, 2, 0, 0],
    )
    drop = extract(engine, TOPICS, candidates, "table1", qrels=QRELS, unjudged="drop")
    assert (rows_of(drop), drop.grades.tolist()) == ([("1", "flu")], [2])


def test_what_becomes_of_unjudged_candidates_is_zero_or_drop(engine):
    with pytest.raises(SettingError, match=r"unknown way with unjudged documents 'dropp' .did you mean drop"):
        extract(engine, TOPICS, judged(engine, QRELS), "table1", unjudged="dropp")


def test_the_candidates_of_a_run_are_its_first_k(engine):
    run = [Ranking("1", ["cold", "flu", "bone"], [3, 2, 1])]
    assert ranked(engine, run).of("1").docnos == ("cold", "flu", "bone")
    assert ranked(engine, run, k=2).of("1").docnos == ("cold", "flu")
    with pytest.raises(SettingError, match="k is 0, expected 1 or more"):
        ranked(engine, run, k=0)


def test_the_candidates_of_a_search_are_its_hits(engine):
    candidates = searched(Pipeline(engine), TOPICS, k=1)
    assert candidates.of("2").docnos == ("bone",)
    table = extract(engine, TOPICS, candidates, ["score.both.bm25"])
    assert table.values[:, 0] == pytest.approx([engine.search(topic.text, k=1).scores[0] for topic in TOPICS])
    by_title = searched(Pipeline(engine, Dirichlet(), expansion=RM3()), [Topic("1", "fever")], k=10)
    assert set(by_title.of("1").docnos) >= {"flu", "cold"}
    with pytest.raises(SettingError, match="k is 0"):
        searched(Pipeline(engine), TOPICS, k=0)


def test_a_union_has_each_document_once_in_order_of_appearance(engine):
    one = ranked(engine, [Ranking("1", ["cold", "gone"], [2, 1])])
    other = ranked(engine, [Ranking("1", ["flu", "cold", "gone", "lost"], [4, 3, 2, 1]), Ranking("2", ["bone"], [1])])
    both = one.union(other)
    assert both.of("1").docnos == ("cold", "flu")
    assert both.of("2").docnos == ("bone",)
    assert both.missing == {"1": ("gone", "lost")}
    assert one.of("1").docnos == ("cold",)
    table = extract(engine, TOPICS, both, ["doc.both.length"])
    assert table.values[:, 0].tolist() == [5, 6, 7]


def test_a_document_that_the_index_does_not_hold_is_counted_and_named(engine):
    candidates = judged(engine, {"1": {"gone": 1, "flu": 1}, "2": {"lost": 0}})
    assert candidates.n_missing == 2
    assert candidates.missing == {"1": ("gone",), "2": ("lost",)}
    said = "2 of 3 candidates are not in the index: gone (topic 1), lost (topic 2)"
    assert candidates.describe_missing() == said
    assert rows_of(extract(engine, TOPICS, candidates, "table1")) == [("1", "flu")]
    with pytest.raises(SettingError) as caught:
        extract(engine, TOPICS, candidates, "table1", strict=True)
    assert str(caught.value) == said


def test_what_is_missing_for_topics_that_are_not_asked_does_no_harm(engine):
    candidates = judged(engine, {"1": {"flu": 1}, "2": {"lost": 0}})
    assert rows_of(extract(engine, TOPICS[:1], candidates, "table1", strict=True)) == [("1", "flu")]
    assert candidates.only(TOPICS[1:]).missing == {"2": ("lost",)}


def test_only_some_of_many_missing_documents_are_named(engine):
    candidates = judged(engine, {"1": dict.fromkeys(map(str, range(100)), 0)})
    assert candidates.describe_missing().endswith("4 (topic 1), …")


def test_nothing_is_said_if_nothing_is_missing(engine):
    assert judged(engine, QRELS).describe_missing() == ""
    extract(engine, TOPICS, judged(engine, QRELS), "table1", strict=True)


def test_a_document_that_is_asked_for_twice_is_taken_once(engine):
    candidates = ranked(engine, [Ranking("1", ["flu", "cold", "flu"], [3, 2, 1])])
    assert candidates.of("1").docnos == ("flu", "cold")


def test_topics_without_candidates_have_no_rows(engine):
    candidates = judged(engine, QRELS)
    assert candidates.without_any(TOPICS) == ["3"]
    assert set(extract(engine, TOPICS, candidates, "table1").qids) == {"1", "2"}


def test_topics_none_of_which_has_a_candidate_are_refused(engine):
    with pytest.raises(SettingError, match=r"none of 1 topics has a candidate in the index; .* candidates for: 1, 2"):
        extract(engine, [Topic("q1", "fever")], judged(engine, QRELS), "table1")
    with pytest.raises(SettingError, match=r"none of 3 topics has a candidate in the index; .* for: no topic"):
        extract(engine, TOPICS, Candidates({}), "table1")


def test_a_topic_that_comes_twice_is_refused(engine):
    twice = [*TOPICS, Topic("2", "cast", location="topics.tsv:4")]
    with pytest.raises(DuplicateError, match=r"^topics.tsv:4: topic 2 occurs 2 times, expected once$"):
        extract(engine, twice, judged(engine, QRELS), "table1")


def test_dead_documents_are_no_candidates_and_count_for_nothing(build, tmp_path):
    names = [name for name, feature in CATALOGUE.items() if feature.needs not in ("semantic", "topics")]
    qrels = {topic.qid: {"flu": 1, "cold": 0, "bone": 0} for topic in TOPICS}
    folder = build(DOCUMENTS, words_per_shard=8, folder=tmp_path / "living")
    delete(folder, ["cold"])
    kept = [document for document in DOCUMENTS if document.docno != "cold"]
    with SearchEngine(folder) as living, SearchEngine(build(kept)) as fresh:
        candidates = judged(living, qrels)
        assert candidates.missing == dict.fromkeys("123", ("cold",))
        ours = extract(living, TOPICS, candidates, names)
        theirs = extract(fresh, TOPICS, judged(fresh, qrels), names)
    assert rows_of(ours) == rows_of(theirs)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12)


def test_many_documents_are_found_as_few_are(build, tmp_path, monkeypatch):
    documents = [Document(f"é{number}", "", "word") for number in range(40)]
    folder = build(documents, words_per_shard=9, folder=tmp_path / "many")
    delete(folder, ["é7", "é39"])
    asked = {"1": {f"é{number}": 0 for number in range(50, -1, -1)}, "2": {"é7": 0, "é8": 0, "": 0}}
    with SearchEngine(folder) as engine:
        few = judged(engine, asked)
        monkeypatch.setattr(searchlab.features.candidates, "MIN_COMPILED", 1)
        many = judged(engine, asked)
    assert few.missing == many.missing
    assert few.missing["2"] == ("é7", "")
    for qid in asked:
        assert few.of(qid).docnos == many.of(qid).docnos
        assert few.of(qid).shards.tolist() == many.of(qid).shards.tolist()
        assert few.of(qid).docs.tolist() == many.of(qid).docs.tolist()
    assert set(many.of("1").shards) == {0, 1, 2, 3, 4}


def test_progress_is_told_topic_by_topic(engine):
    steps = []
    extract(engine, TOPICS, judged(engine, QRELS), "table1", progress=lambda *how_far: steps.append(how_far))
    assert steps == [("extracting", done, 3) for done in range(4)]


@pytest.mark.parametrize("needs", SUPPLIERS)
def test_only_what_the_features_need_is_measured(engine, monkeypatch, needs):
    def refuse(question, wanted):
        raise AssertionError(needs)

    class Nowhere:
        def vectors_by_dims(self, shards, docs, dims):
            return [np.zeros((len(docs), n), np.float32) for n in dims]

        def query_vector(self, terms, dims):
            return np.zeros(dims, np.float32)

        def word_vectors(self, shards, docs):
            return DenseVectors(np.zeros((len(docs), 1), np.float32))

        def term_given_topic(self, terms):
            return np.ones((len(terms), 2))

        def topics_given_document(self, shards, docs):
            return np.full((len(docs), 2), 0.5)

        def topics_given_words(self, terms):
            return np.array([0.5, 0.5])

    monkeypatch.setitem(SUPPLIERS, needs, refuse)
    others = [name for name, feature in CATALOGUE.items() if feature.needs != needs]
    own = [name for name, feature in CATALOGUE.items() if feature.needs == needs]
    table = extract(engine, TOPICS, judged(engine, QRELS), others, space=Nowhere(), topic_model=Nowhere())
    assert table.n_features == len(others) == len(CATALOGUE) - len(own)
    with pytest.raises(AssertionError, match=needs):
        extract(engine, TOPICS, judged(engine, QRELS), own[:1], space=Nowhere(), topic_model=Nowhere())


def test_only_the_streams_that_features_need_are_counted(engine, monkeypatch):
    counted = []

    def count(counts, query, streams):
        counted.append(sorted(streams))
        return collect(counts, query, streams)

    collect = CandidateCounts.collect
    monkeypatch.setattr(CandidateCounts, "collect", count)
    for name in ("letor.body.tf", "score.both.bm25f", "near.both.window"):
        extract(engine, TOPICS[:1], judged(engine, QRELS), [name])
    assert counted == [["body"], ["body", "both", "title"], []]


def test_a_term_is_looked_up_once_for_each_stream(engine, monkeypatch):
    looked_up = []

    def look_up(reading, *arguments):
        looked_up.extend(reading.terms)
        return look_up_in_index(reading, *arguments)

    look_up_in_index = CountReading.read
    monkeypatch.setattr(CountReading, "read", look_up)
    names = ["score.both.bm25", "score.both.rm3", "letor.title.tf"]
    together = extract(engine, TOPICS[:1], judged(engine, QRELS), names)
    assert looked_up
    assert len(set(looked_up)) == len(looked_up)
    for name in names:
        alone = extract(engine, TOPICS[:1], judged(engine, QRELS), [name])
        assert alone.column(name).tolist() == together.column(name).tolist()


def test_body_is_the_same_whether_looked_up_or_what_is_left_of_both(engine):
    alone = extract(engine, TOPICS, judged(engine, QRELS), ["letor.body.tf"])
    together = extract(engine, TOPICS, judged(engine, QRELS), "letor45")
    assert alone.column("letor.body.tf").tolist() == together.column("letor.body.tf").tolist()


def test_the_semantic_space_is_opened_once_and_only_if_needed(engine, monkeypatch):
    opened = []

    class Space:
        def vectors_by_dims(self, shards, docs, dims):
            return [np.ones((len(docs), n), np.float32) for n in dims]

        def query_vector(self, terms, dims):
            return -np.ones(dims, np.float32)

    def open_space(engine):
        opened.append(engine)
        return Space()

    monkeypatch.setattr(extraction, "open_space", open_space)
    extract(engine, TOPICS, judged(engine, QRELS), "letor45")
    assert opened == []
    table = extract(engine, TOPICS, judged(engine, QRELS), "semantic")
    assert opened == [engine]
    assert table.column("semantic.both.query_50") == pytest.approx([-1, -1, -1])
    assert table.column("semantic.both.rm3_200") == pytest.approx([1, 1, 1])


def test_what_was_read_of_a_query_is_freed_before_the_next_one(engine, monkeypatch):
    contexts = []

    def extract_and_note(query, features):
        contexts.append(weakref.ref(query))
        return extract_query(query, features)

    extract_query = extraction.extract_query
    monkeypatch.setattr(extraction, "extract_query", extract_and_note)
    gc.disable()
    try:
        features = ["letor45", "score.both.rm3", "near.both.phrase", "query.both.clarity"]
        extract(engine, TOPICS, judged(engine, QRELS), features)
        assert len(contexts) > 1
        assert [context() for context in contexts] == [None] * len(contexts)
    finally:
        gc.enable()


def test_an_index_without_a_semantic_space_says_so(engine):
    from searchlab.errors import StoreError

    with pytest.raises(StoreError):
        extract(engine, TOPICS, judged(engine, QRELS), ["semantic.both.query_50"])


def test_topic_features_are_those_of_the_index(build):
    from searchlab.scorers.plsa import PLSA
    from searchlab.topic_models.topic_model_store import build_topic_model

    folder = build(DOCUMENTS)
    with SearchEngine(folder) as engine:
        with pytest.raises(IndexMissing, match="no topic model 'plsa'"):
            extract(engine, TOPICS, judged(engine, QRELS), ["topic.both.cosine"])
        build_topic_model(folder, n_topics=2)
        table = extract(engine, TOPICS, judged(engine, QRELS), ["topic.both.plsa", "topic.both.cosine"])
        texts = {topic.qid: topic.text for topic in TOPICS}
        assert table.n_rows
        for qid, docno, own in zip(table.qids, table.docnos, table.column("topic.both.plsa"), strict=True):
            explained = engine.explain(texts[qid], docno, scorer=PLSA(*PLSA.defaults))
            assert own == (pytest.approx(explained.score) if explained.parts else pytest.approx(np.nan, nan_ok=True))
        assert ((table.column("topic.both.cosine") >= 0) & (table.column("topic.both.cosine") <= 1 + 1e-12)).all()


def test_damaged_tokens_are_told(build):
    engine = SearchEngine(build(DOCUMENTS))
    columns = engine.snapshot.shards[0].columns
    object.__setattr__(columns, "tokens", Column(np.full_like(columns.tokens.whole, 10**6)))
    with pytest.raises(IndexCorrupt, match="a column is damaged"):
        extract(engine, TOPICS, judged(engine, QRELS), ["near.both.window"])


def test_query_features_are_constant_within_a_query(engine):
    names = [name for name in CATALOGUE if name.startswith("query.")]
    assert len(names) == 6
    qrels = {topic.qid: {document.docno: 0 for document in DOCUMENTS} for topic in TOPICS}
    table = extract(engine, TOPICS, judged(engine, qrels), names)
    for _, rows in table.queries():
        assert (table.values[rows] == table.values[rows][0]).all()
    assert len(np.unique(table.column("query.both.clarity"))) == len(TOPICS)


def test_mixtures_are_the_scores_of_the_engine(engine):
    for name, scorer in MIXTURE_FEATURES.items():
        table = extract(engine, TOPICS, judged(engine, QRELS), [name])
        for topic in TOPICS:
            hits = engine.search(topic.text, k=None, scorer=scorer)
            scores = dict(zip(hits.docnos, hits.scores, strict=True))
            rows = [row for row in range(table.n_rows) if table.qids[row] == topic.qid and table.docnos[row] in scores]
            assert table.values[rows, 0].tolist() == pytest.approx([scores[table.docnos[row]] for row in rows])
    assert len(MIXTURE_FEATURES) == 2


def test_candidates_are_a_pipeline_a_run_judgments_or_docnos(build):
    documents = [Document("a", "", "heat flow"), Document("b", "", "heat"), Document("c", "", "wings")]
    with SearchEngine(build(documents)) as engine, SearchEngine(build(documents)) as other:
        bm25, topics = engine.retriever(), {"1": "heat"}
        best = bm25.search("heat").docnos
        for given, docnos in [
            (bm25, best),
            (bm25 % 1, best[:1]),
            (bm25.run(topics), best),
            (searchlab.make_qrels({"1": {"c": 1, "a": 0}}), ["c", "a"]),
            ({1: ["c", "b"]}, ["c", "b"]),
        ]:
            assert extract(engine, topics, given, "table1").docnos.tolist() == docnos
        for wrong in (5, None, "bm25", ["a"], {"1": "a"}, {"1": [None]}, {"1": 5}, other.retriever()):
            with pytest.raises(SettingError, match=r"candidates (is|of topic 1)"):
                extract(engine, topics, wrong, "table1")
