"""Rank fusion against values worked by hand, and the order of ties."""

import math

import pytest

from searchlab.errors import SettingError
from searchlab.records import Ranking
from searchlab.retrieval.fusion import METHODS, fuse

ONE = [Ranking("1", ["a", "b", "c"], [9.0, 6.0, 3.0])]
TWO = [Ranking("1", ["b", "d"], [0.8, 0.4]), Ranking("2", ["x"], [1.0])]


def scores(rankings, qid="1"):
    (ranking,) = [ranking for ranking in rankings if ranking.qid == qid]
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    return dict(zip(ranking.docnos, ranking.scores, strict=True))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("rrf", {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63}),
        ("combsum", {"b": 0.5 + 1, "a": 1, "d": 0, "c": 0}),
        ("combmnz", {"b": 2 * (0.5 + 1), "a": 1, "d": 0, "c": 0}),
        # Four documents: the first run gives 4, 3, 2, and 1 to d; the second 4, 3, and half of 2 + 1 to a and to c.
        ("borda", {"b": 3 + 4, "a": 4 + 1.5, "d": 1 + 3, "c": 2 + 1.5}),
    ],
)
def test_a_fusion_worked_by_hand(method, expected):
    fused = fuse([ONE, TWO], method)
    assert [ranking.qid for ranking in fused] == ["1", "2"]
    assert scores(fused) == pytest.approx(expected)
    assert list(scores(fused)) == list(expected)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("rrf", {"b": 0.7 / 62 + 0.3 / 61, "a": 0.7 / 61, "c": 0.7 / 63, "d": 0.3 / 62}),
        ("combsum", {"a": 0.7, "b": 0.7 * 0.5 + 0.3, "d": 0, "c": 0}),
        ("combmnz", {"b": 2 * (0.7 * 0.5 + 0.3), "a": 0.7, "d": 0, "c": 0}),
        # The first run gives 4, 3, 2, and 1 to d; the second 4, 3, and half of 2 + 1 to a and to c.
        (
            "borda",
            {
                "b": 0.7 * 3 + 0.3 * 4,
                "a": 0.7 * 4 + 0.3 * 1.5,
                "c": 0.7 * 2 + 0.3 * 1.5,
                "d": 0.7 * 1 + 0.3 * 3,
            },
        ),
    ],
)
def test_a_weighted_fusion_worked_by_hand(method, expected):
    fused = fuse([ONE, TWO], method, weights=[0.7, 0.3])
    assert scores(fused) == pytest.approx(expected)
    assert list(scores(fused)) == list(expected)


@pytest.mark.parametrize("method", METHODS)
def test_weights_scale_scores_and_a_run_of_weight_0_is_left_out(method):
    plain = fuse([ONE, TWO], method)
    assert fuse([ONE, TWO], method, weights=[1, 1]) == plain
    doubled = fuse([ONE, TWO], method, weights=[2, 2])
    assert [ranking.docnos for ranking in doubled] == [ranking.docnos for ranking in plain]
    assert scores(doubled) == pytest.approx({docno: 2 * score for docno, score in scores(plain).items()})
    assert fuse([ONE, TWO], method, weights=[1, 0]) == fuse([ONE], method)
    # A run without a topic gives its one document the point of the only rank.
    assert scores(fuse([ONE, TWO], "borda", weights=[3, 5]), "2") == {"x": 3 + 5}


def test_equal_fused_scores_are_in_descending_order_of_docno():
    runs = [[Ranking("1", ["a", "é", "b"], [1.0, 1.0, 1.0])]]
    for method in METHODS:
        assert fuse(runs, method)["1"].docnos == ["é", "b", "a"]


def test_the_order_of_runs_does_not_change_the_last_bit():
    runs = [[Ranking("1", list(order), [3.0, 2.0, 1.0])] for order in ("abc", "bca", "cab")]
    (fused,) = fuse(runs, "rrf")
    assert fused.docnos == ["c", "b", "a"]
    assert len(set(fused.scores)) == 1
    for method in METHODS:
        assert fuse(runs, method) == fuse(runs[::-1], method)


def test_the_same_ranks_in_different_runs_are_a_tie():
    # 1/61 + 1/62 + 1/67 is not 1/67 + 1/61 + 1/62 in floating point, but a and b have the same ranks, 1, 2 and 7.
    orders = ["a12345b", "ba12345", "1b2345a"]
    (fused,) = fuse([[Ranking("1", list(order), [float(-i) for i in range(7)])] for order in orders], "rrf")
    found = dict(zip(fused.docnos, fused.scores, strict=True))
    assert found["a"] == found["b"]
    assert fused.docnos.index("b") + 1 == fused.docnos.index("a")


def test_rankings_are_ordered_by_their_scores_before_ranks_are_counted():
    assert scores(fuse([[Ranking("1", ["a", "b"], [1.0, 2.0])]])) == {"b": 1 / 61, "a": 1 / 62}


def test_equal_scores_become_1_and_huge_scores_do_not_overflow():
    assert scores(fuse([[Ranking("1", ["a", "b"], [5.0, 5.0])]], "combsum")) == {"b": 1, "a": 1}
    huge = scores(fuse([[Ranking("1", ["a", "b", "c"], [1.5e308, 0.0, -1.5e308])]], "combsum"))
    assert huge == {"a": 1, "b": 0.5, "c": 0}


def test_a_run_without_the_topic_gives_all_documents_equal_borda_points():
    fused = scores(fuse([ONE, TWO], "borda"), "2")
    assert fused == {"x": 1 + 1}


def test_only_the_best_k_are_kept():
    assert fuse([ONE, TWO], k=2)["1"].docnos == ["b", "a"]
    assert fuse([[Ranking("1", [], [])], ONE], k=1)["1"].docnos == ["a"]
    assert fuse([[Ranking("1", [], [])]])["1"] == Ranking("1", [], [])


def test_runs_are_files_dicts_or_rankings(tmp_path):
    (tmp_path / "one.run").write_text("1 Q0 a 1 9 x\n1 Q0 b 2 6 x\n1 Q0 c 3 3 x\n", "utf-8")
    two = {"1": {"b": 0.8, "d": 0.4}, "2": {"x": 1.0}}
    assert fuse([tmp_path / "one.run", two], "combsum") == fuse([ONE, TWO], "combsum")


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: fuse([ONE], "rff"), "unknown method 'rff' (did you mean rrf?)"),
        (lambda: fuse([ONE], k=0), "k is 0"),
        (lambda: fuse([]), "no runs"),
        (lambda: fuse([ONE, 7]), "run is a value of type int, expected a file, a Run, a dict"),
        (lambda: fuse([ONE, TWO], weights=[1]), "found 1 weights for 2 runs, expected one for each run"),
        (lambda: fuse([ONE, TWO], weights=[0, 0]), "all weights are 0"),
        (lambda: fuse([ONE, TWO], weights=[1, -1]), "weight is -1, expected a number from 0 to 1e+09"),
        (lambda: fuse([ONE, TWO], weights=[1, math.nan]), "weight is nan"),
        (lambda: fuse([ONE, TWO], weights=[math.inf, 1]), "weight is inf"),
        (lambda: fuse([ONE, TWO], weights=[1, True]), "weight is True"),
        (lambda: fuse([ONE, TWO], weights=[1, "2"]), "weight is '2'"),  # type: ignore[list-item]
        (lambda: fuse([ONE, TWO], weights=[1, 10**400]), "weight is 1000"),
        (lambda: fuse([[Ranking("1", ["a"], [math.nan])]]), "topic 1: a score is not a number"),
    ],
)
def test_invalid_fusions_are_errors(call, complaint):
    with pytest.raises(SettingError) as error:
        call()
    assert complaint in str(error.value)
