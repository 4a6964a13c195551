"""Output formats of evaluations and comparisons."""

import json

from searchlab.evaluation.comparison import compare_evaluations
from searchlab.evaluation.formatting import FORMATS, format_comparison_json, format_comparison_table
from tests.evaluation.evaluations import BASE, BETTER, make_evaluation


def test_the_table_of_a_comparison_is_aligned():
    report = compare_evaluations([make_evaluation("base", BASE), make_evaluation("good", BETTER)])
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


def test_evaluations_in_every_format():
    two = [
        make_evaluation("bm25_a", [[0.5, 3], [0.25, 4]], measures=["AP", "NumRet"]),
        make_evaluation("rm3", [[0.5, 3], [0.5, 4]], measures=["AP", "NumRet"]),
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
    hostile = make_evaluation("=cmd|' /C calc'!A0", [[0.5]], measures=["AP"])
    assert FORMATS["csv"]([hostile]).splitlines()[1:] == ["'=cmd|' /C calc'!A0,all,0.5"]
    assert FORMATS["csv"](two).splitlines()[1:] == ["bm25_a,all,0.375,7.0", "rm3,all,0.5,7.0"]
    record = json.loads(FORMATS["json"](two, per_topic=True))
    assert record["runs"][0]["means"] == {"AP": 0.375, "NumRet": 7}
    assert record["runs"][1]["values"]["1"] == {"AP": 0.5, "NumRet": 4}
    assert record["dialect"] == "trec"


def test_many_measures_are_rows():
    names = [f"P@{k}" for k in range(1, 14)]
    two = [make_evaluation(name, [[0.5] * 13, [0.25] * 13], measures=names) for name in ("a", "long-name")]
    lines = FORMATS["table"](two).splitlines()
    assert len(lines) == 15
    assert lines[:2] == ["measure       a  long-name", "P@1      0.3750     0.3750"]
    assert lines[-1] == "topics        2          2"


def test_trec_evals_names_are_only_used_for_its_dialect():
    letor = make_evaluation("a", [0.5], measures=["AP"], dialect="letor3")
    assert FORMATS["trec"]([letor]) == "AP                    \tall\t0.5000"
