"""Evaluation of runs: topics, summaries and invalid runs."""

import math

import pytest

from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError
from searchlab.evaluation.run_evaluation import evaluate_run
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


def test_no_judgments_are_an_error_in_words():
    with pytest.raises(SettingError, match=r"^there are no judgments, expected some of the topics of the run"):
        evaluate_run({}, [Ranking("1", ["a"], [1.0])], "AP")
