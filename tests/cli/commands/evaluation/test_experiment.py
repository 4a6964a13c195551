import pytest

from searchlab.experiments import report_builder
from searchlab.retrieval.pipeline import Pipeline

PLAN = """
index = "it"
topics = "topics.tsv"
qrels = "qrels.txt"
output = "out"
measures = ["RR", "AP"]
[folds]
number = 2
[[systems]]
name = "length"
scorer = "bm25"
[[systems]]
name = "no length"
scorer = "bm25"
settings = {b = 0}
"""


@pytest.fixture
def home(judged_index, monkeypatch):
    """A working folder with an index, topics, judgments and a plan; figures are not drawn."""
    (judged_index / "plan.toml").write_text(PLAN)
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'
    for name in ("bars", "curves", "differences", "precision_recall"):
        monkeypatch.setattr(report_builder, name, lambda *given, **named: drawing)
    return judged_index


def test_an_experiment_prints_a_table_a_sentence_and_where_the_report_is(home, run_cli):
    code, out, err = run_cli("experiment", "plan.toml")
    assert code == 0
    lines = out.splitlines()
    assert lines[:3] == [
        "                 RR        AP",
        "length       0.5000    0.5000",
        "no length    1.0000+   1.0000+",
    ]
    assert lines[-1] == (
        "no length ranks better than length, and that is hardly chance: RR 1.0000 against .5000 on 12 topics "
        "(12 better, 0 worse, p < .001)."
    )
    assert "rules of trec" in out.lower()
    assert err.splitlines() == ["report → out/report.html"]
    assert (home / "out" / "report.html").is_file()
    assert (home / "out" / "runs" / "no-length.run").is_file()


def test_the_same_again_does_nothing_and_says_so(home, run_cli):
    first = run_cli("experiment", "plan.toml")
    again = run_cli("experiment", "plan.toml")
    assert again[:2] == first[:2]
    assert again[2].splitlines()[0] == "nothing to do: these results were there already; --fresh computes them again"
    assert "nothing to do" not in run_cli("experiment", "plan.toml", "--fresh")[2]
    assert "nothing to do" not in run_cli("experiment", "plan.toml", "-o", "elsewhere")[2]
    assert (home / "elsewhere" / "manifest.json").is_file()


def test_an_interrupted_experiment_continues_where_it_was(home, run_cli, monkeypatch):
    search, calls = Pipeline.run, []

    def interrupted(*given, **named):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return search(*given, **named)

    monkeypatch.setattr(Pipeline, "run", interrupted)
    code, out, err = run_cli("experiment", "plan.toml")
    assert (code, out) == (130, "")
    assert err.splitlines() == [
        "finished parts are kept in out; the same command continues from there",
        "searchlab: interrupted",
    ]
    assert run_cli("experiment", "plan.toml")[0] == 0
    # The first search is not made again.
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("before", "after", "code", "message"),
    [
        (
            "number = 2",
            "numbr = 2",
            1,
            "plan.toml: [folds] numbr: unknown key (did you mean number?), expected number, ",
        ),
        ("number = 2", "number = 20", 1, "plan.toml: [folds]: 20 folds for 12 queries, expected at least one"),
        ('"it"', '"that"', 1, "indexes/that: no index here; `searchlab index SOURCE -i indexes/that` makes one"),
        ("topics.tsv", "none.tsv", 1, "none.tsv: no such file or folder"),
        ('"out"', '"topics.tsv"', 1, "topics.tsv: found a file, expected a folder for results"),
    ],
)
def test_a_mistake_in_a_plan_is_one_line(home, run_cli, before, after, code, message):
    (home / "plan.toml").write_text(PLAN.replace(before, after))
    found = run_cli("experiment", "plan.toml")
    assert found[:2] == (code, "")
    assert found[2].startswith(f"searchlab: {message}")
    assert len(found[2].splitlines()) == 1


def test_jobs_are_checked(home, run_cli):
    assert run_cli("experiment", "plan.toml", "-j", 0) == (2, "", "searchlab: --jobs is 0, expected 1 or more\n")
