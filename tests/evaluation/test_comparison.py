"""Does a comparison count, test and say what is so?"""

import json

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_evaluations, compare_values
from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.formatting import FORMATS, format_comparison_json, format_comparison_table
from searchlab.evaluation.number_text import format_difference, format_p_value
from searchlab.evaluation.run_evaluation import Evaluation
from searchlab.evaluation.significance import holm, paired_t_test, randomisation_test, sign_test


def evaluation(name, values, qids=None, measures=("nDCG@10",), dialect="trec"):
    values = np.array(values, float).reshape(-1, len(measures))
    qids = tuple(qids or map(str, range(len(values))))
    return Evaluation(name, tuple(measures), qids, values, DIALECTS[dialect])


BASE = np.linspace(0.1, 0.6, 20)
BETTER = BASE + np.where(np.arange(20) < 16, 0.05, -0.02)


def test_values_are_compared_topic_by_topic():
    found = compare_values("new", [0.5, 0.4, 0.3], "old", [0.4, 0.4, 0.35], "AP")
    assert (found.wins, found.ties, found.losses, found.n_topics) == (1, 1, 1, 3)
    assert found.difference == pytest.approx(0.05 / 3)
    d = np.array([0.5, 0.4, 0.3]) - [0.4, 0.4, 0.35]
    assert (found.t, found.sign, found.randomisation) == (paired_t_test(d), sign_test(d), randomisation_test(d))
    assert found.interval.low <= found.difference <= found.interval.high
    assert found.p_corrected is None


def test_a_difference_of_rounding_is_a_tie():
    assert compare_values("a", [1 / 3], "b", [1 - 2 / 3], "AP").ties == 1


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (
            BETTER,
            BASE,
            "new is better than old on 16 of 20 topics, worse on 4: AP +.036, p < .001",
        ),
        (
            BASE,
            BETTER,
            "new is worse than old on 16 of 20 topics, better on 4: AP -.036, p < .001",
        ),
        (
            [0.5, 0.2, 0.1],
            [0.4, 0.2, 0.1],
            "new is better than old on 1 of 3 topics, worse on 0, equal on 2: AP +.033, p = 1.00; this may be chance",
        ),
        ([0.5, 0.1], [0.1, 0.5], "new and old have equal means: better on 1 of 2 topics, worse on 1: AP .3000"),
    ],
)
def test_a_comparison_is_a_plain_sentence(a, b, sentence):
    assert compare_values("new", a, "old", b, "AP").sentence() == sentence


def test_p_values_are_corrected_over_the_pairs_of_a_measure():
    systems = [
        evaluation("base", BASE),
        evaluation("good", BETTER),
        evaluation("same", BASE + 0.001 * (-1) ** np.arange(20)),
    ]
    report = compare_evaluations(systems)
    assert [(each.name_a, each.name_b) for each in report.comparisons] == [("good", "base"), ("same", "base")]
    plain = [each.p for each in report.comparisons]
    assert [each.p_corrected for each in report.comparisons] == pytest.approx(holm(plain).tolist())
    assert [each.significant for each in report.comparisons] == [True, False]
    assert report.sentences()[0].endswith("p < .001 after correction")
    pairs = compare_evaluations(systems, baseline="good", all_pairs=True).comparisons
    assert [(each.name_a, each.name_b) for each in pairs] == [("base", "good"), ("same", "good"), ("same", "base")]
    assert [each.p_corrected for each in pairs] == pytest.approx(holm([each.p for each in pairs]).tolist())


def test_one_pair_needs_no_correction():
    (only,) = compare_evaluations([evaluation("base", BASE), evaluation("good", BETTER)]).comparisons
    assert only.p_corrected is None
    assert "correction" not in only.sentence()


def test_topics_are_matched_by_name_and_only_common_ones_count():
    a = evaluation("a", [0.1, 0.2, 0.9], ["1", "2", "3"])
    b = evaluation("b", [0.9, 0.3, 0.1], ["x", "2", "1"])
    report = compare_evaluations([a, b])
    assert (report.n_topics, report.left_out) == (2, ("3", "x"))
    (found,) = report.comparisons
    assert (found.mean_a, found.mean_b) == (pytest.approx(0.2), pytest.approx(0.15))
    assert (found.wins, found.ties) == (1, 1)


def test_measures_are_compared_each_by_itself():
    values = np.column_stack([BASE, BETTER])
    systems = [evaluation("a", values, measures=["AP", "RR"]), evaluation("b", values[:, ::-1], measures=["AP", "RR"])]
    report = compare_evaluations(systems)
    assert [each.measure for each in report.comparisons] == ["AP", "RR"]
    assert report.comparisons[0].difference == -report.comparisons[1].difference > 0
    assert [each.measure for each in compare_evaluations(systems, measures=["RR"]).comparisons] == ["RR"]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: compare_evaluations([evaluation("a", [1.0])]), "found 1 to compare, expected at least two"),
        (lambda: compare_evaluations([evaluation("a", [1.0])] * 2), "have the same name: a, a"),
        (
            lambda: compare_evaluations([evaluation("bm25", [1.0]), evaluation("rm3", [1.0])], baseline="bm2"),
            "unknown baseline 'bm2' (did you mean bm25?)",
        ),
        (
            lambda: compare_evaluations([evaluation("a", [1.0], ["1"]), evaluation("b", [1.0], ["2"])]),
            "no topic is common to a, b",
        ),
        (
            lambda: compare_evaluations([evaluation("a", [1.0]), evaluation("b", [1.0], dialect="letor3")]),
            "evaluated with different dialects",
        ),
        (
            lambda: compare_evaluations([evaluation(name, [1.0], measures=["NumRet"]) for name in "ab"]),
            "measure NumRet is a total over topics; only means are compared",
        ),
        (lambda: compare_values("a", [1.0], "b", [1.0, 2.0], "AP"), "expected values for the same topics"),
        (lambda: compare_values("a", [], "b", [], "AP"), "expected values for the same topics"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, complaint):
    with pytest.raises(SettingError) as error:
        call()
    assert complaint in str(error.value)


def test_numbers_are_printed_as_in_papers():
    assert [format_p_value(p) for p in (1.0, 0.5, 0.031, 0.0096, 0.0044, 0.0009)] == [
        "p = 1.00",
        "p = .50",
        "p = .03",
        "p = .01",
        "p = .004",
        "p < .001",
    ]
    assert [format_difference(d) for d in (0.0314, -0.2, 0.0004, 1.5)] == ["+.031", "-.200", "+.0004", "+1.500"]


def test_the_table_of_a_comparison_is_aligned():
    report = compare_evaluations([evaluation("base", BASE), evaluation("good", BETTER)])
    title, header, base, good = format_comparison_table(report).splitlines()
    assert title == "nDCG@10, 20 topics"
    assert header.split()[:3] == ["mean", "against", "difference"]
    assert "corrected" not in header
    assert base.split() == ["base", "0.3500"]
    assert good.split()[:4] == ["good", "0.3860", "base", "+0.0360"]
    assert header.index("mean") + len("mean") == base.index("0.3500") + len("0.3500") == good.index("0.3860") + 6
    record = json.loads(format_comparison_json(report))
    assert record["comparisons"][0]["p"]["randomisation"] == report.comparisons[0].p
    assert record["comparisons"][0]["sentence"] == report.sentences()[0]


def test_evaluations_are_written_in_every_format():
    two = [
        evaluation("bm25_a", [[0.5, 3], [0.25, 4]], measures=["AP", "NumRet"]),
        evaluation("rm3", [[0.5, 3], [0.5, 4]], measures=["AP", "NumRet"]),
    ]
    assert FORMATS["table"](two).splitlines() == [
        "run         AP  NumRet  topics",
        "bm25_a  0.3750       7       2",
        "rm3     0.5000       7       2",
    ]
    assert FORMATS["table"](two[:1], per_topic=True).splitlines() == [
        "run     topic      AP  NumRet",
        "bm25_a  0      0.5000       3",
        "bm25_a  1      0.2500       4",
        "bm25_a  all    0.3750       7",
    ]
    # trec_eval prints "%-22s\t%s\t%6.4f\n", and "%ld" for counts.
    assert FORMATS["trec"](two[:1], per_topic=True).splitlines() == [
        "map                   \t0\t0.5000",
        "num_ret               \t0\t3",
        "map                   \t1\t0.2500",
        "num_ret               \t1\t4",
        "map                   \tall\t0.3750",
        "num_ret               \tall\t7",
    ]
    assert FORMATS["trec"](two).splitlines()[3] == "runid                 \tall\trm3"
    assert FORMATS["csv"](two, per_topic=True).splitlines()[:3] == [
        "run,topic,AP,NumRet",
        "bm25_a,0,0.5,3.0",
        "bm25_a,1,0.25,4.0",
    ]
    assert FORMATS["csv"](two).splitlines()[1:] == ["bm25_a,all,0.375,7.0", "rm3,all,0.5,7.0"]
    record = json.loads(FORMATS["json"](two, per_topic=True))
    assert record["runs"][0]["means"] == {"AP": 0.375, "NumRet": 7}
    assert record["runs"][1]["values"]["1"] == {"AP": 0.5, "NumRet": 4}
    assert record["dialect"] == "trec"
    latex = FORMATS["latex"](two).splitlines()
    assert latex[0] == f"% {DIALECTS['trec'].describe()}"
    assert latex[5:7] == ["bm25\\_a & 0.3750 & 7 \\\\", "rm3 & \\textbf{0.5000} & 7 \\\\"]
    assert len(FORMATS["latex"](two, per_topic=True).splitlines()) == len(latex) + 4


def test_trecs_names_are_for_trecs_rules_only():
    letor = evaluation("a", [0.5], measures=["AP"], dialect="letor3")
    assert FORMATS["trec"]([letor]) == "AP                    \tall\t0.5000"
