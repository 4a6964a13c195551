"""Every value of the dialect `trec` equals that of trec_eval."""

import random
from dataclasses import replace

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.records import Ranking
from tests.hypothesis_profiles import examples

NAMES = ["map", "map_cut_5", "ndcg", "ndcg_cut_3", "P_5", "recall_5", "recip_rank", "Rprec", "bpref", "success_5"]
NAMES += ["num_ret", "num_rel", "num_rel_ret", "num_q", "set_P", "set_recall", "set_F", "set_map", "infAP"]
NAMES += ["iprec_at_recall_0.00", "iprec_at_recall_0.20", "iprec_at_recall_1.00"]
REQUESTED = {"map_cut.5", "ndcg_cut.3", "P.5", "recall.5", "success.5", "iprec_at_recall.0.0,0.2,1.0"}
REQUESTED |= {name for name in NAMES if not name[-1].isdigit()}

DOCNOS = st.sampled_from([letter + number for letter in "aBé€z" for number in ("", "1", "10", "2")])
# Exact ties, ties in 32 bits, and numbers beyond the range of 32 bits.
SCORES = st.one_of(
    st.integers(-2, 3).map(float),
    st.integers(0, 5).map(lambda n: 1 + n * 1e-8),
    st.sampled_from([1e300, -1e300, 1e39, 1e-50, 2e-50, 0.0, -0.0]),
    st.floats(-10, 10),
)
QIDS = st.sampled_from("1234")


@st.composite
def judgments(draw):
    grades = st.integers(draw(st.sampled_from([-3, -1, 0])), 4)
    qrels = draw(st.dictionaries(QIDS, st.dictionaries(DOCNOS, grades, min_size=1, max_size=15), min_size=1))
    # pytrec_eval crashes if no document of a topic has a grade of at least 0.
    return {qid: judged if max(judged.values()) >= 0 else judged | {"only": 0} for qid, judged in qrels.items()}


RUNS = st.dictionaries(QIDS, st.dictionaries(DOCNOS, SCORES, min_size=1, max_size=20), min_size=1)


def assert_equal_to_trec_eval(qrels, run, level):
    theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUESTED, relevance_level=level).evaluate(run)
    if not theirs:
        return 0
    rankings = [Ranking(qid, list(scores), list(scores.values())) for qid, scores in run.items()]
    ours = evaluate_run(qrels, rankings, NAMES, dialect=replace(DIALECTS["trec"], rel=level), warn=False)
    assert set(ours.qids) == set(theirs)
    expected = np.array([[theirs[qid][name] for name in NAMES] for qid in ours.qids])
    np.testing.assert_allclose(ours.values, expected, rtol=0, atol=1e-12)
    return len(theirs)


@settings(max_examples=examples(150))
@given(qrels=judgments(), run=RUNS, level=st.sampled_from([1, 1, 2, 3]))
def test_values_equal_those_of_trec_eval(qrels, run, level):
    assert_equal_to_trec_eval(qrels, run, level)


def test_values_of_thousands_of_random_runs_equal_those_of_trec_eval():
    draw = random.Random(2006)
    docnos = [letter + str(number) for letter in "aBé€" for number in range(12)]
    scores = [lambda: draw.gauss(0, 1), lambda: draw.randint(0, 3), lambda: 1 + draw.random() * 1e-7]
    scores += [lambda: 1e300, lambda: draw.randint(0, 3) * 1e-50]

    def some():
        return draw.sample(docnos, draw.randint(1, 30))

    n_topics = 0
    for _ in range(2000):
        lowest = draw.choice([-3, -1, 0])
        qrels = {qid: {"only": 0} | {docno: draw.randint(lowest, 3) for docno in some()} for qid in "123"}
        run = {qid: {docno: draw.choice(scores)() for docno in some()} for qid in draw.sample("1234", 3)}
        n_topics += assert_equal_to_trec_eval(qrels, run, draw.choice([1, 1, 2]))
    assert n_topics > 4000


@settings(max_examples=examples(50))
@given(qrels=judgments(), data=st.data())
def test_scores_of_judged_documents_are_evaluated_as_a_run(qrels, data):
    qids = list(qrels)
    docnos = [docno for qid in qids for docno in qrels[qid]]
    grades = [grade for qid in qids for grade in qrels[qid].values()]
    offsets = np.cumsum([0, *(len(qrels[qid]) for qid in qids)])
    scores = data.draw(st.lists(SCORES, min_size=len(docnos), max_size=len(docnos)))
    ours = evaluate_scores(scores, grades, offsets, NAMES, dialect="trec", docnos=docnos)
    run = {
        qid: dict(zip(docnos[begin:end], scores[begin:end], strict=True))
        for qid, begin, end in zip(qids, offsets, offsets[1:], strict=False)
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUESTED).evaluate(run)
    expected = [[theirs[qid][name] for name in NAMES] for qid in qids]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)


def test_values_of_large_random_runs_equal_those_of_trec_eval():
    generator = np.random.default_rng(5)
    qrels, run = {}, {}
    for qid in map(str, range(40)):
        docnos = [f"d{number}" for number in generator.choice(5000, 900, replace=False)]
        judged = generator.choice(docnos, 200, replace=False).tolist()
        qrels[qid] = {docno: int(grade) for docno, grade in zip(judged, generator.integers(-1, 4, 200), strict=True)}
        run[qid] = dict(zip(docnos[:700], generator.normal(size=700).round(2).tolist(), strict=True))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUESTED).evaluate(run)
    rankings = [Ranking(qid, list(found), list(found.values())) for qid, found in run.items()]
    ours = evaluate_run(qrels, rankings, NAMES, warn=False)
    expected = [[theirs[qid][name] for name in NAMES] for qid in ours.qids]
    np.testing.assert_allclose(ours.values, expected, rtol=0, atol=1e-12)
    assert ours.mean("map") == pytest.approx(np.mean([values["map"] for values in theirs.values()]), abs=1e-12)
