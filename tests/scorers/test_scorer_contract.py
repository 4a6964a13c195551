"""Each scorer is its formula, and every scorer keeps the contract of the family."""

import math
from dataclasses import fields

import pytest
from hypothesis import given

from searchlab.errors import SettingError
from searchlab.records import TermStats
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.base import LanguageModel, PostingScorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.plsa import PLSA
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.scorers.tfidf import TFIDF
from searchlab.scorers.two_stage import TwoStage
from searchlab.scorers.word_topic_model import WTM
from searchlab.topic_models.topic_model_store import build_topic_model
from tests.scorers.contract import (
    TERM,
    check_arrays,
    check_finite_and_monotone,
    check_formula,
    check_rarer_term_gains_more,
    check_search,
    check_value,
    contract_engines,
    situations,
)

log = math.log

POSTING_SCORERS = {name: kind for name, kind in SCORERS.items() if issubclass(kind, PostingScorer)}

# In eight of ten documents: more than half.
COMMON = TermStats(n_docs=10, n_tokens=100, doc_freq=8, term_count=20)


def test_bm25_single_occurrence_in_mean_length_document_weighs_idf():
    # By hand: N=2, df=1 gives idf = ln(1 + 1.5/1.5) = ln 2; the tf factor is 2.2/(1 + 1.2) = 1.
    term = TermStats(n_docs=2, n_tokens=20, doc_freq=1, term_count=1)
    assert BM25().weigh(1, 10, term) == pytest.approx(log(2))


def test_bm25_by_hand():
    # idf = ln(1 + 6.5/4.5) = ln(11/4.5); |d|/avgdl = 2: norm = 1.2·(0.25 + 0.75·2) = 2.1; tf factor 3·2.2/(3 + 2.1).
    assert BM25().weigh(3, 20, TERM) == pytest.approx(log(11 / 4.5) * 6.6 / 5.1)
    # k1 = 2, b = 0: norm = 2, tf factor 3·3/(3 + 2).
    assert BM25(k1=2, b=0).weigh(3, 20, TERM) == pytest.approx(log(11 / 4.5) * 9 / 5)
    # b = 1: norm = 1.2·2.
    assert BM25(b=1).weigh(3, 20, TERM) == pytest.approx(log(11 / 4.5) * 6.6 / 5.4)


def test_bm25_with_robertsons_idf_by_hand():
    # idf = ln(6.5/4.5) for the term, ln(2.5/8.5) < 0 for the common one; the tf factor of 1 at mean length is 1.
    assert BM25(idf="robertson").weigh(1, 10, TERM) == pytest.approx(log(6.5 / 4.5))
    assert BM25(idf="robertson").weigh(1, 10, COMMON) == pytest.approx(log(2.5 / 8.5))
    assert BM25().weigh(1, 10, COMMON) == pytest.approx(log(11 / 8.5))


def test_bm25f_by_hand():
    # Title: tf 1, |d| = 4 of 2 on average: 2·1/(0.25 + 0.75·2) = 2/1.75. Body: tf 3, |d| = avgdl: 1·3/1.
    scorer = BM25F()
    f = scorer.pseudo_tf("title", 1, 4, 2.0) + scorer.pseudo_tf("body", 3, 8, 8.0)
    assert f == pytest.approx(2 / 1.75 + 3)
    # w = idf·f·2.2/(f + 1.2)
    assert scorer.weigh(f, 12, TERM) == pytest.approx(log(11 / 4.5) * f * 2.2 / (f + 1.2))


def test_bm25f_settings_of_a_field_count_for_that_field():
    # Title: 3·1/(0.5 + 0.5·2) = 2. Body: b = 0 leaves the length out: 0.5·4/1 = 2.
    scorer = BM25F(title=3, title_b=0.5, body=0.5, body_b=0)
    assert scorer.pseudo_tf("title", 1, 4, 2.0) == pytest.approx(2)
    assert scorer.pseudo_tf("body", 4, 80, 8.0) == pytest.approx(2)


def test_tfidf_by_hand():
    # tf = 1: 1 + ln(1 + ln 1) = 1; |d|/avgdl = 2: 1 - 0.2 + 0.2·2 = 1.2; ln(11/4).
    assert TFIDF().weigh(1, 20, TERM) == pytest.approx(1 / 1.2 * log(11 / 4))
    # tf = 3, s = 0.5: (1 + ln(1 + ln 3)) / 1.5 · ln(11/4).
    assert TFIDF(s=0.5).weigh(3, 20, TERM) == pytest.approx((1 + log(1 + log(3))) / 1.5 * log(11 / 4))
    assert TFIDF().weigh(0, 20, TERM) == 0


def test_dirichlet_by_hand():
    # P(t|C) = 5/100; μ = 40: ln((3 + 40·0.05)/(20 + 40)) = ln(5/60).
    assert Dirichlet(mu=40).weigh(3, 20, TERM) == pytest.approx(log(5 / 60))
    assert Dirichlet(mu=40).weigh(0, 20, TERM) == pytest.approx(log(2 / 60))
    assert Dirichlet().weigh(3, 20, TERM) == pytest.approx(log((3 + 1000 * 0.05) / (20 + 1000)))


def test_jelinek_mercer_by_hand():
    # λ = 0.2: ln(0.8·3/20 + 0.2·0.05) = ln 0.13.
    assert JelinekMercer(0.2).weigh(3, 20, TERM) == pytest.approx(log(0.13))
    assert JelinekMercer(0.2).weigh(0, 20, TERM) == pytest.approx(log(0.01))
    assert JelinekMercer().weigh(3, 20, TERM) == pytest.approx(log(0.5 * 3 / 20 + 0.5 * 0.05))


def test_absolute_discount_by_hand():
    # δ = 0.5, 8 distinct of 20 terms: ln((3 - 0.5)/20 + 0.5·8/20·0.05) = ln(0.125 + 0.01).
    assert AbsoluteDiscount(0.5).weigh(3, 20, TERM, 8) == pytest.approx(log(0.135))
    assert AbsoluteDiscount(0.5).weigh(0, 20, TERM, 8) == pytest.approx(log(0.01))
    assert AbsoluteDiscount().weigh(3, 20, TERM, 8) == pytest.approx(log(2.3 / 20 + 0.7 * 8 / 20 * 0.05))


def test_two_stage_by_hand():
    # μ = 40, λ = 0.2: ln(0.8·(3 + 2)/60 + 0.2·0.05).
    assert TwoStage(40, 0.2).weigh(3, 20, TERM) == pytest.approx(log(0.8 * 5 / 60 + 0.01))
    assert TwoStage(40, 0.2).weigh(0, 20, TERM) == pytest.approx(log(0.8 * 2 / 60 + 0.01))


def test_two_stage_without_its_second_stage_is_dirichlet():
    assert TwoStage(500, 0).weigh(3, 20, TERM) == pytest.approx(Dirichlet(500).weigh(3, 20, TERM))


def test_a_mixture_of_unigrams_is_jelinek_mercer():
    # ln(0.8·3/20 + 0.2·0.05), as above.
    assert Mixture(0.8, 0.2).weigh(3, 20, TERM) == pytest.approx(log(0.13))
    assert Mixture().weigh(0, 20, TERM) == pytest.approx(JelinekMercer().weigh(0, 20, TERM))


def test_in_a_single_text_a_mixture_is_one_of_unigrams():
    # Models of the document weigh 0.1 + 0.2 + 0.1 + 0.1 = 0.5, those of the collection 0.3 + 0.2 = 0.5.
    assert Mixture(0.1, 0.3, 0.2, 0.2, 0.1, 0.1).weigh(3, 20, TERM) == pytest.approx(log(0.5 * 3 / 20 + 0.5 * 0.05))


@pytest.mark.parametrize("weights", [(0.5, 0.4), (0.5, 0.5, 0.1), (0, 0.999)])
def test_weights_of_a_mixture_sum_to_1(weights):
    with pytest.raises(SettingError, match=rf"^Mixture: the weights sum to {sum(weights):g}, expected 1$"):
        Mixture(*weights)


def test_all_ten_scorers_are_there_with_labels_of_their_own():
    assert len(SCORERS) == len(set(SCORERS.values())) == 10
    assert len({kind.label for kind in SCORERS.values()}) == 10
    assert len(POSTING_SCORERS) == 8


every_scorer = pytest.mark.parametrize("kind", SCORERS.values(), ids=SCORERS)
every_formula = pytest.mark.parametrize("kind", POSTING_SCORERS.values(), ids=POSTING_SCORERS)


def settings_of(kind):
    """The default settings, and some towards the ends of their ranges."""
    extremes = {
        BM25: [BM25(0.01, 0), BM25(100, 1)],
        BM25F: [BM25F(0.01, 9, 0.1, 0, 1)],
        TFIDF: [TFIDF(0), TFIDF(1)],
        Dirichlet: [Dirichlet(0.1), Dirichlet(1e6)],
        JelinekMercer: [JelinekMercer(0.001), JelinekMercer(0.999)],
        AbsoluteDiscount: [AbsoluteDiscount(0.001), AbsoluteDiscount(0.999)],
        Mixture: [Mixture(0.001, 0.999), Mixture(0.999, 0.001), Mixture(0.1, 0.3, 0.2, 0.2, 0.1, 0.1)],
        TwoStage: [TwoStage(0.1, 0), TwoStage(1e6, 0.999)],
        PLSA: [PLSA(0.2, 0.1), PLSA(0.9, 0.2)],
        WTM: [WTM(0.2, 0.1), WTM(0.9, 0.2)],
    }
    return [kind(), *extremes[kind]]  # type: ignore[misc]


@every_formula
@given(situation=situations())
def test_the_weight_is_background_bias_and_gain(kind, situation):
    for scorer in settings_of(kind):
        check_formula(scorer, situation)


@every_formula
@given(situation=situations())
def test_weights_are_finite_and_grow_with_the_frequency(kind, situation):
    for scorer in settings_of(kind):
        check_finite_and_monotone(scorer, situation)


@every_formula
@given(situation=situations())
def test_a_rarer_term_gains_more(kind, situation):
    for scorer in settings_of(kind):
        check_rarer_term_gains_more(scorer, situation)


@every_formula
def test_weights_are_the_same_for_arrays(kind):
    check_arrays(kind())


@every_scorer
def test_scorers_are_values(kind):
    check_value(kind)


@pytest.fixture(scope="module")
def engines(build):
    engines = contract_engines(build)
    for method in ("plsa", "wtm"):
        build_topic_model(engines[0].snapshot.folder, method=method, n_topics=4)
    return engines


@every_scorer
def test_searches_keep_the_contract(engines, kind):
    for scorer in settings_of(kind):
        check_search(engines, scorer)


@every_scorer
def test_scorers_say_which_streams_they_search(engines, kind):
    for scorer in settings_of(kind):
        scorer.check_stream("both")
        for stream in ("title", "body"):
            try:
                scorer.check_stream(stream)
            except SettingError:
                with pytest.raises(SettingError, match=f"expected stream both, found {stream}"):
                    engines[0].search("a", scorer=scorer, stream=stream)
                continue
            assert len(engines[0].search("a", scorer=scorer, stream=stream))


@pytest.mark.parametrize("wrong", [BM25, 7, b"bm25"])
def test_what_is_no_scorer_is_refused(engines, wrong):
    for call in (
        engines[0].search,
        engines[0].parse,
        lambda query, scorer: engines[0].explain(query, "d001", scorer=scorer),
    ):
        expected = r"an object: BM25\(\)" if wrong is BM25 else r"a scorer such as BM25\(k1=0\.9\), or its name"
        with pytest.raises(SettingError, match=f"^scorer is .*expected {expected}"):
            call("a", scorer=wrong)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *((BM25, "k1", value) for value in (0, -1, math.inf, math.nan, "x", None)),
        *((BM25, "b", value) for value in (-0.1, 1.1, math.nan)),
        (BM25F, "k1", 0),
        (BM25F, "title", -1),
        (BM25F, "body", math.inf),
        (BM25F, "title_b", 1.5),
        (BM25F, "body_b", -1),
        *((TFIDF, "s", value) for value in (-0.1, 1.1)),
        *((Dirichlet, "mu", value) for value in (0, -5, math.inf)),
        *((JelinekMercer, "lambda_", value) for value in (0, 1.01)),
        *((AbsoluteDiscount, "delta", value) for value in (0, 1.01)),
        (Mixture, "corpus", 0),
        *((Mixture, name, value) for name in Mixture.components for value in (-0.1, 1.1, math.nan)),
        (TwoStage, "mu", 0),
        *((TwoStage, "lambda_", value) for value in (-0.01, 1.01)),
    ],
)
def test_a_setting_out_of_range_is_named(kind, name, value):
    expected = rf"^{kind.__name__}: {name.rstrip('_')} is {value!r}, expected a number "
    with pytest.raises(SettingError, match=expected):
        kind(**{name: value})


def test_the_examples_cover_every_setting():
    mark = test_a_setting_out_of_range_is_named.pytestmark[0]
    covered = {(kind, name) for kind, name, _ in mark.args[1]}
    numbers = {(kind, field.name) for kind in POSTING_SCORERS.values() for field in fields(kind) if field.name != "idf"}
    assert covered == numbers


def test_bm25f_without_any_field_is_refused():
    with pytest.raises(SettingError, match="title and body both weigh 0"):
        BM25F(title=0, body=0)


def test_an_unknown_idf_is_refused_with_a_list():
    with pytest.raises(SettingError, match=r"unknown idf 'robertsen'.*never-negative, robertson"):
        BM25(idf="robertsen")


def test_a_scorer_is_made_by_name_with_numbers_as_text():
    assert make_scorer("dirichlet", {"mu": "500"}) == Dirichlet(500.0)
    assert make_scorer("jm", {"lambda": "1e-1"}) == JelinekMercer(0.1)
    assert make_scorer("bm25", {"idf": "robertson", "b": "0"}) == BM25(b=0, idf="robertson")
    assert {name: type(make_scorer(name)) for name in SCORERS} == SCORERS


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bm52", {}, r"unknown scorer 'bm52' \(did you mean bm25\?\); there is: absolute, bm25, bm25f, dirichlet"),
        ("BM25", {}, r"unknown scorer 'BM25' \(did you mean bm25\?\)"),
        ("jelinek-mercer", {}, r"unknown scorer 'jelinek-mercer' \(did you mean jm\?\)"),
        ("bm25", {"mu": "1"}, "unknown setting of bm25 'mu'; there is: b, idf, k1"),
        ("jm", {"lambda_": "1"}, "unknown setting of jm 'lambda_'.*there is: lambda"),
        ("dirichlet", {"mu": "many"}, "dirichlet: mu is 'many', expected a number"),
        ("dirichlet", {"mu": ""}, "dirichlet: mu is '', expected a number"),
        ("dirichlet", {"mu": "nan"}, "Dirichlet: mu is nan, expected a number from 1e-09 to 1e\\+09"),
    ],
)
def test_wrong_names_and_settings_are_refused(name, settings, message):
    with pytest.raises(SettingError, match=message):
        make_scorer(name, settings)


def test_language_models_are_those_that_give_something_to_absent_terms():
    models = {kind for kind in POSTING_SCORERS.values() if issubclass(kind, LanguageModel)}
    assert models == {Dirichlet, JelinekMercer, AbsoluteDiscount, Mixture, TwoStage}
    for kind in POSTING_SCORERS.values():
        assert (float(kind().weigh(0, 10, TERM, 9)) != 0) == (kind in models)
