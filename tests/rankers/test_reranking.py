"""Re-ranking: a model orders the candidates of a search as it orders the same features in a table."""

import json
import math

import numpy as np
import pytest

from searchlab.errors import IndexMissing, SettingError
from searchlab.features.candidates import Candidates, searched
from searchlab.features.extraction import extract
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle, columns_of
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.voting_model import VotingModel
from searchlab.rankers.reranking import Reranker
from searchlab.records import Document, Topic
from searchlab.retrieval.document_list import best_first
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet

FEATURES = ("letor.both.bm25", "letor.title.bm25", "match.both.coverage", "doc.both.length")


@pytest.fixture(scope="module")
def engine(build):
    """Sixty documents in several shards; words that occur with others, so that expansion finds more."""
    random = np.random.default_rng(4)
    words = ["heat", "flow", "wings", "prison", "cell", "t", "lift", "drag", "and", "title"]
    chances = np.array([8, 6, 4, 3, 5, 4, 7, 7, 5, 5]) / 54
    documents = [
        Document(
            f"d{number:02d}",
            " ".join(random.choice(words, 2, p=chances)),
            " ".join(random.choice(words, int(random.integers(3, 12)), p=chances)),
            {"year": int(1990 + number % 3)},
        )
        for number in random.permutation(60)
    ]
    with SearchEngine(build(documents, words_per_shard=150)) as opened:
        assert len(opened.snapshot.shards) > 2
        yield opened


def make_bundle(weights=(1.0, 2.0, -0.5, 0.3), first_stage=None, model=None, powers=False):
    preprocessor = Preprocessor.named("query-minimum", "query-minmax", powers)
    n = len(columns_of(FEATURES, preprocessor))
    own = model or LinearModel(np.resize(np.array(weights), n))
    return Bundle("own", {}, own, FEATURES, preprocessor, first_stage=first_stage)


def by_hand(engine, bundle, text, candidates):
    """Features, preprocessor, score, and then the order: equal scores by docno from the last."""
    table = extract(engine, [Topic("q", text)], candidates, FEATURES)
    prepared = bundle.preprocessor.transform(table)
    scores = bundle.model.score(prepared.values, prepared.group_offsets)
    ranked = sorted(zip(scores.tolist(), table.docnos.tolist(), strict=True), reverse=True)
    return [docno for _, docno in ranked], [score for score, _ in ranked]


@pytest.mark.parametrize("powers", [False, True])
@pytest.mark.parametrize("text", ["heat flow", "wings drag drag", "cell unheard"])
def test_documents_are_ranked_as_their_features_say(engine, text, powers):
    stage = FirstStage(15, "dirichlet", {"mu": 100}, expanded=False)
    bundle = make_bundle(first_stage=stage, powers=powers)
    candidates = searched(Pipeline(engine, Dirichlet(mu=100)), [Topic("q", text)], k=15)
    docnos, scores = by_hand(engine, bundle, text, candidates)
    hits = Reranker(engine, bundle).pipeline().search(text, k=15)
    assert hits.docnos == docnos
    assert hits.scores.tolist() == pytest.approx(scores, abs=1e-12)
    assert docnos != list(candidates.of("q").docnos)
    assert Reranker(engine, bundle).pipeline().search(text, k=4).docnos == docnos[:4]
    assert [hit.docno for hit in hits[:3]] == docnos[:3]


def test_what_expansion_finds_is_ranked_too(engine):
    stage = FirstStage(8)
    bundle = make_bundle(first_stage=stage)
    topic = Topic("q", "cell")
    plain = searched(Pipeline(engine), [topic], k=8)
    both = plain.union(searched(Pipeline(engine, expansion=RM3()), [topic], k=8))
    assert len(both.of("q")) > 8
    docnos, scores = by_hand(engine, bundle, topic.text, both)
    hits = Reranker(engine, bundle).pipeline().search(topic.text, k=len(docnos))
    assert hits.docnos == docnos
    assert hits.scores.tolist() == pytest.approx(scores, abs=1e-12)
    assert stage.pipeline(engine).start(topic.text).candidates(8).docnos == both.of("q").docnos
    (ranking,) = Reranker(engine, bundle).pipeline().run([topic], k=5)
    assert (ranking.qid, list(ranking.docnos)) == ("q", docnos[:5])


def test_equal_scores_stand_by_docno_from_the_last(engine):
    bundle = make_bundle((0.0, 0.0, 0.0, 0.0), FirstStage(12, expanded=False))
    hits = Reranker(engine, bundle).pipeline().search("heat", k=12)
    assert hits.docnos == sorted(hits.docnos, reverse=True)
    assert hits.scores.tolist() == [0.0] * 12
    assert set(hits.docnos) == set(engine.search("heat", k=12).docnos)


def test_names_are_compared_by_their_bytes():
    docnos = ["b", "é", "a", "Z", "ab"]
    assert [docnos[place] for place in best_first(np.zeros(5), docnos)] == ["é", "b", "ab", "a", "Z"]
    assert best_first(np.array([1.0, 3.0, 3.0, -1.0, 2.0]), docnos).tolist() == [1, 2, 4, 0, 3]
    assert best_first(np.array([1.0, 3.0, 2.0, -1.0, 5.0]), docnos).tolist() == [4, 1, 2, 0, 3]
    assert best_first(np.array([0.0, 3.0, -0.0, np.nan, np.nan]), docnos).tolist() == [1, 0, 2, 4, 3]
    assert best_first(np.zeros(0), []).tolist() == []


@pytest.mark.parametrize("k", [None, 12, 1000])
def test_what_the_first_search_found_beyond_follows_in_its_order(engine, k):
    bundle = make_bundle(first_stage=FirstStage(5))
    pipeline, first = Reranker(engine, bundle).pipeline(), engine.search("heat flow", k=None)
    candidates = set(FirstStage(5).pipeline(engine).start("heat flow").candidates(5).docnos)
    n = len(candidates)
    hits = pipeline.search("heat flow", k=k)
    assert len(hits) == len(hits.docnos) == min(len(first.docnos) if k is None else k, len(first.docnos))
    assert set(hits.docnos[:n]) == candidates
    tail = [docno for docno in first.docnos if docno not in candidates]
    assert hits.docnos[n:] == tail[: len(hits) - n]
    assert len(set(hits.docnos)) == len(hits.docnos)
    # A list that is sorted by its scores stays as it is.
    assert np.all(np.diff(hits.scores[n - 1 :]) < -0.99)
    assert pipeline.search("heat flow", k=3).docnos == hits.docnos[:3]


def test_filters_hold_for_candidates_and_for_what_follows(engine):
    bundle = make_bundle(first_stage=FirstStage(4))
    hits = Reranker(engine, bundle).pipeline().search("heat flow", k=None, filters=["year=1991"])
    assert {hit.document.fields["year"] for hit in hits} == {1991}
    expected = engine.search("heat flow", k=None, filters=["year=1991"]).docnos
    assert sorted(hits.docnos) == sorted(expected)
    alone = make_bundle(first_stage=FirstStage(6, expanded=False))
    found = engine.search("heat flow", k=6, filters=["year=1991"])
    chosen = Candidates(
        {"q": FirstStage(6, expanded=False).pipeline(engine).start(found.query, filters=["year=1991"]).candidates(6)}
    )
    docnos, _ = by_hand(engine, alone, "heat flow", chosen)
    assert Reranker(engine, alone).pipeline().search("heat flow", k=6, filters=["year=1991"]).docnos == docnos
    with pytest.raises(SettingError, match="unknown field 'yaer'"):
        Reranker(engine, bundle).pipeline().search("heat", filters=["yaer=1991"])


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("heat AND flow", "heat flow"),
        ("+heat flow -prison", "heat flow"),
        ("heat NOT prison", "heat"),
        ("title:wings drag", "wings drag"),
        ('"heat flow" year:1991', "heat flow"),
        ("heat^3 year:[1990 TO 1991]", "heat"),
        ("(heat OR wings) AND cell", "heat wings cell"),
    ],
)
def test_features_of_a_structured_query_are_those_of_the_words_it_asks_for(engine, written, words):
    bundle = make_bundle(first_stage=FirstStage(7))
    first = engine.search(written, k=7, syntax="full")
    assert len(first)
    assert first.query.node is not None
    chosen = FirstStage(7).pipeline(engine).start(first.query).candidates(7)
    # No expansion: what does not match is not wanted.
    assert list(chosen.docnos) == first.docnos
    docnos, scores = by_hand(engine, bundle, words, Candidates({"q": chosen}))
    hits = Reranker(engine, bundle).pipeline().search(written, k=len(docnos), syntax="full")
    assert hits.docnos == docnos
    assert hits.scores.tolist() == pytest.approx(scores, abs=1e-12)
    everything = Reranker(engine, bundle).pipeline().search(written, k=None, syntax="full")
    assert sorted(everything.docnos) == sorted(engine.search(written, k=None, syntax="full").docnos)


def test_a_query_that_only_selects_is_answered(engine):
    hits = (
        Reranker(engine, make_bundle(first_stage=FirstStage(5))).pipeline().search("year:1991", k=None, syntax="full")
    )
    assert len(hits) == 20


def test_in_the_plain_language_signs_are_no_syntax(engine):
    pipeline = Reranker(engine, make_bundle(first_stage=FirstStage(5))).pipeline()
    assert pipeline.search("heat -flow", k=5).docnos == pipeline.search("heat flow", k=5).docnos
    # The words "and" and "title" are words there.
    bundle = make_bundle(first_stage=FirstStage(9, expanded=False))
    candidates = searched(Pipeline(engine), [Topic("q", "heat and title")], k=9)
    docnos, _ = by_hand(engine, bundle, "heat and title", candidates)
    assert Reranker(engine, bundle).pipeline().search("heat and title", k=9).docnos == docnos


def test_a_parsed_query_is_taken_as_it_is(engine):
    pipeline = Reranker(engine, make_bundle(first_stage=FirstStage(5))).pipeline()
    parsed = engine.parse('"heat flow"', syntax="full")
    hits = pipeline.search(parsed, k=5)
    assert hits.query is parsed
    assert hits.docnos == pipeline.search('"heat flow"', k=5, syntax="full").docnos


def test_a_query_that_finds_nothing_has_no_hits(engine):
    pipeline = Reranker(engine, make_bundle()).pipeline()
    assert pipeline.search("unheard", k=None).docnos == []
    assert pipeline.search("", k=5).docnos == []
    (ranking,) = pipeline.run([Topic("1", "unheard")])
    assert ranking.docnos == []
    assert pipeline.explain("unheard", []) == []
    with pytest.raises(SettingError, match="k is 0, expected 1 or more"):
        pipeline.search("heat", k=0)


def test_one_hit_is_ranked(engine):
    bundle = make_bundle(first_stage=FirstStage(1, expanded=False))
    assert Reranker(engine, bundle).pipeline().search("heat", k=1).docnos == engine.search("heat", k=1).docnos


MODELS = {
    "linear": None,
    "votes": VotingModel(np.random.default_rng(1).normal(size=(2, 4)), ((2.0, 1.0), (1.0, 0.0)), "count"),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_an_explanation_adds_up_to_the_score_of_the_search(engine, model):
    pipeline = Reranker(engine, make_bundle(first_stage=FirstStage(6), model=model)).pipeline()
    hits = pipeline.search("heat flow", k=6)
    explanations = pipeline.explain("heat flow", hits.docnos)
    assert [explanation.docno for explanation in explanations] == hits.docnos
    assert [explanation.score for explanation in explanations] == pytest.approx(hits.scores.tolist())
    for explanation in explanations:
        assert math.fsum(part.amount for part in explanation.parts) == pytest.approx(explanation.score, abs=1e-9)
    if model is None:
        assert {part.label for part in explanations[0].parts} == set(FEATURES)
        raw = next(part.raw for part in explanations[0].parts if part.label == "doc.both.length")
        document = engine.document(hits.docnos[0])
        assert raw == len(f"{document.title} {document.body}".split())


def test_only_what_is_re_ranked_can_be_explained(engine):
    pipeline = Reranker(engine, make_bundle(first_stage=FirstStage(3, expanded=False))).pipeline()
    beyond = engine.search("heat", k=4).docnos[3]
    with pytest.raises(
        SettingError,
        match=f"{beyond} is not among the 3 documents that are re-ranked for this query: the 3 best by bm25$",
    ):
        pipeline.explain("heat", [beyond])
    with pytest.raises(SettingError, match="nowhere"):
        pipeline.explain("heat", ["nowhere"])
    with pytest.raises(SettingError, match="is not among the 0 documents"):
        pipeline.explain("unheard", ["d00"])
    outside = next(
        docno for docno in engine.search("heat", k=3).docnos if engine.document(docno).fields["year"] != 1991
    )
    with pytest.raises(SettingError, match="is not among the"):
        pipeline.explain("heat", [outside], filters=["year=1991"])


def test_a_model_that_does_not_fit_the_index_is_not_put_to_work(engine):
    strange = Bundle("own", {}, LinearModel(np.ones(1)), ("f1",), Preprocessor.named())
    with pytest.raises(SettingError, match="the model needs feature f1, which searchlab does not compute"):
        Reranker(engine, strange)
    semantic = Bundle("own", {}, LinearModel(np.ones(1)), ("semantic.both.query_50",), Preprocessor.named())
    with pytest.raises(IndexMissing):
        Reranker(engine, semantic)
    topical = Bundle("own", {}, LinearModel(np.ones(1)), ("topic.both.cosine",), Preprocessor.named())
    with pytest.raises(IndexMissing):
        Reranker(engine, topical)


def test_scores_are_those_of_a_table_of_the_same_candidates(engine):
    """The model of a bundle gives one answer, whether rows come from a file or from an index."""
    bundle = make_bundle(first_stage=FirstStage(10, expanded=False))
    table = extract(
        engine, [Topic("7", "heat lift")], searched(Pipeline(engine), [Topic("7", "heat lift")], k=10), FEATURES
    )
    wider = FeatureTable(
        [*FEATURES, "other"], table.qids, table.docnos, np.column_stack([table.values, np.zeros(table.n_rows)])
    )
    scores = dict(zip(table.docnos.tolist(), bundle.scores(wider).tolist(), strict=True))
    hits = Reranker(engine, bundle).pipeline().search("heat lift", k=10)
    assert dict(zip(hits.docnos, hits.scores.tolist(), strict=True)) == scores


# The first stage.


def test_a_first_stage_is_read_back_from_json(engine):
    stage = FirstStage(7, "bm25", {"k1": 0.9, "b": "0.4"}, expanded=False)
    again = FirstStage.from_json(json.loads(json.dumps(stage.to_json())))
    assert again == stage
    assert again.make_scorer() == BM25(k1=0.9, b=0.4)
    query = engine.parse("heat flow")
    assert again.pipeline(engine).start(query).candidates(7).docnos == tuple(
        engine.search(query, k=7, scorer=BM25(k1=0.9, b=0.4)).docnos
    )
    assert again.label == "the 7 best by bm25(k1=0.9, b=0.4)"
    assert FirstStage().label == "the 200 best by bm25 and the 200 best by RM3"


@pytest.mark.parametrize("text", ["heat flow", "wings", "unheard"])
def test_candidates_are_the_best_of_the_query_and_then_those_of_its_expansion(engine, text):
    first = engine.search(text, k=10)
    wider = engine.search(RM3().expand(first.query, RM3().estimate(engine, first)), k=6)
    found = FirstStage(6).pipeline(engine).start(text).candidates(6)
    assert list(found.docnos) == list(dict.fromkeys([*first.docnos[:6], *wider.docnos]))
    assert [engine.snapshot.locate(docno) for docno in found.docnos] == list(
        zip(found.shards.tolist(), found.docs.tolist(), strict=True)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is 0, expected a whole number of candidates from 1"),
        ({"k": True}, "k is True, expected a whole number"),
        ({"k": 2.0}, r"k is 2\.0, expected a whole number"),
        ({"scorer": "bm52"}, "unknown scorer 'bm52'"),
        ({"settings": {"k9": 1}}, "unknown setting of bm25 'k9'"),
        ({"settings": {"k1": "much"}}, "bm25: k1 is 'much', expected a number"),
    ],
)
def test_a_first_stage_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        FirstStage(**settings)


def test_a_model_is_given_by_its_path(engine, tmp_path):
    make_bundle().save(tmp_path / "model.json")
    expected = Reranker(engine, make_bundle()).pipeline().search("heat flow", k=3)
    for path in (tmp_path / "model.json", str(tmp_path / "model.json")):
        assert Reranker(engine, path).pipeline().search("heat flow", k=3).docnos == expected.docnos


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            lambda engine, bundle: (bundle, engine),
            r"found Bundle as engine, expected the engine first: Reranker\(engine",
        ),
        (
            lambda engine, bundle: (engine, None),
            "the model is NoneType, expected a Bundle, the path of one, or 'builtin'",
        ),
        (lambda engine, bundle: (engine, engine), "the model is SearchEngine, expected a Bundle"),
        (lambda engine, bundle: (engine, bundle, {"a": 1}), "external is dict, expected a list of features"),
        (lambda engine, bundle: (engine, bundle, ["a"]), "external is list, expected a list of features made by"),
    ],
)
def test_arguments_of_other_kinds_are_refused_in_one_short_line(engine, arguments, message):
    with pytest.raises(SettingError, match=message) as caught:
        Reranker(*arguments(engine, make_bundle()))
    assert len(str(caught.value)) < 120
