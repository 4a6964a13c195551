"""No acknowledged judgment is lost when the server is killed; `benchmarks/attacks/judging.py` goes on for an hour."""

import random

import pytest

from benchmarks.attack import make_index
from benchmarks.attacks.judge_client import Act, Judge
from benchmarks.attacks.judging import KINDS, JudgingAttack, compare, make_judges

ONE, TWO, THREE = (Act(f"ann {number}", "topic 1", f"d{number}", 1) for number in (1, 2, 3))


def judge(acts, undone=(), pending=False):
    return Judge("ann", False, random.Random(1), list(acts), list(undone), pending)


@pytest.mark.parametrize(
    ("known", "acts", "undone", "kinds"),
    [
        (judge([ONE, TWO]), [ONE, TWO], [], []),
        (judge([ONE, TWO]), [ONE], [], ["lost"]),
        (judge([ONE]), [ONE, ONE], [], ["twice"]),
        (judge([ONE]), [ONE, TWO], [], ["invented"]),
        (judge([ONE]), [ONE._replace(grade=2)], [], ["lost", "invented"]),
        (judge([ONE], pending=TWO), [ONE, TWO], [], []),
        (judge([ONE], pending=TWO), [ONE], [], []),
        (judge([ONE], pending=TWO), [ONE, THREE], [], ["invented"]),
        (judge([ONE, TWO], [TWO.note]), [ONE, TWO], [TWO.note], []),
        (judge([ONE, TWO], [TWO.note]), [ONE, TWO], [], ["lost"]),
        (judge([ONE, TWO]), [ONE, TWO], [TWO.note], ["lost"]),
        (judge([ONE, TWO], pending=True), [ONE, TWO], [TWO.note], []),
        (judge([ONE, TWO], pending=True), [ONE, TWO], [ONE.note], ["lost"]),
    ],
)
def test_stored_acts_are_compared_with_those_acknowledged(known, acts, undone, kinds):
    assert [kind for kind, _ in compare(known, acts, undone)] == kinds


def test_current_judgments_follow_from_the_acts():
    withdrawn = Act("ann 4", "topic 1", "d1", None)
    ann = judge([ONE, TWO, THREE, withdrawn], [THREE.note])
    assert ann.current() == {("topic 1", "d2"): (1, "ann 2")}
    ann.pending = True
    ann.settle(stored=True)
    assert ann.undone == [THREE.note, withdrawn.note]
    assert ann.current() == {("topic 1", "d1"): (1, "ann 1"), ("topic 1", "d2"): (1, "ann 2")}


def test_a_killed_server_loses_nothing_that_it_acknowledged(tmp_path):
    make_index(tmp_path / "attacked", 90)
    judges = make_judges(3, seed=1)
    result = JudgingAttack(tmp_path / "attacked", judges, random.Random(1), max_seconds=3).run(seconds=1)
    assert result.failures == []
    assert {kind: result.counts[kind] for kind in KINDS} == dict.fromkeys(KINDS, 0)
    assert result.counts["kills"] >= 1
    assert sum(len(each.acts) for each in judges) > 3
