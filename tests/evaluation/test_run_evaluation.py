"""Evaluation of runs: topics, summaries and invalid runs."""

import math

import numpy as np
import pytest

import searchlab
from searchlab.corpus.trec import fast_lines
from searchlab.corpus.trec.packed_docnos import PackedDocnos
from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.file_checks.run_doubts import find_doubt
from searchlab.evaluation.run_evaluation import evaluate_run, grade_run
from searchlab.records import Ranking

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2}, "3": {"d": 0}, "4": {"e": 1}}


def test_topics_in_both_run_and_judgments_are_evaluated_in_the_order_of_the_judgments():
    rankings = [Ranking("3", ["d"], [1.0]), Ranking("1", ["b", "a"], [2.0, 1.0]), Ranking("9", ["x"], [1.0])]
    evaluation = evaluate_run(QRELS, rankings, ["RR", "NumRel", "NumRet"])
    assert evaluation.qids == ("1", "3")
    assert evaluation.values.tolist() == [[1 / 2, 1, 2], [0, 0, 1]]
    assert evaluation.means == {"RR": 1 / 4, "NumRel": 1, "NumRet": 3}  # counts are totals
    assert (evaluation.missing, evaluation.unjudged, evaluation.without_relevant) == (("2", "4"), ("9",), ("3",))
    assert (evaluation.n_topics, evaluation.n_missing, evaluation.n_unjudged) == (2, 2, 1)
    assert evaluation.values_of("recip_rank").tolist() == [1 / 2, 0]
    assert evaluation.mean("MRR") == 1 / 4


def test_missing_topics_score_0_in_a_complete_evaluation():
    evaluation = evaluate_run(QRELS, [Ranking("1", ["a"], [2.0])], ["RR", "NumRel"], complete=True)
    assert evaluation.qids == ("1", "2", "3", "4")
    assert evaluation.means == {"RR": 1 / 4, "NumRel": 3}
    assert evaluation.missing == ("2", "3", "4")


def test_gmap_is_a_geometric_mean():
    rankings = [Ranking("1", ["a"], [1.0]), Ranking("2", ["x", "y", "z", "c"], [4.0, 3.0, 2.0, 1.0])]
    assert evaluate_run(QRELS, rankings, "GMAP").mean("gm_map") == pytest.approx(math.sqrt(1 * 1 / 4))
    rankings.append(Ranking("4", ["x"], [1.0]))
    assert evaluate_run(QRELS, rankings, "GMAP").mean("gm_map") == pytest.approx((1 / 4 * 1e-5) ** (1 / 3))


def test_a_measure_that_was_not_evaluated_is_an_error():
    evaluation = evaluate_run(QRELS, [Ranking("1", ["a"], [1.0])], ["AP"])
    with pytest.raises(SettingError, match=r"measure P@5 was not evaluated; there is: AP"):
        evaluation.values_of("P@5")


@pytest.mark.parametrize(
    ("rankings", "error", "complaint"),
    [
        ([Ranking("1", ["a"], [math.nan])], RecordError, "x.run: the score of document a of topic 1 is not a number"),
        ([Ranking("1", ["a", "a"], [2.0, 1.0])], DuplicateError, "x.run: document a of topic 1 occurs twice"),
        ([Ranking("1", ["a"], []), Ranking("1", ["a"], [])], DuplicateError, "x.run: topic 1 has two rankings"),
        ([Ranking("1", ["a"], [])], RecordError, "x.run: topic 1 has 1 docnos and 0 scores"),
        (
            [Ranking(qid, ["a"], [1.0]) for qid in ("q1", "q2", "q3", "q4")],
            SourceError,
            "x.run: shares no topic with the judgments: it has q1, q2, q3 and 1 more, judged are 1, 2, 3 and 1 more",
        ),
        ([], SourceError, "shares no topic"),
    ],
)
def test_invalid_runs_are_errors(rankings, error, complaint):
    with pytest.raises(error) as raised:
        evaluate_run(QRELS, rankings, "AP", name="x.run")
    assert complaint in str(raised.value)


def test_a_run_without_any_judged_document_warns():
    with pytest.warns(searchlab.JudgmentWarning, match=r"judged for its topic \(judged are a\); all values are 0"):
        found = searchlab.evaluate_run({"1": {"a": 1}}, {"1": {"b": 2.0}}, "AP")
    assert found.means == {"AP": 0.0}
    # One judged document, or no document at all, is no reason: a warning would be an error here.
    searchlab.evaluate_run({"1": {"a": 0}}, {"1": {"a": 2.0, "b": 1.0}}, "AP")
    searchlab.evaluate_run({"1": {"a": 1}}, {"1": {}}, "AP")


def test_without_measures_a_run_is_evaluated_as_in_an_experiment():
    assert searchlab.evaluate_run({"1": {"a": 1}}, {"1": {"a": 2.0}}).means == {"AP": 1.0, "nDCG@10": 1.0}


def test_no_judgments_are_an_error_in_words():
    with pytest.raises(SettingError, match=r"^there are no judgments, expected some of the topics of the run"):
        evaluate_run({}, [Ranking("1", ["a"], [1.0])], "AP")


@pytest.mark.parametrize("dialect", ["trec", "letor4"])
@pytest.mark.parametrize("complete", [False, True])
def test_a_large_run_is_graded_as_its_rankings_are(tmp_path, monkeypatch, dialect, complete):
    # Scores that differ only beyond 32 bits are ties for trec_eval; topics are in another order than their judgments.
    chance = np.random.default_rng(7)
    qrels = {str(qid): {f"d{n}": int(n % 3) for n in chance.permutation(40)[:12]} for qid in range(6)} | {"é": {"ü": 1}}
    rows = [
        f"{qid} Q0 d{n} 1 {float(chance.integers(1, 5) + chance.choice([0, 1e-12]))!r} x\n"
        for qid in (4, 9, 0, 5, 2)
        for n in chance.permutation(40)[:25]
    ]
    (tmp_path / "large").write_text("".join(rows))
    monkeypatch.setattr(fast_lines, "MIN_FAST_BYTES", 0)
    run = searchlab.read_run(tmp_path / "large")
    assert isinstance(run.docno_column, PackedDocnos)
    rules, options = make_dialect(dialect), {"complete": complete}
    packed, listed = (grade_run(qrels, each, dialect=rules, **options) for each in (run, list(run)))
    for name in ("scores", "ranked", "offsets", "judged", "judged_offsets"):
        assert getattr(packed, name).tolist() == getattr(listed, name).tolist()
    assert (packed.qids, packed.missing, packed.unjudged) == (listed.qids, listed.missing, listed.unjudged)
    assert find_doubt(qrels, run, packed) == find_doubt(qrels, list(run), listed)
    assert [len(ranking.docnos) for ranking in run.first_ranks(3)] == [3] * 5
