import pytest

from searchlab.retrieval.fusion import METHODS


def test_runs_are_fused_and_written(files, run_cli):
    code, out, err = run_cli("fuse", "good.run", "bad.run", "-o", "fused.run", "-k", "2")
    assert (code, out) == (0, "")
    assert err == "2 runs fused by rrf: 5 topics, 7 results → fused.run\n"
    lines = (files / "fused.run").read_text().splitlines()
    assert lines[:2] == [f"1 Q0 b 1 {2 / 61!r} rrf", f"1 Q0 x 2 {1 / 62!r} rrf"]  # x before a: descending docnos
    printed = run_cli("fuse", "good.run", "bad.run", "--method", "borda", "--tag", "mine")[1]
    assert printed.splitlines()[0] == "1 Q0 b 1 8.0 mine"


def test_runs_are_weighted(files, run_cli):
    out = run_cli("fuse", "good.run", "bad.run", "--weights", ".75, .25")[1]
    assert out.splitlines()[:2] == [f"1 Q0 b 1 {1 / 61!r} rrf", f"1 Q0 a 2 {0.75 / 62!r} rrf"]


def test_the_help_names_every_method(run_cli):
    text = run_cli("fuse", "--help")[1]
    assert [name for name in METHODS if name not in text] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fuse", "good.run"], "found 1 run, expected at least two to fuse"),
        (["fuse", "good.run", "bad.run", "--method", "rff"], "unknown method 'rff' (did you mean rrf?)"),
        (["fuse", "good.run", "bad.run", "-k", "0"], "k is 0"),
        (["fuse", "good.run", "bad.run", "--weights", "1"], "found 1 weights for 2 runs"),
        (["fuse", "good.run", "bad.run", "--weights", ".7;.3"], "--weights is '.7;.3', expected numbers with commas"),
        (["fuse", "good.run", "bad.run", "--weights", "nan,1"], "weight is nan"),
        (["fuse", "good.run", "bad.run", "--weights=-1,1"], "weight is -1"),
    ],
)
def test_a_mistake_ends_in_one_line(files, run_cli, arguments, complaint):
    code, out, err = run_cli(*arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.startswith("searchlab: ")
    assert len(err.splitlines()) == 1
