"""Doubts about runs that find next to nothing."""

from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.file_checks.run_doubts import explain_gap, find_doubt
from searchlab.evaluation.run_evaluation import grade_run
from tests.evaluation.file_checks.numbered_topics import N_TOPICS, WRITTEN, make_judgments, make_rankings

ORDER = [str(order) for order in range(1, N_TOPICS + 1)]


def doubt(qrels, rankings):
    graded = grade_run(qrels, rankings.values(), dialect=DIALECTS["trec"])
    return find_doubt(qrels, rankings.values(), graded), explain_gap(graded)


def test_a_good_run_is_not_doubted():
    assert doubt(make_judgments(), make_rankings(ORDER)) == ("", "")


def test_shifted_topics_are_doubted():
    text, _ = doubt(make_judgments(), make_rankings([str(order) for order in range(N_TOPICS)]))
    assert text.startswith("no document is judged for its topic: it has d1, x1, e1 and 2 more, judged are d1, e1, x1; ")
    assert "likely cause: the judgments number topics from 1, the run from 0 (0 here, 1 there)" in text
    assert text.endswith("; all values are 0")


def test_topics_are_doubted_only_with_a_cause():
    qrels = make_judgments() | {qid: {"y": 0, "d1": 0} for qid in WRITTEN}
    text, _ = doubt(qrels, make_rankings(WRITTEN))
    assert text.startswith("its topics do not fit those of the judgments; likely cause: the judgments number topics by")
    bad = {qid: {"y": 0, f"gone{qid}": 1} for qid in ORDER}
    assert doubt(bad, make_rankings(ORDER)) == ("", "")


def test_unjudged_topics_in_another_spelling_are_explained():
    rankings = make_rankings([*ORDER[:4], "05", "06", "07"])
    assert doubt(make_judgments(), rankings) == ("", "; likely cause: leading zeros (05 here, 5 there)")
