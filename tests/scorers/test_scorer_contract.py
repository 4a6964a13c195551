"""Is each scorer its formula, and does every scorer keep the promises of the family?"""

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.records import TermStats
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.base import LanguageModel
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.gains import gain
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.scorers.tfidf import TFIDF
from searchlab.scorers.two_stage import TwoStage

log = math.log

# Ten documents of ten words on average; the term occurs in four of them, five times.
TERM = TermStats(n_docs=10, n_tokens=100, doc_freq=4, term_count=5)
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


def test_in_a_single_text_a_mixture_speaks_by_unigrams():
    # Models of the document weigh 0.1 + 0.2 + 0.1 + 0.1 = 0.5, those of the collection 0.3 + 0.2 = 0.5.
    assert Mixture(0.1, 0.3, 0.2, 0.2, 0.1, 0.1).weigh(3, 20, TERM) == pytest.approx(log(0.5 * 3 / 20 + 0.5 * 0.05))


@pytest.mark.parametrize("weights", [(0.5, 0.4), (0.5, 0.5, 0.1), (0, 0.999)])
def test_weights_of_a_mixture_sum_to_1(weights):
    with pytest.raises(SettingError, match=rf"^Mixture: the weights sum to {sum(weights):g}, expected 1$"):
        Mixture(*weights)


def test_there_are_eight_scorers():
    assert len(SCORERS) == 8
    assert len(set(SCORERS.values())) == 8


every_scorer = pytest.mark.parametrize("kind", SCORERS.values(), ids=SCORERS)


@st.composite
def situations(draw):
    """A document's numbers for a term, and a term's for a collection, that could occur together."""
    n_docs = draw(st.integers(1, 10**6))
    doc_freq = draw(st.integers(1, n_docs))
    term_count = draw(st.integers(doc_freq, doc_freq * 50))
    n_tokens = term_count + draw(st.integers(0, 10**9))
    tf = draw(st.integers(1, 1000))
    unique_length = draw(st.integers(1, 5000))
    length = tf + unique_length - 1 + draw(st.integers(0, 5000))
    return tf, length, unique_length, TermStats(n_docs, n_tokens, doc_freq, term_count)


def taken_apart(scorer, tf, length, unique_length, term):
    lengths, uniques = np.array([length]), np.array([unique_length])
    norm = scorer.doc_norm(lengths, uniques, term.mean_length)
    bias = scorer.doc_bias(lengths, uniques)
    rest = scorer.background(term) + (0.0 if bias is None else bias[0])
    factor = scorer.term_factor(term)
    return rest, gain(scorer.shape, float(tf), scorer.term_weight(term), factor, norm[0], scorer.shift)


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
    }
    return [kind(), *extremes[kind]]


@every_scorer
@given(situation=situations())
def test_the_weight_is_background_bias_and_gain(kind, situation):
    tf, length, unique_length, term = situation
    for scorer in settings_of(kind):
        rest, gained = taken_apart(scorer, *situation)
        whole = float(scorer.weigh(tf, length, term, unique_length))
        assert gained > 0
        assert rest + gained == pytest.approx(whole, rel=1e-9, abs=1e-9)
        absent = float(scorer.weigh(0, length, term, unique_length))
        assert rest == pytest.approx(absent, rel=1e-9, abs=1e-9)


@every_scorer
@given(situation=situations())
def test_weights_are_finite_and_grow_with_the_frequency(kind, situation):
    tf, length, unique_length, term = situation
    for scorer in settings_of(kind):
        weights = [float(scorer.weigh(n, length, term, unique_length)) for n in (0, tf, tf + 1, 2 * tf + 1)]
        assert all(map(math.isfinite, weights))
        assert weights[0] < weights[1]
        assert weights == sorted(weights)


@every_scorer
@given(situation=situations())
def test_a_rarer_term_gains_more(kind, situation):
    tf, length, unique_length, term = situation
    if term.doc_freq < 2:
        return
    rarer = TermStats(term.n_docs, term.n_tokens, term.doc_freq // 2, term.term_count // 2)
    for scorer in settings_of(kind):
        common, rare = (
            float(scorer.weigh(tf, length, t, unique_length)) - float(scorer.weigh(0, length, t, unique_length))
            for t in (term, rarer)
        )
        assert rare >= common or rare == pytest.approx(common, rel=1e-6)


@every_scorer
def test_weights_are_the_same_for_arrays(kind):
    scorer = kind()
    tfs, lengths, uniques = np.array([0, 1, 3]), np.array([5, 10, 20]), np.array([5, 9, 8])
    weights = scorer.weigh(tfs, lengths, TERM, uniques)
    singly = [float(scorer.weigh(*each, TERM, u)) for *each, u in zip(tfs, lengths, uniques, strict=True)]
    assert weights.tolist() == pytest.approx(singly)


@every_scorer
def test_scorers_are_values(kind):
    assert kind() == kind()
    assert hash(kind()) == hash(kind())


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
    numbers = {(kind, field.name) for kind in SCORERS.values() for field in fields(kind) if field.name != "idf"}
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
        ("bm25", {"mu": "1"}, "unknown setting of bm25 'mu'; there is: b, idf, k1"),
        ("jm", {"lambda_": "1"}, "unknown setting of jm 'lambda_'.*there is: lambda"),
        ("dirichlet", {"mu": "many"}, "dirichlet: mu is 'many', expected a number"),
        ("dirichlet", {"mu": ""}, "dirichlet: mu is '', expected a number"),
        ("dirichlet", {"mu": "nan"}, "Dirichlet: mu is nan, expected a number from 1e-09 to 1e\\+09"),
    ],
)
def test_what_makes_no_scorer_is_told(name, settings, message):
    with pytest.raises(SettingError, match=message):
        make_scorer(name, settings)


def test_language_models_are_those_that_give_something_to_absent_terms():
    models = {kind for kind in SCORERS.values() if issubclass(kind, LanguageModel)}
    assert models == {Dirichlet, JelinekMercer, AbsoluteDiscount, Mixture, TwoStage}
    for kind in SCORERS.values():
        assert (float(kind().weigh(0, 10, TERM, 9)) != 0) == (kind in models)
