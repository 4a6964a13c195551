import json

import pytest

from searchlab.evaluation.dialects import DIALECTS
from tests.cli.commands.evaluation.run_files import GOOD


def test_runs_are_compared_on_their_common_topics(files, run_cli):
    code, out, err = run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "RR, 3 topics"
    assert lines[2].split() == ["good", "0.5000"]
    assert lines[3].split()[:4] == ["bad", "0.1667", "good", "-0.3333"]
    # Both differences are -1/2: of four assignments of signs, two are as extreme.
    sentence = "bad is worse than good on 2 of 3 topics, better on 0, equal on 1: RR -.333, p = .50; this may be chance"
    assert sentence in lines
    assert DIALECTS["trec"].describe() in lines
    assert "warning: 1 topic left out, which not all runs have: 4; -c counts 0 for them" in err


def test_another_baseline_and_all_pairs(files, run_cli):
    (files / "third.run").write_text(GOOD)
    out = run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR", "--baseline", "bad.run", "-c")[1]
    assert "good and bad have equal means: better on 2 of 4 topics, worse on 1, equal on 1: RR .3750" in out
    out = run_cli("compare", "qrels.txt", "good.run", "bad.run", "third.run", "-m", "RR", "--all-pairs")[1]
    assert out.count("RR -.333") == 1
    assert "third and good have equal means: better on 0 of 3 topics, worse on 0, equal on 3: RR .5000" in out
    assert "third is better than bad" in out
    assert "after correction" in out
    assert "p-values are corrected (Holm)" in out


def test_a_comparison_is_written_as_json(files, run_cli):
    record = json.loads(run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR", "--format", "json")[1])
    (found,) = record["comparisons"]
    assert (found["wins"], found["ties"], found["losses"], found["topics"]) == (0, 1, 2, 3)
    assert found["p"]["randomisation"] == 0.5
    assert record["left_out"] == ["4"]


def test_a_comparison_is_written_for_latex(files, run_cli):
    code, out, err = run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR,P@2", "--format", "latex")
    assert code == 0
    assert "run & RR & P@2 \\\\\n\\midrule\ngood & \\textbf{.5000} & \\textbf{.3333} \\\\\n" in out
    assert DIALECTS["trec"].describe() in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["compare", "qrels.txt", "good.run"], "expected judgments and at least two runs, found 1 run"),
        (
            ["compare", "qrels.txt", "good.run", "bad.run", "--baseline", "bm25"],
            "unknown baseline 'bm25'; there is: bad",
        ),
        (["compare", "qrels.txt", "good.run", "bad.run", "-m", "NumRet"], "measure NumRet is a total over topics"),
        (["compare", "qrels.txt", "good.run", "bad.run", "--format", "csv"], "unknown format 'csv'"),
        (["compare", "qrels.txt", "good.run", "bad.run", "--seed", "-1"], "seed is -1"),
    ],
)
def test_a_mistake_ends_in_one_line(files, run_cli, arguments, complaint):
    code, out, err = run_cli(*arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.startswith("searchlab: ")
    assert len(err.splitlines()) == 1
