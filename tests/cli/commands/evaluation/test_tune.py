import json

import pytest

N_TOPICS = 12


def test_tuning_prints_what_is_best_what_to_expect_and_the_defaults(judged_index, run_cli):
    files = ("-i", "it", "--topics", "topics.tsv", "--qrels", "qrels.txt")
    code, out, err = run_cli("tune", *files, "--grid", "b=0,0.75,1", "--measure", "RR", "--folds", 3)
    assert (code, err) == (0, "")
    assert out.splitlines()[:-1] == [
        "settings      RR  chosen by",
        "b=0       1.0000  3 folds",
        "b=0.75     .5000",
        "b=1        .5000",
        "",
        "best on all topics    1.0000  b=0 (optimistic: chosen by these topics)",
        "held-out estimate     1.0000  each of 3 folds with what the others chose",
        "defaults              .5000  b=0.75",
        "",
        "Tuning helps: RR .5000 → 1.0000 on 12 held-out topics (12 better, 0 worse, p < .001); recommended: b=0.",
        "At the end of the values tried: b; better values may lie beyond.",
    ]
    code, out, _ = run_cli("tune", *files, "--grid", "b=0,0.75", "--grid", "k1=1,2", "--measure", "RR", "--json")
    record = json.loads(out)
    assert code == 0
    assert len(record["points"]) == 4
    assert record["best"]["settings"]["b"] == 0
    assert sorted(qid for fold in record["folds"] for qid in fold["qids"]) == sorted(map(str, range(N_TOPICS)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to tune: expected --grid, such as --grid k1=0.6,0.9,1.2"),
        (["--grid", "b"], "--grid b: expected NAME=VALUE, such as k1=0.6,0.9,1.2"),
        (["--grid", "b=,"], "--grid b: found no values, expected some, such as k1=0.6,0.9,1.2"),
        (["--grid", "b=1", "--grid", "b=0"], "--grid b is given twice, expected all its values in one list"),
        (["--grid", "b=1", "--seed", "-1"], "--seed is -1, expected a whole number from 0"),
        (["--grid", "b=x"], "bm25: b is 'x', expected a number"),
        (["--grid", "b=1", "--scorer", "bm52"], "unknown scorer 'bm52' (did you mean bm25?)"),
    ],
)
def test_a_mistake_in_tuning_is_one_line(judged_index, run_cli, options, message):
    code, out, err = run_cli("tune", "-i", "it", "--topics", "topics.tsv", "--qrels", "qrels.txt", *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"searchlab: {message}")
    assert len(err.splitlines()) == 1


def test_tuning_needs_judgments(judged_index, run_cli):
    code, _, err = run_cli("tune", "-i", "it", "--topics", "topics.tsv", "--grid", "b=0")
    assert (code, err) == (2, "searchlab: no judgments to tune by: expected --qrels FILE\n")
